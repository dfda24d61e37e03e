import { createExecutor, tool } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { filter } from 'toolwright/artifacts/json'
import { YamlArtifact } from 'toolwright/artifacts/yaml'
import { expect, test } from 'vitest'
import { processorTime } from '../_processor-time.ts'
import { artifactConformance, artifactOf } from '../conformance/artifacts.ts'
import { jsonInputs } from './_inputs.ts'

artifactConformance('YamlArtifact', YamlArtifact, { inputs: jsonInputs })

function yaml(text: string): YamlArtifact {
  return artifactOf(YamlArtifact, text)
}

test.each<[string, string, unknown]>([
  ['a mapping', 'a: 1\nb: [x, null, true]\n', { a: 1, b: ['x', null, true] }],
  ['several documents', 'a: 1\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
  ['nothing', '', null],
  ['anchors', 'base: &b {x: 1}\nother: *b\n', { base: { x: 1 }, other: { x: 1 } }],
  ['blocks of text', 'text: |\n  one\n  two\n', { text: 'one\ntwo\n' }],
  ['what other versions take for a boolean or a date', 'a: no\nb: 2020-01-01\n', { a: 'no', b: '2020-01-01' }],
  ['tags that would make other things', 'a: !!js/function "x"\nb: !own 1\n', { a: 'x', b: '1' }],
])('reads %s', async (_, text, value) => {
  expect(await yaml(text).value()).toEqual(value)
})

test.each<[string, string, string]>([
  ['has a key twice', 'a: 1\nb: 2\na: 3\n', '"a" comes a second time'],
  ['has a key twice in a mapping inside', 'x:\n  - {a: 1, a: 2}\n', '"a" comes a second time'],
  ['has a number and a text that are one key', '1: a\n"1": b\n', '"1" comes a second time'],
  ['has an alias within what it stands for', 'a: &a [1, {b: *a}]\n', 'the alias *a stands within'],
  ['has thousands of aliases', `a: &a 1\nb: [${'*a, '.repeat(1_001)}]\n`, 'more than 1000 aliases'],
])('refuses what %s', async (_, text, reason) => {
  await expect(yaml(text).value()).rejects.toMatchObject({
    code: 'E_ARTIFACT',
    message: expect.stringContaining(reason) as string,
  })
})

test('takes time in proportion to the number of keys', async () => {
  const read = async (count: number): Promise<number> => {
    const text = Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n')
    expect(Object.keys((await yaml(text).value()) as object)).toHaveLength(count)
    return await processorTime(() => yaml(text).value())
  }
  await read(1_000)
  const few = await read(1_500)
  expect((await read(15_000)) / few).toBeLessThan(40)
})

test('a key named __proto__ is data', async () => {
  const value = (await yaml('__proto__:\n  polluted: true\n').value()) as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(({} as { polluted?: true }).polluted).toBeUndefined()
})

test('the queries of JSON ask about it, by pointer and by path', async () => {
  const artifact = yaml('items:\n  - {name: a, price: 3}\n  - {name: b, price: 12}\n')
  expect(await artifact.get('/items/1/name')).toBe('b')
  expect(await artifact.keys()).toEqual(['items'])
  expect(await filter(artifact, '$.items[?@.price < 10].name')).toEqual(['a'])
  const text = `items:\n${'  - name: a\n'.repeat(9_000)}`
  const read = tool({ name: 'read', description: 'Reads', artifact: YamlArtifact, handler: () => text })
  const executor = createExecutor({ tools: [read], use: [artifactTools()] })
  const { handle } = await executor.execute({ name: 'read' }, { session: 's' })
  const asked = { name: 'artifact_json_length', args: { artifact: handle, pointer: '/items' } }
  expect((await executor.execute(asked, { session: 's' })).content).toMatchObject([{ text: '9000' }])
})

test.each([
  ['is not YAML', 'a: [1, 2'],
  ['has a key twice', 'a: 1\na: 2\n'],
  [
    'has aliases that grow',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from('bcdefghi')
      .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]`)
      .join('\n')}\n`,
  ],
  ['is nested too deeply', '['.repeat(100_000)],
  ['is indented too deeply', Array.from({ length: 2_000 }, (_, index) => `${' '.repeat(index)}a:`).join('\n')],
  ['is nested on one line', '- '.repeat(50_000)],
  ['is too large', `a: ${'x'.repeat(262_144)}`],
])('refuses what %s', async (_, text) => {
  await expect(yaml(text).value()).rejects.toMatchObject({ code: 'E_ARTIFACT' })
})
