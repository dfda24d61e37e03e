// Which promises are shown here: every one that is listed has a test of its name, and no file shows one twice.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** The promises to show, by system; more may be shown. */
const promises: Readonly<Record<string, readonly number[]>> = {
  USR: range(1, 8),
  NEW: range(1, 6),
  AIDK: [...range(1, 28), ...range(39, 53), 55],
  STR: [...range(1, 24), 27, 28, ...range(30, 33)],
  AGK: range(1, 26),
  KODE: [...range(1, 7), ...range(9, 13), ...range(15, 43), ...range(45, 55), ...range(57, 59), ...range(61, 63)],
  ADK: range(1, 40),
}

const files = readdirSync(import.meta.dirname).filter(
  (file) => /\.test(-d)?\.ts$/.test(file) && !file.startsWith('rows.'),
)

/** The IDs with which the titles of a file begin. */
function shownIn(file: string): string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
  return Array.from(text.matchAll(/^ *(?:it|test)(?:\.\w+)*\(\s*['"`]([A-Z]+-\d\d)\b/gm), ([, id = '']) => id)
}

it('every promise that is to be shown has a test', () => {
  const shown = new Set(files.flatMap(shownIn))
  const wanted = Object.entries(promises).flatMap(([system, numbers]) =>
    numbers.map((number) => `${system}-${String(number).padStart(2, '0')}`),
  )
  expect(wanted.filter((id) => !shown.has(id))).toEqual([])
})

it.each(files)('%s shows no promise twice, and every test of it shows one', (file) => {
  const shown = shownIn(file)
  expect(shown.filter((id, index) => shown.indexOf(id) !== index)).toEqual([])
  const tests = readFileSync(join(import.meta.dirname, file), 'utf8').match(/^ *(?:it|test)(?:\.\w+)*\(/gm)
  expect(shown).toHaveLength(tests?.length ?? 0)
})
