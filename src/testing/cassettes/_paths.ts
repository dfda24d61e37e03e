import { InvalidConfigurationError } from '../../errors.ts'

/** The paths of the tapes that are being recorded in this process. */
export const openPaths: Set<string> = new Set()

/** @throws `E_INVALID_CONFIGURATION` if another tape is recording the file. */
export function requireFreePath(path: string): void {
  if (!openPaths.has(path)) return
  throw new InvalidConfigurationError(
    `The cassette ${path} is being recorded already. Save it first, or give each its own file.`,
  )
}
