// Every promise that was made: each has a test of its name, or is absent for a reason. None can vanish unseen.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** How many promises each system makes. */
const promises: Readonly<Record<string, number>> = { USR: 11, NEW: 6, AIDK: 55, STR: 33, AGK: 31, KODE: 64, ADK: 40 }

/** Those that have no test, and why. */
const absent: Readonly<Record<string, string>> = {
  'AIDK-30': 'Tools are no components of a page yet: none is mounted.',
  'AIDK-31': 'Tools are no components of a page yet: none is unmounted.',
  'AIDK-32': 'There is no loop of an agent whose start a component could hear.',
  'AIDK-33': 'There is no loop of an agent: the host calls the model, and knows when.',
  'AIDK-34': 'There is no loop of an agent: the host has the answer of the model.',
  'AIDK-35': 'There is no loop of an agent whose end a component could hear.',
  'AIDK-36': 'There is no loop of an agent that a component could lead on after an error.',
  'AIDK-37': 'Tools are no components of a page yet: none renders.',
  'AIDK-38': 'Tools are no components of a page yet: nothing is compiled of them.',
  'STR-29':
    'There is no object yet that has the tools as its methods; `tool.invoke` and `executor.execute` do the same.',
  'AGK-28': 'A person who approves is shown the prompt and `meta`; there is no preview of its own yet.',
  'AGK-29': 'Tools are no components of a page yet: none can be a tool.',
  'AGK-30':
    'There is no protocol yet that streams events to pages; `executor.stream` and `executor.on` give them to the host.',
  'KODE-08': '`cache` takes its time from its own options, and not from the metadata of a tool yet.',
  'KODE-44': 'The host owns the messages: there is no loop that could tell of their change.',
}

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

it('all 240 promises are counted, and those that are absent are among them', () => {
  expect(all).toHaveLength(240)
  expect(Object.keys(absent).filter((id) => !all.includes(id))).toEqual([])
})

it('every promise has a test, or a reason why it has none, and not both', () => {
  const shown = new Set(files.flatMap(shownIn))
  expect(all.filter((id) => !shown.has(id))).toEqual(Object.keys(absent))
})

it.each(files)('%s shows no promise twice, and every test of it shows one of those that were made', (file) => {
  const shown = shownIn(file)
  expect(shown.filter((id, index) => shown.indexOf(id) !== index)).toEqual([])
  expect(shown.filter((id) => !all.includes(id))).toEqual([])
  const tests = readFileSync(join(import.meta.dirname, file), 'utf8').match(/^ *(?:it|test|describe\.\w+)\b.*\(/gm)
  expect(shown).toHaveLength(tests?.length ?? 0)
})
