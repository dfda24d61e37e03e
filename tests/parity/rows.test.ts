// Every promise that was made has a test of its name. None can vanish unseen.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** How many promises each system makes. */
const promises: Readonly<Record<string, number>> = { USR: 11, NEW: 6, AIDK: 55, STR: 33, AGK: 31, KODE: 64, ADK: 40 }

const all = Object.entries(promises).flatMap(([system, count]) =>
  Array.from({ length: count }, (_, index) => `${system}-${String(index + 1).padStart(2, '0')}`),
)
const files = readdirSync(import.meta.dirname).filter(
  (file) => /\.test(-d)?\.ts$/.test(file) && !file.startsWith('rows.'),
)

/** The IDs with which the titles of a file begin. A test that may be skipped shows nothing. */
function shownIn(file: string): string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
  return Array.from(text.matchAll(/^ *it\(\s*['"`]([A-Z]+-\d\d) /gm), ([, id = '']) => id)
}

it('every one of 240 promises has a test', () => {
  const shown = new Set(files.flatMap(shownIn))
  expect(all).toHaveLength(240)
  expect(all.filter((id) => !shown.has(id))).toEqual([])
})

it.each(files)('%s shows no promise twice, and every test of it shows one of those that were made', (file) => {
  const shown = shownIn(file)
  expect(shown.filter((id, index) => shown.indexOf(id) !== index)).toEqual([])
  expect(shown.filter((id) => !all.includes(id))).toEqual([])
  const tests = readFileSync(join(import.meta.dirname, file), 'utf8').match(/^ *(?:it|test|describe\.\w+)\b.*\(/gm)
  expect(shown).toHaveLength(tests?.length ?? 0)
})
