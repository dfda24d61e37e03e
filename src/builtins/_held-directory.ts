import { constants, type BigIntStats } from 'node:fs'
import { mkdir, open, readlink, type FileHandle } from 'node:fs/promises'

/** A descriptor that only names a place: it cannot be read, and opening it has no effect on devices and pipes. */
const pathOnly = 0o10000000
const asDirectory = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW
export const asAnything: number = pathOnly | constants.O_NOFOLLOW
const toRead = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const toCreate = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** The user to whom new files belong, if it is not the user of this process. */
export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

/** What has a name in a directory. It was looked at, which has no effect on devices and pipes. */
export interface NamedEntry {
  /** As the file system spells it. */
  readonly name: string
  readonly stats: BigIntStats
  /** Opens a regular file to read it. */
  open(): Promise<FileHandle>
  close(): Promise<void>
}

/** A directory of a workspace, and what is done with one name in it. Only `at` takes a path of more than one name. */
export interface HeldDirectory {
  /** As the file system spells it. */
  readonly name: string
  /** Returns the path of a name in it. Default: its own. */
  at(name?: string): string
  stat(): Promise<BigIntStats>
  /** Enters a directory, or itself by `.`. @throws `ENOTDIR` or `ELOOP` if it is a link. */
  enter(name: string): Promise<HeldDirectory>
  /** Looks at what has a name. A link is not followed. */
  look(name: string): Promise<NamedEntry>
  /** Reads where a link leads. @throws `EINVAL` if it is no link. */
  target(name: string): Promise<string>
  /** Makes a directory. Does nothing if there is one. */
  make(name: string, owner: FileOwner | undefined): Promise<void>
  /** Makes a new file, and opens it to write it. */
  create(name: string): Promise<FileHandle>
  /** @throws `ToolFailure` if another directory has taken its place, as far as that is held. */
  verify(): Promise<void>
  close(): Promise<void>
}

/** Returns the path of a name in an open directory. No link on the way can lead elsewhere. */
export function pathIn(directory: FileHandle, name: string): string {
  return `/proc/self/fd/${directory.fd}/${name}`
}

/** Returns the path that opens what a descriptor names. */
export function descriptorPath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`
}

/** Looks at a path. What is found is opened later through its descriptor, so that it is the same. */
export async function entryAt(path: string, name: string): Promise<DescriptorEntry> {
  const handle = await open(path, asAnything)
  try {
    return new DescriptorEntry(handle, name, await handle.stat({ bigint: true }))
  } catch (error) {
    await handle.close()
    throw error
  }
}

export class DescriptorEntry implements NamedEntry {
  readonly handle: FileHandle
  readonly name: string
  readonly stats: BigIntStats

  constructor(handle: FileHandle, name: string, stats: BigIntStats) {
    this.handle = handle
    this.name = name
    this.stats = stats
  }

  open(): Promise<FileHandle> {
    return open(descriptorPath(this.handle), toRead)
  }

  close(): Promise<void> {
    return this.handle.close()
  }
}

/** A directory that a descriptor holds, on Linux: what is swapped on the way to it changes nothing. */
export class DescriptorDirectory implements HeldDirectory {
  readonly handle: FileHandle
  readonly name: string

  constructor(handle: FileHandle, name: string) {
    this.handle = handle
    this.name = name
  }

  /** @throws if there is no `/proc`. */
  static async open(path: string): Promise<DescriptorDirectory> {
    const directory = new DescriptorDirectory(await open(path, asDirectory), '')
    try {
      await (await directory.enter('.')).close()
    } catch (error) {
      await directory.close()
      throw error
    }
    return directory
  }

  at(name?: string): string {
    return name === undefined ? descriptorPath(this.handle) : pathIn(this.handle, name)
  }

  stat(): Promise<BigIntStats> {
    return this.handle.stat({ bigint: true })
  }

  async enter(name: string): Promise<HeldDirectory> {
    return new DescriptorDirectory(await open(pathIn(this.handle, name), asDirectory), name)
  }

  look(name: string): Promise<NamedEntry> {
    return entryAt(pathIn(this.handle, name), name)
  }

  target(name: string): Promise<string> {
    return readlink(pathIn(this.handle, name))
  }

  async make(name: string, owner: FileOwner | undefined): Promise<void> {
    const path = pathIn(this.handle, name)
    if (!(await madeDirectory(path)) || owner === undefined) return
    const newDirectory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      await newDirectory.chown(owner.uid, owner.gid)
    } finally {
      await newDirectory.close()
    }
  }

  create(name: string): Promise<FileHandle> {
    return open(pathIn(this.handle, name), toCreate, 0o666)
  }

  async verify(): Promise<void> {}

  close(): Promise<void> {
    return this.handle.close()
  }
}

/** Makes a directory. Returns whether there was none. */
export async function madeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}
