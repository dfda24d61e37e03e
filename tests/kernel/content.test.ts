import { bytes, content, createExecutor, json, shown, type ContentBlock } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { outcome, work } from './_calls.ts'
import { isMarkedJson, looksLikeBlocks, markedBlocks } from './_inside.ts'

const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }

describe('an unmarked array is content', () => {
  test.each<[string, unknown[]]>([
    ['a text', [{ type: 'text', text: 'x' }]],
    ['a value', [{ type: 'json', data: { a: 1 } }]],
    ['a value with its text', [{ type: 'json', data: undefined, text: '1' }]],
    ['a picture', [image]],
    ['a sound', [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }]],
    ['several', [{ type: 'text', text: 'x' }, image, { type: 'json', data: 1 }]],
  ])('where every item is exactly a block: %s', (_, value) => {
    expect(looksLikeBlocks(value)).toBe(true)
  })

  test.each<[string, unknown[]]>([
    ['it is empty', []],
    ['one item is not a block', [{ type: 'text', text: 'x' }, 1]],
    ['one item is null', [null]],
    ['a block has another field', [{ type: 'text', text: 'x', id: 1 }]],
    ['a field is missing', [{ type: 'image', data: 'AAAA' }]],
    ['a field is of another type', [{ type: 'text', text: 5 }]],
    ['the type is unknown', [{ type: 'row', text: 'x' }]],
    ['it is a resource', [{ type: 'resource', resource: { uri: 'file:///x' } }]],
    ['it is a link', [{ type: 'resource_link', uri: 'file:///x', name: 'x' }]],
    ['the text of a value is no text', [{ type: 'json', data: 1, text: 1 }]],
    ['a value has no data', [{ type: 'json', text: '1' }]],
  ])('and data where %s', async (_, value) => {
    expect(looksLikeBlocks(value)).toBe(false)
    const result = await createExecutor({ tools: [work('t', () => value)] }).execute({ name: 't' })
    expect(result.content).toMatchObject([{ type: 'json', data: value }])
  })
})

describe('marks', () => {
  test('say that blocks are content, of any kind and with any fields', async () => {
    const blocks = [
      { type: 'resource_link', uri: 'file:///x', name: 'x', extra: 1 },
      { type: 'text', text: 'y', annotations: {} },
    ] as unknown as ContentBlock[]
    const result = await createExecutor({ tools: [work('t', () => content(blocks))] }).execute({ name: 't' })
    expect(result.content).toEqual(blocks)
  })

  test('say that a value is data, also where it looks like content or is text', async () => {
    const rows = [{ type: 'text', text: 'a row' }]
    const tools = [work('rows', () => json(rows)), work('text', () => json('text'))]
    const executor = createExecutor({ tools })
    expect((await executor.execute({ name: 'rows' })).content).toMatchObject([{ type: 'json', data: rows }])
    expect((await executor.execute({ name: 'text' })).content).toMatchObject([
      { type: 'json', data: 'text', text: '"text"' },
    ])
  })

  test('cannot come out of JSON', () => {
    const parsed = JSON.parse(
      JSON.stringify({ ...content([]), ...json(1), 'toolwright.content': [], 'toolwright.json': 1 }),
    ) as object
    expect(markedBlocks(parsed)).toBeUndefined()
    expect(isMarkedJson(parsed)).toBe(false)
  })
})

test.each<[string, () => unknown]>([
  ['blocks that are no array', () => content('text' as never)],
  ['a block that is null', () => content([null as never])],
  ['a block of no type', () => content([{} as never])],
  [
    'a block that throws',
    () => [
      Object.defineProperty({ text: 'x' }, 'type', {
        enumerable: true,
        get: () => {
          throw new Error('no')
        },
      }),
    ],
  ],
  ['a picture that is not base64', () => content([{ type: 'image', data: '§§', mimeType: 'image/png' }])],
  ['a text block without text', () => content([{ type: 'text' } as never])],
  ['a text block whose text is a number', () => content([{ type: 'text', text: 5 as never }])],
  ['a text block whose text is an object', () => shown([{ type: 'text', text: { a: 1 } as never }], 1)],
  [
    'a picture without data beside a text',
    () => content([{ type: 'text', text: 'x' }, { type: 'image', source: { data: 'AAAA' } } as never]),
  ],
  ['marked data that JSON cannot hold', () => json(1n)],
])('a result that cannot be read is an invalid result: %s', async (_, handler) => {
  const result = await createExecutor({ tools: [work('t', handler)], report: () => {} }).execute({ name: 't' })
  expect(outcome(result)).toBe('error completed E_INVALID_TOOL_RESULT')
})

test.each<[string, () => unknown]>([
  ['no media type', () => bytes('x', undefined as never)],
  ['a media type that is not in an object', () => bytes('x', 'text/plain' as never)],
  ['a Response', () => bytes(new Response('x') as never, { mediaType: 'text/plain' })],
  ['a Blob', () => bytes(new Blob(['x']) as never, { mediaType: 'text/plain' })],
  ['nothing', () => bytes(undefined as never, { mediaType: 'text/plain' })],
])('`bytes` says what it takes when it is given something else: %s', async (_, handler) => {
  expect(handler).toThrow(
    expect.objectContaining({
      code: 'E_INVALID_TOOL_RESULT',
      message: expect.stringMatching(
        /^`bytes` and `keep` take .* `body` of a Response, .* and \{ mediaType \}\.$/,
      ) as unknown,
    }),
  )
})

test.each<[string, () => unknown]>([
  [
    'of an unmarked array',
    () => [
      { type: 'text', text: 'x' },
      { type: 'image', data: 'AAAA', mediaType: 'image/png' },
    ],
  ],
  ['of content', () => content([{ type: 'audio', data: 'AAAA', mediaType: 'audio/wav', title: 'x' } as never])],
])('a picture or a sound with `mediaType` is refused with the name of the field here: %s', async (_, handler) => {
  const result = await createExecutor({ tools: [work('t', handler)], report: () => {} }).execute({ name: 't' })
  expect(outcome(result)).toBe('error completed E_INVALID_TOOL_RESULT')
  expect(result.error?.message).toMatch(/`mediaType` of block \d is called `mimeType` here/)
})

test('data that only resembles a picture stays JSON', async () => {
  const rows = [{ type: 'image', data: 'AAAA', mediaType: 'image/png', id: 7 }]
  for (const value of [rows, { type: 'image', data: 'AAAA', mediaType: 'image/png' }, json(rows)]) {
    const result = await createExecutor({ tools: [work('t', () => value)] }).execute({ name: 't' })
    expect(result).toMatchObject({ status: 'ok', content: [{ type: 'json' }] })
  }
})
