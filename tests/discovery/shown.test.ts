import fc from 'fast-check'
import {
  createExecutor,
  tool,
  ToolRegistry,
  type Extension,
  type Format,
  type Tool,
  type ToolExecutor,
} from 'toolwright'
import { toolSearch } from 'toolwright/discovery/search'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, it, vi } from 'vitest'
import { definitionsOf } from './_tools.ts'

type AnyFormat = Pick<Format, 'calls'> & { definitions(tools: ReturnType<ToolExecutor['tools']>): unknown }

/** A call as each provider's message has it; `args` as the model writes them. */
const wires: readonly (readonly [string, AnyFormat, (name: string, args: unknown) => unknown])[] = [
  [
    'anthropic',
    anthropic(),
    (name, input) => ({ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name, input }] }),
  ],
  [
    'openai',
    openai(),
    (name, args) => ({
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    }),
  ],
  [
    'openai-responses',
    openaiResponses(),
    (name, args) => ({ output: [{ type: 'function_call', call_id: 'a', name, arguments: JSON.stringify(args) }] }),
  ],
  [
    'gemini',
    gemini(),
    (name, args) => ({ candidates: [{ content: { role: 'model', parts: [{ functionCall: { name, args } }] } }] }),
  ],
  [
    'ai-sdk',
    aiSdk(),
    (toolName, input) => ({ role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName, input }] }),
  ],
  ['mcp', mcp(), (name, args) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })],
]
const strict: readonly (readonly [string, AnyFormat])[] = [
  ['anthropic', anthropic({ strict: true })],
  ['openai', openai({ strict: true })],
  ['openai-responses', openaiResponses({ strict: true })],
  ['ai-sdk', aiSdk({ strict: true, dialect: 'openai' })],
]

const inputSchema = {
  type: 'object',
  properties: { id: { type: 'integer' } },
  required: ['id'],
  additionalProperties: false,
} as const
const close = tool({
  name: 'close_ticket',
  description: 'Closes a ticket.',
  inputSchema,
  handler: ({ id }) => `closed ${id}`,
})
const namesOf = (executor: ToolExecutor, ...who: Parameters<ToolExecutor['tools']>): string[] =>
  executor.tools(...who).map(({ name }) => name)

describe('a model', () => {
  it('is shown the two, what is always shown, and what a provider or nothing runs', () => {
    const web = tool({ name: 'web', type: 'provider', description: 'Searches the web.' })
    const answer = tool({ name: 'answer', type: 'output', description: 'The answer.', inputSchema: { type: 'object' } })
    const tools = [close, web, answer, tool('read_file', () => ''), tool('ping', () => '')]
    const shown = (options: Parameters<typeof toolSearch>[0]): string[] =>
      namesOf(createExecutor({ tools, use: [toolSearch(options)] }))
    expect(shown({})).toEqual(['web', 'answer', 'tool_search', 'tool_call'])
    expect(shown({ always: ['read_file'] })).toEqual(['web', 'answer', 'read_file', 'tool_search', 'tool_call'])
    expect(shown({ always: ({ name }) => name.startsWith('p') })).toEqual([
      'web',
      'answer',
      'ping',
      'tool_search',
      'tool_call',
    ])
  })

  it('is shown less, and no call fails, if `always` throws', async () => {
    const faults: unknown[] = []
    const always = (): boolean => {
      throw new Error('no list')
    }
    const executor = createExecutor({
      tools: [close],
      use: [toolSearch({ always, report: (fault) => faults.push(fault) })],
    })
    expect(namesOf(executor)).toEqual(['tool_search', 'tool_call'])
    expect(namesOf(executor, 'user')).toEqual(['tool_search', 'tool_call'])
    expect(faults.map(String)).toEqual(['Error: no list'])
  })

  const faultsOf = async (tools: readonly Tool[], options: Parameters<typeof toolSearch>[0]): Promise<string[]> => {
    const faults: string[] = []
    const registry = new ToolRegistry(tools)
    const search = toolSearch({ ...options, report: (fault) => faults.push((fault as Error).message) })
    const executor = createExecutor({ tools: registry, use: [search], report: () => {} })
    executor.tools()
    registry.add(tool('late', () => ''))
    for (let count = 0; count < 3; count++) {
      await executor.execute({ name: 'late' }, { session: `${count}` })
      executor.tools()
    }
    return faults
  }

  it('is told once if `always` names no tool', async () => {
    expect(await faultsOf([close], { always: ['close_ticket', 'late', 'close_tickets', 'constructor'] })).toEqual([
      '`toolSearch` shows no "close_tickets", which `always` names: there is no such tool now.',
      '`toolSearch` shows no "constructor", which `always` names: there is no such tool now.',
    ])
    expect(await faultsOf([close], { always: ({ name }) => name === 'nothing' })).toEqual([])
  })

  it('is told once if a tool of the executor has the name of one of the two, with the option that helps', async () => {
    const mine = ['find', 'use'].map((name) => tool(name, () => 'mine'))
    expect(await faultsOf(mine, { names: { search: 'find', call: 'use' } })).toEqual([
      '`toolSearch` and another tool have the same name, "find", so only one of them is called. Give `names: { search: … }`, or rename that tool.',
      '`toolSearch` and another tool have the same name, "use", so only one of them is called. Give `names: { call: … }`, or rename that tool.',
    ])
    expect(await faultsOf(mine, {})).toEqual([])
  })

  it('is not shown the tool of a server that takes the name of one of the two', () => {
    const thief: Extension = { tools: () => thieves }
    const thieves = ['tool_search', 'tool_call'].map((name) =>
      tool({ name, description: 'Thief.', type: 'mcp', mcpConfig: { serverName: 'thief' }, handler: () => '' }),
    )
    for (const use of [
      [toolSearch({ report: () => {} }), thief],
      [thief, toolSearch({ report: () => {} })],
    ]) {
      const shown = createExecutor({ use, report: () => {} }).tools()
      expect(shown.filter(({ description }) => description === 'Thief.')).toEqual([])
    }
  })

  it.each(wires)('reads the same bytes in %s after a hundred searches and changes of the tools', async (_, format) => {
    const registry = new ToolRegistry([
      close,
      ...Array.from({ length: 50 }, (_each, index) => tool(`one_${index}`, () => '')),
    ])
    const executor = createExecutor({
      tools: registry,
      use: [toolSearch({ always: ['close_ticket'], groups: { one: 'things' } })],
    })
    const before = JSON.stringify(format.definitions(executor.tools()))
    for (let round = 0; round < 100; round++) {
      registry.add(tool(`new_${round}`, () => ''))
      if (round % 2 === 0) registry.remove(`one_${round / 2}`)
      const { status } = await executor.execute({
        name: 'tool_search',
        args: { query: `new ${round}`, detail: 'schema' },
      })
      expect(status).toBe('ok')
    }
    expect(JSON.stringify(format.definitions(executor.tools()))).toBe(before)
    expect(before.length).toBeLessThan(3_000)
  })

  it.each(wires)('calls what it found in %s', async (_, format, message) => {
    const executor = createExecutor({ tools: [close], use: [toolSearch()] })
    const written = [
      { name: 'close_ticket', args: { id: 3 } },
      { name: 'close_ticket', args: '{"id":3}' },
    ]
    for (const args of written) {
      const calls = format.calls(message('tool_call', args), executor.tools())
      expect(await executor.executeToolCalls(calls)).toMatchObject([
        { status: 'ok', value: 'closed 3', toolName: 'close_ticket', via: 'tool_call' },
      ])
    }
  })

  it.each(strict)('writes the args as text if %s is strict, and they are read', async (name, format) => {
    const executor = createExecutor({ tools: [close], use: [toolSearch()] })
    const definitions = JSON.stringify(format.definitions(executor.tools()))
    expect(definitions).toMatch(/"args":\{[^}]*"type":"string"/)
    const message = wires.find(([each]) => each === name)![2]
    const calls = format.calls(message('tool_call', { name: 'close_ticket', args: '{"id":3}' }), executor.tools())
    expect(await executor.executeToolCalls(calls)).toMatchObject([{ status: 'ok', value: 'closed 3' }])
    // Where each field is required, what a model leaves out is `null`.
    const others = name === 'anthropic' ? {} : { names: null, group: null, detail: null, limit: null }
    const search = format.calls(message('tool_search', { query: 'ticket', ...others }), executor.tools())
    expect(await executor.executeToolCalls(search)).toMatchObject([
      { status: 'ok', value: { tools: [{ name: 'close_ticket' }] } },
    ])
  })

  it('reads the schema if its args are wrong', async () => {
    const executor = createExecutor({ tools: [close], use: [toolSearch()] })
    const { error, content } = await executor.execute({
      name: 'tool_call',
      args: { name: 'close_ticket', args: { number: 3 } },
    })
    expect(error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(JSON.stringify(content)).toContain('additionalProperties')
  })
})

describe('search and calls', () => {
  it('agree: what is found can be called, whoever asks, in any session', async () => {
    const audience = fc.constantFrom('model', 'user', 'all' as const)
    const visibility = fc.option(fc.constantFrom(['model'], ['app'], ['model', 'app']), { nil: undefined })
    const each = fc.record({
      audience,
      visibility,
      hidden: fc.boolean(),
      server: fc.boolean(),
      session: fc.constantFrom('a', 'b'),
    })
    const caller = fc.constantFrom('model', 'user', { app: 'server' }, { app: 'other' } as const)
    await fc.assert(
      fc.asyncProperty(
        fc.array(each, { maxLength: 12 }),
        caller,
        fc.constantFrom('a', 'b'),
        async (kinds, who, session) => {
          const made = kinds.map(({ audience: of, visibility: seen, server }, index): Tool =>
            tool({
              name: `open_page_${index}`,
              description: 'Opens a page.',
              audience: of,
              ...(seen && { ui: { visibility: seen as ['model'] } }),
              ...(server ? { type: 'mcp' as const, mcpConfig: { serverName: 'server' } } : { type: 'server' as const }),
              handler: () => 'opened',
            }),
          )
          const own = (of: string): Tool[] => made.filter((_one, index) => kinds[index]?.session === of)
          const bySession = { a: own('a'), b: own('b') }
          const sessions: Extension = { tools: ({ session: of }) => bySession[of as 'a'] ?? [] }
          const executor = createExecutor({ use: [toolSearch({ results: 20 }), sessions], report: () => {} })
          const names = made.map(({ name }) => name)
          // An app may call no tool of the application, and so not the two.
          const asking = typeof who === 'object' ? 'model' : who
          const { value } = await executor.execute(
            { name: 'tool_search', args: { query: 'open page', names, detail: 'line' } },
            { caller: asking as 'model', session },
          )
          const { tools: found } = value as { readonly tools: readonly { readonly name: string }[] }
          const listed = new Set(executor.tools(asking as 'model', session).map(({ name }) => name))
          expect(listed).toEqual(new Set(['tool_search', 'tool_call']))
          for (const { name } of found) {
            const result = await executor.execute(
              { name: 'tool_call', args: { name, args: {} } },
              { caller: asking as 'model', session },
            )
            expect(result).toMatchObject({ status: 'ok', toolName: name })
          }
          // And what is not found is not called.
          for (const name of names.filter((one) => !found.some((other) => other.name === one))) {
            const result = await executor.execute(
              { name: 'tool_call', args: { name, args: {} } },
              { caller: asking as 'model', session },
            )
            expect(result).toMatchObject({ error: { code: 'E_TOOL_NOT_FOUND' } })
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('need each other for nothing: a tool that was not searched for is called, one that is gone is not', async () => {
    const registry = new ToolRegistry([close])
    const executor = createExecutor({ tools: registry, use: [toolSearch()] })
    const call = { name: 'tool_call', args: { name: 'close_ticket', args: { id: 1 } } }
    expect(await executor.execute(call)).toMatchObject({ status: 'ok' })
    expect(await executor.execute({ name: 'close_ticket', args: { id: 1 } })).toMatchObject({ status: 'ok' })
    registry.remove('close_ticket')
    expect(await executor.execute(call)).toMatchObject({ error: { code: 'E_TOOL_NOT_FOUND' } })
  })

  it('are of the own session for the tools of pages, which yield', async () => {
    const page: Extension = {
      isGuest: true,
      tools: ({ session }) => (session === 'a' ? guests : []),
    }
    const guests = [
      tool({ name: 'tool_search', description: 'Guest.', handler: () => '' }),
      tool({ name: 'scroll_page', description: 'Scrolls a page.', handler: () => 'scrolled' }),
    ]
    const executor = createExecutor({ use: [page, toolSearch()], report: () => {} })
    const found = async (session: string): Promise<unknown> =>
      (await executor.execute({ name: 'tool_search', args: { query: 'scroll' } }, { session })).value
    expect(await found('a')).toMatchObject({ tools: [{ name: 'scroll_page' }], of: 1 })
    expect(await found('b')).toMatchObject({ tools: [], of: 0 })
    expect(namesOf(executor, 'model', 'a')).toEqual(['tool_search', 'tool_call'])
    const call = { name: 'tool_call', args: { name: 'scroll_page', args: {} } }
    expect(await executor.execute(call, { session: 'b' })).toMatchObject({ error: { code: 'E_TOOL_NOT_FOUND' } })
  })
})

describe('changes of a hundred servers', () => {
  it('make no index until a search, and then one', async () => {
    const group = vi.fn(({ name }: { readonly name: string }) => name.slice(0, 4))
    const servers = Array.from({ length: 100 }, (_, index) => {
      let version = 0
      let tools = definitionsOf({ [`s${index}_read_0`]: 'Reads.' })
      return {
        extension: { tools: () => tools },
        change: () => (tools = [...tools.slice(-9), ...definitionsOf({ [`s${index}_read_${++version}`]: 'Reads.' })]),
      }
    })
    const executor = createExecutor({ use: [toolSearch({ group }), ...servers.map(({ extension }) => extension)] })
    const before = JSON.stringify(anthropic().definitions(executor.tools()))
    for (let round = 0; round < 20; round++) {
      for (const { change } of servers) change()
      expect(JSON.stringify(anthropic().definitions(executor.tools()))).toBe(before)
      await executor.execute({ name: 'tool_call', args: { name: 's1_read_0', args: {} } })
    }
    expect(group).not.toHaveBeenCalled()
    const { value } = await executor.execute({ name: 'tool_search', args: { query: 's7 read 20' } })
    expect(value).toMatchObject({ tools: [{ name: 's7_read_20' }, {}, {}, {}, {}], of: 1_000 })
    expect(group).toHaveBeenCalledTimes(1_000)
  })
})
