import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, tool, ToolFailure, type Extension, type ToolExecutor } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { mcpTools, type McpToolsOptions } from 'toolwright/mcp/client'
import { retry } from 'toolwright/middleware/retry'
import { describe, expect, test, vi } from 'vitest'
import { deferred, outcome, text } from '../kernel/_calls.ts'
import { startCutter, type Cutter } from '../servers/cutter.ts'
import { json, site } from './_http.ts'
import { closing, start, type Started } from './_server.ts'

const key = 'toolwright/once'
const protocols = ['2025-11-25', '2026-07-28'] as const
const program = join(import.meta.dirname, 'modules/mortal.ts')

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'toolwright-once-'))
  closing(() => rmSync(made, { recursive: true }))
  return made
}

function durable(): Extension {
  return sqliteJournal(join(folder(), 'calls.db'))
}

interface Cut {
  readonly server: Started
  readonly cutter: Cutter
  readonly executor: ToolExecutor
  readonly runs: unknown[]
  /** What was emitted when the call was made again. */
  readonly reissues: unknown[]
  /** After how many bytes the next answers are cut, the next one first. */
  readonly cutAt: number[]
}

/** A client of a server, with a cutter between them. */
async function cutOff(
  options: Partial<McpToolsOptions> = {},
  { use = [durable()], handler }: { use?: Extension[]; handler?: (input: object, signal: AbortSignal) => unknown } = {},
  clientUse: Extension[] = [],
): Promise<Cut> {
  const [runs, reissues, cutAt]: [unknown[], unknown[], number[]] = [[], [], []]
  const pay = tool('pay', (input: object, { signal }) => {
    runs.push(input)
    return handler?.(input, signal) ?? `paid ${runs.length}`
  })
  const server = await start({ tools: [pay], use }, {}, { token: (token) => token })
  const cutter = await startCutter(server.url, () => cutAt.shift())
  closing(cutter.close)
  const headers = { authorization: 'Bearer ann' }
  const client = await mcpTools({
    name: 'bank',
    url: cutter.url,
    headers,
    reconnectDelay: 1,
    report: () => {},
    ...options,
  })
  const executor = createExecutor({ use: [client, ...clientUse] })
  executor.on('tool:progress', ({ type, data }) => void (type === 'reissue' && reissues.push(data)))
  closing(() => executor.close())
  return { server, cutter, executor, runs, reissues, cutAt }
}

describe.each(protocols)('in the era of %s, a call whose answer was cut', (protocol) => {
  test('is made again to a server that declared that it runs once, and has its result', async () => {
    const { executor, runs, reissues, cutAt, server } = await cutOff({ protocol })
    cutAt.push(0, 100, 350)
    const result = await executor.execute({ name: 'pay', args: { to: 'bob' } })
    expect(outcome(result)).toBe('ok completed')
    expect(text(result)).toBe('paid 1')
    expect(runs).toHaveLength(1)
    const cause = expect.any(String) as string
    expect(reissues).toEqual([1, 2, 3].map((count) => ({ count, cause })))
    expect(await server.executor.calls.list({})).toHaveLength(1)
  })

  test('is not made again to a server that did not, and its effect is unknown', async () => {
    const { executor, runs, reissues, cutAt } = await cutOff({ protocol }, { use: [] })
    cutAt.push(100)
    const result = await executor.execute({ name: 'pay' })
    expect(outcome(result)).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
    expect([runs.length, reissues]).toEqual([1, []])
  })

  test('is made again as often as a connection is reopened, then its effect is unknown', async () => {
    const { executor, runs, reissues, cutAt } = await cutOff({ protocol, reconnects: 2 })
    cutAt.push(100, 100, 100, 100)
    const result = await executor.execute({ name: 'pay' })
    expect(outcome(result)).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
    expect(text(result)).toContain('lost')
    expect([runs.length, reissues.length, cutAt.length]).toEqual([1, 2, 1])
    const never = await cutOff({ protocol, reconnects: 0 })
    never.cutAt.push(100)
    expect(outcome(await never.executor.execute({ name: 'pay' }))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
    expect([never.runs.length, never.reissues]).toEqual([1, []])
  })

  test('is not made again after its caller gave up, or its deadline passed, while it waits for the server', async () => {
    const { executor, runs, cutAt, reissues } = await cutOff({ protocol, reconnectDelay: 600_000 })
    cutAt.push(100, 100, 100)
    const controller = new AbortController()
    const call = executor.execute({ name: 'pay' }, { signal: controller.signal })
    await vi.waitFor(() => expect(cutAt).toHaveLength(1))
    await new Promise((resolve) => setTimeout(resolve, 20))
    controller.abort()
    expect(outcome(await call)).toBe('cancelled unknown E_TOOL_CANCELLED')
    const timed = await cutOff({ protocol, reconnectDelay: 600_000, timeout: 1_000 })
    timed.cutAt.push(100, 100, 100)
    expect(outcome(await timed.executor.execute({ name: 'pay' }))).toBe('timed_out unknown E_TOOL_TIMEOUT')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([runs.length, reissues.length, cutAt.length]).toEqual([1, 1, 1])
    expect([timed.runs.length, timed.cutAt.length]).toEqual([1, 1])
  })

  test('joins the handler that still runs', async () => {
    const running = deferred<unknown>()
    const { executor, runs, cutAt, cutter } = await cutOff({ protocol }, { handler: () => running.promise })
    cutAt.push(0)
    const call = executor.execute({ name: 'pay' })
    await vi.waitFor(() => expect(runs).toHaveLength(1))
    cutter.drop() // before anything was answered
    await new Promise((resolve) => setTimeout(resolve, 50))
    running.resolve('paid late')
    expect(text(await call)).toBe('paid late')
    expect(runs).toHaveLength(1)
  })

  test('has the same failure again, and is another call if it is retried after that', async () => {
    let fails = 1
    const handler = (): unknown => {
      if (fails-- > 0) throw new ToolFailure('The bank is busy.')
      return 'paid'
    }
    const tools = { pay: { reconcile: () => ({ effect: 'none' }) as const } }
    const always = retry({ when: () => true, delay: 1 })
    const { executor, runs, cutAt } = await cutOff({ protocol, tools }, { handler }, [always])
    cutAt.push(100)
    expect(text(await executor.execute({ name: 'pay' }))).toBe('paid')
    expect(runs).toHaveLength(2)
  })

  test('keeps what the application adds to its requests', async () => {
    const metas: unknown[] = []
    const { server, executor } = await cutOff({ protocol, meta: () => ({ trace: 'one' }) })
    server.executor.on('call:received', ({ invocationId }) => void metas.push(invocationId))
    await executor.execute({ name: 'pay' }, { invocationId: 'order 4711' })
    await executor.execute({ name: 'pay' }, { invocationId: 'x'.repeat(1_000) })
    expect(metas).toEqual([expect.stringMatching(/^mcp-/), expect.stringMatching(/^mcp-/)])
  })
})

test('a session of 2025-11-25 that is gone is no place to make a call again', async () => {
  const runs: unknown[] = []
  let sessions = 0
  const { url } = await site((asked, response) => {
    if (asked.method === 'initialize') {
      const capabilities = { tools: {}, extensions: { [key]: { session: `session ${++sessions}` } } }
      const result = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'site', version: '1' } }
      return json(response, { jsonrpc: '2.0', id: asked.id, result }, { 'mcp-session-id': `${sessions}` })
    }
    if (asked.method !== 'tools/call') return undefined
    runs.push(asked)
    if (runs.length === 2) return response.writeHead(404).end()
    return response.destroy()
  })
  const client = await mcpTools({ name: 'site', url, protocol: '2025-11-25', reconnectDelay: 1, report: () => {} })
  const executor = createExecutor({ use: [client] })
  closing(() => executor.close())
  expect(outcome(await executor.execute({ name: 'echo' }))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
  // It was asked for in its own session, where it was not found; in another it would run again.
  expect([runs.length, sessions]).toEqual([2, 2])
})

test.each([7, 'yes', null, { session: 7 }, { session: 'x'.repeat(1_000) }])(
  'what a server declares is not believed to be more than it is: %j',
  async (declaration) => {
    const calls: unknown[] = []
    const { url } = await site((asked, response) => {
      if (asked.method === 'initialize') {
        const capabilities = { tools: {}, extensions: { [key]: declaration } }
        const result = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'site', version: '1' } }
        return json(response, { jsonrpc: '2.0', id: asked.id, result })
      }
      if (asked.method === 'tools/call') calls.push(asked)
      return undefined
    })
    const client = mcpTools({ name: 'site', url, protocol: '2025-11-25', report: () => {} })
    const opened = await client.catch(() => undefined)
    if (opened === undefined) return // the protocol allows only objects
    const executor = createExecutor({ use: [opened] })
    closing(() => executor.close())
    expect(outcome(await executor.execute({ name: 'echo' }))).toBe('ok completed')
    expect(JSON.stringify(calls)).not.toContain(key)
  },
)

test('a program that dies while it runs a call is started again, and says what has become of it', async () => {
  const place = folder()
  for (const [session, expected] of [
    ['desk', 'ok completed'],
    ['', 'error unknown E_TOOL_DOWNSTREAM_ERROR'],
  ] as const) {
    writeFileSync(join(place, 'paid'), '')
    const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
    const client = await mcpTools({
      name: 'mortal',
      command: process.execPath,
      args: [...flags, program, place, session],
      protocol: '2025-11-25',
      reconnectDelay: 10,
      report: () => {},
    })
    const executor = createExecutor({ use: [client] })
    const result = await executor.execute({ name: 'pay', args: { to: session } })
    expect(outcome(result)).toBe(expected)
    if (session !== '') expect(text(result)).toBe('found out')
    expect(readFileSync(join(place, 'paid'), 'utf8').trim().split('\n')).toHaveLength(1)
    await executor.close()
  }
})
