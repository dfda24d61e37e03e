import fc from 'fast-check'
import { content, createExecutor, json, tool } from 'toolwright'
import { InvalidToolResultError } from 'toolwright/errors'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { describe, expect, test } from 'vitest'
import { hostile, outcome, revoked, sink, work } from './_calls.ts'
import { jsonText, readResult, readText } from './_inside.ts'

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

test.each<[string, unknown, string]>([
  ['a promise', [Promise.resolve(1)], 'a Promise (at result[0]). Return what it resolves to: await it.'],
  ['an error', { error: new TypeError('x') }, 'a TypeError (at result.error). Throw it.'],
  ['a map', new Map(), 'a Map. Return Object.fromEntries(map).'],
  ['a response', new Response('x'), 'a Response. Return what its json() resolves to.'],
  ['a generator', steps(), 'a generator. Return its values, or let the handler be an async function*.'],
  ['a bigint', 1n, 'bigint 1. Return a string of its digits.'],
  ['a class without a rule', { at: /x/ }, 'a RegExp (at result.at). Return a plain value, bytes or a stream.'],
])('a refused result says what to return instead: %s', (_, value, words) => {
  expect(refusal(value).message).toBe(`The result cannot be kept: JSON cannot hold ${words}`)
})

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

describe('a result that explodes when it is written is refused with its path, before it is written', () => {
  /** Every value is there once, and referred to twice by the one above: YAML calls it a billion laughs. */
  function shared(depth: number, least: unknown = 'ha'): unknown {
    let value: unknown = { ha: least }
    for (let level = 0; level < depth; level++) value = { one: value, two: value }
    return value
  }

  function sparse(): unknown[] {
    const array: unknown[] = []
    array[4_000_000_000] = 1
    return array
  }

  class Report {
    readonly rows: unknown
    constructor(rows: unknown) {
      this.rows = rows
    }
  }

  const exploding: readonly (readonly [string, () => unknown, string])[] = [
    ['references that are shared 40 deep', () => ({ yaml: shared(40) }), 'result.yaml.one.one'],
    ['a text that is shared 16 deep', () => ({ yaml: shared(16, 'x'.repeat(100_000)) }), 'result.yaml.'],
    ['a name that is shared 16 deep', () => ({ yaml: shared(16, { ['x'.repeat(100_000)]: 1 }) }), 'result.yaml.'],
    ['a sparse array', () => ({ list: sparse() }), 'result.list'],
    ['an array that says it has no end', () => ({ list: new Proxy([], { get: () => Infinity }) }), ''],
    ['an instance of a class', () => new Report(shared(40)), 'result.rows.one'],
    ['what toJSON gives', () => ({ at: { toJSON: () => shared(40) } }), 'result.at.one'],
    ['what toJSON gives of a sparse array', () => ({ toJSON: sparse }), ''],
    ['cycles that branch', () => branching(), ''],
    ['what toJSON makes anew each time', () => ({ ever: anew() }), 'result.ever'],
  ]

  /** Millions of them are a gigabyte, since the forms are kept. */
  function anew(): unknown {
    if (++made > 2_000_000) throw new Error('too many were made')
    return { toJSON: () => [anew(), anew(), anew()] }
  }
  let made = 0

  function branching(): unknown {
    const self: Record<string, unknown> = {}
    for (let key = 0; key < 3; key++) self[`a${key}`] = { back: self }
    return { toJSON: () => self }
  }

  const explodes = async (handler: () => unknown, extra: object = {}): Promise<string | undefined> => {
    const { report } = sink()
    const executor = createExecutor({ tools: [tool({ name: 't', description: 'x', handler, ...extra })], report })
    const result = await executor.execute({ name: 't' })
    expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_RESULT' } })
    return result.error?.message
  }

  test.each(exploding)('%s', async (_, make, place) => {
    const message = await explodes(make)
    expect(message).toContain(place)
    expect(message!.length).toBeLessThan(1_000)
  })

  test('and says how much there may be', async () => {
    expect(await explodes(() => ({ list: sparse() }))).toBe(
      'The result cannot be kept: as JSON it has more than 10,000,000 values or 268,435,456 characters, counted as often as they are referred to (at result.list). Return less, or text in a stream.',
    )
  })

  const bomb = shared(40)
  test.each<[string, () => unknown]>([
    ['sparse array itself', sparse],
    ['json(value)', () => json(bomb)],
    ['a json block', () => content([{ type: 'json', data: bomb }])],
    [
      'a json block among others',
      () =>
        content([
          { type: 'text', text: 'x' },
          { type: 'json', data: bomb },
        ]),
    ],
    ['content of a sparse array', () => content(sparse() as never)],
    [
      'content with one block and no end',
      () => {
        const blocks = [{ type: 'text', text: 'x' }]
        blocks[4_000_000_000] = { type: 'text', text: 'y' }
        return content(blocks as never)
      },
    ],
    [
      'an array of blocks with no end',
      () => {
        const blocks: unknown[] = [{ type: 'text', text: 'x' }]
        blocks[4_000_000_000] = { type: 'text', text: 'y' }
        return blocks
      },
    ],
  ])('also as %s', async (_, make) => {
    await explodes(make)
    await explodes(make, { secrets: ['/one/two'] })
    await explodes(make, { outputSchema: jsonSchema({ properties: { one: {} } }) })
  })

  test('but progress is told as far as it can be, and ends no call', async () => {
    const executor = createExecutor({
      tools: [
        tool('t', async function* (_: object, { emit }) {
          emit('rows', { list: sparse() })
          yield bomb
        }),
      ],
    })
    let count = 0
    executor.on('tool:progress', () => count++)
    expect(await executor.execute({ name: 't' })).toMatchObject({ status: 'ok' })
    expect(count).toBe(2)
  })

  test('but not one that is large, or refers to the same twice', async () => {
    const row = { id: 1, words: ['a', 'b'] }
    const rows = Array.from({ length: 200_000 }, () => row)
    const executor = createExecutor({ tools: [tool('t', () => rows)] })
    const { status, artifact } = await executor.execute({ name: 't' })
    expect([status, artifact?.byteLength()]).toEqual(['ok', JSON.stringify(rows).length])
  })
})

describe('a result that JSON can hold', () => {
  test('asks toJSON once', () => {
    let asked = 0
    const value = { list: [1, { toJSON: () => ({ asked: ++asked, own: { toJSON: () => undefined } }) }] }
    expect(jsonText(value)).toBe('{"list":[1,{"asked":1}]}')
    expect(asked).toBe(1)
  })

  test('may have a member named __proto__ beside one that speaks for itself', () => {
    const value: unknown = { at: new Date(0), inner: JSON.parse('{"__proto__":{"a":1},"b":2}') }
    expect(jsonText(value)).toBe('{"at":"1970-01-01T00:00:00.000Z","inner":{"__proto__":{"a":1},"b":2}}')
    const own = JSON.parse('{"__proto__":{"a":1}}') as Record<string, unknown>
    Object.defineProperty(own, '__proto__', { value: new Date(0), enumerable: true })
    expect(jsonText(own)).toBe('{"__proto__":"1970-01-01T00:00:00.000Z"}')
  })

  test('speaks for itself where it has a toJSON', () => {
    expect(jsonText({ at: new Date(0), own: { toJSON: (key: string) => `at ${key}` } })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","own":"at own"}',
    )
  })

  test('loses fields that are undefined, as JSON does', () => {
    expect(jsonText({ a: undefined, b: 1 })).toBe('{"b":1}')
  })

  test('has no members that it inherits, whoever gave them to all objects', () => {
    const value = { own: 1, inner: {}, at: new Date(0), none: Object.assign(Object.create(null) as object, { of: 2 }) }
    const before = readResult(value)
    const inherited = { value: 1n, enumerable: true, configurable: true, writable: true }
    const shared = Object.getPrototypeOf({}) as object
    Object.defineProperty(shared, 'everywhere', inherited)
    let [after, text]: readonly unknown[] = []
    try {
      after = readResult(value)
      text = jsonText(value)
    } finally {
      Reflect.deleteProperty(shared, 'everywhere')
    }
    expect(after).toEqual(before)
    expect(text).toBe('{"own":1,"inner":{},"at":"1970-01-01T00:00:00.000Z","none":{"of":2}}')
    class Row {
      declare inherited: unknown
      own = 1
    }
    Row.prototype.inherited = 1n
    expect(jsonText([new Row(), Object.create({ inherited: 1n }, { own: { value: 2, enumerable: true } })])).toBe(
      '[{"own":1},{"own":2}]',
    )
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
