import { randomBytes } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { link, lstat, rename, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { HeldDirectory } from './_held-directory.ts'
import { readUpTo, type PathEnd, type FileOwner, type PathPlace, type DirectoryRoot } from './_root.ts'
import type {
  FileAccess,
  FileContent,
  FileStatus,
  ReadOptions,
  WalkedFile,
  WalkOptions,
  WriteOptions,
} from './sandbox.ts'
import { NameQueue } from './_name-queue.ts'
import { walkFrom } from './_walk.ts'
import { systemCode, quotedPath, refusal } from './_words.ts'

/** Bytes that one read gives at most. */
const mostRead = 67_108_864
/** All that this process writes, by the identity of the file: no other write comes between the look at a version and the new file. */
const writes = new NameQueue()

/**
 * Names that are never written, at any depth and in any case of their letters: what a host, a shell or an editor runs or
 * believes later.
 */
export const protectedNames: readonly string[] = (
  '.git .gitmodules .gitconfig .envrc .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile ' +
  '.zlogin .ripgreprc .vscode .idea .mcp.json .claude .cursor'
).split(' ')

/** The files below a root. */
export class RootFiles implements FileAccess {
  readonly #root: DirectoryRoot
  readonly #protected: ReadonlySet<string>
  readonly #mayWrite: boolean

  constructor(root: DirectoryRoot, protect: readonly string[] = protectedNames, mayWrite = true) {
    this.#root = root
    this.#protected = new Set(protect.map(root.rules.broadFold))
    this.#mayWrite = mayWrite
  }

  readFile(path: string, options: ReadOptions = {}): Promise<FileContent> {
    return this.#root.find(path, async (place) => {
      const { found, stats } = regular(place, path)
      if (found === undefined || stats === undefined) throw missing(path)
      options.signal?.throwIfAborted()
      const handle = await found.open()
      try {
        return {
          bytes: await readRange(handle, Number(stats.size), options, path),
          size: Number(stats.size),
          version: fileVersion(stats),
        }
      } finally {
        await handle.close()
      }
    })
  }

  async writeFile(
    path: string,
    bytes: Uint8Array,
    options: WriteOptions = {},
  ): Promise<{ readonly version: string; readonly created: boolean }> {
    if (!this.#mayWrite) throw refusal(`${quotedPath(path)} may only be read.`)
    return this.#root.at(
      path,
      async (place) => {
        const { stats } = regular(place, path)
        this.#requireWritable(place.names, path)
        return replace(place, bytes, stats, this.#root, options, path)
      },
      (names) => this.#requireWritable(names, path),
    )
  }

  async stat(path: string): Promise<FileStatus | null> {
    try {
      return await this.#root.find(path, fileStatus)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null
      throw error
    }
  }

  async identify(path: string): Promise<string> {
    try {
      return await this.#root.at(path, (place) => pathIdentity(place, this.#root))
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
      return join(this.#root.path, path) // its directory is not made yet
    }
  }

  walk(path: string, options: WalkOptions = {}): AsyncIterable<WalkedFile> {
    return walkFrom(this.#root, path, options)
  }

  #requireWritable(names: readonly string[], path: string): void {
    const name = names.find((each) => this.#protected.has(this.#root.rules.broadFold(each)))
    if (name === undefined) return
    throw refusal(
      `${quotedPath(path)} is protected: ${quotedPath(name)} is never written, since programs of the host obey it.`,
    )
  }
}

/** Returns what all paths to a name have in common, in every root above it: its directory and the name in it. */
async function pathIdentity({ directory, name = '.' }: PathPlace, { rules }: DirectoryRoot): Promise<string> {
  const { dev, ino } = await directory.stat()
  return [dev, ino, rules.fold(name)].join(':')
}

async function fileStatus({ stats, name }: PathEnd, directory?: HeldDirectory): Promise<FileStatus | null> {
  const currentStats = stats ?? (name === undefined ? await directory?.stat() : undefined)
  if (currentStats === undefined) return null
  const kind = currentStats.isFile() ? 'file' : currentStats.isDirectory() ? 'directory' : 'other'
  return { kind, size: Number(currentStats.size), version: fileVersion(currentStats) }
}

/** Refuses what is no regular file: nothing is opened that could wait or have an effect. */
function regular({ found, stats, name }: PathEnd, path: string): Pick<PathEnd, 'found' | 'stats'> {
  if (name === undefined || stats?.isDirectory())
    throw refusal(`${quotedPath(path)} is a directory.`, 'List it with fs_glob.')
  if (stats !== undefined && !stats.isFile())
    throw refusal(`${quotedPath(path)} is no regular file but ${fileKind(stats)}.`)
  return { found, stats }
}

function fileKind(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a pipe'
  if (stats.isSocket()) return 'a socket'
  return 'a device'
}

function missing(path: string): Error {
  return refusal(`There is no file ${quotedPath(path)}.`, 'See what there is with fs_glob.')
}

/** Tells one state of a file from another, also of another file of the same name. */
export function fileVersion({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  // The number of a volume is told in two lengths on Windows.
  return [process.platform === 'win32' ? 0 : dev, ino, size, mtimeNs, ctimeNs].join(':')
}

async function readRange(handle: FileHandle, size: number, options: ReadOptions, path: string): Promise<Uint8Array> {
  const start = Math.min(options.start ?? 0, size)
  const end = Math.max(start, Math.min(options.end ?? size, size))
  if (end - start > mostRead) {
    throw refusal(
      `${quotedPath(path)} has ${size.toLocaleString('en')} bytes: too many to read at once.`,
      'Read a part of it.',
    )
  }
  return readUpTo(handle, end - start, start, options.signal)
}

/** Writes a new file beside the old one and gives it its name: a reader sees the whole old or the whole new one. */
async function replace(
  place: PathPlace,
  bytes: Uint8Array,
  before: BigIntStats | undefined,
  root: DirectoryRoot,
  { expect, signal }: WriteOptions,
  path: string,
): Promise<{ readonly version: string; readonly created: boolean }> {
  const { directory, name = '.' } = place
  const temporaryName = `.${randomBytes(9).toString('hex')}.tmp`
  const temporary = directory.at(temporaryName)
  const target = directory.at(name)
  const handle = await directory.create(temporaryName)
  try {
    await handle.writeFile(bytes)
    await adopt(handle, before, root.owner)
    await handle.sync()
    return await writes.take([await pathIdentity(place, root)], signal, async () => {
      requireSameFile(await present(target), expect, path)
      await directory.verify()
      signal?.throwIfAborted()
      if (expect === null) await link(temporary, target)
      else await rename(temporary, target)
      // Before the version is taken: the end of the second name changes the file's time of change.
      if (expect === null) await unlink(temporary)
      return { version: fileVersion(await handle.stat({ bigint: true })), created: before === undefined }
    })
  } catch (error) {
    throw expect === null && systemCode(error) === 'EEXIST' ? changedSinceRead(path) : error
  } finally {
    await handle.close()
    await unlink(temporary).catch(() => {}) // after the rename there is none
  }
}

/** Gives a new file the mode and owner of the old one. What would run it with another user's rights is left out. */
async function adopt(handle: FileHandle, before: BigIntStats | undefined, owner: FileOwner | undefined): Promise<void> {
  if (process.getuid?.() === 0) {
    const uid = before === undefined ? owner?.uid : Number(before.uid)
    const gid = before === undefined ? owner?.gid : Number(before.gid)
    if (uid !== undefined && gid !== undefined) await handle.chown(uid, gid)
  }
  if (before !== undefined) await handle.chmod(Number(before.mode) & 0o777)
}

/** What has the name now. */
async function present(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function requireSameFile(stats: BigIntStats | undefined, expect: string | null | undefined, path: string): void {
  if (expect === undefined) return
  if ((stats === undefined ? null : fileVersion(stats)) !== expect) throw changedSinceRead(path)
}

function changedSinceRead(path: string): Error {
  return refusal(
    `${quotedPath(path)} has changed since it was read. Nothing was written.`,
    'Read it again, then repeat the change.',
  )
}
