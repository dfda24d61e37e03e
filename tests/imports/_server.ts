import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExecutor, type ExecutorOptions, type ToolExecutor, type ToolResult } from 'toolwright'
import { openapiTools, type OpenApiOptions, type OpenApiTools } from 'toolwright/imports/openapi'
import { onTestFinished } from 'vitest'
import type { Json } from '../portable/cases/_api.ts'

export { bearer, documentOf, type Json } from '../portable/cases/_api.ts'

/** What a server got. */
export interface GotRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export interface TestServer {
  readonly url: string
  readonly requests: GotRequest[]
}

export type Answer = (request: GotRequest, response: ServerResponse, raw: IncomingMessage) => void

/** Starts a server that ends with its test. Without `answer` it answers what it got. */
export async function serve(answer: Answer = echo): Promise<TestServer> {
  const requests: GotRequest[] = []
  const server: Server = createServer((raw, response) => {
    const pieces: Buffer[] = []
    raw.on('data', (piece: Buffer) => pieces.push(piece))
    raw.on('error', () => {})
    raw.on('end', () => {
      const { method = '', url = '', headers } = raw
      const request = { method, url, headers, body: Buffer.concat(pieces) }
      requests.push(request)
      answer(request, response, raw)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

function echo({ method, url, headers, body }: GotRequest, response: ServerResponse): void {
  reply(response, 200, { method, url, headers, body: body.toString() })
}

export function reply(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** What was reported, in words. */
export interface Reports extends Array<string> {}

export interface Ready {
  readonly api: OpenApiTools
  readonly executor: ToolExecutor
  readonly reports: Reports
  readonly call: (name: string, args?: unknown, options?: Parameters<ToolExecutor['execute']>[1]) => Promise<ToolResult>
}

/** Makes the tools of a document, and an executor for them. */
export async function ready(
  document: Json | string,
  options: OpenApiOptions = {},
  more: ExecutorOptions = {},
): Promise<Ready> {
  const reports: Reports = []
  const report = (error: unknown): void => void reports.push((error as Error).message)
  const api = await openapiTools(document, { report, ...options })
  const executor = createExecutor({ ...more, use: [api, ...(more.use ?? [])] })
  onTestFinished(() => executor.close())
  return { api, executor, reports, call: (name, args = {}, call) => executor.execute({ name, args }, call) }
}

/** What the model reads of a result. */
export function wordsOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n')
}
