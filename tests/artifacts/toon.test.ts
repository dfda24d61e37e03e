import { encode } from '@toon-format/toon'
import fc from 'fast-check'
import { filter } from 'toolwright/artifacts/json'
import { ToonArtifact } from 'toolwright/artifacts/toon'
import { expect, test } from 'vitest'
import { artifactConformance, artifactOf, turnsDuring } from '../conformance/artifacts.ts'
import { asking } from './_asking.ts'
import { jsonInputs } from './_inputs.ts'

artifactConformance('ToonArtifact', ToonArtifact, { inputs: jsonInputs })

function toon(text: string): ToonArtifact {
  return artifactOf(ToonArtifact, text)
}

test.each<[string, string, unknown]>([
  ['nothing', '', {}],
  ['a value', 'hello', 'hello'],
  [
    'an object',
    'name: Ada\nborn: 1815\nalive: false\nnote: null\ntext: "a: \\"b\\"\\n"',
    { name: 'Ada', born: 1815, alive: false, note: null, text: 'a: "b"\n' },
  ],
  ['what is nested', 'a:\n  b:\n    c: 1\n  d: 2', { a: { b: { c: 1 }, d: 2 } }],
  [
    'a table',
    'users[2]{id,name}:\n  1,"Ada, L."\n  2,Bob\r\n',
    {
      users: [
        { id: 1, name: 'Ada, L.' },
        { id: 2, name: 'Bob' },
      ],
    },
  ],
  ['an array on one line', 'tags[3]: a,b,"c,d"', { tags: ['a', 'b', 'c,d'] }],
  ['a list of anything', '[3]:\n  - 1\n  - id: 2\n    tags[1]: x\n  - [2]: 3,4', [1, { id: 2, tags: ['x'] }, [3, 4]]],
  ['levels of four spaces', 'a:\n    b:\n        c: 1\nd: 2', { a: { b: { c: 1 } }, d: 2 }],
  ['numbers that JSON lacks as text', 'a: NaN\nb: 01', { a: 'NaN', b: '01' }],
])('reads %s', async (_, text, value) => {
  expect(await toon(text).value()).toEqual(value)
})

test('reads every JSON value that the library writes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(2, 4, 3), async (value, indentSize) => {
      const json: unknown = JSON.parse(JSON.stringify(value))
      expect(await toon(encode(json, { indentSize })).value()).toEqual(json)
    }),
    { numRuns: 300 },
  )
}, 60_000)

test('a member named __proto__ is data', async () => {
  const value = await toon('__proto__:\n  polluted: 1\nconstructor: 2').value()
  expect(Object.entries(value as object)).toEqual([
    ['__proto__', { polluted: 1 }],
    ['constructor', 2],
  ])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test('a table of megabytes is read while other tasks get turns', async () => {
  const rows = Array.from({ length: 100_000 }, (_, id) => `  ${id},name ${id}`)
  const artifact = toon(`users[100000]{id,name}:\n${rows.join('\n')}`)
  expect(await turnsDuring(artifact.value())).toBeGreaterThan(5)
  expect(await filter(artifact, '$.users[99999].name')).toEqual(['name 99999'])
}, 60_000)

test('a model asks the questions of JSON, by pointer and by path', async () => {
  const { ask, keep } = asking({ artifact: ToonArtifact })
  await keep(`items[3000]{id,name}:\n${Array.from({ length: 3_000 }, (_, id) => `  ${id},row ${id}`).join('\n')}`)
  expect(await ask('json_length', { pointer: '/items' })).toBe('3000')
  expect(await ask('json_get', { pointer: '/items/2999/name' })).toContain('row 2999')
  expect(JSON.parse(await ask('json_filter', { path: '$.items[?@.id < 2].name' }))).toEqual(['row 0', 'row 1'])
})

test.each<[string, string, RegExp]>([
  ['has fewer rows than it says', 'a[3]{id}:\n  1\n  2', /Line \d: .*3/],
  ['has more items than it says', 'a[1]: 1,2', /Line 0: /],
  ['says that it has very many', '[9999999999]:', /Line 0: /],
  ['has a key twice', 'a: 1\na: 2', /Line 1: .*"a"/],
  ['ends within text', 'b: 1\na: "b', /Line 1: /],
  ['is indented by half a level', 'a:\n  b:\n   c: 1', /Line 2: /],
  [
    'is nested too deeply',
    Array.from({ length: 300 }, (_, level) => `${'  '.repeat(level)}a:`).join('\n'),
    /200 deep, in line 201/,
  ],
  ['has a long line', `a: 1\nb: ${'x'.repeat(140_000)}`, /Line 1 has more than 131,072 characters/],
  ['is too large', `a: ${'x'.repeat(4_194_304)}`, /4,194,307 bytes of TOON, more than the 4,194,304/],
])('refuses what %s, and says where', async (_, text, message) => {
  await expect(toon(text).value()).rejects.toMatchObject({
    code: 'E_ARTIFACT',
    message: expect.stringMatching(message) as string,
  })
})
