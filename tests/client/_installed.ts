import { existsSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'node_modules')
const chromium = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => join('/usr/bin', name))
  .find((path) => existsSync(path))

/** Why tests that need the packages of `tests/client` cannot run here; nothing if they can. */
export const missing: string | undefined = existsSync(folder)
  ? undefined
  : 'the packages of tests/client are not installed: npm ci --omit=optional --prefix tests/client/npm'

/** Why tests that need Chromium cannot run here; nothing if they can. */
export const missingBrowser: string | undefined =
  missing ?? (chromium === undefined ? 'Chromium is not installed: apt-get install chromium' : undefined)

/** The path of Chromium. */
export const chromiumPath: string = chromium ?? ''
