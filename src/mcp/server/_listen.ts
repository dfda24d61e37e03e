import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidConfigurationError } from '../../index.ts'
import { addresses, type HttpHandler, type HttpOptions } from './_http.ts'

export interface ListenOptions extends HttpOptions {
  /** Default: any that is free. */
  readonly port?: number
  /** Where to listen. Beyond this machine only with a `token`, and with `hosts`. Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: `/mcp`. */
  readonly path?: string
}

/** A server that listens. */
export interface Listening {
  /** Where clients find it. */
  readonly url: string
  readonly close: () => Promise<void>
}

const loopback = ['127.0.0.1', '::1', 'localhost']

/** Refuses to be open to others without anything that keeps them out. */
export function requireSafe({ host = '127.0.0.1', token, hosts }: ListenOptions): void {
  if (loopback.includes(host)) return
  if (token === undefined || hosts === undefined) {
    throw new InvalidConfigurationError(
      `To listen on ${host}, where others reach this server, give it a \`token\`, and in \`hosts\` the names that it is reached under.`,
    )
  }
}

/** Lets a handler listen with `node:http`. */
export async function listen(
  handler: HttpHandler,
  options: ListenOptions,
  report: (error: unknown) => void,
): Promise<Listening> {
  const { createServer } = await import('node:http')
  const { port = 0, host = '127.0.0.1', path = '/mcp' } = options
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, path, handler).catch((error: unknown) => {
      report(error)
      outgoing.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  // Where it has no file descriptors left, it says so for each client that comes, and would end the process.
  server.on('error', report)
  const { address, port: given, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${given}${path}`,
    async close() {
      await handler.close()
      await ended(server)
    },
  }
}

function ended(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
  handler: HttpHandler,
): Promise<void> {
  const leaving = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) leaving.abort(new Error('The client has left.'))
  })
  outgoing.on('error', () => {}) // `close` follows
  const request = requestOf(incoming, leaving.signal)
  if (request === undefined || new URL(request.url).pathname !== path) {
    outgoing.writeHead(request === undefined ? 400 : 404).end()
    return
  }
  const { remoteAddress } = incoming.socket
  if (remoteAddress !== undefined) addresses.set(request, remoteAddress)
  const response = await handler.fetch(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) {
    outgoing.end()
    return
  }
  outgoing.flushHeaders() // a stream may have nothing to say for long
  const { pipeline } = await import('node:stream/promises')
  await pipeline(response.body, outgoing).catch(() => {}) // the client has left: the body was cancelled
}

/** The request as the web knows it; nothing where it is none. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  try {
    const { method = 'GET', headers, url = '/' } = incoming
    const fields = Object.entries(headers).flatMap(([name, value]) => {
      return value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one])
    })
    const hasBody = method !== 'GET' && method !== 'HEAD'
    // The address is made of what the client sends alone: of which server it speaks was in `Host`, and is checked there.
    return new Request(new URL(url, 'http://localhost'), {
      method,
      headers: fields,
      signal,
      ...(hasBody ? { body: ReadableStream.from(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : undefined),
    })
  } catch {
    return undefined
  }
}
