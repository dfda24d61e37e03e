import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns what a bench answers: the first sentence of its file. */
export function questionOf(name: string): string {
  const source = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8')
  const [comment = ''] = /^\/\/ .*(\n\/\/ .*)*/.exec(source) ?? []
  const [sentence = ''] = comment
    .replaceAll(/\n?\/\/ /g, ' ')
    .trim()
    .split(/(?<=[.?]) /)
  return sentence
}
