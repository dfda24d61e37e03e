import { constants, type BigIntStats } from 'node:fs'
import { mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidConfigurationError } from '../errors.ts'
import { pathNames, namesOfTarget, requireShortName } from './_path.ts'
import { OutsideError } from './sandbox.ts'
import { systemCode, pathFailure, quotedPath, refusal } from './_words.ts'

/** A descriptor that only names a place: it cannot be read, and opening it has no effect on devices and pipes. */
const pathOnly = 0o10000000
export const asDirectory: number = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW
export const asAnything: number = pathOnly | constants.O_NOFOLLOW
const mostLinks = 40
const deepestDirectory = 256

/** The user to whom new files belong, if it is not the user of this process. */
export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

interface DirectoryStep {
  readonly handle: FileHandle
  readonly name: string
}

/** What a path leads to. */
export interface PathEnd {
  /** The last name; `undefined` if the path is that of a directory itself. */
  readonly name: string | undefined
  /** What has the name, opened without an effect; `undefined` if there is none. */
  readonly found: FileHandle | undefined
  readonly stats: BigIntStats | undefined
}

/** Where a path leads: a name in a directory that is held open. */
export interface PathPlace extends PathEnd {
  /** The directories from the root to the one that holds the name. */
  readonly steps: readonly DirectoryStep[]
  /** The names from the root, without links. */
  readonly names: readonly string[]
  /** Returns the path of the name, or of another one beside it, through the descriptor of the directory. */
  readonly at: (name?: string) => string
}

/** The path of a name in an open directory. No link on the way can lead elsewhere. */
export function pathIn(directory: FileHandle, name: string): string {
  return `/proc/self/fd/${directory.fd}/${name}`
}

/** The path that opens what a descriptor names. */
export function descriptorPath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`
}

/** Returns bytes of an open file, or fewer if it ends before. */
export async function readUpTo(
  file: FileHandle,
  length: number,
  start: number = 0,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/**
 * Everything below one directory. Each step of a path is opened from the descriptor of the step before and follows no link;
 * links are read, and resolved on the stack of these descriptors. So what is swapped meanwhile cannot lead out.
 */
export class DirectoryRoot {
  /** The real path. */
  readonly path: string
  readonly owner: FileOwner | undefined
  readonly #handle: FileHandle
  readonly #paths: readonly string[]

  private constructor(handle: FileHandle, paths: readonly [string, ...string[]], owner: FileOwner | undefined) {
    this.#handle = handle
    this.#paths = paths
    this.path = paths[0]
    this.owner = owner
  }

  /** @throws `E_INVALID_CONFIGURATION` if the path is no directory, or this is not Linux with `/proc`. */
  static async open(path: string, owner?: FileOwner): Promise<DirectoryRoot> {
    if (process.platform !== 'linux') {
      throw new InvalidConfigurationError(
        `A workspace of this machine needs Linux: on ${process.platform} no path can be held. Use a remote sandbox, or a container.`,
      )
    }
    try {
      const real = await realpath(path)
      if (real === '/') throw new Error('it is the root of the file system')
      const handle = await open(real, asDirectory)
      await (await open(pathIn(handle, '.'), asDirectory)).close() // fails if there is no /proc
      return new DirectoryRoot(handle, [real, resolve(path)], owner)
    } catch (cause) {
      const words = `The workspace ${quotedPath(String(path))} is no directory that can be opened through /proc: ${(cause as Error).message}.`
      throw new InvalidConfigurationError(words, { cause })
    }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  /** Finds what a path leads to, and calls `use` with it. Makes nothing. The descriptors are closed afterwards. */
  async find<Value>(path: string, use: (found: PathEnd) => Promise<Value>): Promise<Value> {
    const direct = await this.#direct(pathNames(path, this.#paths))
    if (direct === undefined) return this.at(path, use)
    try {
      return await use(direct)
    } catch (error) {
      throw pathFailure(error, path)
    } finally {
      await direct.found?.close()
    }
  }

  /**
   * Opens a path in one step, without an effect. Afterwards the kernel tells where it led: that is another path if a link was
   * on the way. Returns `undefined` unless it is exactly the path below the root; then it has to be walked.
   */
  async #direct(names: readonly string[]): Promise<PathEnd | undefined> {
    const name = names.at(-1)
    if (name === undefined || name === '.' || names.length > deepestDirectory) return undefined
    const path = names.join('/')
    const found = await open(pathIn(this.#handle, path), asAnything).catch(() => undefined)
    if (found === undefined) return undefined
    try {
      const stats = await found.stat({ bigint: true })
      if (!stats.isSymbolicLink() && (await readlink(descriptorPath(found))) === `${this.path}/${path}`)
        return { found, stats, name }
    } catch {
      // it has gone: the walk tells
    }
    await found.close()
    return undefined
  }

  /**
   * Walks to a path, and calls `use` with its place. The descriptors are closed afterwards.
   *
   * @param onMake Called before a missing directory is made, with its names and those that follow. Default: none is made.
   */
  async at<Value>(
    path: string,
    use: (place: PathPlace) => Promise<Value>,
    onMake?: (names: readonly string[]) => void,
  ): Promise<Value> {
    const walk = new Walk(path, pathNames(path, this.#paths), { handle: this.#handle, name: '' }, this.#paths)
    try {
      const place = await walk.toEnd(onMake, this.owner)
      return await use(place)
    } catch (error) {
      throw pathFailure(error, path)
    } finally {
      await walk.close()
    }
  }
}

type OnMake = ((names: readonly string[]) => void) | undefined

class Walk {
  readonly #path: string
  readonly #queue: string[]
  readonly #stack: [DirectoryStep, ...DirectoryStep[]]
  readonly #roots: readonly string[]
  #found: FileHandle | undefined
  #links = 0

  constructor(path: string, names: string[], root: DirectoryStep, roots: readonly string[]) {
    this.#path = path
    this.#queue = names
    this.#stack = [root]
    this.#roots = roots
  }

  async toEnd(onMake: OnMake, owner: FileOwner | undefined): Promise<PathPlace> {
    for (;;) {
      const name = this.#queue.shift()
      if (name === undefined) return this.#place(undefined, undefined)
      if (name === '.') continue
      if (name === '..') {
        if (this.#stack.length === 1) throw new OutsideError(this.#path, this.#roots[0] ?? '')
        await this.#stack.pop()?.handle.close()
        continue
      }
      requireShortName(name, this.#path)
      if (this.#queue.length > 0) await this.#enter(name, onMake, owner)
      else {
        const place = await this.#last(name)
        if (place !== undefined) return place
      }
    }
  }

  /** Opens a directory on the way, or puts the target of a link in its place. */
  async #enter(name: string, onMake: OnMake, owner: FileOwner | undefined): Promise<void> {
    const step = pathIn(this.#top, name)
    try {
      this.#stack.push({ handle: await open(step, asDirectory), name })
      if (this.#stack.length > deepestDirectory)
        throw refusal(`${quotedPath(this.#path)} is more than ${deepestDirectory} directories deep.`)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ENOTDIR' || code === 'ELOOP') return this.#follow(name, error)
      if (code !== 'ENOENT' || onMake === undefined) throw error
      onMake([...this.#names, name, ...this.#queue])
      await this.#make(step, owner)
      this.#again(name)
    }
  }

  async #make(step: string, owner: FileOwner | undefined): Promise<void> {
    try {
      await mkdir(step)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
      return
    }
    if (owner === undefined) return
    const newDirectory = await open(step, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      await newDirectory.chown(owner.uid, owner.gid)
    } finally {
      await newDirectory.close()
    }
  }

  /** Opens what has the last name. Returns `undefined` if it is a link, whose target is to be walked. */
  async #last(name: string): Promise<PathPlace | undefined> {
    try {
      this.#found = await open(pathIn(this.#top, name), asAnything)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return this.#place(name, undefined)
      throw error
    }
    const stats = await this.#found.stat({ bigint: true })
    if (!stats.isSymbolicLink()) return this.#place(name, stats)
    await this.#found.close()
    this.#found = undefined
    await this.#follow(name)
    return undefined
  }

  async #follow(name: string, otherwise?: unknown): Promise<void> {
    let target: string
    try {
      target = await readlink(pathIn(this.#top, name))
    } catch (error) {
      if (systemCode(error) === 'EINVAL' && otherwise !== undefined && systemCode(otherwise) === 'ENOTDIR')
        throw otherwise
      this.#again(name) // it was a link a moment ago
      return
    }
    this.#count()
    const { names, isAbsolute } = namesOfTarget(target, this.#roots, this.#path)
    if (isAbsolute) await this.#toRoot()
    // A link to a directory may be the last name; what follows decides whether it has to be one.
    if (this.#queue.length > 0 && names.at(-1) === '.') names.pop()
    this.#queue.unshift(...names)
  }

  #again(name: string): void {
    this.#count()
    this.#queue.unshift(name)
  }

  #count(): void {
    if (++this.#links > mostLinks) throw refusal(`${quotedPath(this.#path)} has more than ${mostLinks} links.`)
  }

  #place(name: string | undefined, stats: BigIntStats | undefined): PathPlace {
    const top = this.#top
    const names = name === undefined ? this.#names : [...this.#names, name]
    const found = name === undefined ? top : this.#found
    return { steps: this.#stack, name, found, stats, names, at: (other = name ?? '.') => pathIn(top, other) }
  }

  get #names(): string[] {
    return this.#stack.slice(1).map(({ name }) => name)
  }

  get #top(): FileHandle {
    return (this.#stack.at(-1) ?? this.#stack[0]).handle
  }

  async #toRoot(): Promise<void> {
    await Promise.all(this.#stack.splice(1).map(({ handle }) => handle.close()))
  }

  async close(): Promise<void> {
    await Promise.all([this.#found?.close(), this.#toRoot()])
    this.#found = undefined
  }
}
