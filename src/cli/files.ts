import { constants } from 'node:fs'
import { access, lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
