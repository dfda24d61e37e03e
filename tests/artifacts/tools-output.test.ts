import fc from 'fast-check'
import { TextArtifact, type ArtifactQuery } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { deceptive, escapeOf } from '../../src/kernel/json/deceptive.ts'
import { asking, bytes } from './_asking.ts'

let next: unknown

/** Answers with whatever it is told to. */
class Parrot extends TextArtifact {
  static override readonly kind: string = 'parrot'
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = {
    say: { description: 'Says it', answer: () => next },
    list: {
      description: 'Lists it from a place on',
      inputSchema: { type: 'object', properties: { start: { type: 'integer' } } },
      answer: (_: Parrot, { start = 0 }: { start?: number }) => (next as unknown[]).slice(start),
    },
  }
}

const limits = [1_024, 2_000, 4_096]
const parrots = new Map(
  limits.map((maximumBytes) => [maximumBytes, asking({ maximumBytes, classes: [Parrot], artifact: Parrot })]),
)
for (const { keep } of parrots.values()) await keep('x')

async function said(
  value: unknown,
  limit = 4_096,
  query = 'say',
  args: object = {},
): Promise<{ body: string; words: string }> {
  next = value
  const answer = (await parrots.get(limit)?.ask(query, args)) ?? expect.fail(`no limit of ${limit}`)
  expect(bytes(answer)).toBeLessThanOrEqual(limit)
  expect(answer.isWellFormed()).toBe(true)
  const [, body = '', words = ''] =
    /^([^]*?)(?:(?:^|\n)\(((?:Truncated|There is|The answer)[^]*)\))?$/.exec(answer) ?? []
  return { body, words }
}

describe('a JSON value', () => {
  test('that fits is shown whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(...limits), async (value, limit) => {
        fc.pre(typeof value !== 'string' && bytes(JSON.stringify(value)) <= limit / 7) // a character is at most six times as long when escaped
        const { body, words } = await said(value, limit)
        expect(words).toBe('')
        expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: 300 },
    )
  })

  test('that is a list too long is shown as its first items, each whole, and goes on to the end', async () => {
    const item = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.string({ unit: 'binary', minLength: 100, maxLength: 900 }),
      fc.constant('€'.repeat(2_000)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { minLength: 1, maxLength: 60 }),
        fc.constantFrom(...limits),
        async (items, limit) => {
          const list = JSON.parse(JSON.stringify(items)) as unknown[]
          const seen: unknown[] = []
          let start = 0
          while (start < list.length) {
            const { body, words } = await said(list, limit, 'list', { start })
            const shown = body === '' ? [] : (JSON.parse(body) as unknown[])
            expect(shown).toEqual(list.slice(start, start + shown.length))
            seen.push(...shown)
            const [, next_] = /Go on with start: (\d+)\.$/.exec(words) ?? []
            if (next_ === undefined) break
            if (shown.length === 0) {
              expect(words).toMatch(/the first of \d+ items is too long/)
              seen.push(list[start])
            }
            expect(Number(next_)).toBeGreaterThan(start)
            start = Number(next_)
          }
          expect(seen).toEqual(list)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('that is an object too large is shown with the members that fit, each whole, and the others are named', async () => {
    const member = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constant('x'.repeat(5_000)),
      fc.constant(Array.from({ length: 3_000 }, () => 1)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ maxLength: 20 }), member, { maxKeys: 30 }),
        fc.constantFrom(...limits),
        async (dictionary, limit) => {
          const value = JSON.parse(JSON.stringify(dictionary)) as Record<string, unknown>
          fc.pre(bytes(JSON.stringify(value)) > limit)
          const { body, words } = await said(value, limit)
          const shown = JSON.parse(body) as Record<string, unknown>
          for (const [key, own] of Object.entries(shown)) expect(own).toEqual(value[key])
          const left = Object.keys(value).length - Object.keys(shown).length
          expect(words).toContain(`Truncated: ${left} members are left out`)
          expect(left).toBeGreaterThan(0)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('is escaped so that no reader is deceived, and stays the same value', async () => {
    const value = { '\u202ekey': '\u001b[31m \u0085 \u2028 \u2066 \ud83d\ude00 \u007f' }
    const { body } = await said(value)
    // oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
    expect(body).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/)
    expect(JSON.parse(body)).toEqual(value)
  })

  test('that is nested deeper than anything could be shown is answered for', async () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    expect((await said(deep)).words).toBe(
      'Truncated: the first of 1 items is too long to be shown: it is an array of 1 items.',
    )
  })

  test('of which every key is long is told of within the limit', async () => {
    const value = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`${'ключ'.repeat(200)}${index}`, index]),
    )
    expect((await said(value, 1_024)).words).toContain('Truncated: 500 members are left out')
    expect((await said([value], 1_024)).words).toContain('it is an object of 500 keys')
  })
})

describe('text', () => {
  test('that is too long is shown by its first lines, or by the beginning of the first', async () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constant('ü\u001b'.repeat(900)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 200 }),
        fc.constantFrom(...limits),
        async (lines, limit) => {
          const text = lines.join('\n').toWellFormed()
          fc.pre(text.trim() !== '' && !text.includes('(Truncated'))
          const { body, words } = await said(text, limit)
          const all = text.split('\n').map(escaped)
          if (words === '') expect(body).toBe(all.join('\n'))
          else if (words.includes('characters')) expect(all[0]?.startsWith(body)).toBe(true)
          else {
            const [, count = ''] = /the first (\d+) of (?:\d+) lines/.exec(words) ?? []
            expect(body).toBe(all.slice(0, Number(count)).join('\n'))
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  test('half a surrogate pair is no character', async () => {
    expect((await said('a\ud800b')).body).toBe('a\ufffdb')
  })
})

/** As text is shown. */
function escaped(text: string): string {
  return text.replace(deceptive, (character) => (character === '\t' ? character : escapeOf(character)))
}
