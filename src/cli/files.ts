import { constants } from 'node:fs'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
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
