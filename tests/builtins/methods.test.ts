import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor } from 'toolwright'
import { toolMethod, toolsOf } from 'toolwright/builtins/methods'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'

// Node runs no decorators yet: TypeScript compiles the fixture, by the standard and without a legacy flag.
const folder = join(import.meta.dirname, `.compiled-${process.pid}`)

interface Fixture {
  readonly Account: new () => object
  readonly Savings: new () => object
}
let fixture: Fixture

beforeAll(async () => {
  const source = readFileSync(join(import.meta.dirname, '_decorated.txt'), 'utf8')
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'account.mjs'), ts.transpileModule(source, { compilerOptions }).outputText)
  fixture = (await import(/* @vite-ignore */ join(folder, 'account.mjs'))) as Fixture
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('decorated methods are tools, with their object as `this` and the context of the call', async () => {
  const executor = createExecutor({ tools: toolsOf(new fixture.Account()) })
  expect(executor.tools().map(({ name, traits }) => [name, traits.idempotent])).toEqual([
    ['deposit', false],
    ['get_balance', true],
  ])
  const { content } = await executor.execute({ name: 'deposit', args: { amount: 5 } }, { session: 's' })
  expect(content).toMatchObject([{ data: { balance: 15, session: 's' } }])
  expect((await executor.execute({ name: 'get_balance' })).content).toMatchObject([{ text: '15' }])
  expect((await executor.execute({ name: 'deposit', args: { amount: 'x' } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
})

test('a method of a subclass runs in place of the one that it overrides', async () => {
  const executor = createExecutor({ tools: toolsOf(new fixture.Savings()) })
  expect((await executor.execute({ name: 'get_balance' })).content).toMatchObject([{ text: '20' }])
})

test('two objects of one class have tools of their own', async () => {
  const [one, other] = [new fixture.Account(), new fixture.Account()].map((account) =>
    createExecutor({ tools: toolsOf(account) }),
  )
  await one?.execute({ name: 'deposit', args: { amount: 1 } })
  expect((await other?.execute({ name: 'get_balance' }))?.content).toMatchObject([{ text: '10' }])
})

test('without the syntax, a function marks a function', async () => {
  const clock = { now: toolMethod({ description: 'Gives the time' })(() => '12:00'), other: () => 'no tool' }
  expect(await toolsOf(clock)[0]?.invoke({})).toBe('12:00')
  expect(toolsOf(clock)).toHaveLength(1)
})

test.each([
  ['no marked method', () => toolsOf({ method: () => 1 })],
  ['no object', () => toolsOf(null as never)],
  ['no options', () => toolMethod(undefined as never)],
  ['no method', () => toolMethod({ description: 'x' })({} as never)],
  ['a field', () => toolMethod({ description: 'x' })(() => 1, { kind: 'field' } as never)],
  [
    'a private method',
    () => toolMethod({ description: 'x' })(() => 1, { kind: 'method', private: true, name: '#x' } as never),
  ],
])('%s is refused', (_, make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
})
