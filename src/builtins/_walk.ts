import type { Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { posix } from 'node:path'
import type { HeldDirectory } from './_held-directory.ts'
import { IgnoreFile } from './_ignore.ts'
import { readUpTo, type PathPlace, type DirectoryRoot } from './_root.ts'
import type { WalkedFile, WalkOptions } from './sandbox.ts'
import { systemCode, quotedPath, refusal } from './_words.ts'

const deepestWalk = 128
const largestIgnoreFile = 65_536

/** What is known on the way down. */
interface Level {
  readonly directory: HeldDirectory
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
  root: DirectoryRoot,
  path: string,
  options: WalkOptions,
): AsyncGenerator<WalkedFile, void, undefined> {
  const start = await root.at(path, async (place) => {
    const { steps, name = '.', stats, names } = place
    requireStart(place, path)
    if (stats?.isFile()) {
      return { file: { path: names.join('/'), size: Number(stats.size), modifiedAt: Number(stats.mtimeMs) } }
    }
    const ignores: Level['ignores'][number][] = []
    const above = place.name === undefined ? steps.slice(0, -1) : steps
    for (const [index, directory] of above.entries()) {
      const file = options.hidden === true ? undefined : await ignoreFileIn(directory)
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
    return { level: { directory: await place.directory.enter(name), prefix, ignores } }
  })
  if (start.file !== undefined) {
    if (options.matches?.(start.file.path, posix.basename(start.file.path)) !== false) yield start.file
    return
  }
  const budget = { left: options.limit ?? 100_000, from: start.level.prefix.length }
  yield* below(start.level, options, budget, 0)
  if (budget.left < 0) options.onLimit?.()
}

/** Returns where a search begins: a path from the root without links, of a file or a directory. */
export function startOf(root: DirectoryRoot, path: string): Promise<string> {
  return root.at(path, async (place) => {
    requireStart(place, path)
    return place.names.join('/') || '.'
  })
}

/** Refuses what is neither a file nor a directory: a pipe would be waited for. */
function requireStart({ found, stats, name }: PathPlace, path: string): void {
  if (name !== undefined && found === undefined) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
  if (name === undefined || stats?.isFile() === true || stats?.isDirectory() === true) return
  throw refusal(`${quotedPath(path)} is neither a file nor a directory.`)
}

async function* below(
  { directory, prefix, ignores }: Level,
  options: WalkOptions,
  budget: Budget,
  depth: number,
): AsyncGenerator<WalkedFile, void, undefined> {
  try {
    options.signal?.throwIfAborted()
    const entries = await directoryEntries(directory, budget)
    const own = entries.some(({ name }) => name === '.gitignore') && options.hidden !== true
    const file = own ? await ignoreFileIn(directory) : undefined
    const all = file === undefined ? ignores : [...ignores, { file, prefix }]
    for (const entry of entries) {
      const path = prefix + entry.name
      const isDirectory = entry.isDirectory()
      if (isLeftOut(entry.name, path, isDirectory, all, options.hidden === true)) continue
      if (isDirectory && depth < deepestWalk) {
        const next = await entered(directory, entry.name)
        if (next !== undefined)
          yield* below({ directory: next, prefix: `${path}/`, ignores: all }, options, budget, depth + 1)
      } else if (entry.isFile() && options.matches?.(path, path.slice(budget.from)) !== false) {
        const stats = await lstat(directory.at(entry.name)).catch(() => undefined)
        if (stats?.isFile()) {
          const read = (end: number): Promise<Uint8Array> => readIn(directory, entry.name, end)
          yield { path, size: stats.size, modifiedAt: stats.mtimeMs, read }
        }
      }
    }
  } finally {
    await directory.close()
  }
}

async function directoryEntries(directory: HeldDirectory, budget: Budget): Promise<Dirent[]> {
  const entries: Dirent[] = []
  for await (const entry of await opendir(directory.at(), { bufferSize: 256 })) {
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
async function entered(directory: HeldDirectory, name: string): Promise<HeldDirectory | undefined> {
  try {
    return await directory.enter(name)
  } catch (error) {
    if (systemCode(error) === 'EMFILE' || systemCode(error) === 'ENFILE') throw error
    return undefined
  }
}

/** Reads a file of a directory that is held. @throws if it is no regular file any more. */
async function readIn(directory: HeldDirectory, name: string, most: number): Promise<Uint8Array> {
  const named = await directory.look(name)
  try {
    if (!named.stats.isFile()) throw new Error('It is no regular file.')
    const file = await named.open()
    try {
      return await readUpTo(file, Math.min(most, Number(named.stats.size)))
    } finally {
      await file.close()
    }
  } finally {
    await named.close()
  }
}

async function ignoreFileIn(directory: HeldDirectory): Promise<IgnoreFile | undefined> {
  try {
    const bytes = await readIn(directory, '.gitignore', largestIgnoreFile + 1)
    return bytes.length > largestIgnoreFile ? undefined : await IgnoreFile.of(Buffer.from(bytes).toString())
  } catch {
    return undefined // it cannot be read: it hides nothing
  }
}
