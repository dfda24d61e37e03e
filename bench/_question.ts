import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The names of all benches. */
export const benches: readonly string[] = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.startsWith('_') && file !== 'index.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()

/** Returns what a bench answers: the first sentence of its file. */
export function questionOf(name: string): string {
  return sentencesOf(name)[0] ?? ''
}

/** Returns how to read its tables: the other sentences that its file begins with. */
export function legendOf(name: string): string {
  return sentencesOf(name).slice(1).join(' ')
}

function sentencesOf(name: string): readonly string[] {
  const source = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8')
  const [comment = ''] = /^\/\/ .*(\n\/\/ .*)*/.exec(source) ?? []
  return comment
    .replaceAll(/\n?\/\/ /g, ' ')
    .trim()
    .split(/(?<=[.?]) (?=[A-Z"`])/)
}
