import { constants, type Dirent } from 'node:fs'
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { IgnoreFile } from './_ignore.ts'
import { pathIn, pathOf, type Root } from './_root.ts'
import type { WalkedFile, WalkOptions } from './sandbox.ts'
import { codeOf } from './_words.ts'

const asDirectory = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW
const deepest = 128
const largestIgnoreFile = 65_536

/** What is known on the way down. */
interface Level {
  readonly handle: FileHandle
  /** From the root; empty, or with a slash at its end. */
  readonly prefix: string
  readonly ignores: readonly { readonly file: IgnoreFile; readonly prefix: string }[]
}

/** How many entries may still be looked at, and where in a path the walk began. */
interface Budget {
  left: number
  readonly from: number
}

/** Yields the files below a path. Directories are held while they are read, and no link is followed. */
export async function* walkFrom(
  root: Root,
  path: string,
  options: WalkOptions,
): AsyncGenerator<WalkedFile, void, undefined> {
  const start = await root.at(path, async (place) => {
    const { steps, name, found, stats, names } = place
    if (stats?.isFile()) {
      return { file: { path: names.join('/'), size: Number(stats.size), modifiedAt: Number(stats.mtimeMs) } }
    }
    if (found === undefined) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
    const ignores: Level['ignores'][number][] = []
    const above = name === undefined ? steps.slice(0, -1) : steps
    for (const [index, { handle }] of above.entries()) {
      const file = options.hidden === true ? undefined : await ignoreFileIn(handle)
      if (file !== undefined)
        ignores.push({
          file,
          prefix: names
            .slice(0, index)
            .map((each) => `${each}/`)
            .join(''),
        })
    }
    const prefix = names.map((each) => `${each}/`).join('')
    return { level: { handle: await open(place.at(), asDirectory), prefix, ignores } }
  })
  if (start.file !== undefined) {
    if (options.matches?.(start.file.path, basename(start.file.path)) !== false) yield start.file
    return
  }
  const budget = { left: options.limit ?? 100_000, from: start.level.prefix.length }
  yield* below(start.level, options, budget, 0)
  if (budget.left < 0) options.onLimit?.()
}

async function* below(
  { handle, prefix, ignores }: Level,
  options: WalkOptions,
  budget: Budget,
  depth: number,
): AsyncGenerator<WalkedFile, void, undefined> {
  try {
    options.signal?.throwIfAborted()
    const entries = await entriesOf(handle, budget)
    const own = entries.some(({ name }) => name === '.gitignore') && options.hidden !== true
    const file = own ? await ignoreFileIn(handle) : undefined
    const all = file === undefined ? ignores : [...ignores, { file, prefix }]
    for (const entry of entries) {
      const path = prefix + entry.name
      const isDirectory = entry.isDirectory()
      if (isLeftOut(entry.name, path, isDirectory, all, options.hidden === true)) continue
      if (isDirectory && depth < deepest) {
        const next = await entered(handle, entry.name)
        if (next !== undefined)
          yield* below({ handle: next, prefix: `${path}/`, ignores: all }, options, budget, depth + 1)
      } else if (entry.isFile() && options.matches?.(path, path.slice(budget.from)) !== false) {
        const stats = await lstat(pathIn(handle, entry.name)).catch(() => undefined)
        if (stats?.isFile()) yield { path, size: stats.size, modifiedAt: stats.mtimeMs }
      }
    }
  } finally {
    await handle.close()
  }
}

async function entriesOf(handle: FileHandle, budget: Budget): Promise<Dirent[]> {
  const entries: Dirent[] = []
  for await (const entry of await opendir(pathOf(handle), { bufferSize: 256 })) {
    if (--budget.left < 0) break
    entries.push(entry)
  }
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function isLeftOut(
  name: string,
  path: string,
  isDirectory: boolean,
  ignores: Level['ignores'],
  hidden: boolean,
): boolean {
  if (name === '.git') return true
  if (hidden) return false
  if (name === 'node_modules') return true
  for (const { file, prefix } of ignores.toReversed()) {
    const hides = file.hides(path.slice(prefix.length), isDirectory)
    if (hides !== undefined) return hides
  }
  return false
}

/** Returns `undefined` if the directory has gone, or was replaced. */
async function entered(handle: FileHandle, name: string): Promise<FileHandle | undefined> {
  try {
    return await open(pathIn(handle, name), asDirectory)
  } catch (error) {
    if (codeOf(error) === 'EMFILE' || codeOf(error) === 'ENFILE') throw error
    return undefined
  }
}

async function ignoreFileIn(handle: FileHandle): Promise<IgnoreFile | undefined> {
  const named = await open(pathIn(handle, '.gitignore'), 0o10000000 | constants.O_NOFOLLOW).catch(() => undefined)
  if (named === undefined) return undefined
  try {
    const stats = await named.stat()
    if (!stats.isFile() || stats.size > largestIgnoreFile) return undefined
    const file = await open(pathOf(named), constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return await IgnoreFile.of(await file.readFile('utf8'))
    } finally {
      await file.close()
    }
  } catch {
    return undefined // it cannot be read: it hides nothing
  } finally {
    await named.close()
  }
}
