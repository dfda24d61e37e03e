// How often does a tool run whose answer over MCP is cut, and which the client asks for again? The answer of each call breaks off at a
// random byte of its connection, and the request is made anew with another id, as the protocol demands since 2026-07-28. Beside
// the servers of the official SDK are those of two frameworks that serve MCP.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, tool } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { mcpServer } from 'toolwright/mcp/server'
import { cutCalls, cutTool, type CutServer } from '../tests/servers/cuts.ts'
import { seeded } from '../tests/testing/_world.ts'
import { isQuick, printWords } from './_results.ts'
import { install, load, versionOf } from './_rivals.ts'

install()
const calls = isQuick ? 100 : 2_000
const seed = Number(process.env['BENCH_SEED'] ?? Date.now() % 1_000_000_007)
process.stdout.write(`BENCH_SEED=${seed}\n`)

interface Started extends CutServer {
  readonly close: () => unknown
}

/** What a server is made of: a handler that takes some milliseconds, so that some answers break off while it runs. */
interface Payments {
  readonly runs: Map<string, string[]>
  readonly pay: (input: { readonly order: string }) => Promise<string>
}

function payments(): Payments {
  const runs = new Map<string, string[]>()
  let count = 0
  const pay: Payments['pay'] = async ({ order }) => {
    const receipt = `receipt ${String(++count).padStart(8, '0')}`
    runs.set(order, [...(runs.get(order) ?? []), receipt])
    await new Promise((resolve) => setTimeout(resolve, count % 3))
    return receipt
  }
  return { runs, pay }
}

const { z } = await load<typeof import('zod')>('zod')
const inputSchema = z.object({ order: z.string() })
const description = 'Pays an order'

async function listening(listener: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close }
}

async function ours(protocol: CutServer['protocol']): Promise<Started> {
  const { runs, pay } = payments()
  const folder = mkdtempSync(join(tmpdir(), 'bench-cut-'))
  const journal = sqliteJournal(join(folder, 'calls.db'))
  const executor = createExecutor({
    tools: [tool({ name: cutTool, description, inputSchema, handler: pay })],
    use: [journal],
  })
  const server = await mcpServer({ executor }).listen({ token: 'secret' })
  const close = async (): Promise<void> => {
    await server.close()
    await executor.close()
    rmSync(folder, { recursive: true })
  }
  return { url: server.url, protocol, headers: { authorization: 'Bearer secret' }, runs, close }
}

const answered = (text: string): object => ({ content: [{ type: 'text', text }] })

/** The official SDK in the protocol of 2026-07-28. */
async function sdk(): Promise<Started> {
  interface Sdk {
    readonly McpServer: new (info: object) => { registerTool(name: string, config: object, handler: unknown): void }
    readonly createMcpHandler: (factory: () => unknown) => { fetch(request: Request): Promise<Response> }
  }
  const { McpServer, createMcpHandler } = await load<Sdk>('@modelcontextprotocol/server')
  const { runs, pay } = payments()
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'bench', version: '1' })
    const run = async (input: { order: string }): Promise<object> => answered(await pay(input))
    server.registerTool(cutTool, { description, inputSchema }, run)
    return server
  })
  const place = await listening((request, response) => void passOn(request, response, (each) => handler.fetch(each)))
  return { ...place, protocol: '2026-07-28', runs }
}

/** Hands a request to a web-standard handler. The request is aborted if the connection breaks off. */
async function passOn(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const body = Buffer.concat(await incoming.toArray())
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string])
  const url = `http://127.0.0.1${incoming.url ?? ''}`
  try {
    const response = await handle(new Request(url, { method: 'POST', headers, body, signal: gone.signal }))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    for await (const piece of response.body ?? []) outgoing.write(piece)
    outgoing.end()
  } catch {
    outgoing.destroy() // the client is gone
  }
}

/** The official SDK of the first major version, in the protocol of 2025-11-25. */
async function firstSdk(): Promise<Started> {
  interface Transport {
    readonly sessionId?: string
    handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>
  }
  const { McpServer } = await load<{
    McpServer: new (info: object) => {
      registerTool(name: string, config: object, handler: unknown): void
      connect(transport: Transport): Promise<void>
    }
  }>('@modelcontextprotocol/sdk/server/mcp.js')
  const { StreamableHTTPServerTransport } = await load<{
    StreamableHTTPServerTransport: new (options: object) => Transport
  }>('@modelcontextprotocol/sdk/server/streamableHttp.js')
  const { runs, pay } = payments()
  const server = new McpServer({ name: 'bench', version: '1' })
  const run = async (input: { order: string }): Promise<object> => answered(await pay(input))
  server.registerTool(cutTool, { description, inputSchema: inputSchema.shape }, run)
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() })
  await server.connect(transport)
  const place = await listening((request, response) => void transport.handleRequest(request, response))
  return { ...place, protocol: '2025-11-25', runs }
}

async function fastmcp(): Promise<Started> {
  interface Server {
    addTool(tool: object): void
    start(options: object): Promise<void>
    stop(): Promise<void>
  }
  const { FastMCP } = await load<{ FastMCP: new (options: object) => Server }>('fastmcp')
  const { runs, pay } = payments()
  const silent = (): void => {}
  const logger = { debug: silent, error: silent, info: silent, log: silent, warn: silent }
  const server = new FastMCP({ name: 'bench', version: '1.0.0', logger })
  server.addTool({ name: cutTool, description, parameters: inputSchema, execute: pay })
  const { url, close } = await listening(() => {}) // to know a port that is free
  close()
  const { port } = new URL(url)
  await server.start({
    transportType: 'httpStream',
    httpStream: { port: Number(port), host: '127.0.0.1', endpoint: '/mcp' },
  })
  return { url, protocol: '2025-11-25', runs, close: () => server.stop() }
}

async function mastra(): Promise<Started> {
  interface Server {
    startHTTP(options: object): Promise<void>
    close(): Promise<void>
  }
  const { MCPServer } = await load<{ MCPServer: new (options: object) => Server }>('@mastra/mcp')
  const { createTool } = await load<{ createTool: (options: object) => object }>('@mastra/core/tools')
  const { runs, pay } = payments()
  const paying = createTool({ id: cutTool, description, inputSchema, execute: pay })
  const server = new MCPServer({ id: 'bench', name: 'bench', version: '1.0.0', tools: { [cutTool]: paying } })
  const place = await listening((req, res) => {
    const url = new URL(req.url ?? '', `http://127.0.0.1`)
    void server.startHTTP({ url, httpPath: '/mcp', req, res })
  })
  const close = async (): Promise<void> => {
    place.close()
    await server.close()
  }
  return { url: place.url, close, protocol: '2026-07-28', runs }
}

const servers: Readonly<Record<string, () => Promise<Started>>> = {
  toolwright: () => ours('2026-07-28'),
  'toolwright, older clients': () => ours('2025-11-25'),
  [`MCP SDK ${versionOf('@modelcontextprotocol/server')}`]: sdk,
  [`MCP SDK ${versionOf('@modelcontextprotocol/sdk')}`]: firstSdk,
  [`FastMCP ${versionOf('fastmcp')}`]: fastmcp,
  [`Mastra ${versionOf('@mastra/mcp')}`]: mastra,
}
const cells: string[][] = []
for (const [name, start] of Object.entries(servers)) {
  const server = await start()
  const tally = await cutCalls(server, calls, seeded(seed))
  await server.close()
  if (tally.runs < calls) throw new Error(`${name} has run ${tally.runs} of ${calls} calls: it was asked wrongly.`)
  const figures = [tally.cuts, tally.runs, tally.same, tally.sameBytes].map((figure) => figure.toLocaleString('en'))
  cells.push([name, server.protocol, ...figures])
  process.stdout.write(`${[name, server.protocol, ...figures].join(' | ')}\n`)
}
const head = ['server', 'protocol', 'answers cut', 'runs', 'first result comes', 'same bytes']
printWords({ head, cells })
process.exit() // some servers keep timers
