// Agentick describes each tool as data, in JSON Schema, and says of it who sees it, who runs it, and what is shown beside it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createExecutor,
  outputsOf,
  Tool,
  ToolExecutionType,
  ToolRegistry,
  type Caller,
  type ToolResult,
} from 'toolwright'
import type { ErasedConfig } from 'toolwright/extension'
import { localSandbox } from 'toolwright/builtins/local'
import { workspaceTools } from 'toolwright/builtins/tools'
import { mcp } from 'toolwright/formats/mcp'
import { anthropic, type AnthropicMessage } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { openai } from 'toolwright/formats/openai'
import { httpClients } from 'toolwright/client/http'
import { foldView, type CallView, type WireEvent } from 'toolwright/client/protocol'
import { viewMessages } from 'toolwright/mcp/client'
import { expect, it } from 'vitest'

const inputSchema = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Its name' } },
  required: ['city'],
  additionalProperties: false,
} as const

/** A tool that differs from the plainest by these fields. */
function make(fields: Partial<ErasedConfig> = {}): Tool {
  return new Tool({ name: 'forecast', description: 'Weather forecast for a city', handler: () => 'clear', ...fields })
}

function wordsOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

async function reaches(made: Tool, caller: Caller): Promise<boolean> {
  const executor = createExecutor({ tools: [made] })
  const result = await executor.execute({ name: made.name }, { caller })
  const isListed = executor.tools(caller).length === 1
  const isCallable = result.status === 'ok'
  expect(isListed).toBe(isCallable)
  if (!isCallable) expect(result.error?.code).toBe('E_TOOL_NOT_FOUND')
  return isCallable
}

it('AGK-01 a definition has a name, by which the model calls it', async () => {
  expect(make().describe().name).toBe('forecast')
  expect(await createExecutor({ tools: [make()] }).execute({ name: 'forecast' })).toMatchObject({ status: 'ok' })
})

it('AGK-02 a definition has a description for the model', () => {
  expect(make().describe().description).toBe('Weather forecast for a city')
})

it('AGK-03 a definition says its input in JSON Schema, whole, additionalProperties and all', () => {
  const $schema = 'https://json-schema.org/draft/2020-12/schema'
  expect(make({ inputSchema: { $schema, ...inputSchema } }).describe().inputSchema).toEqual(inputSchema)
})

it('AGK-04 a definition may say its output, and what the handler returns is checked by it', async () => {
  const outputSchema = { type: 'object', properties: { sky: { type: 'string' } }, required: ['sky'] } as const
  const good = make({ name: 'good', outputSchema, handler: () => ({ sky: 'clear' }) })
  const bad = make({ name: 'bad', outputSchema, handler: () => ({ sky: 7 }) })
  expect(good.describe().outputSchema).toEqual(outputSchema)
  const executor = createExecutor({ tools: [good, bad] })
  expect((await executor.execute({ name: 'good' })).status).toBe('ok')
  expect(await executor.execute({ name: 'bad' })).toMatchObject({
    status: 'error',
    effect: 'completed',
    error: { code: 'E_INVALID_TOOL_RESULT' },
  })
})

it('AGK-05 a tool is for the model where nothing else is said', async () => {
  expect(make().audience).toBe('model')
  expect(await reaches(make(), 'model')).toBe(true)
})

it('AGK-06 a tool for the user is hidden from the model, which cannot call it either', async () => {
  const forUser = make({ audience: 'user' })
  expect(await reaches(forUser, 'model')).toBe(false)
  expect(await reaches(forUser, 'user')).toBe(true)
  expect(anthropic().definitions(createExecutor({ tools: [forUser] }).tools('user'))).toEqual([])

  const executor = createExecutor({ tools: [forUser, make({ name: 'public' })] })
  const hidden = wordsOf(await executor.execute({ name: 'forecast' }))
  const unknown = wordsOf(await executor.execute({ name: 'nothing' }))
  expect(hidden.replace('forecast', 'nothing')).toBe(unknown)
  expect(unknown).toContain('public')
  expect(unknown).not.toContain('forecast')
})

it('AGK-07 a tool for all is for the model and the user', async () => {
  const forAll = make({ audience: 'all' })
  expect(await reaches(forAll, 'model')).toBe(true)
  expect(await reaches(forAll, 'user')).toBe(true)
})

it('AGK-08 the default result says that the tool was rendered on the client', async () => {
  const chart = make({ name: 'chart', type: ToolExecutionType.CLIENT, handler: undefined })
  expect(chart.describe().defaultResult).toEqual([{ type: 'text', text: '[chart rendered on client]' }])
  const own = make({ type: ToolExecutionType.CLIENT, defaultResult: [{ type: 'text', text: 'shown' }] })
  expect(wordsOf(await createExecutor({ tools: [own] }).execute({ name: 'forecast' }))).toBe('shown')
})

it('AGK-09 the intent is compute where nothing else is said', () => {
  expect(make().describe().intent).toBe('compute')
  expect(make({ intent: 'render' }).describe().intent).toBe('render')
})

it('AGK-10 options of libraries are kept by the name of the library', () => {
  const libraryOptions = {
    'ai-sdk': { strict: true },
    langchain: { returnDirect: true },
    llamaindex: { cached: false },
  }
  expect(make({ libraryOptions }).libraryOptions).toEqual(libraryOptions)
  expect(make().libraryOptions).toEqual({})
})

it('AGK-11 a tool of an MCP server has mcpConfig, which takes any further keys', () => {
  const mcpConfig = { serverName: 'weather', region: 'eu', retries: { most: 3 } }
  expect(make({ type: 'mcp', mcpConfig }).mcpConfig).toEqual(mcpConfig)
  expect(make().mcpConfig).toBeUndefined()
})

it('AGK-12 mcpConfig names the server and its address', () => {
  const { mcpConfig } = make({ type: 'mcp', mcpConfig: { serverName: 'weather', serverUrl: 'http://localhost:3001' } })
  expect(mcpConfig?.serverName).toBe('weather')
  expect(mcpConfig?.serverUrl).toBe('http://localhost:3001')
})

it('AGK-13 mcpConfig names the transport: websocket, sse, stdio or in-process', () => {
  for (const transport of ['websocket', 'sse', 'stdio', 'in-process'] as const) {
    expect(make({ type: 'mcp', mcpConfig: { transport } }).mcpConfig?.transport).toBe(transport)
  }
})

it('AGK-14 options of providers are kept by the name of the provider, and each provider is sent its own', () => {
  const providerOptions = {
    openai: { strict: true },
    google: { behavior: 'BLOCKING' },
    anthropic: { cache_control: { type: 'ephemeral' } },
  }
  const made = make({ providerOptions })
  expect(made.providerOptions).toEqual(providerOptions)
  const tools = createExecutor({ tools: [made] }).tools()
  expect(openai().definitions(tools)).toMatchObject([{ function: { strict: true } }])
  expect(gemini().definitions(tools)).toMatchObject([{ functionDeclarations: [{ behavior: 'BLOCKING' }] }])
  expect(anthropic().definitions(tools)).toMatchObject([{ cache_control: { type: 'ephemeral' } }])
})

it('AGK-15 a client tool waits for no response where nothing else is said', async () => {
  const chart = make({ type: 'client', handler: undefined })
  expect(chart.describe().requiresResponse).toBe(false)
  expect((await createExecutor({ tools: [chart] }).execute({ name: 'forecast' })).status).toBe('ok')
  const form = make({ type: 'client', handler: undefined, requiresResponse: true })
  expect((await createExecutor({ tools: [form] }).execute({ name: 'forecast' })).status).toBe('waiting')
})

it('AGK-16 a client has 30,000 ms to respond where nothing else is said', () => {
  expect(make({ type: 'client', requiresResponse: true }).describe().timeout).toBe(30_000)
  expect(make({ type: 'client', requiresResponse: true, timeout: 5 }).describe().timeout).toBe(5)
})

it('AGK-17 a tool is run by the server where nothing else is said', async () => {
  expect(make().describe().type).toBe('server')
  expect(wordsOf(await createExecutor({ tools: [make()] }).execute({ name: 'forecast' }))).toBe('clear')
})

it('AGK-18 a tool with a view still runs and returns its result', async () => {
  const dashboard = make({ ui: { resourceUri: 'ui://knowify/dashboard' } })
  const result = await createExecutor({ tools: [dashboard] }).execute({ name: 'forecast' })
  expect(result).toMatchObject({ status: 'ok', content: [{ type: 'text', text: 'clear' }] })
})

it('AGK-21 a definition says which view to mount', () => {
  const dashboard = make({ ui: { resourceUri: 'ui://knowify/dashboard' } })
  expect(dashboard.describe().ui).toEqual({ resourceUri: 'ui://knowify/dashboard' })
  expect(JSON.stringify(mcp().definitions(createExecutor({ tools: [dashboard] }).tools()))).toContain(
    'ui://knowify/dashboard',
  )
  expect('ui' in make().describe()).toBe(false)
})

it('AGK-22 a tool with a view may be called by the model and by apps where nothing else is said', async () => {
  const ui = { resourceUri: 'ui://knowify/dashboard' }
  const dashboard = make({ type: 'mcp', ui, mcpConfig: { serverName: 'knowify' } })
  expect(await reaches(dashboard, 'model')).toBe(true)
  expect(await reaches(dashboard, { app: 'knowify' })).toBe(true)
})

it('AGK-23 visibility says who may call a tool: the model, or apps of the tool’s own server', async () => {
  const visible = (visibility: readonly ('model' | 'app')[]): Tool =>
    make({ type: 'mcp', ui: { visibility }, mcpConfig: { serverName: 'knowify' } })
  const callers: Caller[] = ['model', { app: 'knowify' }, { app: 'other' }]
  const reached = async (made: Tool): Promise<boolean[]> => {
    const found: boolean[] = []
    for (const caller of callers) found.push(await reaches(made, caller))
    return found
  }
  expect(await reached(visible(['model', 'app']))).toEqual([true, true, false])
  expect(await reached(visible(['model']))).toEqual([true, false, false])
  expect(await reached(visible(['app']))).toEqual([false, true, false])
})

it('AGK-24 what a model and a client are shown is the base, and the definition of the backend extends it', () => {
  const made = make({
    inputSchema,
    type: 'mcp',
    providerOptions: { openai: { strict: true } },
    libraryOptions: { langchain: { returnDirect: true } },
    mcpConfig: { serverName: 'weather' },
  })
  const definition = new ToolRegistry([made]).get('forecast')
  const base = made.describe()
  expect(definition).toMatchObject({ name: base.name, description: base.description, type: base.type })
  for (const field of ['providerOptions', 'libraryOptions', 'mcpConfig']) {
    expect(definition).toHaveProperty(field)
    expect(base).not.toHaveProperty(field)
  }
  expect(JSON.parse(JSON.stringify(base))).toEqual(base)
})

it('AGK-25 a person may call any tool, by name or by alias', async () => {
  const tools = (['model', 'user', 'all'] as const).map((audience) =>
    make({ name: `for_${audience}`, aliases: [`a_${audience}`], audience }),
  )
  const executor = createExecutor({ tools })
  for (const name of ['for_model', 'for_user', 'for_all', 'a_model', 'a_user', 'a_all']) {
    expect((await executor.execute({ name }, { caller: 'user' })).status, name).toBe('ok')
  }
  const unknown = await executor.execute({ name: 'mystery' }, { caller: 'user' })
  expect(wordsOf(unknown)).toContain('"mystery"')
})

it('AGK-26 an alias stands for its tool, never takes the name of another, and goes when the tool goes', async () => {
  const registry = new ToolRegistry()
  const remove = registry.add(make({ aliases: ['weather'] }))
  const executor = createExecutor({ tools: registry })
  expect(await executor.execute({ name: 'weather' })).toMatchObject({ status: 'ok', toolName: 'forecast' })
  expect(() => registry.add(make({ name: 'weather' }))).toThrow(/weather/)
  expect(() => registry.add(make({ name: 'other', aliases: ['weather'] }))).toThrow(/weather/)
  expect(() => registry.add(make({ name: 'other', aliases: ['forecast'] }))).toThrow(/forecast/)
  remove()
  expect((await executor.execute({ name: 'weather' })).error?.code).toBe('E_TOOL_NOT_FOUND')
})

it('AGK-27 the input of an output tool is collected by name, validated, and the model gets no result', async () => {
  const answer = make({ name: 'answer', type: 'output', handler: undefined, inputSchema })
  const executor = createExecutor({ tools: [answer] })
  const format = anthropic()
  const asking = (input: object): AnthropicMessage => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'answer', input }],
  })
  const good = await executor.executeToolCalls(format.calls(asking({ city: 'Oslo' })))
  expect(outputsOf(good)).toEqual({ answer: [{ city: 'Oslo' }] })
  expect(format.results(good, asking({ city: 'Oslo' })).content).toEqual([])
  const bad = await executor.executeToolCalls(format.calls(asking({ city: 7 })))
  expect(outputsOf(bad)).toEqual({})
  expect(format.results(bad, asking({ city: 7 })).content).toMatchObject([{ is_error: true }])
})

it('AGK-19 every call with a view has a new view, although the calls and the resource are the same', async () => {
  const dashboard = make({ ui: { resourceUri: 'ui://knowify/dashboard' } })
  const executor = createExecutor({ tools: [dashboard] })
  const calls = [1, 2].map((id) => ({ id, name: 'forecast' }))
  const results = await executor.executeToolCalls(calls)
  const views = results.map((result, index) => viewMessages(calls[index]!, result).view)
  expect(new Set(views).size).toBe(2)
  expect(views[0]).not.toBe(viewMessages(calls[0]!, results[0]!).view)
  expect(results[0]?.callId).toBe(results[1]?.callId)
})

it('AGK-20 the application sends a view the args as tool-input, then the output as tool-result', async () => {
  const dashboard = make({
    ui: { resourceUri: 'ui://knowify/dashboard' },
    inputSchema,
    handler: (input) => ({ ...(input as object), sky: 'clear' }),
  })
  const executor = createExecutor({ tools: [dashboard] })
  for (const args of [{ city: 'Oslo' }, '{"city":"Oslo"}']) {
    const call = { name: 'forecast', args }
    const { messages } = viewMessages(call, await executor.execute(call))
    const output = { city: 'Oslo', sky: 'clear' }
    expect(messages).toEqual([
      { jsonrpc: '2.0', method: 'ui/notifications/tool-input', params: { arguments: { city: 'Oslo' } } },
      {
        jsonrpc: '2.0',
        method: 'ui/notifications/tool-result',
        params: { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output },
      },
    ])
    expect(JSON.parse(JSON.stringify(messages))).toEqual(messages)
  }
})

// Overridden: the deltas of a model's call belong to its provider's stream, which an application has before there is a call;
// `call:settled` stands for `tool_result`, with its status in place of `isError`.
it('AGK-30 a page is streamed the events of a call, and folds them into when it began and ended, who decided and what came of it', async () => {
  const pay = make({ name: 'pay', requiresConfirmation: true, handler: () => 'paid' })
  const broken = make({
    name: 'broken',
    handler: () => {
      throw new Error('out of luck')
    },
  })
  const executor = createExecutor({ tools: [pay, broken] })
  const clients = httpClients({ executor, authorize: () => ({ session: 'ada', name: 'Ada' }) })
  const send = (path: string, body?: object): Promise<Response> => {
    const headers = { 'content-type': 'application/json', prefer: 'wait=20' }
    const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    return clients.fetch(new Request(`http://localhost${path}`, init))
  }
  let text = ''
  const { body } = await send('/events')
  const reading = body!.pipeTo(new WritableStream({ write: (piece) => void (text += new TextDecoder().decode(piece)) }))
  const { invocationId } = await executor.execute({ id: 'call_1', name: 'pay' }, { session: 'ada' })
  await send(`/calls/${invocationId}/decision`, { decision: 'allow' })
  await executor.execute({ name: 'broken' }, { session: 'ada' })
  await expect.poll(() => text, { timeout: 20_000 }).toContain('E_TOOL_DOWNSTREAM_ERROR')
  await clients.close()
  await reading
  const events = [...text.matchAll(/^event: event\ndata: (.*)$/gm)].map(
    ([, data = '']) => JSON.parse(data) as WireEvent,
  )
  const views = new Map<string, CallView>()
  for (const event of events) views.set(event.invocationId, foldView(views.get(event.invocationId), event))
  const names = (id: string): string[] => events.flatMap((each) => (each.invocationId === id ? [each.event] : []))
  expect(names(invocationId)).toEqual([
    'call:received',
    'call:waiting',
    'call:resumed',
    'tool:start',
    'tool:end',
    'call:settled',
  ])
  const [paid, failed] = [...views.values()]
  expect(paid).toMatchObject({
    id: 'call_1',
    startedAt: expect.any(Number),
    completedAt: expect.any(Number),
    approval: { decision: 'allow', decidedBy: 'Ada' },
    status: 'ok',
  })
  expect(failed).toMatchObject({ status: 'error', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
})

it('AGK-31 a path outside the sandbox is used once after a yes, or from then on, and the call goes on once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-agentick-'))
  const path = join(directory, 'outside.txt')
  mkdirSync(join(directory, 'root'))
  writeFileSync(path, 'outside')
  const sandbox = await localSandbox({ root: join(directory, 'root'), report: () => {} })
  const answers = [{ decision: 'allow' }, { decision: 'deny' }, { decision: 'allow', always: true }] as const
  let asked = 0
  const approver = { ask: async () => answers[asked++] ?? { decision: 'deny' as const } }
  const executor = createExecutor({ use: [workspaceTools(sandbox, { outside: 'ask' }), { approver }] })
  const starts: string[] = []
  executor.on('tool:start', ({ toolName }) => starts.push(toolName))
  const statuses: string[] = []
  for (let count = 0; count < 5; count++) {
    statuses.push((await executor.execute({ name: 'fs_read', args: { path } })).status)
  }
  expect(statuses).toEqual(['ok', 'denied', 'ok', 'ok', 'ok'])
  expect([asked, starts.length]).toEqual([3, 4])
  await executor.close()
  await sandbox.close()
  rmSync(directory, { recursive: true })
})

it('AGK-28 a tool says in a line what a call does, and shows a preview of it; a preview that fails stops nothing', async () => {
  const config = { displaySummary: ({ city }: { city: string }) => `Looks at ${city}`, requiresConfirmation: true }
  const shown = make({ inputSchema })
  const good = shown.with({ ...config, confirmationPreview: ({ city }: { city: string }) => `A map of ${city}` })
  const bad = shown.with({
    ...config,
    name: 'broken',
    confirmationPreview() {
      throw new Error('no map')
    },
  })
  const reports: unknown[] = []
  const executor = createExecutor({ tools: [good, bad], report: (error) => void reports.push(error) })
  for (const { name } of [good, bad]) {
    expect(await executor.execute({ name, args: { city: 'Oslo' } })).toMatchObject({ status: 'waiting' })
  }
  const metaOf = new Map((await executor.calls.waiting()).map(({ toolName, meta }) => [toolName, meta]))
  expect(metaOf.get('forecast')).toEqual({ summary: 'Looks at Oslo', preview: 'A map of Oslo' })
  expect(metaOf.get('broken')).toEqual({ summary: 'Looks at Oslo' })
  expect(reports).toHaveLength(1)
})
