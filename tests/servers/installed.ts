import { existsSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'npm', 'node_modules')

/** Why tests that need `tests/servers/npm` cannot run here; nothing where they can. */
export const missing: string | undefined = existsSync(folder)
  ? undefined
  : 'the servers of tests/servers/npm are not installed: npm ci --prefix tests/servers/npm'

/** The path of a program that a package of `tests/servers/npm` brings. */
export function program(name: string): string {
  return join(folder, '.bin', name)
}

/** The path of a file in a package of `tests/servers/npm`. */
export function fileOf(name: string, ...path: readonly string[]): string {
  return join(folder, name, ...path)
}
