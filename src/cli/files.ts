import { constants, readFileSync } from 'node:fs'
import { access, lstat, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from './arguments.ts'
import { thrownMessage } from './host.ts'

/** Writes a file that is not there yet, and makes its folder. @throws {UsageError} if it is there, or cannot be written. */
export async function writeNew(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await access(dirname(path), constants.W_OK)
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${thrownMessage(error)}`)
  }
}

/** Whether a folder has a file of this path. A link counts, wherever it leads. @throws {UsageError} if the folder cannot be read. */
export async function hasFile(folder: string, path: string): Promise<boolean> {
  try {
    await lstat(join(folder, path))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw new UsageError(`${folder} cannot be used: ${thrownMessage(error)}`)
  }
}

/** Returns the version of this package. */
export function packageVersion(): string {
  const manifest = createRequire(import.meta.url)('toolwright/package.json') as { readonly version: string }
  return manifest.version
}

/** Returns the version of the package that has a file, or `undefined` if that tells none. @param path As the user typed it. */
export function versionOfFile(path: string): string | undefined {
  const file = resolve(path)
  for (let folder = dirname(file), inner = file; folder !== inner; inner = folder, folder = dirname(folder)) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const { version } = Object(manifest) as { readonly version?: unknown }
      if (typeof version === 'string' && version !== '') return version
    } catch {
      // There is none, or none that can be read: the folder above may have one.
    }
  }
  return undefined
}
