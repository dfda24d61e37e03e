import { unref } from '#clock'
import { constants } from 'node:fs'
import { lstat, open, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ArtifactError } from '../../errors.ts'
import { isForbidden } from '../../extension.ts'
import { WorkSlots } from './_work-slots.ts'

/** Milliseconds between two touches of a file that is being written. */
export const touchInterval = 60_000
/** Milliseconds without a touch after which a writer counts as dead. */
export const writerTimeout = 600_000

/**
 * The paths of the store. `contents/<sha256>` and each `handles/<handle>` of it are hard links to one file, so the file system
 * counts the uses. A name that ends in `.part` is being written.
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
 * The slots of the whole process, since all stores share its descriptors; one write holds at most three. Streams have slots
 * of their own, so a slow source delays no other work.
 */
export const diskSlots: WorkSlots = new WorkSlots(64)
export const streamSlots: WorkSlots = new WorkSlots(128)

/** Milliseconds to wait before each retry if the process has no descriptors left: 5 s in all. */
const retryWaits = [20, 40, 80, 160, 320, 640, 1_280, 2_460]

/**
 * Opens a file. Retries if there are no descriptors left.
 *
 * @param giveBack Gives back the descriptor that the caller holds: if all hold one and wait for another, none gets it.
 */
async function openedFile(
  path: string,
  flags: string | number,
  mode?: number,
  giveBack?: () => Promise<void>,
): Promise<FileHandle> {
  for (const wait of retryWaits) {
    const file = await open(path, flags, mode).catch(unless('EMFILE', 'ENFILE'))
    if (file !== undefined) return file
    await giveBack?.()
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
  return open(path, flags, mode)
}

/** Opens a new file, readable by its owner alone. Throws if it exists. */
export function createFile(path: string, giveBack?: () => Promise<void>): Promise<FileHandle> {
  return openedFile(path, 'wx', 0o600, giveBack)
}

// Without O_NONBLOCK, opening a pipe waits for a writer; four such waits block all file work of the process.
const plainly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Opens a regular file. Follows no link and waits for no pipe.
 *
 * @returns `undefined` if there is no file.
 */
export async function openToRead(path: string): Promise<FileHandle | undefined> {
  const file = await openedFile(path, plainly).catch(unlessMissing)
  if (file === undefined || (await file.stat()).isFile()) return file
  await file.close()
  throw new ArtifactError('The artifact cannot be read: its path is not a regular file.')
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.byteLength - offset, position + offset)
    offset += bytesWritten
  }
}

/** Touches a file at intervals, so that `collect` sees that its writer is alive. Returns a function that stops it. */
export function beat(path: string): () => void {
  const timer = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {}) // the write itself fails if the file is gone
  }, touchInterval)
  unref(timer)
  return () => clearInterval(timer)
}

/** Waits until the names in a directory are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // Windows cannot open directories
  const directory = await openedFile(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined
}

/** Returns a handler that ignores errors with these codes and throws all others. */
export function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(String((error as NodeJS.ErrnoException).code))) throw error
  }
}

export const unlessMissing: (error: unknown) => undefined = unless('ENOENT')

/** What those who run a machine have to know of codes of its system. */
const diskRefusals: Readonly<Record<string, string>> = {
  EACCES: 'this process may not use the directory',
  EDQUOT: 'the quota of the user is used up',
  EMFILE: 'the process has too many files open: raise its limit, `ulimit -n`',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system may only be read',
}

/** Runs the work. Wraps errors of the system so that their messages name no path, since a model reads them. */
export async function withPlainErrors<Value>(done: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    const { code, syscall, message } = (cause ?? {}) as NodeJS.ErrnoException
    const isRefused = isForbidden(cause)
    if (syscall === undefined && !isRefused) throw cause
    const meaning = code !== undefined && Object.hasOwn(diskRefusals, code) ? `${code}: ${diskRefusals[code]}` : code
    const why = isRefused ? message.replace(/ to ".*"|\.$/g, '') : (meaning ?? 'the disk refused')
    throw new ArtifactError(`The artifact could not be ${done}: ${why}.`, { cause })
  }
}
