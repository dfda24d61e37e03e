import { join } from 'node:path'
import type { DirectoryRoot } from './_root.ts'
import { quotedPath, refusal } from './_words.ts'

/** Returns the real path of a directory within the root, for a command to start in. */
export function directoryOf(root: DirectoryRoot, path: string = '.'): Promise<string> {
  return root.at(path, async ({ stats, name, names }) => {
    if (name !== undefined && stats?.isDirectory() !== true) throw refusal(`${quotedPath(path)} is no directory.`)
    return join(root.path, ...names)
  })
}
