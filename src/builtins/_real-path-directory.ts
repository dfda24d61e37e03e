import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { madeDirectory, type HeldDirectory, type NamedEntry } from './_held-directory.ts'
import type { PathRules } from './_path-rules.ts'
import { quotedPath, refusal } from './_words.ts'

/** On macOS no name on the way may be a link. Elsewhere, and before macOS 11, the last one may not. */
const noLinks = process.platform === 'darwin' ? 0x2000_0000 : systemFlag('O_NOFOLLOW')
const readFlags = constants.O_RDONLY | systemFlag('O_NONBLOCK') | systemFlag('O_NOCTTY') | noLinks
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noLinks

/** Windows has none of these. */
function systemFlag(name: 'O_NOFOLLOW' | 'O_NONBLOCK' | 'O_NOCTTY'): number {
  return (constants as Partial<typeof constants>)[name] ?? 0
}

/**
 * A directory by its real path, on platforms that cannot hold one by a descriptor. Each step is looked at, and its real path
 * compared; so is what was opened. Between a look and the use of the path, another process can still swap what is there.
 */
export class RealPathDirectory implements HeldDirectory {
  readonly #path: string
  readonly #stats: BigIntStats
  readonly #rules: PathRules

  private constructor(path: string, stats: BigIntStats, rules: PathRules) {
    this.#path = path
    this.#stats = stats
    this.#rules = rules
  }

  /** @param path A real path. */
  static async open(path: string, rules: PathRules): Promise<RealPathDirectory> {
    const stats = await lstat(path, { bigint: true })
    if (!stats.isDirectory()) throw systemError('ENOTDIR')
    return new RealPathDirectory(path, stats, rules)
  }

  get name(): string {
    return basename(this.#path)
  }

  at(name?: string): string {
    return name === undefined ? this.#path : join(this.#path, name)
  }

  stat(): Promise<BigIntStats> {
    return lstat(this.#path, { bigint: true })
  }

  async enter(name: string): Promise<HeldDirectory> {
    if (name === '.') {
      await this.verify()
      return this
    }
    const stats = await lstat(this.at(name), { bigint: true })
    if (!stats.isDirectory()) throw systemError(stats.isSymbolicLink() ? 'ELOOP' : 'ENOTDIR')
    return new RealPathDirectory(await this.#realPathOf(name), stats, this.#rules)
  }

  async look(name: string): Promise<NamedEntry> {
    const stats = await lstat(this.at(name), { bigint: true })
    const close = async (): Promise<void> => {}
    if (stats.isSymbolicLink()) {
      return { name, stats, open: () => Promise.reject(systemError('ELOOP')), close }
    }
    const real = await this.#realPathOf(name)
    return { name: basename(real), stats, open: () => openedAs(real, stats), close }
  }

  async target(name: string): Promise<string> {
    const path = this.at(name)
    if (!(await lstat(path)).isSymbolicLink()) throw systemError('EINVAL')
    return readlink(path)
  }

  async make(name: string): Promise<void> {
    await madeDirectory(this.at(name))
  }

  async create(name: string): Promise<FileHandle> {
    await this.verify()
    const path = this.at(name)
    const handle = await open(path, createFlags, 0o666)
    try {
      if ((await realpath(path)) !== path) throw swapped(name)
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async verify(): Promise<void> {
    const stats = await this.stat()
    if (!stats.isDirectory() || !isSameFile(stats, this.#stats) || (await realpath(this.#path)) !== this.#path) {
      throw swapped(this.name)
    }
  }

  async close(): Promise<void> {}

  /** @throws `ToolFailure` if it is not in this directory. */
  async #realPathOf(name: string): Promise<string> {
    const real = await realpath(this.at(name))
    const { fold } = this.#rules
    if (fold(dirname(real)) !== fold(this.#path)) throw swapped(name)
    return real
  }
}

/** Opens a file, and makes sure afterwards that it is the one that was looked at. */
async function openedAs(real: string, stats: BigIntStats): Promise<FileHandle> {
  const handle = await open(real, readFlags)
  try {
    if (!isSameFile(await handle.stat({ bigint: true }), stats) || (await realpath(real)) !== real) {
      throw swapped(basename(real))
    }
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Returns whether it is the same file, as far as the file system gives files numbers. */
function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  // The number of a volume is told in two lengths on Windows.
  return one.ino === other.ino && (process.platform === 'win32' || one.dev === other.dev)
}

function swapped(name: string): Error {
  return refusal(`${quotedPath(name)} leads elsewhere than where it stands, or was swapped meanwhile.`)
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code })
}
