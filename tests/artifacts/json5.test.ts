import { filter, Json5Artifact } from 'toolwright/artifacts/json'
import { expect, test, vi } from 'vitest'
import { artifactConformance, artifactOf } from '../conformance/artifacts.ts'
import { asking } from './_asking.ts'
import { jsonInputs } from './_inputs.ts'

artifactConformance('Json5Artifact', Json5Artifact, { inputs: jsonInputs })

const written = `// settings
{
  port: 0x1f90, // 8080
  hosts: ['a', "b",],
  text: 'two \\
lines',
  ratio: +.5,
}`

test.each<[string, string, string, unknown]>([
  ['an object', '{"a":[1,null]}', 'json', { a: [1, null] }],
  ['a value with white space around it', ' \n"a"\n', 'json', 'a'],
  ['a value on one line', '1\n', 'json', 1],
  ['values on lines', '{"a":1}\r\n\r\n[2]\n"c"\n', 'jsonl', [{ a: 1 }, [2], 'c']],
  [
    'comments, bare names and commas at the end',
    written,
    'json5',
    { port: 8080, hosts: ['a', 'b'], text: 'two lines', ratio: 0.5 },
  ],
  ['JSON with a comment below it', '{"a":1}\n// the end', 'json5', { a: 1 }],
  ['numbers that JSON lacks', '[NaN, -Infinity, +Infinity]', 'json5', ['NaN', '-Infinity', 'Infinity']],
])('reads %s', async (_, text, notation, value) => {
  const artifact = artifactOf(Json5Artifact, text)
  expect(await artifact.value()).toEqual(value)
  expect(await artifact.notation()).toBe(notation)
})

test('a member named __proto__ is data', async () => {
  const artifact = artifactOf(Json5Artifact, '{__proto__: {polluted: NaN}}')
  expect(Object.entries((await artifact.value()) as object)).toEqual([['__proto__', { polluted: 'NaN' }]])
  expect(await artifact.get('/__proto__/polluted')).toBe('NaN')
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test('nothing is written to the console for separators of lines, which stay as they are', async () => {
  using warn = vi.spyOn(console, 'warn')
  const text = `{\u2028a: '\u2028"\u2029', /* ' */ "b": "\\\u2028'\u2029", // "\u2028 c: '\\'\u2029'}`
  expect(await artifactOf(Json5Artifact, text).value()).toEqual({ a: '\u2028"\u2029', b: "'\u2029", c: "'\u2029" })
  for (const open of ['"\\', "'\u2028", '/*', '//\u2028', '"\u2029\\"']) {
    await expect(artifactOf(Json5Artifact, `{\u2028${open.repeat(200_000)}`).value()).rejects.toMatchObject({
      code: 'E_ARTIFACT',
    })
  }
  expect(warn).not.toHaveBeenCalled()
})

test('JSON and JSON Lines of any size are read, since only JSON5 has a limit', async () => {
  const row = JSON.stringify({ text: 'x'.repeat(1_000) })
  expect(await artifactOf(Json5Artifact, `[${Array(2_000).fill(row).join()}]`).length()).toBe(2_000)
  expect(await artifactOf(Json5Artifact, `${row}\n`.repeat(2_000)).length()).toBe(2_000)
})

test('a model asks the questions of JSON, by pointer and by path', async () => {
  const text = `{ items: [${Array.from({ length: 3_000 }, (_, id) => `{ id: ${id}, name: 'row ${id}', },`).join('\n')}], }`
  expect(await filter(artifactOf(Json5Artifact, text), '$.items[?@.id < 2].name')).toEqual(['row 0', 'row 1'])
  const { ask, keep } = asking({ artifact: Json5Artifact })
  await keep(text)
  expect(await ask('json_length', { pointer: '/items' })).toBe('3000')
  expect(await ask('json_get', { pointer: '/items/2999/name' })).toContain('row 2999')
})

test.each([
  ['is empty', '', /JSON5/],
  ['has two commas', '{a: 1,, b: 2}', /not JSON \(.*JSON Lines \(Line 0 .*JSON5 \(.*1:7/],
  ['has one line that is not JSON', '{"a":1}\n{"a":2\n', /JSON Lines \(Line 1 /],
  ['ends within a comment', '{a: 1} /* and', /end of input/],
  ['ends within text', "{a: 'b", /end of input/],
  ['is nested too deeply', `${'{a:'.repeat(50_000)}1${'}'.repeat(50_000)}`, /more than 1,000 deep/],
  [
    'is too large',
    `{a: '${'x'.repeat(1_048_576)}'}`,
    /neither JSON .* nor JSON Lines, and 1,048,583 bytes are too many/,
  ],
])('refuses what %s, and says why', async (_, text, message) => {
  await expect(artifactOf(Json5Artifact, text).value()).rejects.toMatchObject({
    code: 'E_ARTIFACT',
    message: expect.stringMatching(message) as string,
  })
})
