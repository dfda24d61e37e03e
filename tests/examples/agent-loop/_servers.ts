import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider on this machine, which says what a recorded conversation says. */
export interface Provider extends AsyncDisposable {
  readonly url: string
  /** The bodies of the requests, in their order. */
  readonly requests: readonly Record<string, unknown>[]
}

/** One turn of the model: the body of a plain answer, and the events of a streamed one. */
export interface Turn {
  readonly body: object
  readonly events: readonly (object | string)[]
}

/** Starts a provider. A request is streamed if its body or its path says so. */
export async function provider(turns: readonly Turn[]): Promise<Provider> {
  const requests: Record<string, unknown>[] = []
  const server = createServer((request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Uint8Array[] = []
    for await (const piece of request) pieces.push(piece as Uint8Array)
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>
    const turn = turns[requests.push(body) - 1]
    if (turn === undefined) return void response.writeHead(500).end('{"error":{"message":"no more turns"}}')
    if (body['stream'] !== true && !String(request.url).includes('streamGenerateContent')) {
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(turn.body))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of turn.events) {
      const type = typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : ''
      response.write(`${type}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    }
    response.end()
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
