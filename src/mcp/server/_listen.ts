import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { InvalidConfigurationError } from '../../index.ts'
import { addresses, type HttpHandler, type HttpOptions } from './_http.ts'

export interface ListenOptions extends HttpOptions {
  /** Default: any free port. */
  readonly port?: number
  /** The address to listen on. An address other than loopback needs `token` and `hosts`. Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: `/mcp`. */
  readonly path?: string
}

/** A server that listens. */
export interface Listening {
  /** The address for clients. */
  readonly url: string
  readonly close: () => Promise<void>
}

const loopback = ['127.0.0.1', '::1', 'localhost']

function requireSafe({ host = '127.0.0.1', token, hosts }: ListenOptions): void {
  if (loopback.includes(host)) return
  if (token === undefined || hosts === undefined) {
    throw new InvalidConfigurationError(
      `Other machines can reach this server on ${host}: set \`token\`, and set \`hosts\` to the names under which clients reach it.`,
    )
  }
}

/**
 * Serves a handler with `node:http`.
 *
 * @throws `E_INVALID_CONFIGURATION` if other machines could reach the server without `token` and `hosts`.
 */
export async function listen(
  handler: HttpHandler,
  options: ListenOptions,
  report: (error: unknown) => void,
): Promise<Listening> {
  requireSafe(options)
  const { port = 0, host = '127.0.0.1', path = '/mcp' } = options
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, path, handler).catch((error: unknown) => {
      report(error)
      outgoing.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  // Without file descriptors left, the server emits an error for each client; unhandled, it would end the process.
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
  outgoing.flushHeaders() // a stream may send its first bytes much later
  await pipeline(response.body, outgoing).catch(() => {}) // the client has disconnected, and the body is cancelled
}

/** Converts a Node request to a web `Request`. Returns `undefined` if it is not a valid one. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  try {
    const { method = 'GET', headers, url = '/' } = incoming
    const fields = Object.entries(headers).flatMap(([name, value]) => {
      return value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one])
    })
    const hasBody = method !== 'GET' && method !== 'HEAD'
    // A fixed base, so that only the path is the client's. The guard checks `Host` itself.
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
