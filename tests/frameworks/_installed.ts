import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Why tests that need the frameworks cannot run here; nothing if they can. */
export const missing: string | undefined = existsSync(join(import.meta.dirname, 'node_modules', 'ai'))
  ? undefined
  : 'the packages of tests/frameworks are not installed: npm ci --omit=optional --prefix tests/frameworks/npm'
