import { BinaryArtifact, createExecutor, JsonArtifact, memoryStore, TextArtifact } from 'toolwright'
import type { ArtifactStore } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { data, heard, never, outcome, sink, soon, text, work } from '../_calls.ts'

async function run(
  handler: () => unknown,
  options: object = {},
  use: object[] = [],
): Promise<ReturnType<typeof execute>> {
  return execute(handler, options, use)
}
function execute(
  handler: () => unknown,
  options: object,
  use: object[],
): ReturnType<ReturnType<typeof createExecutor>['execute']> {
  return soon(
    createExecutor({ tools: [work('t', handler, options)], use, timeout: 200, report: sink().report }).execute({
      name: 't',
    }),
  )
}

describe('small results live in the result object', () => {
  test.each<[string, unknown, unknown, string, string]>([
    ['text', 'hello', TextArtifact, 'hello', 'hello'],
    ['a number', 5, TextArtifact, '5', '5'],
    ['NaN', Number.NaN, TextArtifact, 'NaN', 'NaN'],
    ['a boolean', false, TextArtifact, 'false', 'false'],
    ['null', null, TextArtifact, 'null', 'null'],
    ['nothing', undefined, TextArtifact, '', '(no output)'],
    ['no text', '', TextArtifact, '', '(no output)'],
    ['an object', { a: 1 }, JsonArtifact, '{"a":1}', '{"type":"json","data":{"a":1},"text":"{\\"a\\":1}"}'],
    ['an array', [1], JsonArtifact, '[1]', '{"type":"json","data":[1],"text":"[1]"}'],
    ['bytes', new Uint8Array([65, 66]), BinaryArtifact, 'AB', '(2 bytes, not shown)'],
    ['a buffer', new Uint8Array([65]).buffer, BinaryArtifact, 'A', '(1 bytes, not shown)'],
    [
      'blocks of text',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      TextArtifact,
      'a\nb',
      'a\nb',
    ],
    [
      'a picture',
      [{ type: 'image', data: 'QUI=', mimeType: 'image/png' }],
      BinaryArtifact,
      'AB',
      '{"type":"image","data":"QUI=","mimeType":"image/png"}',
    ],
  ])('%s', async (_, value, Class, whole, shown) => {
    const { artifact, handle, content, status } = await run(() => value)
    expect([status, handle]).toEqual(['ok', undefined])
    expect(artifact).toBeInstanceOf(Class)
    expect(await artifact?.asString()).toBe(whole)
    expect(text({ content })).toBe(shown)
  })

  test('bytes are a copy', async () => {
    const bytes = new Uint8Array([65])
    const { artifact } = await run(() => bytes)
    bytes[0] = 66
    expect(await artifact?.asString()).toBe('A')
  })
})

describe('large results go to the store', () => {
  const line = 'a line of text\n'

  test('and the model sees their beginning, their size and their handle', async () => {
    const whole = line.repeat(10_000)
    const result = await run(() => whole)
    expect(outcome(result)).toBe('ok completed')
    expect(result.handle).toMatch(/^artifact_[0-9a-f]{40}$/)
    const words = text(result)
    expect(words.startsWith(line)).toBe(true)
    expect(words).toContain(`beginning of 150,000 bytes of text/plain. All of it is kept as ${result.handle}.`)
    expect(words.length).toBeLessThan(2_400)
    expect(words.split('\n…')[0]?.endsWith(line.trim())).toBe(true)
    expect(await result.artifact?.asString()).toBe(whole)
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({
      artifact: { kind: 'text', byteLength: 150_000, handle: result.handle },
    })
  })

  test('at exactly one byte more than fits', async () => {
    expect((await run(() => 'x'.repeat(16_384))).handle).toBeUndefined()
    expect((await run(() => 'x'.repeat(16_385))).handle).toBeDefined()
    expect((await run(() => 'é'.repeat(8_192))).handle).toBeUndefined()
    expect((await run(() => 'é'.repeat(8_193))).handle).toBeDefined()
  })

  test('and a preview never ends within a character', async () => {
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      expect(text(await run(() => shift + '😀'.repeat(10_000)))).not.toContain('\ufffd')
    }
  })

  test('of JSON, to be asked in parts', async () => {
    const rows = Array.from({ length: 5_000 }, (_, id) => ({ id }))
    const { artifact, handle } = await run(() => rows)
    expect(handle).toBeDefined()
    expect(await (artifact as JsonArtifact).get('/4999/id')).toBe(4_999)
  })

  test('of bytes, not shown', async () => {
    const result = await run(() => new Uint8Array(100_000))
    expect(text(result)).toContain(
      '(100,000 bytes of application/octet-stream, not shown. All of it is kept as artifact_',
    )
  })

  test('streams too, without being held: a small one stays in the result', async () => {
    const small = await run(() => ReadableStream.from(['small']))
    expect([small.handle, text(small)]).toEqual([undefined, 'small'])
    const large = await run(() => ReadableStream.from(Array.from({ length: 1_000 }, () => line.repeat(10))))
    expect(large.handle).toBeDefined()
    expect(large.artifact?.byteLength()).toBe(150_000)
    expect(large.artifact).toBeInstanceOf(TextArtifact)
  })

  test('a picture is shown as it is up to 5 MiB', async () => {
    const picture = (bytes: number): unknown => [
      { type: 'image', data: 'A'.repeat((bytes / 3) * 4), mimeType: 'image/png' },
    ]
    const shown = await run(() => picture(3_000_000))
    expect([shown.handle, shown.content[0]?.type]).toEqual([undefined, 'image'])
    const kept = await run(() => picture(6_000_000))
    expect(kept.handle).toBeDefined()
    expect(text(kept)).toContain('6,000,000 bytes of image/png')
  })
})

describe('a stream of many small pieces', () => {
  test('reaches the store in few large ones, whole and in order', async () => {
    const kept = memoryStore()
    const sizes: number[] = []
    const store: ArtifactStore = {
      ...kept,
      write(source, spooling) {
        async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
          for await (const piece of source as AsyncIterable<Uint8Array>) {
            sizes.push(piece.byteLength)
            yield piece
          }
        }
        return kept.write(counted(), spooling)
      },
    }
    const large = 'x'.repeat(100_000)
    const lines = (async function* () {
      for (let line = 0; line < 20_000; line++) yield `line ${line}\n`
      yield large
      yield 'the end'
    })()
    const executor = createExecutor({
      tools: [work('t', () => ({ [Symbol.asyncIterator]: () => lines }))],
      use: [{ store }],
    })
    const { artifact } = await executor.execute({ name: 't' })
    const expected = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join('') + large + 'the end'
    expect(await artifact?.asString()).toBe(expected)
    expect(sizes.length).toBeLessThan(10)
  })
})

describe('an artifact that the handler made', () => {
  test('small: is shown, and is the very object', async () => {
    const own = new TextArtifact({ reader: { byteLength: 2, read: () => new Uint8Array([72, 105]) } })
    const result = await run(() => own)
    expect(result.artifact).toBe(own)
    expect(text(result)).toBe('Hi')
  })

  test('large: goes to the store', async () => {
    const bytes = new Uint8Array(100_000).fill(65)
    const own = new TextArtifact({ reader: { byteLength: 100_000, read: (start, end) => bytes.subarray(start, end) } })
    const result = await run(() => own)
    expect(result.handle).toMatch(/^artifact_/)
    expect(await result.artifact?.tail(1)).toBe('A'.repeat(100_000))
  })

  test.each<[string, () => unknown]>([
    [
      'whose length throws',
      () =>
        new TextArtifact({
          reader: {
            get byteLength(): number {
              throw new Error('no')
            },
            read: () => new Uint8Array(),
          },
        }),
    ],
    [
      'whose bytes throw',
      () =>
        new TextArtifact({
          reader: {
            byteLength: 5,
            read: () => {
              throw new Error('no')
            },
          },
        }),
    ],
    ['whose bytes never come', () => new TextArtifact({ reader: { byteLength: 5, read: () => never } })],
    [
      'whose JSON throws',
      () =>
        new (class extends TextArtifact {
          override toJSON(): never {
            throw new Error('no')
          }
        })({ reader: { byteLength: 1, read: () => new Uint8Array([65]) } }),
    ],
  ])('%s settles all the same', async (_, handler) => {
    const executor = createExecutor({ tools: [work('t', handler)], timeout: 50, report: sink().report })
    const events = heard(executor)
    const result = await soon(executor.execute({ name: 't' }))
    expect(['ok', 'error', 'timed_out']).toContain(result.status)
    expect(events.at(-1)?.event).toBe('call:settled')
    await soon(executor.close())
  })
})

describe('a store that breaks', () => {
  const large = (): string => 'x'.repeat(100_000)
  const working = memoryStore()
  const cases: readonly (readonly [string, Partial<Record<keyof ArtifactStore, unknown>>, string])[] = [
    [
      'throws on write',
      {
        write: () => {
          throw new Error('ENOSPC')
        },
      },
      'error completed E_ARTIFACT',
    ],
    ['rejects on write', { write: () => Promise.reject(new Error('ENOSPC')) }, 'error completed E_ARTIFACT'],
    [
      'throws on open',
      {
        open: () => {
          throw new Error('gone')
        },
      },
      'error completed E_ARTIFACT',
    ],
    [
      'gives a reader that throws',
      {
        open: () => ({
          byteLength: 100_000,
          read: () => {
            throw new Error('gone')
          },
        }),
      },
      'error completed E_ARTIFACT',
    ],
    ['answers with nothing', { write: async () => undefined }, 'error completed E_ARTIFACT'],
  ]

  test.each(cases)('%s: the tool has run, and its result could not be kept', async (_, broken, expected) => {
    for (const handler of [large, () => ReadableStream.from([large(), large()]), () => ({ rows: large() })]) {
      const result = await run(handler, {}, [{ store: { ...working, ...broken } }])
      expect(outcome(result)).toBe(expected)
      expect(data(result)).toBeUndefined()
    }
  })

  test('and never answers is left at the deadline, and told so', async () => {
    let heardOf = false
    const write: ArtifactStore['write'] = (_source, { signal }) => {
      signal?.addEventListener('abort', () => (heardOf = true))
      return never
    }
    const result = await run(large, {}, [{ store: { ...working, write } }])
    expect(result.status).toBe('timed_out')
    expect(heardOf).toBe(true)
  })
})
