// The large texts and bytes of a tape: files that are named by the SHA-256 of what they hold.
import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { InvalidConfigurationError } from '../../errors.ts'
import type { SpoolReader } from '../../extension.ts'

const tapePieceLength = 65_536
const fileName = /^[0-9a-f]{64}$/

/** Takes bytes in pieces. */
export interface FileWriter {
  write(bytes: Uint8Array): void
  /** Ends the file. Returns its name. */
  end(): string
}

/** Whether a text is the name of such a file. Only then is it safe in a path. */
export function isFileName(name: unknown): name is string {
  return typeof name === 'string' && fileName.test(name)
}

/**
 * The files of one tape. What is written lies in a folder of its own until it is kept, so that a test that fails leaves nothing.
 */
export class TapeFiles {
  readonly #folder: string
  readonly #draft: string
  readonly #written = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
    this.#draft = `${folder}.${randomUUID()}`
  }

  /** Writes bytes. Returns the name of their file. */
  put(bytes: Uint8Array): string {
    const name = createHash('sha256').update(bytes).digest('hex')
    if (this.#written.has(name)) return name
    mkdirSync(this.#draft, { recursive: true })
    writeFileSync(join(this.#draft, name), bytes)
    this.#written.add(name)
    return name
  }

  putText(text: string): string {
    return this.put(new TextEncoder().encode(text))
  }

  /** Writes bytes that come in pieces, so that none stays in memory. */
  writer(): FileWriter {
    mkdirSync(this.#draft, { recursive: true })
    const path = join(this.#draft, randomUUID())
    const file = openSync(path, 'wx')
    const hash = createHash('sha256')
    return {
      write(bytes) {
        hash.update(bytes)
        for (let start = 0; start < bytes.byteLength;) start += writeSync(file, bytes, start)
      },
      end: () => {
        closeSync(file)
        const name = hash.digest('hex')
        renameSync(path, join(this.#draft, name))
        this.#written.add(name)
        return name
      },
    }
  }

  /** @throws `E_INVALID_CONFIGURATION` if there is no such file, or it was changed. */
  read(name: string): Uint8Array {
    const bytes = readFileSync(this.#pathOf(name))
    if (createHash('sha256').update(bytes).digest('hex') !== name) throw changedFile(name)
    return bytes
  }

  readText(name: string): string {
    return new TextDecoder().decode(this.read(name))
  }

  /** Yields the bytes of a file. Its SHA-256 is compared at the end. */
  async *pieces(name: string): AsyncGenerator<Uint8Array, void, undefined> {
    const file = openSync(this.#pathOf(name), 'r')
    const hash = createHash('sha256')
    try {
      for (;;) {
        const buffer = new Uint8Array(tapePieceLength)
        const length = readSync(file, buffer)
        if (length === 0) break
        const piece = buffer.subarray(0, length)
        hash.update(piece)
        yield piece
      }
    } finally {
      closeSync(file)
    }
    if (hash.digest('hex') !== name) throw changedFile(name)
  }

  /** Reads ranges of a file, whose SHA-256 is compared first. */
  async reader(name: string, mediaType: string): Promise<SpoolReader> {
    for await (const _piece of this.pieces(name)) void _piece
    const path = this.#pathOf(name)
    return {
      byteLength: lstatSync(path).size,
      mediaType,
      read(start, end) {
        const file = openSync(path, 'r')
        try {
          const buffer = new Uint8Array(end - start)
          return buffer.subarray(0, readSync(file, buffer, 0, buffer.byteLength, start))
        } finally {
          closeSync(file)
        }
      },
    }
  }

  /** Moves the files of these names into the folder of the tape. */
  keep(names: ReadonlySet<string>): void {
    for (const name of names) {
      if (!this.#written.has(name) || existsSync(join(this.#folder, name))) continue
      mkdirSync(this.#folder, { recursive: true })
      renameSync(join(this.#draft, name), join(this.#folder, name))
    }
    this.drop()
  }

  /** Deletes the files of the tape that no call names any more. Call it once the tape is written. */
  prune(names: ReadonlySet<string>): void {
    if (!existsSync(this.#folder)) return
    const stale = readdirSync(this.#folder).filter((name) => isFileName(name) && !names.has(name))
    for (const name of stale) rmSync(join(this.#folder, name))
    if (readdirSync(this.#folder).length === 0) rmSync(this.#folder, { recursive: true })
  }

  /** Deletes what was written and not kept. */
  drop(): void {
    this.#written.clear()
    rmSync(this.#draft, { recursive: true, force: true })
  }

  #pathOf(name: string): string {
    const path = join(this.#written.has(name) ? this.#draft : this.#folder, isFileName(name) ? name : '-')
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) return path
    throw new InvalidConfigurationError(
      `The cassette has no file ${JSON.stringify(name)} in ${this.#folder}. Commit the folder with it, or record it anew.`,
    )
  }
}

function changedFile(name: string): InvalidConfigurationError {
  return new InvalidConfigurationError(
    `The file ${name} of the cassette was changed: its SHA-256 is another. Restore it, or record the cassette anew.`,
  )
}
