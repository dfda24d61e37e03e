import {
  content,
  createExecutor,
  memoryStore,
  type ContentBlock,
  type Extension,
  type ToolEventOf,
  type ToolResult,
} from 'toolwright'
import { digestOf } from 'toolwright/records'
import { describe, expect, test } from 'vitest'
import { places, recordIn } from './_journals.ts'
import { never, outcome, sink, text, work } from './_calls.ts'

const picture = { type: 'image', data: 'aGk='.repeat(100_000), mimeType: 'image/png' } as const
const shown: Record<string, { readonly make: () => unknown; readonly options?: object; readonly words: RegExp }> = {
  'a picture': { make: () => content([{ type: 'text', text: 'A cat' }, picture]), words: /: text, image, 400,\d{3} / },
  'a long text': { make: () => 'grüße '.repeat(20_000), options: { inlineLimit: 1e6 }, words: /: text, 120,\d{3} / },
  'much JSON': {
    make: () => Array.from({ length: 10_000 }, (_, index) => ({ index })),
    options: { inlineLimit: 1e6 },
    words: /: json, \d+,\d{3} /,
  },
  'many blocks': {
    make: () => content(Array.from({ length: 10_000 }, () => ({ type: 'text', text: '' }))),
    words: /: text, \d+,\d{3} /,
  },
}

function plain(result: ToolResult): readonly ContentBlock[] {
  return JSON.parse(JSON.stringify(result.content)) as readonly ContentBlock[]
}

describe.each(places)('a result above 64 KiB, with a journal in %s,', (_, open) => {
  const cases = Object.entries(shown)

  test.each(cases)(
    'is kept by the store, and a replay reads it from there: %s',
    async (_name, { make, options, words }) => {
      const journal = open().open()
      const store: Extension = { store: memoryStore() }
      const executor = createExecutor({ tools: [work('t', make, options)], use: [journal, store] })
      const ended: ToolEventOf<'call:settled'>[] = []
      executor.on('call:settled', (event) => void ended.push(event))
      const result = await executor.execute({ name: 't' }, { invocationId: 'i', session: 's' })
      expect(result.status).toBe('ok')
      const record = await recordIn(journal, 'i')
      expect(JSON.stringify(record).length).toBeLessThan(5_000)
      expect(text({ content: record.journal?.result ?? [] })).toMatch(words)
      if (ended[0]?.digest !== undefined) expect(digestOf('', record)).toBe(ended[0].digest)

      const other = createExecutor({ tools: [work('t', () => expect.unreachable(), options)], use: [journal, store] })
      const again = await other.execute({ name: 't' }, { invocationId: 'i', session: 's' })
      expect(outcome(again)).toBe(outcome(result))
      expect(plain(again)).toEqual(plain(result))
    },
  )

  test('is its kind and its size if the store has lost it, or has something else', async () => {
    const journal = open().open()
    const store = memoryStore()
    const { report, reports } = sink()
    const executor = createExecutor({ tools: [work('t', shown['a picture']!.make)], use: [journal, { store }], report })
    await executor.execute({ name: 't' }, { invocationId: 'i', session: 's' })
    const lost = { ...store, open: () => store.open('nothing', { session: 's' }) }
    const { handle } = await store.write('[]', { session: 's', mediaType: 'application/json' })
    const wrong = { ...store, open: () => store.open(handle, { session: 's' }) }
    for (const [index, broken] of [lost, wrong].entries()) {
      const other = createExecutor({ tools: [work('t', () => 1)], use: [journal, { store: broken }], report })
      const again = await other.execute({ name: 't' }, { invocationId: 'i', session: 's' })
      expect(again.status).toBe('ok')
      expect(text(again)).toMatch(shown['a picture']!.words)
      expect(reports.length).toBe(index + 1)
    }
  })

  test('is given out whole although no store would take it', async () => {
    const journal = open().open()
    const { report, reports } = sink()
    const store = { ...memoryStore(), write: () => Promise.reject(new Error('no disk')) }
    const executor = createExecutor({ tools: [work('t', shown['a picture']!.make)], use: [journal, { store }], report })
    const result = await executor.execute({ name: 't' }, { invocationId: 'i' })
    expect(plain(result)[1]).toEqual(picture)
    expect(reports).toEqual([new Error('no disk')])
    expect(text(await executor.execute({ name: 't' }, { invocationId: 'i' }))).toMatch(/: text, image, 400,\d{3} /)
  })
})

test('without a journal nothing is put into the store', async () => {
  const store = { ...memoryStore(), write: () => never }
  const executor = createExecutor({ tools: [work('t', shown['a picture']!.make)], use: [{ store }] })
  expect((await executor.execute({ name: 't' })).status).toBe('ok')
})
