/**
 * Artifacts as files on one machine's disk. This leaf keeps bytes and hands them out again: it knows no tools and no calls,
 * decides about nobody, and never uses what it is given as a path.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ArtifactError,
  InvalidConfigurationError,
  type ArtifactStore,
  type Extension,
  type SpoolReader,
  type SpoolSource,
} from '../index.ts'

const pieceLength = 1_048_576
const handlePattern = /^artifact_[0-9a-f]{40}$/

/** What is known of a handle: a small file beside the bytes. */
interface Entry {
  readonly sha256: string
  readonly session: string
  readonly mediaType: string
  readonly byteLength: number
}

/**
 * Keeps artifacts in files, named by the SHA-256 of their bytes, so that they outlive the process. Experimental.
 *
 * Equal bytes are kept once. What `write` has answered is on the disk; a write that fails or is given up leaves nothing.
 * Several processes of one machine may share a directory, which has to lie on a file system with hard links. Files are
 * readable by the owner alone (0600), directories too (0700).
 *
 * @param directory Where to keep them; made on the first write. A process that is killed while it writes leaves a file
 * behind whose name ends in `.part`, which may be removed.
 * @throws `E_INVALID_CONFIGURATION` where `directory` is not a path. The store throws `E_ARTIFACT`.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fileStore } from 'toolwright/stores/file'
 *
 * const executor = createExecutor({ tools: [], use: [fileStore('./artifacts')] })
 * ```
 */
export function fileStore(directory: string): Extension & { readonly store: ArtifactStore } {
  if (typeof directory !== 'string' || directory === '' || directory.includes('\0')) {
    throw new InvalidConfigurationError('fileStore takes the path of a directory, as in fileStore("./artifacts").')
  }
  // `contents/<sha256>` and every `handles/<handle>` of it are one file under several names: the disk counts them for us.
  const contents = join(directory, 'contents')
  const handles = join(directory, 'handles')
  const entryOf = (handle: string): string => join(handles, `${handle}.json`)

  async function forget(handle: string, sha256: string): Promise<void> {
    await unlink(entryOf(handle)).catch(unlessMissing)
    await unlink(join(handles, handle)).catch(unlessMissing)
    const content = join(contents, sha256)
    const { nlink } = await stat(content).catch(() => ({ nlink: 0 }))
    // Whoever takes it up in this very moment has a name of its own for it: only the sharing is lost.
    if (nlink === 1) await unlink(content).catch(unlessMissing)
  }

  async function entry(handle: string): Promise<Entry | undefined> {
    if (typeof handle !== 'string' || !handlePattern.test(handle)) return undefined
    const text = await readFile(entryOf(handle), 'utf8').catch(unlessMissing)
    try {
      return text === undefined ? undefined : (JSON.parse(text) as Entry)
    } catch (cause) {
      throw new ArtifactError('The artifact cannot be read: what is known of it is damaged.', { cause })
    }
  }

  const store: ArtifactStore = {
    async write(source, { session, mediaType, signal }) {
      const handle = `artifact_${randomBytes(20).toString('hex')}`
      const temporary = join(contents, `${handle}.part`)
      const temporaryEntry = join(handles, `${handle}.json.part`)
      return guarded('written', async () => {
        await mkdir(contents, { recursive: true, mode: 0o700 })
        await mkdir(handles, { recursive: true, mode: 0o700 })
        try {
          const { sha256, byteLength } = await writeDown(temporary, source, signal)
          try {
            await name(temporary, join(contents, sha256), join(handles, handle))
            const known: Entry = { sha256, session, mediaType, byteLength }
            await writeDown(temporaryEntry, JSON.stringify(known), signal)
            await syncDirectory(contents)
            // The last step: before it nobody can open the handle, after it everything else is on the disk.
            await rename(temporaryEntry, entryOf(handle))
            await syncDirectory(handles)
          } catch (error) {
            await unlink(temporaryEntry).catch(() => {})
            await forget(handle, sha256).catch(() => {})
            throw error
          }
          return { handle, sha256, byteLength }
        } finally {
          await unlink(temporary).catch(() => {})
        }
      })
    },

    async open(handle, { session }) {
      const known = await guarded('read', () => entry(handle))
      if (known === undefined || known.session !== session) throw noArtifact(handle)
      return reader(join(handles, handle), handle, known.byteLength)
    },

    async delete(handle) {
      await guarded('deleted', async () => {
        const known = await entry(handle)
        if (known !== undefined) await forget(handle, known.sha256)
      })
    },
  }
  return { store }
}

/** Reads ranges; the file is open only while it is read, so that a reader which is forgotten holds nothing. */
function reader(path: string, handle: string, byteLength: number): SpoolReader {
  return {
    byteLength,
    read: (start, end) =>
      guarded('read', async () => {
        const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(unlessMissing)
        if (file === undefined) throw noArtifact(handle)
        try {
          const bytes = new Uint8Array(Math.max(0, end - start))
          let offset = 0
          while (offset < bytes.byteLength) {
            const { bytesRead } = await file.read(bytes, offset, bytes.byteLength - offset, start + offset)
            if (bytesRead === 0) throw new ArtifactError('The artifact on the disk is shorter than it was written.')
            offset += bytesRead
          }
          return bytes
        } finally {
          await file.close()
        }
      }),
  }
}

/** Writes a new file, piece by piece, and waits until it is on the disk; where it cannot, the file is gone again. */
async function writeDown(
  path: string,
  source: SpoolSource,
  signal: AbortSignal | undefined,
): Promise<{ sha256: string; byteLength: number }> {
  signal?.throwIfAborted()
  const file = await open(path, 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    let byteLength = 0
    for await (const piece of piecesOf(source)) {
      signal?.throwIfAborted()
      hash.update(piece)
      byteLength += piece.byteLength
      await file.writeFile(piece)
    }
    signal?.throwIfAborted()
    await file.sync()
    await file.close()
    return { sha256: hash.digest('hex'), byteLength }
  } catch (error) {
    await file.close().catch(() => {})
    await unlink(path).catch(() => {})
    throw error
  }
}

/** The bytes in pieces that nobody else holds: what is hashed has to be what is written. */
async function* piecesOf(source: SpoolSource): AsyncGenerator<Uint8Array, void, undefined> {
  if (typeof source === 'string') {
    for (let start = 0, end = 0; start < source.length; start = end) {
      end = start + pieceLength
      if (/[\ud800-\udbff]/.test(source.charAt(end - 1))) end++ // both halves of a pair go into one piece
      yield Buffer.from(source.slice(start, end))
    }
  } else if (source instanceof Uint8Array) {
    for (let start = 0; start < source.byteLength; start += pieceLength) {
      yield Uint8Array.prototype.slice.call(source, start, start + pieceLength)
    }
  } else {
    for await (const piece of source) yield Uint8Array.prototype.slice.call(piece) // a Buffer's own `slice` copies nothing
  }
}

/** Gives a finished file its two names: that of its bytes, where there is none yet, and that of its handle. */
async function name(temporary: string, content: string, own: string): Promise<void> {
  try {
    await link(temporary, content).catch(unless('EEXIST'))
    await link(content, own)
  } catch (error) {
    // The content was deleted in between, or has as many names as the disk allows: our file takes its place.
    unless('ENOENT', 'EMLINK')(error)
    await link(temporary, own)
    await rename(temporary, content)
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(String((error as NodeJS.ErrnoException).code))) throw error
  }
}

const unlessMissing = unless('ENOENT')

/** Refuses in words that tell no path: a model reads them. */
async function guarded<Value>(done: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    const { code, syscall } = (cause ?? {}) as NodeJS.ErrnoException
    if (syscall === undefined) throw cause
    throw new ArtifactError(`The artifact could not be ${done}: ${code ?? 'the disk refused'}.`, { cause })
  }
}

function noArtifact(handle: unknown): ArtifactError {
  const words = JSON.stringify(String(handle).slice(0, 80))
  return new ArtifactError(`There is no artifact ${words} in this session. Call the tool again.`)
}
