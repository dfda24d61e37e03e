import { createExecutor, tool } from 'toolwright'
import { pageTools } from 'toolwright/client/page-tools'
import { expect, test } from 'vitest'
import { processorTime } from '../_processor-time.ts'

const described = (name: string, description = `Runs ${name}`) => ({ name, description })
const namesOf = (executor: ReturnType<typeof createExecutor>, session: string): string[] =>
  executor.tools('model', session).map(({ name }) => name)

test('a page declares tools for its own session alone', async () => {
  const pages = pageTools()
  const executor = createExecutor({ use: [pages] })
  pages.declare('ada', 'page 1', [described('read_selection'), described('open_panel')])
  expect(namesOf(executor, 'ada')).toEqual(['read_selection', 'open_panel'])
  expect(namesOf(executor, 'bob')).toEqual([])
  const waiting = await executor.execute({ name: 'read_selection', args: {} }, { session: 'ada' })
  expect(waiting.status).toBe('waiting')
  const strange = await executor.execute({ name: 'read_selection', args: {} }, { session: 'bob' })
  expect(strange.error?.code).toBe('E_TOOL_NOT_FOUND')
})

test('a page that declares its list again replaces it, and one with no tools is forgotten', () => {
  const pages = pageTools()
  const executor = createExecutor({ use: [pages] })
  pages.declare('ada', 'page 1', [described('one'), described('two')])
  pages.declare('ada', 'page 1', [described('two'), described('three')])
  expect(namesOf(executor, 'ada')).toEqual(['two', 'three'])
  pages.declare('ada', 'page 1', [])
  expect(namesOf(executor, 'ada')).toEqual([])
})

test('of two pages that declare one name the first has it, until it leaves', () => {
  const pages = pageTools()
  const executor = createExecutor({ use: [pages] })
  const descriptionOf = (): string | undefined => executor.tools('model', 'ada')[0]?.description
  pages.declare('ada', 'page 1', [described('read', 'as page 1 does')])
  pages.declare('ada', 'page 2', [described('read', 'as page 2 does')])
  expect(descriptionOf()).toBe('as page 1 does')
  pages.declare('ada', 'page 1', [])
  expect(descriptionOf()).toBe('as page 2 does')
})

test('a page cannot take the name of a tool of the application, in any spelling', async () => {
  const pages = pageTools()
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const executor = createExecutor({ tools: [tool('pay_bill', () => 'paid by the host')], use: [pages], report })
  pages.declare('ada', 'page 1', [described('pay_bill'), described('pay-bill'), described('Pay_Bill')])
  const result = await executor.execute({ name: 'pay_bill', args: {} }, { session: 'ada' })
  expect(result.content).toEqual([{ type: 'text', text: 'paid by the host' }])
  expect(namesOf(executor, 'ada')).toEqual(['pay_bill'])
  expect(reports).toEqual([
    expect.objectContaining({ message: expect.stringMatching(/"pay_bill" of a page is set aside/) }),
  ])
})

test('the tools of a page that says no more of itself go away', async () => {
  const pages = pageTools()
  const executor = createExecutor({ use: [pages] })
  pages.declare('ada', 'page 1', [described('read')], 30)
  await expect.poll(() => namesOf(executor, 'ada')).toEqual([])
})

test('a pattern of a page is run by the engine for schemas that are not trusted', async () => {
  const pages = pageTools()
  const executor = createExecutor({ use: [pages] })
  const inputSchema = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } } as const
  pages.declare('ada', 'page 1', [{ ...described('match'), inputSchema }])
  const text = `${'a'.repeat(40)}!`
  const matched = async (): Promise<void> => {
    const result = await executor.execute({ name: 'match', args: { text } }, { session: 'ada' })
    expect(result.error?.code).toBe('E_INVALID_TOOL_ARGS')
  }
  expect(await processorTime(matched, 0)).toBeLessThan(20_000) // a backtracking engine takes hours
})

test.each([
  ['too many tools', Array.from({ length: 65 }, (_, index) => described(`tool_${index}`)), 'E_INVALID_CONFIGURATION'],
  ['a tool without a name', [{ description: 'x' }], 'E_INVALID_INITIAL_TOOL_VALUE'],
  ['null', [null], 'E_INVALID_INITIAL_TOOL_VALUE'],
  ['a schema that refers to itself alone', [{ ...described('x'), inputSchema: { $ref: '#' } }], 'E_SCHEMA_CONVERSION'],
  ['a schema that is a text', [{ ...described('x'), inputSchema: 'object' }], 'E_SCHEMA_CONVERSION'],
])('%s is refused, and the tools before stay', (_, tools, code) => {
  const pages = pageTools()
  const executor = createExecutor({ use: [pages], report: () => {} })
  pages.declare('ada', 'page 1', [described('before')])
  let thrown: unknown
  try {
    pages.declare('ada', 'page 1', tools as never)
  } catch (error) {
    thrown = error
  }
  expect((thrown as { code?: string } | undefined)?.code).toBe(code)
  expect(namesOf(executor, 'ada')).toEqual(['before'])
})

test('if there are too many sessions, the one unused longest loses its tools, and a session has its own limit', () => {
  const pages = pageTools({ mostPages: 2, mostSessions: 2 })
  const executor = createExecutor({ use: [pages] })
  pages.declare('ada', 'page 1', [described('one')])
  pages.declare('ada', 'page 2', [described('two')])
  expect(() => pages.declare('ada', 'page 3', [described('three')])).toThrow(/At most 2 pages/)
  pages.declare('bob', 'page 1', [described('four')])
  expect(namesOf(executor, 'ada')).toEqual(['one', 'two']) // which uses them
  pages.declare('eve', 'page 1', [described('five')])
  expect(['ada', 'bob', 'eve'].map((session) => namesOf(executor, session))).toEqual([['one', 'two'], [], ['five']])
})

test('the executor tells of a changed list', () => {
  const pages = pageTools()
  const executor = createExecutor({ use: [pages] })
  let count = 0
  executor.on('tools:changed', () => count++)
  pages.declare('ada', 'page 1', [described('one')])
  pages.declare('ada', 'page 1', [described('one')])
  pages.declare('ada', 'page 1', [])
  expect(count).toBe(2)
})
