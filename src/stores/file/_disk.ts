import { constants } from 'node:fs'
import { lstat, open, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ArtifactError } from '../../index.ts'
import { Turns } from './_turns.ts'

/** How often a writer gives a sign of life, and how long one that gave none is taken to be alive, in milliseconds. */
export const beatInterval = 60_000
export const patience = 600_000

/**
 * Where everything lies. `contents/<sha256>` and every `handles/<handle>` of it are one file under several names: the disk
 * counts them for us. What ends in `.part` is being written.
 */
export class Places {
  readonly contents: string
  readonly handles: string

  constructor(directory: string) {
    this.contents = join(directory, 'contents')
    this.handles = join(directory, 'handles')
  }

  content(sha256: string): string {
    return join(this.contents, sha256)
  }

  own(handle: string): string {
    return join(this.handles, handle)
  }

  entry(handle: string): string {
    return join(this.handles, `${handle}.json`)
  }

  newContent(handle: string): string {
    return join(this.contents, `${handle}.part`)
  }

  newEntry(handle: string): string {
    return `${this.entry(handle)}.part`
  }
}

/**
 * Who may use the disk at once, in the whole process, whose descriptors all stores share: one write holds at most three. Those
 * that wait for their source have turns of their own, so that they keep nothing else waiting.
 */
export const diskTurns: Turns = new Turns(64)
export const streamTurns: Turns = new Turns(128)

/** How long to wait, in milliseconds, until a process that is out of descriptors may have some again: 5 s in all. */
const waits = [20, 40, 80, 160, 320, 640, 1_280, 2_460]

/** Opens a file; if there are no descriptors left, tries again, since others close theirs. */
async function opened(path: string, flags: string | number, mode?: number): Promise<FileHandle> {
  for (const wait of waits) {
    const file = await open(path, flags, mode).catch(unless('EMFILE', 'ENFILE'))
    if (file !== undefined) return file
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
  return open(path, flags, mode)
}

/** Opens a file that has to be new, for its owner alone. */
export function create(path: string): Promise<FileHandle> {
  return opened(path, 'wx', 0o600)
}

// Without O_NONBLOCK a pipe under the name waits for a writer, and four of them for all that the process does with files.
const plainly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Opens a regular file, and neither follows a link nor waits for a pipe that is there instead.
 *
 * @returns Nothing if there is no file.
 */
export async function openToRead(path: string): Promise<FileHandle | undefined> {
  const file = await opened(path, plainly).catch(unlessMissing)
  if (file === undefined || (await file.stat()).isFile()) return file
  await file.close()
  throw new ArtifactError('The artifact cannot be read: there is something else than a file in its place.')
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.byteLength - offset, position + offset)
    offset += bytesWritten
  }
}

/** Shows the others that the writer of a file is alive, however slow its source is. Gives back how to stop. */
export function beat(path: string): () => void {
  const timer = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {}) // the write itself will hear of it
  }, beatInterval)
  timer.unref()
  return () => clearInterval(timer)
}

/** Waits until the names in a directory are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // which cannot open directories
  const directory = await opened(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined
}

/** Passes every error on but those of these codes. */
export function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(String((error as NodeJS.ErrnoException).code))) throw error
  }
}

export const unlessMissing: (error: unknown) => undefined = unless('ENOENT')

/** Refuses in words that tell no path: a model reads them. */
export async function guarded<Value>(done: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    const { code, syscall } = (cause ?? {}) as NodeJS.ErrnoException
    if (syscall === undefined) throw cause
    throw new ArtifactError(`The artifact could not be ${done}: ${code ?? 'the disk refused'}.`, { cause })
  }
}
