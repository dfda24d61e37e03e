import { filter } from 'toolwright/artifacts/json'
import { XmlArtifact } from 'toolwright/artifacts/xml'
import { expect, test } from 'vitest'
import { artifactConformance, artifactOf, turnsDuring } from '../conformance/artifacts.ts'
import { asking } from './_asking.ts'
import { jsonInputs } from './_inputs.ts'

artifactConformance('XmlArtifact', XmlArtifact, {
  inputs: { ...jsonInputs, xml_elements: [{}, { name: 'a', start: 1, limit: 2 }] },
})

function xml(text: string): XmlArtifact {
  return artifactOf(XmlArtifact, text)
}

test.each<[string, string, unknown]>([
  ['an empty element', '<a/>', { a: '' }],
  ['text, and what stands for it', '<a>1 &amp; &#65;&#x1F600; <![CDATA[<b>]]></a>', { a: '1 & A😀 <b>' }],
  ['attributes', `<a x="1 &lt; 2" y=''>t</a>`, { a: { '@x': '1 < 2', '@y': '', '#text': 't' } }],
  ['elements of one name and of several', '<a> <b>1</b> <c/> <b>2</b> </a>', { a: { b: ['1', '2'], c: '' } }],
  ['text between elements', '<p>one <b>two</b> three</p>', { p: { '#content': ['one', { b: 'two' }, 'three'] } }],
  ['prefixes', '<s:a xmlns:s="u"><s:b/></s:a>', { 's:a': { '@xmlns:s': 'u', 's:b': '' } }],
  ['no comments and instructions', '<?xml version="1.0"?><!-- a --><a><!-- b -->t<?do it?></a>', { a: 't' }],
  ['a document type without using it', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a/>', { a: '' }],
])('reads %s', async (_, text, value) => {
  expect(await xml(text).value()).toEqual(value)
})

test('elements and attributes named __proto__ are data', async () => {
  const value = await xml(
    '<a __proto__="x"><__proto__><polluted>1</polluted></__proto__><constructor>2</constructor></a>',
  ).get('/a')
  expect(Object.entries(value as object)).toEqual([
    ['@__proto__', 'x'],
    ['__proto__', { polluted: '1' }],
    ['constructor', '2'],
  ])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test('elements have the lines that cat reads', async () => {
  const artifact = xml(
    '<feed>\r\n  <entry\r\n    id="1">A\rB</entry>\r\n  <entry id="2"><entry/></entry>\r\n</feed>\r\n',
  )
  const [first, second, inner] = await artifact.elements('entry')
  expect(first).toEqual({ name: 'entry', path: '/feed/entry', attributes: { id: '1' }, line: 1, endLine: 3 })
  expect(await artifact.cat(first!.line, first!.endLine)).toBe('  <entry\n    id="1">A\rB</entry>')
  expect(second).toMatchObject({ attributes: { id: '2' }, line: 3, endLine: 4 })
  expect(inner).toMatchObject({ path: '/feed/entry/entry', line: 3, endLine: 4 })
  expect(await xml('<a>\n<b/></a>').elements('b')).toMatchObject([{ line: 1, endLine: 2 }])
  expect(await xml('<?xml version="1.0"?><a/>').elements()).toMatchObject([{ line: 0, endLine: 1 }])
  expect(await artifact.elements(undefined, { start: 3 })).toMatchObject([{ path: '/feed/entry/entry' }])
  expect(await artifact.elements('entry', { limit: 1 })).toEqual([first])
})

test('a document of megabytes is read while other tasks get turns', async () => {
  const artifact = xml(`<r>${'<i id="1"><n>😀 name</n></i>'.repeat(100_000)}</r>`)
  expect(await turnsDuring(artifact.value())).toBeGreaterThan(2)
  expect(await filter(artifact, '$.r.i[99999].n')).toEqual(['😀 name'])
})

test('a model finds elements and reads their lines', async () => {
  const { ask, keep } = asking({ artifact: XmlArtifact })
  await keep(`<r>\n${Array.from({ length: 2_000 }, (_, id) => `<i id="${id}"/>`).join('\n')}\n</r>`)
  expect(JSON.parse(await ask('xml_elements', { name: 'i', start: 1_999 }))).toMatchObject([{ line: 2_000 }])
  expect(await ask('json_length', { pointer: '/r/i' })).toBe('2000')
})

test.each([
  ['is empty', ''],
  ['is text', 'hello'],
  ['is not closed', '<a><b></a>'],
  ['ends within a section', '<a><![CDATA[ x'],
  ['ends within a comment', '<a><!-- x'],
  ['ends within an attribute', '<a b="'],
  ['ends within a document type', `<!DOCTYPE a [${'<!ENTITY '.repeat(20_000)}`],
  ['has two roots', '<a/><b/>'],
  ['has an attribute twice', '<a b="1" b="2"/>'],
  ['uses entities that grow', '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><a>&y;</a>'],
  ['uses a file', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
  ['is nested too deeply', '<a>'.repeat(100_000)],
  ['has too many elements', `<a>${'<b/>'.repeat(500_000)}</a>`],
  ['is too large', `<a>${' '.repeat(16_777_216)}</a>`],
])('refuses what %s', async (_, text) => {
  await expect(xml(text).value()).rejects.toMatchObject({ code: 'E_ARTIFACT' })
})
