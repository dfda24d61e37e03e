import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly name?: string; readonly cursor?: string; readonly protocolVersion?: string }
}

export interface Site {
  readonly url: string
  readonly origin: string
  /** What came in: the HTTP method, the method of the protocol, and the headers. */
  readonly requests: { readonly verb: string; readonly asked: Asked; readonly headers: IncomingMessage['headers'] }[]
  /** Takes the place down; what is open is cut. */
  readonly down: () => Promise<void>
}

/** What a place says to a request; nothing where it says what any server of 2025 says. */
export type Say = (asked: Asked, response: ServerResponse, request: IncomingMessage) => unknown

export function json(response: ServerResponse, body: unknown, headers: Record<string, string> = {}): true {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}

/** A place on this machine that speaks as much of the protocol of 2025 over HTTP as a client needs, and lies where told. */
export async function site(say: Say = () => undefined, port = 0): Promise<Site> {
  const requests: Site['requests'] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const asked = (body === '' ? {} : JSON.parse(body)) as Asked
      requests.push({ verb: request.method ?? '', asked, headers: request.headers })
      if (say(asked, response, request) !== undefined) return
      if (request.method !== 'POST') response.writeHead(405).end()
      else if (asked.id === undefined) response.writeHead(202).end()
      else json(response, { jsonrpc: '2.0', id: asked.id, ...answerTo(asked) })
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const down = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(down)
  return { url: `${origin}/mcp`, origin, requests, down }
}

function answerTo({ method, params }: Asked): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'site', version: '1' }
    return { result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } }
  }
  if (method === 'tools/list') return { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } }
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: 'echoed' }] } }
  return { error: { code: -32_601, message: 'Method not found' } }
}
