import { constants } from 'node:fs'
import { open, stat, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ArtifactError } from '../../index.ts'

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

/** Opens a file that has to be new, for its owner alone. */
export function create(path: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600)
}

/** Opens a file as it is, and follows no link that somebody put in its place; nothing where there is none. */
export async function openToRead(path: string): Promise<FileHandle | undefined> {
  return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(unlessMissing)
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
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

export async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessMissing)) !== undefined
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
