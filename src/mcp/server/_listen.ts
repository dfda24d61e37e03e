import { createServer, type Server } from 'node:http'
import { listenAt } from '../../client/_listening.ts'
import { nodeListener } from '../../client/node.ts'
import { InvalidConfigurationError } from '../../errors.ts'
import { addresses, type HttpHandler, type HttpOptions } from './_http.ts'

/** Where a server listens, and who may connect. */
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
 * @throws `E_INVALID_CONFIGURATION` if other machines could reach the server without `token` and `hosts`, or the port is taken.
 */
export async function listen(
  handler: HttpHandler,
  options: ListenOptions,
  report: (error: unknown) => void,
): Promise<Listening> {
  requireSafe(options)
  const { port = 0, host = '127.0.0.1', path = '/mcp' } = options
  const server = createServer(
    nodeListener(
      async (request, from) => {
        if (new URL(request.url).pathname !== path) return new Response(null, { status: 404 })
        if (from.address !== undefined) addresses.set(request, from.address)
        return handler.fetch(request)
      },
      { report },
    ),
  )
  const { address, port: actualPort, family } = await listenAt(server, port, host, 'host')
  // Without file descriptors left, the server emits an error for each client; unhandled, it would end the process.
  server.on('error', report)
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}${path}`,
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
