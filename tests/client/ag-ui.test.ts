import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpAgent } from '@ag-ui/client'
import { createExecutor, tool, type Extension, type ToolCall, type ToolExecutor, type ToolResult } from 'toolwright'
import {
  agUi,
  type AgUi,
  type AgUiEvent,
  type AgUiInput,
  type AgUiModel,
  type AgUiOptions,
} from 'toolwright/client/ag-ui'
import { listen } from 'toolwright/client/node'
import { pageTools } from 'toolwright/client/page-tools'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { missing } from './_installed.ts'

if (missing !== undefined) console.warn(`AG-UI is tested without its own client: ${missing}`)

const numberArgs = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const
const color = { name: 'pick_color', description: 'Picks a color', parameters: { type: 'object', properties: {} } }

interface Bench {
  readonly executor: ToolExecutor
  readonly server: AgUi
  readonly ran: number[]
  readonly reports: unknown[]
  /** The calls of the runs to come, one list for each. */
  readonly script: ToolCall[][]
}

/** Makes a server whose model calls what the test says. */
function bench(options: Partial<AgUiOptions> = {}, use: readonly Extension[] = [memoryJournal()]): Bench {
  const ran: number[] = []
  const reports: unknown[] = []
  const script: ToolCall[][] = []
  const pages = pageTools()
  const executor = createExecutor({
    tools: [
      tool('now', (_input, { emit }) => (emit('half', { percent: 50 }), 'noon')),
      tool('broken', () => {
        throw new Error('no luck')
      }),
      tool({
        name: 'pay',
        description: 'Pays',
        inputSchema: numberArgs,
        requiresConfirmation: true,
        handler: ({ sum }) => (ran.push(sum), `paid ${sum}`),
      }),
    ],
    use: [pages, ...use],
  })
  const report = (error: unknown): void => void reports.push(error)
  const model: AgUiModel = () => script.shift() ?? []
  const server = agUi({ executor, pageTools: pages, model, token: 'secret', report, ...options })
  return { executor, server, ran, reports, script }
}

const input: AgUiInput = { threadId: 'thread', runId: 'run', messages: [] }

async function all(events: AsyncIterable<AgUiEvent>): Promise<AgUiEvent[]> {
  const seen: AgUiEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

const typesOf = (events: readonly AgUiEvent[]): string[] => events.map(({ type }) => type)
const lastOf = (events: readonly AgUiEvent[]): AgUiEvent | undefined => events.at(-1)

/** Opens a server and an agent of AG-UI's own client, and checks every event with AG-UI's own schemas. */
async function agentOf(server: AgUi, threadId = 'thread'): Promise<{ agent: HttpAgent; events: AgUiEvent[] }> {
  const [{ HttpAgent: Agent }, { EventSchemas }] = await Promise.all([
    import('@ag-ui/client'),
    import('@ag-ui/core/schemas'),
  ])
  const events: AgUiEvent[] = []
  const invalid: unknown[] = []
  const decoder = new TextDecoder()
  const { url, close } = await listen(async (request) => {
    const response = await server.fetch(request)
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        for (const [, text = ''] of decoder.decode(piece).matchAll(/^data: (.*)$/gm)) {
          const event = JSON.parse(text) as AgUiEvent
          const checked = EventSchemas.safeParse(event)
          if (!checked.success) invalid.push([event, checked.error.issues])
          events.push(event)
        }
        controller.enqueue(piece)
      },
    })
    return new Response(response.body?.pipeThrough(watch) ?? null, response)
  })
  onTestFinished(async () => {
    await close()
    expect(invalid).toEqual([])
  })
  const headers = { authorization: 'Bearer secret' }
  return { agent: new Agent({ url: `${url}/run`, threadId, headers }), events }
}

/** The answers of tools that the agent's messages have, by the ids of their calls. */
function answersOf(agent: HttpAgent): Record<string, unknown> {
  const tools = agent.messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
  return Object.fromEntries(tools.map(({ toolCallId, content }) => [toolCallId, content]))
}

describe.skipIf(missing !== undefined)('an agent of @ag-ui/client', () => {
  it('gets calls, progress, results and errors, and an interrupt for what waits for approval', async () => {
    const { server, executor, script } = bench()
    const { agent, events } = await agentOf(server)
    script.push([
      { id: 'c1', name: 'now' },
      { id: 'c2', name: 'pay', args: { sum: 5 } },
      { id: 'c3', name: 'broken' },
    ])
    await agent.runAgent({ runId: 'r1' })
    const call = ['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END']
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      ...call,
      ...call,
      ...call,
      'CUSTOM',
      'TOOL_CALL_RESULT',
      'TOOL_CALL_RESULT',
      'RUN_FINISHED',
    ])
    expect(events[0]).toMatchObject({ threadId: 'thread', runId: 'r1', protocolVersion: '1.0' })
    expect(events.find(({ type }) => type === 'CUSTOM')).toMatchObject({
      name: 'toolwright.progress',
      value: { toolCallId: 'c1', type: 'half', data: { percent: 50 } },
    })
    expect(answersOf(agent)).toEqual({ c1: 'noon', c3: expect.stringContaining('no luck') as string })
    const [waiting] = await executor.calls.waiting({ session: 'thread' })
    expect(waiting).toMatchObject({ id: 'c2', toolName: 'pay' })
    expect(lastOf(events)).toMatchObject({
      outcome: {
        type: 'interrupt',
        interrupts: [
          {
            id: waiting?.invocationId,
            reason: 'tool_approval',
            message: 'Allow pay to execute?',
            toolCallId: 'c2',
            expiresAt: new Date(waiting!.expiresAt).toISOString(),
          },
        ],
      },
    })
    const results = events.filter(({ type }) => type === 'TOOL_CALL_RESULT')
    expect(results.map(({ metadata }) => metadata)).toMatchObject([
      { toolwright: { status: 'ok', effect: 'completed', callId: expect.stringMatching(/^[\da-f]{64}$/) as string } },
      { toolwright: { status: 'error', effect: 'unknown' } },
    ])
    expect(JSON.stringify(events)).not.toContain('token')
  })

  it('approves, denies and cancels with `resume`, and a replayed answer runs nothing', async () => {
    const { server, executor, script, ran } = bench()
    const { agent, events } = await agentOf(server)
    const pay = async (id: string, sum: number): Promise<string> => {
      script.push([{ id, name: 'pay', args: { sum } }])
      await agent.runAgent()
      const [waiting] = await executor.calls.waiting({ session: 'thread' })
      return waiting!.invocationId
    }
    const first = await pay('c1', 5)
    await agent.runAgent({ resume: [{ interruptId: first, status: 'resolved', payload: { approved: true } }] })
    expect(answersOf(agent)).toEqual({ c1: 'paid 5' })
    expect(lastOf(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })

    const denied = await pay('c2', 6)
    await agent.runAgent({
      resume: [{ interruptId: denied, status: 'resolved', payload: { approved: false, note: 'too much' } }],
    })
    expect(answersOf(agent)['c2']).toContain('Permission denied by user: too much')

    const cancelled = await pay('c3', 7)
    await agent.runAgent({ resume: [{ interruptId: cancelled, status: 'cancelled' }] })
    expect(answersOf(agent)['c3']).toContain('Permission denied')

    const edited = await pay('c4', 8)
    await agent.runAgent({
      resume: [{ interruptId: edited, status: 'resolved', payload: { approved: true, editedArgs: { sum: 1 } } }],
    })
    expect(answersOf(agent)['c4']).toBe('paid 1')
    expect(ran).toEqual([5, 1])

    const open = await pay('c5', 9)
    const before = events.length
    const replayed = { interruptId: first, status: 'resolved' as const, payload: { approved: true } }
    const both = [{ interruptId: open, status: 'resolved' as const, payload: { approved: true } }, replayed]
    await agent.runAgent({ resume: both }).catch(() => {})
    expect(events.slice(before)).toMatchObject([
      { type: 'RUN_STARTED' },
      { type: 'RUN_ERROR', code: 'E_APPROVAL_INVALID' },
    ])
    expect(ran).toEqual([5, 1])
    expect(await executor.calls.waiting({ session: 'thread' })).toHaveLength(1)
  })

  it('runs the tools of its page: a call waits for its message, and an error is told to the model', async () => {
    const { server, executor, script } = bench()
    const { agent, events } = await agentOf(server)
    const settled: unknown[] = []
    executor.on('call:settled', ({ id, status, error }) => void settled.push([id, status, error?.message]))
    script.push([
      { id: 'c1', name: 'pick_color' },
      { id: 'c2', name: 'pick_color' },
      { id: 'c3', name: 'now' },
    ])
    await agent.runAgent({ tools: [color] })
    expect(lastOf(events)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['c1', 'c2'] } })
    settled.length = 0
    const toolMessage = (toolCallId: string, content: string, error?: string): object => ({
      id: `m-${toolCallId}-${content}`,
      role: 'tool',
      toolCallId,
      content,
      ...(error !== undefined && { error }),
    })
    agent.messages.push(
      toolMessage('c1', '"red"') as never,
      toolMessage('c1', '"green"') as never,
      toolMessage('c2', '', 'the page is gone') as never,
    )
    await agent.runAgent({ tools: [color] })
    expect(settled).toEqual([
      ['c1', 'ok', undefined],
      ['c2', 'error', expect.stringContaining('the page is gone')],
    ])
    expect(lastOf(events)).toMatchObject({ outcome: { type: 'success' } })
    expect(lastOf(events)?.['outcome']).not.toHaveProperty('pendingToolCallIds')
    await agent.runAgent({ tools: [] })
    expect(executor.tools('model', 'thread').map(({ name }) => name)).not.toContain('pick_color')
  })

  it('gets page calls beside approvals as interrupts too, and answers both at once', async () => {
    const { server, script, ran, executor } = bench()
    const { agent, events } = await agentOf(server)
    script.push([
      { id: 'c1', name: 'pick_color' },
      { id: 'c2', name: 'pay', args: { sum: 3 } },
    ])
    await agent.runAgent({ tools: [color] })
    const { interrupts } = lastOf(events)!['outcome'] as { interrupts: { id: string; reason: string }[] }
    expect(interrupts.map(({ reason }) => reason)).toEqual(['tool_approval', 'client_tool'])
    const [approval, page] = interrupts.map(({ id }) => id)
    const settled: string[] = []
    executor.on('call:settled', ({ id, status }) => void settled.push(`${id} ${status}`))
    await agent.runAgent({
      tools: [color],
      resume: [
        { interruptId: page!, status: 'resolved', payload: 'blue' },
        { interruptId: approval!, status: 'resolved', payload: { approved: true } },
      ],
    })
    expect(answersOf(agent)).toEqual({ c1: 'blue', c2: 'paid 3' })
    expect([ran, settled.toSorted()]).toEqual([[3], ['c1 ok', 'c2 ok']])
  })

  it('is aborted: what runs is cancelled, and the server is free', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const endless = tool('endless', () => (resolve(), new Promise<string>(() => {})))
    const executor = createExecutor({ tools: [endless], timeout: 0 })
    const settled = vi.fn()
    executor.on('call:settled', ({ status }) => settled(status))
    const { agent } = await agentOf(agUi({ executor, token: 'secret', model: () => [{ id: 'c1', name: 'endless' }] }))
    const run = agent.runAgent().catch(() => {})
    await promise
    agent.abortRun()
    await run
    await vi.waitFor(() => expect(settled).toHaveBeenCalledWith('cancelled'), { timeout: 10_000 })
  })
})

describe('a run', () => {
  it('asks the model again with what came since, until it calls nothing, and streams its words', async () => {
    const asked: { input: AgUiInput; results: readonly ToolResult[]; tools: string[] }[] = []
    const model: AgUiModel = async function* (received, { results, tools }) {
      asked.push({ input: received, results, tools: tools.map(({ name }) => name) })
      const messageId = `m${asked.length}`
      yield { type: 'RUN_STARTED', threadId: 'of another agent', runId: 'x' }
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: asked.length === 1 ? 'Let me ' : 'It is ' }
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: asked.length === 1 ? 'see.' : 'noon.' }
      yield { type: 'TEXT_MESSAGE_END', messageId }
      if (asked.length > 1) return
      yield { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'now', parentMessageId: messageId }
      yield { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"zone":' }
      yield { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '"UTC"}' }
      yield { type: 'TOOL_CALL_END', toolCallId: 'c1' }
      yield { type: 'TOOL_CALL_CHUNK', toolCallId: 'c2', toolCallName: 'search' }
      yield { type: 'TOOL_CALL_RESULT', messageId: 'p', toolCallId: 'c2', content: 'found by the provider' }
      yield { type: 'RUN_FINISHED', threadId: 'of another agent', runId: 'x' }
    }
    const { server } = bench({ model })
    const user = { id: 'u1', role: 'user', content: 'What time is it?' }
    const events = await all(server.run({ ...input, messages: [user], tools: [color] }))
    expect(typesOf(events).filter((type) => /^RUN|RESULT/.test(type))).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_RESULT',
      'TOOL_CALL_RESULT',
      'RUN_FINISHED',
    ])
    expect(events[0]).toMatchObject({ threadId: 'thread', runId: 'run' })
    expect(asked[0]?.tools).toContain('pick_color')
    const [message, answer] = asked[1]!.input.messages.slice(1)
    expect(message).toEqual({
      id: 'm1',
      role: 'assistant',
      content: 'Let me see.',
      toolCalls: [
        { id: 'c1', type: 'function', function: { name: 'now', arguments: '{"zone":"UTC"}' } },
        { id: 'c2', type: 'function', function: { name: 'search', arguments: '' } },
      ],
    })
    expect(answer).toMatchObject({ role: 'tool', toolCallId: 'c1', content: 'noon' })
    expect(asked[1]?.results.map(({ status }) => status)).toEqual(['ok'])
  })

  it('takes the calls of the application, and gives those without an id one of their own', async () => {
    const { server } = bench({}, [])
    const events = await all(server.run(input, { calls: [{ name: 'now' }, { name: 'now', args: '{"a":' }] }))
    const ids = events.filter(({ type }) => type === 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)
    expect(new Set(ids).size).toBe(2)
    const results = events.filter(({ type }) => type === 'TOOL_CALL_RESULT')
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(ids)
    expect(results[1]).toMatchObject({
      content: expect.stringContaining('not valid JSON') as string,
      metadata: { toolwright: { status: 'error' } },
    })
  })

  it('finds an approval again after a restart, in another server on the same journal', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-ag-ui-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const journal = (): Extension => sqliteJournal(join(folder, 'calls.db'))
    const before = bench({}, [journal()])
    await all(before.server.run(input, { calls: [{ id: 'c1', name: 'pay', args: { sum: 2 } }] }))
    await before.executor.close()
    const after = bench({}, [journal()])
    onTestFinished(() => after.executor.close())
    const open = lastOf(await all(after.server.run({ ...input, runId: 'r2' })))
    const { interrupts } = open!['outcome'] as { interrupts: { id: string; toolCallId: string }[] }
    expect(interrupts).toMatchObject([{ toolCallId: 'c1' }])
    const resume = [{ interruptId: interrupts[0]!.id, status: 'resolved', payload: { approved: true } }]
    const events = await all(after.server.run({ ...input, resume }, { decidedBy: 'ada' }))
    expect(events.map(({ content }) => content)).toContain('paid 2')
    expect([before.ran, after.ran]).toEqual([[], [2]])
    expect(await after.executor.calls.get(interrupts[0]!.id)).toMatchObject({ approval: { decidedBy: 'ada' } })
  })

  it('answers nothing of another session: neither its interrupts nor its calls', async () => {
    const { server, executor, ran } = bench()
    const calls = [
      { id: 'c1', name: 'pay', args: { sum: 4 } },
      { id: 'c2', name: 'pick_color' },
    ]
    await all(server.run({ ...input, tools: [color] }, { calls, session: 'ada' }))
    const [waiting] = await executor.calls.waiting({ session: 'ada', reason: 'approval' })
    const resume = [{ interruptId: waiting!.invocationId, status: 'resolved', payload: { approved: true } }]
    const messages = [{ id: 'm', role: 'tool', toolCallId: 'c2', content: 'forged' }]
    expect(lastOf(await all(server.run({ ...input, resume }, { session: 'eve' })))).toMatchObject({
      code: 'E_APPROVAL_INVALID',
    })
    expect(lastOf(await all(server.run({ ...input, messages }, { session: 'eve' })))).toMatchObject({
      outcome: { type: 'success' },
    })
    expect(await executor.calls.waiting({ session: 'ada' })).toHaveLength(2)
    expect(ran).toEqual([])
  })

  it('ends with an error that tells no fault of the application, and reports it', async () => {
    const { server, reports } = bench({ model: () => Promise.reject(new Error('401: key sk-canary')) })
    expect(lastOf(await all(server.run(input)))).toMatchObject({
      type: 'RUN_ERROR',
      code: 'E_INTERNAL',
      message: 'The run failed. The server knows why.',
    })
    expect(String(reports[0])).toContain('sk-canary')
    const looping = bench({ model: () => [{ name: 'now' }], mostTurns: 3 })
    const events = await all(looping.server.run(input))
    expect(typesOf(events).filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(3)
    expect(lastOf(events)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('mostTurns') as string })
    const failing = bench({
      async *model() {
        yield { type: 'RUN_ERROR', message: 'the upstream agent broke' }
      },
    })
    expect(lastOf(await all(failing.server.run(input)))).toMatchObject({ type: 'RUN_ERROR', code: 'E_INTERNAL' })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'thread'],
    ['no thread', { runId: 'r', messages: [] }],
    ['a thread without a name', { threadId: '', runId: 'r', messages: [] }],
    ['an endless name', { threadId: 'x'.repeat(2_000), runId: 'r', messages: [] }],
    ['messages that are none', { ...input, messages: [null] }],
    ['tools that are none', { ...input, tools: [5] }],
    ['answers that are none', { ...input, resume: [{ status: 'resolved' }] }],
  ])('refuses %s as its input, with an event', async (_name, value) => {
    const events = await all(bench().server.run(value as AgUiInput))
    expect(events).toMatchObject([{ type: 'RUN_ERROR', code: 'E_INVALID_CONFIGURATION' }])
  })

  describe('whose tool has secrets', () => {
    const login = tool({
      name: 'login',
      description: 'Logs in',
      aliases: ['sign_in'],
      inputSchema: { type: 'object', properties: { user: { type: 'string' }, password: { type: 'string' } } },
      secrets: ['/password'],
      handler: () => 'in',
    })
    const args = { user: 'ada', password: 'canary-1' }
    const serverOf = (model?: AgUiModel): AgUi =>
      agUi({ executor: createExecutor({ tools: [login, tool('now', () => 'noon')] }), ...(model && { model }) })
    const argsOf = (events: readonly AgUiEvent[], id: string): string =>
      events.flatMap(({ toolCallId, delta = '' }) => (toolCallId === id ? [String(delta)] : [])).join('')

    it('tells the page no secret of the args that the host gives, as a value or as text', async () => {
      const calls = [
        { id: 'c1', name: 'login', args },
        { id: 'c2', name: 'sign_in', args: JSON.stringify(args) },
        { id: 'c3', name: 'login', args: '{"password":"canary-2"' },
        { id: 'c4', name: 'Login', args: { password: 'canary-3' } },
        { id: 'c5', name: 'now', args: { zone: 'UTC' } },
      ]
      const events = await all(serverOf().run(input, { calls }))
      expect(JSON.stringify(events)).not.toContain('canary')
      expect(['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => argsOf(events, id))).toEqual([
        '{"user":"ada","password":"[secret]"}',
        '{"user":"ada","password":"[secret]"}',
        '',
        '',
        '{"zone":"UTC"}',
      ])
      expect(events.filter(({ toolCallId, type }) => toolCallId === 'c3' && type === 'TOOL_CALL_ARGS')).toEqual([])
      expect(lastOf(events)).toMatchObject({ type: 'RUN_FINISHED' })
    })

    it('tells the page no secret of args behind a bridge, also of a tool that is not shown', async () => {
      const bridge = tool({ name: 'tool_call', description: 'Calls', type: 'bridge', inputSchema: { type: 'object' } })
      const executor = createExecutor({
        tools: [bridge, login, tool('now', () => 'noon')],
        use: [{ offers: ({ type }) => type === 'bridge' }],
      })
      const argsOfCalls = [
        { name: 'login', args },
        JSON.stringify({ name: 'sign_in', args: JSON.stringify(args) }),
        { name: 'now', args: { zone: 'UTC' } },
        { name: 'nothing', args },
        { name: 'tool_call', args: { name: 'login', args } },
        { nam: 'login', args },
        `{"name":"login","args":${JSON.stringify(args)}`,
      ]
      const calls = argsOfCalls.map((wrapped, index) => ({ id: `c${index}`, name: 'tool_call', args: wrapped }))
      const events = await all(agUi({ executor }).run(input, { calls: [...calls, { id: 'd', name: 'login', args }] }))
      expect(JSON.stringify(events)).not.toContain('canary')
      const [first, second, third, ...others] = calls.map(({ id }) => argsOf(events, id))
      expect([first, second].map((each) => JSON.parse(each ?? ''))).toEqual([
        { name: 'login', args: { user: 'ada', password: '[secret]' } },
        { name: 'sign_in', args: { user: 'ada', password: '[secret]' } },
      ])
      expect([third, others]).toEqual(['{"name":"now","args":{"zone":"UTC"}}', ['', '', '', '']])
      expect(argsOf(events, 'd')).toBe('{"user":"ada","password":"[secret]"}')
      expect(lastOf(events)).toMatchObject({ type: 'RUN_FINISHED' })
    })

    it('tells the page no secret of the args that a model streams in pieces, and gives the model its own words', async () => {
      const asked: AgUiInput[] = []
      const pieces = ['{"user":"ada",', '"password":"can', 'ary-1"}']
      const model: AgUiModel = async function* (received) {
        if (asked.push(received) > 1) return
        yield { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'login' }
        for (const delta of pieces) yield { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta, rawEvent: { delta } }
        yield { type: 'TOOL_CALL_END', toolCallId: 'c1' }
        yield { type: 'TOOL_CALL_CHUNK', toolCallId: 'c2', toolCallName: 'login', delta: pieces[0] }
        for (const delta of pieces.slice(1)) yield { type: 'TOOL_CALL_CHUNK', delta }
        yield { type: 'TOOL_CALL_CHUNK', toolCallId: 'c3', toolCallName: 'login', delta: '{"password":"canary-2' }
        yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'Done.' }
        yield { type: 'TOOL_CALL_CHUNK', toolCallId: 'c3', delta: '-canary"}' }
        yield { type: 'TOOL_CALL_START', toolCallId: 'c4', toolCallName: 'now' }
        yield { type: 'TOOL_CALL_ARGS', toolCallId: 'c4', delta: '{"zone":' }
        yield { type: 'TOOL_CALL_ARGS', toolCallId: 'c4', delta: '"UTC"}' }
        yield { type: 'TOOL_CALL_END', toolCallId: 'c4' }
      }
      const events = await all(serverOf(model).run(input))
      expect(JSON.stringify(events)).not.toMatch(/can|ary-/)
      expect(['c1', 'c2', 'c3', 'c4'].map((id) => argsOf(events, id))).toEqual([
        '{"user":"ada","password":"[secret]"}',
        '{"user":"ada","password":"[secret]"}',
        '',
        '{"zone":"UTC"}',
      ])
      const first = events.filter(({ toolCallId }) => toolCallId === 'c1')
      expect(typesOf(first)).toEqual(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'])
      expect(events.filter(({ toolCallId, delta }) => toolCallId === 'c4' && delta !== undefined)).toHaveLength(2)
      expect(asked[1]?.messages[0]?.toolCalls?.[0]?.function.arguments).toBe(JSON.stringify(args))
    })
  })

  it('serves any number of threads: a thread has tools of its page while it runs or a call of them waits', async () => {
    const listed: string[][] = []
    const pages = pageTools({ mostSessions: 3 })
    const executor = createExecutor({ use: [pages] })
    const model: AgUiModel = (_input, { tools }) => (listed.push(tools.map(({ name }) => name)), [])
    const server = agUi({ executor, pageTools: pages, model })
    const names = (threadId: string): string[] => executor.tools('model', threadId).map(({ name }) => name)
    const started = await all(
      server.run({ ...input, threadId: 'first', tools: [color] }, { calls: [{ id: 'c1', name: 'pick_color' }] }),
    )
    expect(lastOf(started)).toMatchObject({ outcome: { pendingToolCallIds: ['c1'] } })
    for (let index = 0; index < 10; index++) {
      const events = await all(server.run({ ...input, threadId: `thread ${index}`, tools: [color] }))
      expect(lastOf(events)).toMatchObject({ type: 'RUN_FINISHED' })
      expect(names(`thread ${index}`)).toEqual([])
    }
    expect(listed).toEqual(Array.from({ length: 10 }, () => ['pick_color']))
    expect(names('first')).toEqual(['pick_color'])
    const messages = [{ id: 'm', role: 'tool', toolCallId: 'c1', content: 'red' }]
    const answered = await all(server.run({ ...input, threadId: 'first', messages, tools: [color] }))
    expect(lastOf(answered)).toMatchObject({ outcome: { type: 'success' } })
    expect(await executor.calls.waiting({ session: 'first' })).toEqual([])
    expect(names('first')).toEqual([])
  })

  it('refuses tools of a page that are wrong, and gives it no name of the application', async () => {
    const { server, executor } = bench()
    const wrong = { ...color, name: 'no name' }
    expect(lastOf(await all(server.run({ ...input, tools: [wrong] })))).toMatchObject({
      code: 'E_INVALID_INITIAL_TOOL_VALUE',
    })
    await all(server.run({ ...input, tools: [{ ...color, name: 'pay' }] }))
    expect(executor.tools('model', 'thread').filter(({ name }) => name === 'pay')).toMatchObject([{ type: 'server' }])
  })

  it('is given up by its signal or by who leaves it, whatever the model does', async () => {
    const stopped = new AbortController()
    const model: AgUiModel = async function* () {
      yield { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' }
      await new Promise(() => {})
    }
    const { server } = bench({ model })
    const events: AgUiEvent[] = []
    for await (const event of server.run(input, { signal: stopped.signal })) {
      events.push(event)
      if (event.type === 'TEXT_MESSAGE_START') stopped.abort()
    }
    expect(lastOf(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
    for await (const event of server.run(input)) if (event.type === 'TEXT_MESSAGE_START') break
  })

  it('holds the model back, and leaves progress out, while its reader is slow', async () => {
    let sent = 0
    const model: AgUiModel = async function* () {
      for (; sent < 20_000; sent++) yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
    }
    const { server } = bench({ model })
    const events = server.run(input)
    await events.next()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(sent).toBeLessThan(3_000)
    expect((await all(events)).length).toBe(20_001)
    const flood = tool('flood', (_input, { emit }) => {
      for (let step = 0; step < 50_000; step++) emit('step', step)
    })
    const flooded = agUi({ executor: createExecutor({ tools: [flood] }) })
    const floodEvents = await all(flooded.run(input, { calls: [{ id: 'c', name: 'flood' }] }))
    expect(floodEvents.length).toBeLessThan(3_000)
    expect(lastOf(floodEvents)).toMatchObject({ type: 'RUN_FINISHED' })
  })
})

describe('a request', () => {
  const json = { authorization: 'Bearer secret', 'content-type': 'application/json' }
  const post = (headers: Record<string, string> = json, body = JSON.stringify(input)): Request =>
    new Request('http://localhost/run', { method: 'POST', headers, body })

  it('is answered with server-sent events', async () => {
    const response = await bench().server.fetch(post())
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    const lines = (await response.text()).split('\n\n').filter(Boolean)
    expect(lines.map((line) => (JSON.parse(line.replace('data: ', '')) as AgUiEvent).type)).toEqual([
      'RUN_STARTED',
      'RUN_FINISHED',
    ])
  })

  it.each<[string, number, () => Request]>([
    ['without a token', 401, () => post({ 'content-type': 'application/json' })],
    ['with another token', 401, () => post({ ...json, authorization: 'Bearer wrong' })],
    ['for another host', 403, () => post({ ...json, host: 'evil.example' })],
    ['of another site', 403, () => post({ ...json, origin: 'https://evil.example' })],
    ['of no site', 403, () => post({ ...json, origin: 'null' })],
    ['that a page may send without asking', 415, () => post({ ...json, 'content-type': 'text/plain' })],
    ['that is no JSON', 400, () => post(json, '{"threadId":')],
    ['with a key twice', 400, () => post(json, '{"threadId":"a","threadId":"b","runId":"r","messages":[]}')],
    ['that is no input', 400, () => post(json, '{}')],
    ['that is too large', 413, () => post(json, JSON.stringify({ ...input, state: 'x'.repeat(5_000_000) }))],
    ['that is no POST', 405, () => new Request('http://localhost/run', { headers: json })],
  ])('%s is refused', async (_name, status, request) => {
    expect((await bench().server.fetch(request())).status).toBe(status)
  })

  it('is refused, and reported, if the server has no way to know who sends it', async () => {
    const reports: unknown[] = []
    const server = agUi({ executor: createExecutor(), report: (error) => void reports.push(error) })
    expect((await server.fetch(post())).status).toBe(500)
    expect(String(reports[0])).toContain('authorize')
  })

  it('has the session, the name and the rights of its user', async () => {
    const seen: unknown[] = []
    const { server, executor, ran } = bench({
      authorize: (request) => ({
        session: 'ada',
        name: 'Ada',
        may: request.headers.get('x-role') === 'owner' ? ['decide'] : ['watch'],
      }),
      model: (_input, { session }) => (seen.push(session), []),
    })
    await executor.execute({ name: 'pay', args: { sum: 1 } }, { session: 'ada' })
    const [waiting] = await executor.calls.waiting()
    const resume = [{ interruptId: waiting!.invocationId, status: 'resolved', payload: { approved: true } }]
    const send = async (role: string): Promise<string> => {
      const request = post(
        { 'content-type': 'application/json', 'x-role': role },
        JSON.stringify({ ...input, resume, tools: [color] }),
      )
      return (await server.fetch(request)).text()
    }
    expect(await send('guest')).toContain('E_APPROVAL_INVALID')
    expect(executor.tools('model', 'ada').map(({ name }) => name)).not.toContain('pick_color')
    expect(ran).toEqual([])
    expect(await send('owner')).toContain('paid 1')
    expect(await executor.calls.get(waiting!.invocationId)).toMatchObject({ approval: { decidedBy: 'Ada' } })
    expect(seen).toEqual(['ada'])
    const own = bench({ session: (user, { threadId }) => `${user.session}/${threadId}` })
    own.script.push([{ name: 'pay', args: { sum: 1 } }])
    await (await own.server.fetch(post())).text()
    expect(await own.executor.calls.waiting()).toMatchObject([{ session: '*/thread' }])
  })
})
