import { expect, test } from 'vitest'
import { quotedText } from '../../src/artifacts/_output.ts'
import { terminalJson, terminalLine as noteLine } from '../../src/cli/host.ts'
import { deceptive, escapeDeceptive } from '../../src/kernel/json/deceptive.ts'
import { oneLine } from '../../src/kernel/outcome/failure.ts'
import { safeText } from '../../src/mcp/client/_text.ts'
import { preview } from '../../src/observers/_line.ts'
import { show } from '../../validators/json-schema/_messages.ts'

// The page is a program of its own: its types are those of a browser.
const page = '../../src/devtools/inspector/page/text.tsx'
const { visibleMarks } = (await import(/* @vite-ignore */ page)) as { readonly visibleMarks: (text: string) => string }

/** What writes out text for a model, a person, a terminal or a log. The question of the MCP server has the same set. */
const escapers: Readonly<Record<string, (text: string) => string>> = {
  'the error line of the kernel': (text) => oneLine(text, 100),
  'the preview of a large result': (text) => escapeDeceptive(text, '\n\t'),
  'the notes of the command': (text) => noteLine(text),
  'the answers of the command': (text) => terminalJson(text),
  'the answers of artifact tools': quotedText,
  'the text of MCP servers': safeText,
  'the observers': (text) => preview(text, 100).text,
  'the inspector': visibleMarks,
  'the validator of JSON Schema': show,
}

/** The planes that have deceptive characters, and emoji. */
const ranges: readonly (readonly [number, number])[] = [
  [0, 0xffff],
  [0x1bc00, 0x1bcff],
  [0x1d100, 0x1d1ff],
  [0x1f300, 0x1f6ff],
  [0xe0000, 0xe10ff],
]
const characters = ranges.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
)
const hidden = characters.filter((character) => character.search(deceptive) === 0)
const known = new Set(hidden)

test.each([
  ['a tag letter', '\u{e0041}'],
  ['a variation selector of the supplement', '\u{e0100}'],
  ['a zero-width space', '\u200b'],
  ['a zero-width joiner', '\u200d'],
  ['a word joiner', '\u2060'],
  ['a byte order mark', '\ufeff'],
  ['a soft hyphen', '\u00ad'],
  ['a filler of Hangul', '\u3164'],
  ['a mark of direction', '\u202e'],
  ['an escape of a terminal', '\u001b'],
  ['a lone surrogate', '\ud800'],
])('%s is deceptive', (_, character) => {
  expect(hidden).toContain(character)
})

test.each(['é', '日', '\u{1f600}', '\ufe0f', ' ', '\u00a0', 'e\u0301'])('%j is shown as it is', (text) => {
  expect(text.search(deceptive)).toBe(-1)
})

test.each(Object.entries(escapers))('%s writes out every deceptive character', (_, escape) => {
  const passed = hidden.filter(
    (character) => !'\n\t'.includes(character) && escape(`a${character}b`).includes(character),
  )
  expect(passed.map((character) => character.codePointAt(0)?.toString(16))).toEqual([])
})

test.each(Object.entries(escapers))('%s changes no other character', (_, escape) => {
  const others = characters.filter((character) => !known.has(character) && !'"\\'.includes(character))
  const changed = others.filter((character) => !escape(`a${character}b`).includes(`a${character}b`))
  expect(changed).toEqual([])
})

test('what a handler throws gives the model no hidden instruction', () => {
  const letters = Array.from('ignore', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
  expect(oneLine(`No file\u200b.${letters}`, 1_000)).toMatch(/^No file\\u200b\.(?:\\udb40\\udc[0-9a-f]{2}){6}$/)
})

test('JSON whose deceptive characters are escaped keeps its value', () => {
  const text = '\u{e0041}\u202e\ufeff\u{1f600}'
  expect(JSON.parse(terminalJson(text))).toBe(text)
})
