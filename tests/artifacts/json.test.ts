import fc from 'fast-check'
import { artifact as handleOf, createExecutor, JsonArtifact, tool } from 'toolwright'
import type { LineIndex } from 'toolwright/extension'
import { filter, JsonLinesArtifact, pluck } from 'toolwright/artifacts/json'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonQueries } from '../../src/artifacts/_json-queries.ts'
import { artifactConformance, artifactOf, CountingReader, stretch } from '../conformance/artifacts.ts'
import { jsonInputs } from './_inputs.ts'

artifactConformance('JsonLinesArtifact', JsonLinesArtifact, { inputs: jsonInputs })

function lined(text: string): JsonLinesArtifact {
  return artifactOf(JsonLinesArtifact, text)
}

function ask(artifact: JsonArtifact, key: string, input: object): unknown {
  return (jsonQueries[key]!.answer as (artifact: JsonArtifact, input: object) => unknown)(artifact, input)
}

describe('JSON Lines are an array', () => {
  const artifact = lined('{"name":"a"}\n\n  \t\r\n{"name":"b","tags":["x","y"]}\r\nnull\n"text"\n[1,2]')

  test('of the lines that are not blank', async () => {
    expect(await artifact.type()).toBe('array')
    expect(await artifact.length()).toBe(5)
    expect(await artifact.keys()).toEqual(['0', '1', '2', '3', '4'])
    expect(await artifact.value()).toEqual([{ name: 'a' }, { name: 'b', tags: ['x', 'y'] }, null, 'text', [1, 2]])
  })

  test.each<[string, unknown]>([
    ['/0/name', 'a'],
    ['/1/tags/1', 'y'],
    ['/2', null],
    ['/4/0', 1],
    ['/5', undefined],
    ['/-1', undefined],
    ['/01', undefined],
    ['/x', undefined],
    ['/length', undefined],
    ['/1/tags/length', undefined],
    ['/1/__proto__', undefined],
    ['/99999999999999999999', undefined],
  ])('in which %s is found', async (pointer, value) => {
    expect(await artifact.get(pointer)).toEqual(value)
  })

  test.each<[number | undefined, number | undefined, unknown[]]>([
    [2, 4, [null, 'text']],
    [-2, undefined, ['text', [1, 2]]],
    [-99, 1, [{ name: 'a' }]],
    [3, -1, ['text']],
    [4, 2, []],
    [9, 12, []],
  ])('that is sliced from %s to %s', async (start, end, values) => {
    expect(await artifact.slice(start, end)).toEqual(values)
  })

  test('also where there is none, or none but blank ones', async () => {
    for (const text of ['', '\n', ' \n\t\r\n\n']) {
      expect(await lined(text).length()).toBe(0)
      expect(await lined(text).value()).toEqual([])
      expect(await lined(text).get('/0')).toBeUndefined()
    }
  })

  test('whose keys are right where they have escapes in them', async () => {
    const text = `{"a":1,"b":2,${Array.from({ length: 40 }, (_, index) => `"k${index}":0`).join(',')},"\\u0061b\\n":3}`
    expect(Object.keys((await lined(text).get('/0')) as object).at(-1)).toBe('ab\n')
  })

  test('of which a line that is no JSON does harm only where it is asked for', async () => {
    const broken = lined('{"a":1}\n\n{"a":2\n{"a":3}\n')
    expect(await broken.length()).toBe(3)
    expect(await broken.get('/2/a')).toBe(3)
    await expect(broken.get('/1')).rejects.toMatchObject({
      code: 'E_ARTIFACT',
      message: expect.stringContaining('Line 2 '),
    })
    await expect(filter(broken, '$[*].a')).rejects.toThrow('Line 2 ')
    expect(await filter(broken, '$[*].a', { skipInvalid: true })).toEqual([1, 3])
  })

  test('like any other JSON artifact, where a tool takes one', async () => {
    const executor = createExecutor({
      tools: [
        tool({
          name: 'make',
          description: 'Makes lines',
          artifact: JsonLinesArtifact,
          inlineLimit: 0,
          handler: () => '1\n2\n',
        }),
        tool({
          name: 'count',
          description: 'Counts items',
          inputSchema: z.object({ items: z.string().transform(handleOf(JsonArtifact)) }),
          handler: ({ items }) => items.length(),
        }),
      ],
    })
    const { handle } = await executor.execute({ name: 'make' }, { session: 'one' })
    const { content } = await executor.execute({ name: 'count', args: { items: handle } }, { session: 'one' })
    expect(content).toEqual([{ type: 'text', text: '2' }])
  })
})

describe('paths over JSON Lines', () => {
  const values = Array.from({ length: 30 }, (_, index) => ({
    index,
    level: index % 7 === 0 ? 'error' : 'info',
    deep: [{ id: index }],
  }))
  const text = values.map((value) => JSON.stringify(value)).join('\n\n')

  test.each([
    '$[*]',
    '$[?@.level == "error"].index',
    '$..id',
    '$..*',
    '$[3]',
    '$[-1].deep',
    '$[2:9:3].index',
    '$[-3:].index',
    '$[5:-20].index',
    '$[0,2,?@.index > 27].index',
    '$.name',
    '$..[?@.id == 4]',
    '$[::0]',
    '$[99]',
    '$[-99]',
  ])('%s select what they would in the array', async (path) => {
    const whole = await filter(artifactOf(JsonArtifact, JSON.stringify(values)), path)
    expect(await filter(lined(text), path)).toEqual(whole)
  })

  test.each(['$', '$[?@.index == $[0].index]', '$[::-1]'])(
    '%s are refused, for they would need all lines',
    async (path) => {
      await expect(filter(lined(text), path)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    },
  )

  test('read no more than the limit needs', async () => {
    const reader = new CountingReader('{"a":1}\n'.repeat(500_000))
    expect(await filter(new JsonLinesArtifact({ reader }), '$[?@.a == 1]', { limit: 3 })).toHaveLength(3)
    expect(reader.bytesRead).toBeLessThanOrEqual(2 * stretch)
  })

  test('may take as many steps as there are lines, if each takes few', async () => {
    const reader = new CountingReader('{"a":1}\n'.repeat(50_000))
    expect(await filter(new JsonLinesArtifact({ reader }), '$[?@.a == 2]', { steps: 2_000 })).toEqual([])
  })
})

describe('random access to JSON Lines', () => {
  const text = `\n${'{"a":1}\n\n'.repeat(300_000)}{"a":"last"}`

  test('reads a part once the lines were counted, also in an artifact that is opened again', async () => {
    const reader = new CountingReader(text)
    const first = new JsonLinesArtifact({ reader, index: await indexOf() })
    expect(await first.length()).toBe(300_001)
    for (const again of [first, new JsonLinesArtifact({ reader, index: await indexOf() })]) {
      reader.bytesRead = 0
      expect(await again.get('/300000/a')).toBe('last')
      expect(await again.get('/150000/a')).toBe(1)
      expect(await again.slice(-1)).toEqual([{ a: 'last' }])
      expect(reader.bytesRead).toBeLessThanOrEqual(12 * stretch)
    }
  })

  let index: LineIndex | undefined
  /** An index of lines such as an executor keeps for the artifacts that it stored. */
  async function indexOf(): Promise<LineIndex> {
    index ??= new (await import('../../src/spool/lines.ts')).LineIndex()
    return index
  }

  test('agrees with the plain answer, in any order of questions', async () => {
    const line = fc.oneof(
      fc.constantFrom('', ' ', '\r'),
      fc.json({ maxDepth: 1 }).filter((json) => !json.includes('\n')),
    )
    const filler = fc.constantFrom('', JSON.stringify('x'.repeat(stretch - 3)), JSON.stringify('é'.repeat(stretch)))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 9, arbitrary: line }, { weight: 1, arbitrary: filler }), { maxLength: 20 }),
        fc.array(fc.nat(20), { maxLength: 6 }),
        async (lines, asked) => {
          const values = lines.filter((each) => each.trim() !== '').map((each) => JSON.parse(each) as unknown)
          const artifact = lined(lines.join('\n'))
          for (const at of asked) expect(await artifact.get(`/${at}`)).toEqual(values[at])
          expect(await artifact.length()).toBe(values.length)
          for (const at of asked) expect(await artifact.slice(at, at + 3)).toEqual(values.slice(at, at + 3))
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('pluck', () => {
  const artifact = artifactOf(
    JsonArtifact,
    JSON.stringify([{ id: 1, user: { name: 'a' }, __proto__: null }, { id: 2 }, 3]),
  )

  test('gives some members of each thing, and leaves out what is not there', async () => {
    expect(await pluck(artifact, '$[*]', ['id', '/user/name', 'toString'])).toEqual([
      { id: 1, '/user/name': 'a' },
      { id: 2 },
      {},
    ])
  })

  test('gives a member that is called __proto__ as any other', async () => {
    const odd = artifactOf(JsonArtifact, '[{"__proto__":{"x":1}}]')
    const [first] = await pluck(odd, '$[*]', ['__proto__'])
    expect(JSON.stringify(first)).toBe('{"__proto__":{"x":1}}')
    expect(Object.getPrototypeOf(first)).toBe(Object.prototype)
  })

  test('refuses what begins like a pointer and is none by its own rules alone', async () => {
    expect(await pluck(artifact, '$[0]', ['/user'])).toEqual([{ '/user': { name: 'a' } }])
  })
})

describe('what is no JSON', () => {
  test('is said with a typed error', async () => {
    await expect(filter(artifactOf(JsonArtifact, '{"a":'), '$.a')).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })

  test('and what is too large for a model is said before it is read', async () => {
    const reader = { byteLength: 67_108_865, read: () => Promise.reject(new Error('was read')) }
    await expect(ask(new JsonArtifact({ reader }), 'json_get', {})).rejects.toThrow('too many to read at once')
  })
})

describe('a model asks', () => {
  const document = artifactOf(
    JsonArtifact,
    JSON.stringify({ items: [{ id: 1, name: 'a' }, { id: 2 }], total: 2, text: 'abc' }),
  )
  const lines = lined('{"id":1,"name":"a"}\n{"id":2}\nbroken\n')

  test.each<[string, object, unknown]>([
    ['json_type', {}, 'object'],
    ['json_type', { pointer: '/items' }, 'array'],
    ['json_type', { pointer: '/none' }, undefined],
    ['json_keys', {}, ['items', 'total', 'text']],
    ['json_keys', { start: 1, limit: 1 }, ['total']],
    ['json_keys', { pointer: '/items' }, { type: 'array', length: 2, keysOfFirstItem: ['id', 'name'] }],
    ['json_keys', { pointer: '/total' }, 'It is a number, which has no keys.'],
    ['json_length', { pointer: '/items' }, 2],
    ['json_length', { pointer: '/text' }, 3],
    ['json_length', {}, 3],
    ['json_get', { pointer: '/items/0/name' }, 'a'],
    ['json_slice', { pointer: '/items', start: -1 }, [{ id: 2 }]],
    ['json_slice', { pointer: '/items', start: 1, end: -5 }, []],
    ['json_slice', { pointer: '/total' }, 'It is a number, not an array.'],
    ['json_filter', { path: '$.items[*].id', start: 1 }, [2]],
    ['json_pluck', { path: '$.items[*]', members: ['name'] }, [{ name: 'a' }, {}]],
  ])('%s %o of a document', async (key, input, answer) => {
    expect(await ask(document, key, input)).toEqual(answer)
  })

  test.each<[string, object, unknown]>([
    ['json_type', {}, 'array'],
    ['json_type', { pointer: '/0' }, 'object'],
    ['json_keys', {}, { type: 'array', length: 3, keysOfFirstItem: ['id', 'name'] }],
    ['json_length', {}, 3],
    ['json_get', { pointer: '/1/id' }, 2],
    ['json_slice', { end: 1 }, [{ id: 1, name: 'a' }]],
    ['json_slice', { start: -3, end: -2 }, [{ id: 1, name: 'a' }]],
    ['json_filter', { path: '$[*].id', skip_invalid: true }, [1, 2]],
    ['json_pluck', { path: '$[0:2]', members: ['id'] }, [{ id: 1 }, { id: 2 }]],
  ])('%s %o of lines', async (key, input, answer) => {
    expect(await ask(lines, key, input)).toEqual(answer)
  })

  test('for no more than 100 items at once', async () => {
    const many = lined('1\n'.repeat(5_000))
    expect(await ask(many, 'json_get', {})).toHaveLength(100)
    expect(await ask(many, 'json_slice', {})).toHaveLength(100)
    expect(await ask(many, 'json_slice', { start: 0, end: 5_000 })).toHaveLength(1_000)
    expect(await ask(many, 'json_filter', { path: '$[*]' })).toHaveLength(100)
  })
})
