import { realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { ToolFailure } from '../index.ts'
import { RootFiles } from './_files.ts'
import { belowRoot } from './_path-rules.ts'
import type { DirectoryRoot } from './_root.ts'
import { systemCode, quotedPath, refusal } from './_words.ts'
import { OutsideError, type FileAccess, type Grant } from './sandbox.ts'

/** Returns where a path leads, with all links resolved. For a new file its directory decides. */
async function realPathOf(root: DirectoryRoot, path: string): Promise<string> {
  const fullPath = resolve(root.path, path)
  root.rules.requireLocal(fullPath)
  try {
    return await realpath(fullPath)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    return resolve(await realpath(dirname(fullPath)), basename(fullPath))
  }
}

/** Returns where a path outside a root leads, or `null` if it is within the root. */
export async function outsideOf(root: DirectoryRoot, path: string): Promise<string | null> {
  try {
    await root.at(path, async () => undefined)
    return null
  } catch (error) {
    if (!(error instanceof OutsideError)) return null // the operation tells what is wrong
  }
  try {
    return await realPathOf(root, path)
  } catch (error) {
    if (error instanceof ToolFailure) throw error
    throw refusal(`${quotedPath(path)} leads nowhere.`)
  }
}

/** Opens one path outside a root: a file, or a directory with all below it. */
export async function grantOf(
  root: DirectoryRoot,
  path: string,
  write: boolean,
  protect: readonly string[],
): Promise<Grant> {
  const real = await realPathOf(root, path)
  const requestedPath = resolve(root.path, path)
  const directory = await root.beside(real).catch(() => undefined)
  const own = directory ?? (await root.beside(dirname(real)))
  const files = new RootFiles(own, protect, write)
  /** The path below the granted root that stands for a path of the model. */
  const insideOf = (other: string): string | undefined => {
    const fullPath = resolve(root.path, other)
    for (const each of [requestedPath, real]) {
      const below = belowRoot(fullPath, each, root.rules)
      if (below === '.' && directory === undefined) return basename(real)
      if (below !== undefined && directory !== undefined) return below
    }
    return undefined
  }
  const inside = (other: string): string => {
    const name = insideOf(other)
    if (name === undefined) throw new OutsideError(other, root.path)
    return name
  }
  const view: FileAccess = {
    readFile: async (other, options) => files.readFile(inside(other), options),
    writeFile: async (other, bytes, options) => files.writeFile(inside(other), bytes, options),
    stat: async (other) => files.stat(inside(other)),
    identify: async (other) => files.identify(inside(other)),
    walk: (other, options) => files.walk(inside(other), options),
  }
  const covers = (other: string): boolean => insideOf(other) !== undefined
  return { path: real, files: view, covers, revoke: () => void own.close().catch(() => {}) }
}
