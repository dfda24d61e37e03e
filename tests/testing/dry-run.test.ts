import { InMemoryTransport } from '@modelcontextprotocol/client'
import {
  clientTool,
  createExecutor,
  tool,
  type Extension,
  type ExecutorOptions,
  type ToolCall,
  type ToolResult,
} from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { mcpTools } from 'toolwright/mcp/client'
import { mcpServer } from 'toolwright/mcp/server'
import { budget } from 'toolwright/policies/budget'
import { dryRun, testOptions, type DryRunOptions } from 'toolwright/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

let ran: string[] = []
const running = (name: string, value: unknown) => () => {
  ran.push(name)
  return value as never
}
const look = tool({ name: 'look', description: 'Looks', traits: { readonly: true }, handler: running('look', 'seen') })
const mail = tool({
  name: 'mail',
  description: 'Mails',
  requiresConfirmation: true,
  inputSchema: z.object({ to: z.string(), times: z.number().default(1) }),
  handler: running('mail', 'sent'),
})
const cents = z.object({ cents: z.number() })
const quote = tool({
  name: 'quote',
  description: 'Quotes',
  outputSchema: cents,
  handler: running('quote', { cents: 1 }),
})
const pick = clientTool({ name: 'pick', description: 'Picks', requiresResponse: true })
const choose = tool({
  name: 'choose',
  description: 'Chooses',
  type: 'client',
  requiresResponse: true,
  outputSchema: cents,
})
const answer = tool({ name: 'answer', description: 'Answers', type: 'output', inputSchema: cents })
const tools = [look, mail, quote, pick, choose, answer]
const asking: Extension = { approver: { ask: () => Promise.reject(new Error('a person was asked')) } }

async function dry(options: ExecutorOptions, calls: readonly ToolCall[], more: DryRunOptions = {}) {
  ran = []
  const run = dryRun(options, more)
  const executor = createExecutor(run.options)
  const results: ToolResult[] = []
  for (const call of calls) results.push(await executor.execute(call, { session: 's' }))
  await executor.close()
  return { ...run, results }
}
const words = (name: string) => [{ type: 'text', text: `Dry run: ${name} was not run. Nothing has changed.` }]

describe('a dry run', () => {
  it('takes the options of an executor, and says so of an executor and of nothing', () => {
    for (const options of [undefined, null, createExecutor({ tools: [] })]) {
      expect(() => dryRun(options as never)).toThrow(
        /^`dryRun` takes the options of an executor.*: dryRun\(\{ tools, use \}\)\.$/,
      )
      expect(() => testOptions(options as never)).toThrow(/^`testOptions` takes the options of an executor/)
    }
  })

  it('runs what changes nothing, and tells of the rest that it was not run', async () => {
    const names = ['look', 'quote', 'pick', 'choose']
    const { results, calls } = await dry(
      { tools, use: [asking] },
      names.map((name) => ({ name })),
    )
    expect(ran).toEqual(['look'])
    expect(results.map(({ status, effect, content }) => [status, effect, content])).toEqual([
      ['ok', 'none', [{ type: 'text', text: 'seen' }]],
      ['ok', 'none', words('quote')],
      ['ok', 'none', words('pick')],
      ['denied', 'none', words('choose')],
    ])
    expect(calls.map(({ tool: name, hasRun }) => [name, hasRun])).toEqual([
      ['look', true],
      ['quote', false],
      ['pick', false],
      ['choose', false],
    ])
  })

  it('refuses wrong args as ever, and notes each question that a person would be asked', async () => {
    const to = { name: 'mail', args: { to: 'ada' } }
    const { results, calls, questions } = await dry({ tools, use: [asking] }, [to, { name: 'mail', args: {} }])
    expect(results[0]).toMatchObject({ status: 'ok', effect: 'none', content: words('mail') })
    expect(results[1]).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
    expect(questions).toEqual([{ tool: 'mail', prompt: 'Allow mail to execute?', why: undefined }])
    expect(calls).toMatchObject([{ tool: 'mail', args: { to: 'ada', times: 1 }, session: 's', hasRun: false }])
  })

  it('lets policies deny and count', async () => {
    const { results } = await dry(
      { tools, use: [budget({ calls: 2 })] },
      [1, 2, 3].map(() => ({ name: 'quote' })),
    )
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'denied'])
  })

  it('answers by what simulates a tool, and checks that', async () => {
    const simulate = {
      quote: () => ({ cents: 5 }),
      choose: async () => ({ cents: 6 }),
      mail: ({ to }: { readonly to?: unknown }) => `a draft to ${String(to)}`,
    }
    const calls = [{ name: 'quote' }, { name: 'choose' }, { name: 'mail', args: { to: 'ada' } }]
    const { results } = await dry({ tools, use: [asking] }, calls, { simulate })
    expect(results.map(({ value, effect }) => [value, effect])).toEqual([
      [{ cents: 5 }, 'none'],
      [{ cents: 6 }, 'none'],
      ['a draft to ada', 'none'],
    ])
    const { results: wrong } = await dry({ tools }, [{ name: 'quote' }], {
      simulate: { quote: () => ({ cents: 'x' }) },
    })
    expect(wrong[0]).toMatchObject({ error: { code: 'E_INVALID_TOOL_RESULT' } })
    expect(ran).toEqual([])
  })

  it('leaves the journal, the store and the runners alone', async () => {
    const journal = memoryJournal()
    const touched: string[] = []
    const store = {
      write: () => Promise.reject(new Error(String(touched.push('write')))),
      open: () => Promise.reject(new Error('open')),
      delete: async () => {},
    }
    const far = tool({ name: 'far', description: 'Far', type: 'remote' })
    const use: Extension[] = [journal, { store, runners: [{ type: 'remote', run: running('far', 1) }] }]
    const big = tool({ name: 'big', description: 'Big', traits: { readonly: true }, handler: () => 'x'.repeat(30_000) })
    const { results } = await dry({ tools: [far, big], use }, [{ name: 'far' }, { name: 'big' }])
    expect(results[0]).toMatchObject({ status: 'ok', effect: 'none', content: words('far') })
    expect(results[1]).toMatchObject({ status: 'ok', handle: expect.any(String) })
    expect([ran, touched]).toEqual([[], []])
    const records: unknown[] = []
    for await (const record of journal.journal.list({})) records.push(record)
    expect(records).toEqual([])
  })

  it('asks no MCP server, whatever its tools say of themselves', async () => {
    const remoteLook = tool({
      name: 'remote',
      description: 'Looks',
      traits: { readonly: true },
      handler: running('remote', 1),
    })
    const [near, far] = InMemoryTransport.createLinkedPair()
    await mcpServer({ executor: createExecutor({ tools: [remoteLook] }) }).connect(far)
    const server = await mcpTools({ name: 'server', transport: near })
    const { results } = await dry({ use: [server] }, [{ name: 'remote' }])
    expect(results[0]).toMatchObject({ status: 'ok', effect: 'none', content: words('remote') })
    expect(ran).toEqual([])
  })

  it('gives outputs and the results of providers as they are', async () => {
    const search = tool({ name: 'search', description: 'Searches', type: 'provider' })
    const calls = [{ name: 'answer', args: { cents: 3 } }, { name: 'search', result: 'found' }, { name: 'search' }]
    const { results } = await dry({ tools: [answer, search] }, calls)
    expect(results.map(({ status, value }) => [status, value])).toEqual([
      ['ok', { cents: 3 }],
      ['ok', 'found'],
      ['ok', words('search')[0]?.text],
    ])
  })

  it('notes the args of a tool with secrets masked', async () => {
    const login = tool({
      name: 'login',
      description: 'Logs in',
      secrets: ['/password'],
      inputSchema: z.object({ password: z.string() }),
      handler: running('login', 1),
    })
    const { calls } = await dry({ tools: [login] }, [{ name: 'login', args: { password: 'hunter22' } }])
    expect(calls).toMatchObject([{ args: { password: '[secret]' } }])
  })

  it('keeps an extension with private fields whole, and does not change the options', async () => {
    class Counter {
      #count = 0
      readonly middleware = []
      close(): void {
        this.#count++
      }
      get count(): number {
        return this.#count
      }
    }
    const counter = new Counter()
    const options = Object.freeze({ tools, use: Object.freeze([counter]) })
    await dry(options, [{ name: 'look' }])
    expect(counter.count).toBe(1)
  })

  it.each([[{ simulate: { mail: 'sent' } }], [{ simulate: [1] }], [{ simulat: {} }]])('refuses %j', (options) => {
    expect(() => dryRun({ tools }, options as never)).toThrow(
      expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }),
    )
  })
})
