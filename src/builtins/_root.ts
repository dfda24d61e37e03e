import type { BigIntStats } from 'node:fs'
import { lstat, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { InvalidConfigurationError } from '../errors.ts'
import {
  DescriptorDirectory,
  descriptorPath,
  entryAt,
  type FileOwner,
  type HeldDirectory,
  type NamedEntry,
} from './_held-directory.ts'
import { pathNames, namesOfTarget, requireShortName } from './_path.ts'
import { byteRules, isRootOfAll, unixRules, windowsRules, type PathRules } from './_path-rules.ts'
import { RealPathDirectory } from './_real-path-directory.ts'
import { OutsideError } from './sandbox.ts'
import { systemCode, pathFailure, quotedPath, refusal } from './_words.ts'

export type { FileOwner } from './_held-directory.ts'

const mostLinks = 40
const deepestDirectory = 256

/** How the paths of a workspace are kept within it. */
export type PathSafety = 'descriptor' | 'real-path'

/** What a path leads to. */
export interface PathEnd {
  /** The last name; `undefined` if the path is that of a directory itself. */
  readonly name: string | undefined
  /** What has the name; `undefined` if there is none. */
  readonly found: NamedEntry | undefined
  readonly stats: BigIntStats | undefined
}

/** Where a path leads: a name in a directory that is held. */
export interface PathPlace extends PathEnd {
  /** The directories from the root to the one that holds the name. */
  readonly steps: readonly HeldDirectory[]
  /** The one that holds the name. */
  readonly directory: HeldDirectory
  /** The names from the root, without links. */
  readonly names: readonly string[]
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

interface RootOptions {
  /** Default: `descriptor` on Linux, `real-path` elsewhere. */
  readonly paths?: PathSafety
  /** Default: the user of this process. */
  readonly owner?: FileOwner | undefined
}

/**
 * Everything below one directory. Links are read, and resolved on a stack of directories. On Linux each step of a path is opened from
 * the descriptor of the step before and follows no link: so what is swapped meanwhile cannot lead out. Elsewhere each step is
 * looked at and its real path compared: that holds as long as nothing is swapped meanwhile.
 */
export class DirectoryRoot {
  /** The real path. */
  readonly path: string
  readonly paths: PathSafety
  readonly rules: PathRules
  readonly owner: FileOwner | undefined
  readonly #top: HeldDirectory
  readonly #paths: readonly string[]

  private constructor(
    top: HeldDirectory,
    paths: readonly [string, ...string[]],
    rules: PathRules,
    { paths: safety, owner }: Required<RootOptions>,
  ) {
    this.#top = top
    this.#paths = paths
    this.path = paths[0]
    this.paths = safety
    this.rules = rules
    this.owner = owner
  }

  /** @throws `E_INVALID_CONFIGURATION` if the path is no directory, or its paths cannot be held so here. */
  static async open(path: string, options: RootOptions = {}): Promise<DirectoryRoot> {
    const { owner, paths = process.platform === 'linux' ? 'descriptor' : 'real-path' } = options
    if (paths === 'descriptor' && process.platform !== 'linux') {
      throw new InvalidConfigurationError(
        `Paths are held by descriptors on Linux alone: on ${process.platform}, \`paths\` is 'real-path'. Use a remote sandbox, or a container, for more.`,
      )
    }
    try {
      const real = await realpath(path)
      const rules = paths === 'descriptor' ? byteRules : await rulesAt(real)
      if (isRootOfAll(real, rules)) throw new Error('it is the root of the file system')
      const top =
        paths === 'descriptor' ? await DescriptorDirectory.open(real) : await RealPathDirectory.open(real, rules)
      return new DirectoryRoot(top, [real, resolve(path)], rules, { paths, owner })
    } catch (cause) {
      const how = paths === 'descriptor' ? ' through /proc' : ''
      const words = `The workspace ${quotedPath(String(path))} is no directory that can be opened${how}: ${(cause as Error).message}.`
      throw new InvalidConfigurationError(words, { cause })
    }
  }

  /** Opens another directory in the same way. */
  beside(path: string): Promise<DirectoryRoot> {
    return DirectoryRoot.open(path, this)
  }

  close(): Promise<void> {
    return this.#top.close()
  }

  /** Finds what a path leads to, and calls `use` with it. Makes nothing. The descriptors are closed afterwards. */
  async find<Value>(path: string, use: (found: PathEnd, directory?: HeldDirectory) => Promise<Value>): Promise<Value> {
    const direct = await this.#direct(pathNames(path, this.#paths, this.rules))
    if (direct === undefined) return this.at(path, (place) => use(place, place.directory))
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
    if (this.paths !== 'descriptor' || name === undefined || name === '.' || names.length > deepestDirectory)
      return undefined
    const path = names.join('/')
    const found = await entryAt(this.#top.at(path), name).catch(() => undefined)
    if (found === undefined) return undefined
    try {
      const { stats } = found
      if (!stats.isSymbolicLink() && (await readlink(descriptorPath(found.handle))) === `${this.path}/${path}`)
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
    const walk = new Walk(path, pathNames(path, this.#paths, this.rules), this.#top, this.#paths, this.rules)
    try {
      if (this.paths !== 'descriptor') await this.#top.verify()
      const place = await walk.toEnd(onMake, this.owner)
      return await use(place)
    } catch (error) {
      throw pathFailure(error, path)
    } finally {
      await walk.close()
    }
  }
}

/** Returns the rules of the file system that holds a directory. */
async function rulesAt(real: string): Promise<PathRules> {
  if (process.platform === 'win32') return windowsRules
  const name = basename(real)
  const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase()
  const [stats, otherStats] = await Promise.all(
    [name, other].map((each) => lstat(join(dirname(real), each), { bigint: true }).catch(() => undefined)),
  )
  const isSensitive = name === other ? process.platform === 'linux' : stats?.ino !== otherStats?.ino
  return unixRules(isSensitive)
}

type OnMake = ((names: readonly string[]) => void) | undefined

class Walk {
  readonly #path: string
  readonly #queue: string[]
  readonly #stack: [HeldDirectory, ...HeldDirectory[]]
  readonly #roots: readonly string[]
  readonly #rules: PathRules
  #found: NamedEntry | undefined
  #links = 0

  constructor(path: string, names: string[], root: HeldDirectory, roots: readonly string[], rules: PathRules) {
    this.#path = path
    this.#queue = names
    this.#stack = [root]
    this.#roots = roots
    this.#rules = rules
  }

  async toEnd(onMake: OnMake, owner: FileOwner | undefined): Promise<PathPlace> {
    for (;;) {
      const name = this.#queue.shift()
      if (name === undefined) return this.#place(undefined, undefined)
      if (name === '.') continue
      if (name === '..') {
        if (this.#stack.length === 1) throw new OutsideError(this.#path, this.#roots[0] ?? '')
        await this.#stack.pop()?.close()
        continue
      }
      requireShortName(name, this.#path)
      this.#rules.requireName(name, this.#path)
      if (this.#queue.length > 0) await this.#enter(name, onMake, owner)
      else {
        const place = await this.#last(name)
        if (place !== undefined) return place
      }
    }
  }

  /** Opens a directory on the way, or puts the target of a link in its place. */
  async #enter(name: string, onMake: OnMake, owner: FileOwner | undefined): Promise<void> {
    const top = this.#top
    try {
      this.#stack.push(await top.enter(name))
      if (this.#stack.length > deepestDirectory)
        throw refusal(`${quotedPath(this.#path)} is more than ${deepestDirectory} directories deep.`)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ENOTDIR' || code === 'ELOOP') return this.#follow(name, error)
      if (code !== 'ENOENT' || onMake === undefined) throw error
      onMake([...this.#names, name, ...this.#queue])
      await top.make(name, owner)
      this.#again(name)
    }
  }

  /** Opens what has the last name. Returns `undefined` if it is a link, whose target is to be walked. */
  async #last(name: string): Promise<PathPlace | undefined> {
    try {
      this.#found = await this.#top.look(name)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return this.#place(name, undefined)
      throw error
    }
    const { stats } = this.#found
    if (!stats.isSymbolicLink()) return this.#place(this.#found.name, stats)
    await this.#found.close()
    this.#found = undefined
    await this.#follow(name)
    return undefined
  }

  async #follow(name: string, otherwise?: unknown): Promise<void> {
    let target: string
    try {
      target = await this.#top.target(name)
    } catch (error) {
      if (systemCode(error) === 'EINVAL' && otherwise !== undefined && systemCode(otherwise) === 'ENOTDIR')
        throw otherwise
      this.#again(name) // it was a link a moment ago
      return
    }
    this.#count()
    const { names, isAbsolute } = namesOfTarget(target, this.#roots, this.#path, this.#rules)
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
    const names = name === undefined ? this.#names : [...this.#names, name]
    return { steps: this.#stack, directory: this.#top, name, found: this.#found, stats, names }
  }

  get #names(): string[] {
    return this.#stack.slice(1).map(({ name }) => name)
  }

  get #top(): HeldDirectory {
    return this.#stack.at(-1) ?? this.#stack[0]
  }

  async #toRoot(): Promise<void> {
    await Promise.all(this.#stack.splice(1).map((directory) => directory.close()))
  }

  async close(): Promise<void> {
    await Promise.all([this.#found?.close(), this.#toRoot()])
    this.#found = undefined
  }
}
