import fc from 'fast-check'
import { createExecutor, InvalidToolResultError } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { jsonText, readText } from '../../src/kernel/json-text.ts'
import { hostile, outcome, revoked, sink, work } from './_calls.ts'

function refusal(value: unknown): InvalidToolResultError {
  try {
    jsonText(value)
  } catch (error) {
    if (error instanceof InvalidToolResultError) return error
    throw error
  }
  throw new Error('was not refused')
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

function cycle(): unknown {
  const self: unknown[] = []
  self.push({ self })
  return self
}

function* steps(): Generator<number> {
  yield 1
}

describe('a result that JSON would lose is refused', () => {
  const lossy: readonly (readonly [string, unknown])[] = [
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['Infinity', -Infinity],
    ['a symbol', Symbol('x')],
    ['a function', () => {}],
    ['a Map', new Map()],
    ['a Set', new Set()],
    ['a WeakMap', new WeakMap()],
    ['an error', new Error('x')],
    ['a pattern', /x/],
    ['a promise', Promise.resolve()],
    ['a buffer', new ArrayBuffer(1)],
    ['bytes', new Uint8Array(1)],
    ['a stream', new ReadableStream()],
    ['an async iterable', { async *[Symbol.asyncIterator]() {} }],
    ['an iterator', new Map([[1, 2]]).values()],
    ['a generator', steps()],
    ['search params', new URLSearchParams('a=1')],
    ['headers', new Headers({ a: 'b' })],
  ]

  test.each(lossy)('with its path: %s', (_, value) => {
    expect(refusal({ rows: [{}, { 'a b': value }] }).issues?.[0]?.path).toEqual(['rows', 1, 'a b'])
    expect(refusal({ rows: [{}, { 'a b': value }] }).message).toContain('result.rows[1]["a b"]')
    expect(refusal([value]).issues?.[0]?.path).toEqual([0])
  })

  // Numbers become text, bytes and streams are kept as they are, and a promise is awaited.
  test.each(lossy.filter(([name]) => !/NaN|Infinity|bytes|buffer|stream|async|promise/.test(name)))(
    'by the executor: %s',
    async (_, value) => {
      const result = await createExecutor({ tools: [work('t', () => value)] }).execute({ name: 't' })
      expect(outcome(result)).toBe('error completed E_INVALID_TOOL_RESULT')
    },
  )

  test('and so is nothing at all', () => {
    expect(refusal(undefined).code).toBe('E_INVALID_TOOL_RESULT')
    expect(refusal({ toJSON: () => undefined }).code).toBe('E_INVALID_TOOL_RESULT')
  })

  test.each<[string, () => unknown]>([
    ['cycles', cycle],
    ['a million arrays within each other', () => nested(1_000_000)],
    ['10 million arrays within each other', () => nested(10_000_000)],
    ['a proxy that throws', hostile],
    ['a revoked proxy', revoked],
    [
      'a getter that throws',
      () => ({
        get a() {
          throw new Error('no')
        },
      }),
    ],
    [
      'a toJSON that throws',
      () => ({
        toJSON: () => {
          throw new Error('no')
        },
      }),
    ],
    ['a toJSON that gives a bigint', () => ({ toJSON: () => 1n })],
    ['a toJSON that gives a cycle', () => ({ toJSON: cycle })],
    ['a toJSON that is too deep', () => ({ toJSON: () => nested(1_000_000) })],
  ])('without a crash: %s', async (_, make) => {
    expect(refusal(make()).message.length).toBeLessThan(1_000)
    const { report } = sink()
    const result = await createExecutor({ tools: [work('t', () => ({ value: make() }))], report }).execute({
      name: 't',
    })
    expect(outcome(result)).toBe('error completed E_INVALID_TOOL_RESULT')
  })
})

describe('a result that JSON can hold', () => {
  test('speaks for itself where it has a toJSON', () => {
    expect(jsonText({ at: new Date(0), own: { toJSON: (key: string) => `at ${key}` } })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","own":"at own"}',
    )
  })

  test('loses fields that are undefined, as JSON does', () => {
    expect(jsonText({ a: undefined, b: 1 })).toBe('{"b":1}')
  })

  test('may be a thousand levels deep', () => {
    expect(JSON.parse(jsonText(nested(900)))).toEqual(nested(900))
  })

  test('comes back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(JSON.stringify(readText(jsonText(value)))).toBe(JSON.stringify(value))
      }),
      { numRuns: 500 },
    )
  })

  test('may be read though it has a key twice', () => {
    expect(readText('{"a":1,"a":2}')).toEqual({ a: 2 })
    expect(() => readText('{"a":')).toThrow()
  })
})

test('what the handler still holds changes nothing of the answer', async () => {
  const kept = { rows: [1] }
  const result = await createExecutor({ tools: [work('t', () => kept)] }).execute({ name: 't' })
  kept.rows.push(2)
  expect(result.content).toMatchObject([{ type: 'json', data: { rows: [1] } }])
})
