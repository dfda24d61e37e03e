import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { globSync } from 'tinyglobby'
import { build } from 'vite'

const root = join(import.meta.dirname, '..', '..')
/** Where the page of the inspector is built. */
export const pageFolder: string = join(root, 'dist', 'devtools', 'inspector')

/** Builds the page of the inspector, if it is not that of the sources. Several may do so at once. */
export async function buildPage(): Promise<void> {
  const sources = globSync(
    ['src/devtools/inspector/page/*', 'src/client/{browser,protocol}.ts', 'src/client/browser/*'],
    {
      cwd: root,
      absolute: true,
    },
  )
  const newest = Math.max(...sources.map(timeOf))
  if (timeOf(join(pageFolder, 'page.js')) > newest) return
  mkdirSync(dirname(pageFolder), { recursive: true })
  const folder = mkdtempSync(join(dirname(pageFolder), '.page-'))
  try {
    const configFile = join(root, 'src', 'devtools', 'inspector', 'page', 'vite.config.ts')
    await build({ configFile, mode: 'production', build: { outDir: folder } })
    mkdirSync(pageFolder, { recursive: true })
    for (const name of readdirSync(folder)) renameSync(join(folder, name), join(pageFolder, name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
