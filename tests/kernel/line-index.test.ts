import type { SpoolReader } from 'toolwright/extension'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineIndex, stretch } from './_inside.ts'

/** A reader that counts the bytes which are asked of it. */
class Counting implements SpoolReader {
  asked = 0
  readonly #bytes: Uint8Array

  constructor(text: string) {
    this.#bytes = new TextEncoder().encode(text)
  }

  get byteLength(): number {
    return this.#bytes.byteLength
  }

  read(start: number, end: number): Uint8Array {
    this.asked += end - start
    return this.#bytes.subarray(start, end)
  }
}

/** Where lines begin, the long way. */
function offsets(text: string): number[] {
  const bytes = new TextEncoder().encode(text)
  return [0, ...Array.from(bytes.entries(), ([at, byte]) => (byte === 10 ? at + 1 : -1)).filter((at) => at > 0)]
}

const long = stretch - 3

test.each([
  ['nothing', ''],
  ['one line', 'a'],
  ['one line with its end', 'a\n'],
  ['ends alone', '\n\n\n'],
  ['a line end as the last byte of a stretch', `${'x'.repeat(stretch - 1)}\nnext\n`],
  ['a line end as the first byte of a stretch', `${'x'.repeat(stretch)}\nnext`],
  ['a character across the border', `${'x'.repeat(stretch - 1)}ü\nnext`],
  ['a line over several stretches', `a\n${'x'.repeat(stretch * 3)}\nb\nc`],
  ['many lines in many stretches', `${'y'.repeat(long)}\na\nb\n`.repeat(4)],
])('the lines of %s begin where they begin, whichever is asked for first', async (_, text) => {
  const expected = offsets(text)
  const lines = text === '' ? 0 : expected.length - (text.endsWith('\n') ? 1 : 0)
  for (const order of [[...expected.keys()], [...expected.keys()].toReversed()]) {
    const index = new LineIndex()
    const reader = new Counting(text)
    for (const line of order) expect(await index.offsetOf(line, reader), `line ${line}`).toBe(expected[line])
    expect(await index.lineCount(reader)).toBe(lines)
    expect(await index.offsetOf(expected.length + 5, reader)).toBe(reader.byteLength)
  }
})

test('what was counted once is not read again', async () => {
  const reader = new Counting(`${'x'.repeat(99)}\n`.repeat(20_000)) // 2 MB
  const index = new LineIndex()
  await index.lineCount(reader)
  const once = reader.asked
  expect(once).toBeLessThanOrEqual(reader.byteLength + 1)
  await index.lineCount(reader)
  await index.offsetOf(19_000, reader)
  expect(reader.asked - once).toBeLessThanOrEqual(stretch + 1 + 1) // one stretch, and the last byte for each count
})

test('no more is read than lies before the line that is asked for', async () => {
  const reader = new Counting(`${'x'.repeat(99)}\n`.repeat(20_000))
  await new LineIndex().offsetOf(10, reader)
  expect(reader.asked).toBeLessThanOrEqual(2 * stretch)
})

test('a stretch that somebody else read is taken note of only in its turn', async () => {
  const text = `${'y'.repeat(long)}\na\nb\n`.repeat(4)
  const reader = new Counting(text)
  const index = new LineIndex()
  index.note(2, reader.read(2 * stretch, 3 * stretch)) // out of turn: passed over
  index.note(0, reader.read(0, stretch))
  index.note(0, reader.read(0, stretch)) // twice
  expect(await index.lineCount(reader)).toBe(12)
  expect(await index.offsetOf(11, reader)).toBe(offsets(text)[11])
})

test('two that ask at once get the same answers', async () => {
  const text = `${'y'.repeat(long)}\na\nb\n`.repeat(4)
  const slow = new Counting(text)
  const reader: SpoolReader = {
    byteLength: slow.byteLength,
    read: async (start, end) => {
      await new Promise((resolve) => setImmediate(resolve))
      return slow.read(start, end)
    },
  }
  const index = new LineIndex()
  const answers = await Promise.all([index.lineCount(reader), index.offsetOf(7, reader), index.lineCount(reader)])
  expect(answers).toEqual([12, offsets(text)[7], 12])
})

test('any text has the lines that it has', async () => {
  const piece = fc.oneof(
    fc.constant('\n'),
    fc.constant('x'.repeat(100_000)),
    fc.string({ unit: 'grapheme', maxLength: 9 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.nat(20), async (pieces, line) => {
      const text = pieces.join('').toWellFormed()
      const reader = new Counting(text)
      expect(await new LineIndex().offsetOf(line, reader)).toBe(offsets(text)[line] ?? reader.byteLength)
    }),
    { numRuns: 100 },
  )
})
