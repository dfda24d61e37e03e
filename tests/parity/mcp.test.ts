// What other kernels promise of MCP, shown with servers that run: tools that others define, configured as people do.
import { join } from 'node:path'
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { computeCallId, createExecutor, tool, type Caller, type ToolEvent } from 'toolwright'
import { mcpTools, normalizeMCPConfig, type McpTools, type McpToolsOptions, viewMessages } from 'toolwright/mcp/client'
import { expect, it, onTestFinished } from 'vitest'
import { program } from '../cli/_command.ts'

interface Request {
  readonly id?: number
  readonly method: string
  readonly params?: {
    readonly name?: string
    readonly arguments?: Record<string, unknown>
    readonly protocolVersion?: string
  }
}

/** A server in this process, and what it was asked. */
async function serve(
  tools: readonly object[],
  options: McpToolsOptions = {},
): Promise<{ readonly server: McpTools; readonly asked: unknown[] }> {
  const asked: unknown[] = []
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const answer = ({ method, params }: Request): object => {
    if (method === 'initialize') {
      const { protocolVersion } = params ?? {}
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'knowify', version: '1' } }
    }
    if (method === 'tools/list') return { tools: tools.map((each) => ({ inputSchema: { type: 'object' }, ...each })) }
    asked.push({ name: params?.name, args: params?.arguments })
    return { content: [{ type: 'text', text: 'clear' }] }
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  theirs.onmessage = (message) => {
    const request = message as Request
    if (request.id === undefined) return
    void theirs.send({ jsonrpc: '2.0', id: request.id, result: answer(request) } as JSONRPCMessage)
  }
  await theirs.start()
  const server = await mcpTools({ transport: ours, protocol: '2025-11-25', ...options })
  onTestFinished(() => server.close())
  return { server, asked }
}

const ui = { resourceUri: 'ui://knowify/dashboard' }

it('AIDK-10 a tool of an MCP server is of type mcp, and its handler forwards the call to the server', async () => {
  const inputSchema = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
  const { server, asked } = await serve([{ name: 'search', description: 'Searches', inputSchema }])
  const executor = createExecutor({ use: [server] })
  expect(executor.tools().map(({ name, type }) => ({ name, type }))).toEqual([{ name: 'search', type: 'mcp' }])
  const result = await executor.execute({ name: 'search', args: { query: 'cats' } })
  expect(result).toMatchObject({ status: 'ok', content: [{ type: 'text', text: 'clear' }] })
  expect(asked).toEqual([{ name: 'search', args: { query: 'cats' } }])
})

it('AIDK-29 the configuration of Cursor is normalised, what is said at run time wins, and tools are included, excluded and prefixed', async () => {
  const mcpConfig = {
    serverName: 'github-mcp',
    serverUrl: 'http://localhost:3001',
    transport: 'sse',
    region: 'eu',
  } as const
  const written = tool({ name: 'search', description: 'Searches', type: 'mcp', mcpConfig, handler: () => 'found' })
  expect(createExecutor({ tools: [written] }).tools()[0]?.mcpConfig).toEqual(mcpConfig)

  const [command = '', ...words] = program
  const args = [...words, 'mcp', join(import.meta.dirname, '..', 'mcp', 'modules', 'environment.ts')]
  const env = { KEY: 'of the file', OTHER: 'stays' }
  const config = { mcpServers: { knowify: { command, args, env } } }
  expect(normalizeMCPConfig(config)).toEqual([{ name: 'knowify', type: 'stdio', command, args, env }])
  const [normal] = normalizeMCPConfig(config, { overrides: { knowify: { env: { KEY: 'of today' } } } })
  const server = await mcpTools({ ...normal, include: ['read', 'erase'], exclude: ['erase'], prefix: 'k' })
  onTestFinished(() => server.close())
  const executor = createExecutor({ use: [server] })
  expect(executor.tools().map(({ name }) => name)).toEqual(['k_read'])
  expect(executor.tools()[0]?.mcpConfig).toMatchObject({ serverName: 'knowify', transport: 'stdio', toolName: 'read' })
  const { content } = await executor.execute({ name: 'k_read', args: {} })
  expect(content).toMatchObject([{ type: 'json', data: { KEY: 'of today', OTHER: 'stays' } }])
}, 60_000)

it('AGK-11 a tool of a server knows its origin, which takes any further keys', async () => {
  const { server } = await serve([{ name: 'read.it' }])
  expect(server.tools()[0]?.mcpConfig).toEqual({
    serverName: 'knowify',
    isSelfNamed: true,
    toolName: 'read.it',
    transport: 'in-process',
  })
})

it('AGK-12 the name of the server is what the application calls it, else what it calls itself', async () => {
  expect((await serve([])).server.serverName).toBe('knowify')
  const { server } = await serve([{ name: 'read' }], { name: 'books' })
  expect(server.tools()[0]?.mcpConfig?.serverName).toBe('books')
})

it('AGK-13 stdio, sse and in-process are ways to a server, and a websocket is refused with the reason', async () => {
  expect((await serve([{ name: 'read' }])).server.tools()[0]?.mcpConfig?.transport).toBe('in-process')
  const typesOf = (entry: object): unknown => normalizeMCPConfig({ knowify: entry })[0]?.type
  expect(typesOf({ command: 'knowify' })).toBe('stdio')
  expect(typesOf({ type: 'sse', url: 'http://localhost/sse' })).toBe('sse')
  expect(() => typesOf({ type: 'websocket', url: 'ws://localhost' })).toThrow(/no version of the protocol has/)
})

it('AGK-14 options of providers are the application’s to say of a server’s tools too', async () => {
  const providerOptions = { openai: { strict: true } }
  const { server } = await serve([{ name: 'read' }], { tools: { read: { providerOptions } } })
  expect(createExecutor({ use: [server] }).tools()[0]?.providerOptions).toEqual(providerOptions)
})

it('AGK-15 a tool of a server asks no client for a response', async () => {
  const { server } = await serve([{ name: 'read' }])
  const [read] = createExecutor({ use: [server] }).tools()
  expect(read).toMatchObject({ requiresResponse: false, type: 'mcp' })
})

it('AGK-16 a tool of a server has the time that the host gives it', async () => {
  const { server } = await serve([{ name: 'read' }, { name: 'write' }], {
    timeout: 9_000,
    tools: { write: { timeout: 5 } },
  })
  expect(server.tools().map(({ timeout }) => timeout)).toEqual([9_000, 5])
})

it('AGK-17 a tool of a server never takes itself for one of ours', async () => {
  const { server } = await serve([{ name: 'read', type: 'server', trusted: true, audience: 'all' }])
  expect(createExecutor({ use: [server] }).tools()[0]).toMatchObject({ type: 'mcp', trusted: false, audience: 'model' })
})

it('AGK-18 a tool with a view still runs and returns its result', async () => {
  const { server, asked } = await serve([{ name: 'board', _meta: { ui } }])
  const result = await createExecutor({ use: [server] }).execute({ name: 'board', args: {} })
  expect(result).toMatchObject({ status: 'ok', content: [{ type: 'text', text: 'clear' }] })
  expect(asked).toHaveLength(1)
})

it('AGK-19 every call of a server’s tool with a view has a new view', async () => {
  const { server } = await serve([{ name: 'board', _meta: { ui } }])
  const calls = [{ name: 'board' }, { name: 'board' }]
  const results = await createExecutor({ use: [server] }).executeToolCalls(calls)
  expect(new Set(results.map((result, index) => viewMessages(calls[index]!, result).view)).size).toBe(2)
})

it('AGK-20 the view of a server’s tool is sent the args, then the output, as the server would send it', async () => {
  const { server } = await serve([{ name: 'board', _meta: { ui } }])
  const call = { name: 'board', args: { month: 5 } }
  const { messages } = viewMessages(call, await createExecutor({ use: [server] }).execute(call))
  expect(messages.map(({ method, params }) => ({ method, params }))).toEqual([
    { method: 'ui/notifications/tool-input', params: { arguments: { month: 5 } } },
    { method: 'ui/notifications/tool-result', params: { content: [{ type: 'text', text: 'clear' }] } },
  ])
})

it('AGK-21 the view that a server names is in the definition, in either of the two places where servers write it', async () => {
  const { server } = await serve([
    { name: 'board', _meta: { ui } },
    { name: 'older', _meta: { 'ui/resourceUri': ui.resourceUri } },
  ])
  for (const each of server.tools()) expect(each.describe().ui).toEqual(ui)
})

it('AGK-22 a tool with a view may be called by the model and by apps where the server says nothing else', async () => {
  const { server } = await serve([{ name: 'board', _meta: { ui } }])
  const executor = createExecutor({ use: [server] })
  for (const caller of ['model', { app: 'knowify' }] as const) {
    expect((await executor.execute({ name: 'board' }, { caller })).status).toBe('ok')
  }
})

it('AGK-23 visibility says who may call a tool: the model, or apps of the tool’s own server', async () => {
  const { server } = await serve([
    { name: 'for_model', _meta: { ui: { ...ui, visibility: ['model'] } } },
    { name: 'for_apps', _meta: { ui: { ...ui, visibility: ['app'] } } },
  ])
  const executor = createExecutor({ use: [server] })
  const reached = async (caller: Caller): Promise<string[]> => {
    const names: string[] = []
    for (const name of ['for_model', 'for_apps']) {
      const { status, error } = await executor.execute({ name }, { caller })
      if (status === 'ok') names.push(name)
      else expect(error?.code).toBe('E_TOOL_NOT_FOUND')
    }
    return names
  }
  expect(await reached('model')).toEqual(['for_model'])
  expect(await reached({ app: 'knowify' })).toEqual(['for_apps'])
  expect(await reached({ app: 'another' })).toEqual([])
})

it('USR-07 a pipeline hears the start and the end of a server’s tool by callId', async () => {
  const { server } = await serve([{ name: 'read' }])
  const heard: string[] = []
  const observers = [({ event, callId }: ToolEvent) => void heard.push(`${event} ${callId}`)]
  const executor = createExecutor({ use: [server, { observers }] })
  await executor.execute({ name: 'read', args: { page: 1 } })
  const callId = computeCallId('read', { page: 1 })
  expect(heard).toContain(`tool:start ${callId}`)
  expect(heard).toContain(`tool:end ${callId}`)
})
