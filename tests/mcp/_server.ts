import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client'
import { createExecutor, type ExecutorOptions, type ToolExecutor } from 'toolwright'
import { mcpServer, type Listening, type ListenOptions, type McpServerOptions } from 'toolwright/mcp/server'
import { afterEach } from 'vitest'

/** The two eras of the protocol, and how a client chooses. */
export const eras = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const

export type Mode = (typeof eras)[number][1]

/** What a test has opened, and is closed after it, the last first. */
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** Closes something after the test. */
export function closing(close: () => unknown): void {
  opened.push(close)
}

/** A server that listens, with the executor behind it. */
export interface Started extends Listening {
  readonly executor: ToolExecutor
  /** What was reported. */
  readonly reports: unknown[]
}

/** Starts a server over an executor of its own. */
export async function start(
  options: ExecutorOptions,
  serverOptions: Partial<McpServerOptions> = {},
  listening: ListenOptions = {},
): Promise<Started> {
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const executor = createExecutor({ report, ...options })
  const server = await mcpServer({ executor, report, ...serverOptions }).listen(listening)
  closing(() => executor.close())
  closing(() => server.close())
  return { ...server, executor, reports }
}

/** Connects the official client. */
export async function connect(
  url: string,
  mode: Mode,
  options: ClientOptions = {},
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { ...options, versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  closing(() => client.close())
  return client
}

/** The text of a result. */
export function textOf({ content }: { readonly content: readonly { readonly type: string }[] }): string {
  return content.map((block) => ('text' in block ? String(block.text) : block.type)).join('\n')
}
