// The walls of the kernel, in bytes of its sources. `npm run walls` lowers those that stand too high. A person raises one by hand,
// in a change of its own that says why.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'

/** The most bytes of the files of each folder. */
export type Walls = Readonly<Record<string, number>>

const root = join(import.meta.dirname, '..')
const path = join(import.meta.dirname, 'walls.json')

/** Returns the walls as they stand. */
export function walls(): Walls {
  return JSON.parse(readFileSync(path, 'utf8')) as Walls
}

/** Returns the bytes of all sources of a folder. */
export function bytesOf(folder: string): number {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root, absolute: true })
  return files.reduce((sum, file) => sum + statSync(file).size, 0)
}

if (process.argv[1] === import.meta.filename) {
  const lowered = Object.entries(walls()).map(([folder, most]) => [folder, Math.min(most, bytesOf(folder))])
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`)
}
