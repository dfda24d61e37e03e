import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parse } from 'acorn'
import { EcmaScriptArtifact } from 'toolwright/artifacts/ecmascript'
import { describe, expect, test } from 'vitest'
import { artifactConformance, artifactOf, turnsDuring } from '../conformance/artifacts.ts'
import { asking } from './_asking.ts'

artifactConformance('EcmaScriptArtifact', EcmaScriptArtifact, {
  inputs: {
    ecmascript_imports: [{}, { start: 1, limit: 1 }],
    ecmascript_exports: [{}, { start: 1 }],
    ecmascript_functions: [{}, { name: 'a', start: 1, limit: 2 }],
  },
})

function code(text: string): EcmaScriptArtifact {
  return artifactOf(EcmaScriptArtifact, text)
}

const cart = `#!/usr/bin/env node
import path, { join, resolve as at } from 'node:path'
import * as fs from 'node:fs'
import 'side-effect'
export { one, two as second } from './others.js'
export * from './all.js'
export * as rest from './rest.js'

export const VAT = 0.2, { rate, ...more } = rates
export default class Cart {
  #items = []
  static of = (...items) => new Cart(items)
  constructor(items) { this.#items = items }
  get size() { return this.#items.length }
  async *pages(size = 10) {
    const { load } = await import('./page.js')
    function next() {}
    yield* [].map((item) => item)
  }
  ['to' + 'JSON']() {}
}
const api = {
  nested: { async read(file, { signal }) {} },
  'with space': function () {},
}
function local() { return /}/.test(\`\${{ a: '}' }}\`) }
api.late = () => 1
export { local, api as "the api" }
`

test('tells what a module imports, with names and lines', async () => {
  expect(await code(cart).imports()).toEqual([
    { from: 'node:path', names: ['default as path', 'join', 'resolve as at'], kind: 'import', line: 1, endLine: 2 },
    { from: 'node:fs', names: ['* as fs'], kind: 'import', line: 2, endLine: 3 },
    { from: 'side-effect', names: [], kind: 'import', line: 3, endLine: 4 },
    { from: './page.js', names: [], kind: 'import()', line: 15, endLine: 16 },
  ])
})

test('tells what a module exports', async () => {
  const exports = await code(cart).exports()
  expect(exports.map(({ name, local, from }) => ({ name, ...(local && { local }), ...(from && { from }) }))).toEqual([
    { name: 'one', from: './others.js' },
    { name: 'second', local: 'two', from: './others.js' },
    { name: '*', from: './all.js' },
    { name: 'rest', local: '*', from: './rest.js' },
    { name: 'VAT' },
    { name: 'rate' },
    { name: 'more' },
    { name: 'default', local: 'Cart' },
    { name: 'local' },
    { name: 'the api', local: 'api' },
  ])
  expect(exports[7]).toMatchObject({ line: 9, endLine: 21 })
})

test('tells the functions, methods and classes by the names around them, with lines that cat reads', async () => {
  const artifact = code(cart)
  const functions = await artifact.functions()
  expect(functions.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
    'class Cart',
    'function Cart.of',
    'constructor Cart.constructor',
    'getter Cart.size',
    'method Cart.pages',
    'function Cart.pages.next',
    "method Cart.['to' + 'JSON']",
    'function api.nested.read',
    'function api.with space',
    'function local',
    'function api.late',
  ])
  expect(functions[4]).toEqual({
    name: 'Cart.pages',
    kind: 'method',
    parameters: ['size = 10'],
    isAsync: true,
    isGenerator: true,
    line: 14,
    endLine: 19,
  })
  const [read] = await artifact.functions('nested.')
  expect(read).toMatchObject({ parameters: ['file', '{ signal }'], isAsync: true })
  expect(await artifact.cat(read!.line, read!.endLine)).toBe('  nested: { async read(file, { signal }) {} },')
})

test('reads scripts too: CommonJS, a return at the top level, and what is not strict', async () => {
  const artifact = code(`var path = require('path'), { a, b: c } = require("./ab")
require('./side')
exports.one = exports.two = function () {}
module.exports.three = 3
module.exports = { four, five: 5 }
Object.defineProperty(exports, 'six', { get() {} })
with (path) join()
if (010 === 8) return
`)
  expect(await artifact.imports()).toMatchObject([
    { from: 'path', names: ['* as path'], kind: 'require', line: 0 },
    { from: './ab', names: ['a', 'b as c'], kind: 'require', line: 0 },
    { from: './side', names: [], kind: 'require', line: 1 },
  ])
  expect((await artifact.exports()).map(({ name }) => name)).toEqual(['one', 'two', 'three', 'four', 'five', 'six'])
  expect(await code('module.exports = function main() {}').exports()).toMatchObject([{ name: 'module.exports' }])
})

test('a name that is declared twice, and one that is exported and not declared, is no reason to refuse a text', async () => {
  expect(await code('let a\nlet a\nexport { b }').exports()).toMatchObject([{ name: 'b', line: 2 }])
})

const require = createRequire(import.meta.url)
test.each(['acorn/dist/acorn.mjs', 'acorn/dist/acorn.js', 'yargs/build/index.cjs', 'rollup/dist/shared/rollup.js'])(
  'finds in %s, which is long, every function declaration that a parser finds in the whole',
  async (name) => {
    const file = `${require.resolve('acorn').replace(/acorn\/dist\/acorn\.js$/, '')}${name}`
    const text = readFileSync(file, 'utf8')
    const names: string[] = []
    const whole = parse(text, { ecmaVersion: 'latest', sourceType: file.endsWith('.mjs') ? 'module' : 'script' })
    JSON.stringify(whole, (_, node: { type?: string; id?: { name: string } } | null) => {
      if (node?.type === 'FunctionDeclaration' && node.id) names.push(node.id.name)
      return node === null || typeof node !== 'bigint' ? node : 0
    })
    const found = (await code(text).functions()).map((each) => each.name.split('.').at(-1))
    expect(names.length).toBeGreaterThan(10)
    for (const each of new Set(names)) expect(found.filter((own) => own === each).length).toBeGreaterThan(0)
    expect(found.length).toBeGreaterThanOrEqual(names.length)
  },
)

describe('of a text of a megabyte', () => {
  // Each name of a scope is compared with all others by the parser: this took it 9 seconds.
  test('30,000 functions are read while other tasks get turns', async () => {
    const text = Array.from({ length: 30_000 }, (_, index) => `export function f${index}() { return ${index} }`).join(
      '\n',
    )
    const artifact = code(text)
    expect(await turnsDuring(artifact.functions())).toBeGreaterThan(5)
    const [last] = await artifact.functions('f29999')
    expect(last).toMatchObject({ name: 'f29999', line: 29_999 })
    expect(await artifact.exports()).toHaveLength(30_000)
  }, 60_000)

  test('one function that is all of it is read statement by statement, with what is in it', async () => {
    const inner = Array.from(
      { length: 400 },
      (_, index) => `  function f${index}() {\n${'    call(this);\n'.repeat(150)}  }`,
    )
    const artifact = code(`(async function all() {\n  'use strict'\n${inner.join('\n')}\n  await new.target\n})()\n`)
    expect(await turnsDuring(artifact.functions())).toBeGreaterThan(5)
    const functions = await artifact.functions()
    expect(functions).toHaveLength(401)
    expect(functions[400]).toMatchObject({ name: 'all.f399', line: 2 + 399 * 152, endLine: 2 + 400 * 152 })
  }, 60_000)
})

test('a model finds functions and reads their lines', async () => {
  const { ask, keep } = asking({ artifact: EcmaScriptArtifact, only: 'usual' })
  await keep(cart)
  expect(JSON.parse(await ask('ecmascript_functions', { name: 'pages', limit: 1 }))).toMatchObject([{ line: 14 }])
  expect(await ask('cat', { start: 14, end: 16 })).toContain('async *pages(size = 10) {')
  expect(await ask('ecmascript_imports')).toContain('node:path')
  expect(await ask('ecmascript_exports')).toContain('"default"')
})

const body = (text: string): string => `function f() {\n${text}\n// ${'-'.repeat(600)}\n}`

test.each<[string, string, RegExp]>([
  ['is TypeScript', 'export const a: number = 1', /TypeScript and JSX are not read. Line 0: Unexpected token\.$/],
  ['has an interface', 'const a = 1\ninterface B {}', /TypeScript and JSX are not read. Line 1: /],
  ['is JSX', 'const a = 1\n\nconst b = <p>x</p>', /TypeScript and JSX are not read. Line 2: /],
  ['ends within a text', 'a = "b', /Line 0: Unterminated string/],
  ['ends within a comment', 'a /* b', /Line 0: Unterminated comment/],
  ['is wrong within a long function', body('  let = ='), /Line 1: /],
  ['has a brace too many', `${body('')}}`, /Line 3: /],
  ['is nested too deeply', '['.repeat(20_000), /nested too deeply/],
  ['is nested on the left', `a = ${'1+'.repeat(10_000)}1`, /nested too deeply/],
  [
    'has functions within functions',
    `${'function f() {/*'.padEnd(600, '-')}*/`.repeat(200) + '}'.repeat(200),
    /100 deep/,
  ],
  ['has a long statement', `a = [${'1,'.repeat(30_000)}]`, /A statement without the functions .* 32,768 characters/],
  ['has a long pattern', `a = /${'b'.repeat(40_000)}/`, /A pattern has more than 32,768 characters/],
  ['has a long space', `let${' '.repeat(40_000)}a`, /The space between two words/],
  ['declares too much', 'a=()=>1\n'.repeat(100_001), /more than 100,000 names/],
  ['is too large', `// ${'x'.repeat(2_097_152)}`, /2,097,155 bytes of ECMAScript, more than the 2,097,152/],
])('refuses what %s, and says why', async (_, text, message) => {
  await expect(code(text).functions()).rejects.toMatchObject({
    code: 'E_ARTIFACT',
    message: expect.stringMatching(message) as string,
  })
})
