/**
 * Serves a fetch handler with `node:http`: alone, or within a server of Node such as Express.
 *
 * @module
 */
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ReadableStream } from 'node:stream/web'
import { InvalidConfigurationError } from '../errors.ts'
import { checkOptions, functionOption, integerFrom, reporterOf, stringOption } from '../extension.ts'
import { listenAt } from './_listening.ts'

/** Answers requests as web standards have them. `address` is that of the client, if it is known. */
export type FetchHandler = (
  request: Request,
  from: { readonly address: string | undefined },
) => Response | Promise<Response>

/** Where to listen. */
export interface ListenOptions {
  /** Default: any free port. */
  readonly port?: number
  /** The address to listen on. Default: `127.0.0.1`. */
  readonly hostname?: string
  /**
   * A folder with a built page. Its files are served beside the handler, `index.html` as `/`; all other requests go to the
   * handler. Files that come later, links, and names that begin with a dot are not served. Default: none.
   */
  readonly files?: string
  /** Receives the errors of the handler and of the server. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/** A server that listens. */
export interface Listening {
  readonly url: string
  /** Ends all connections. */
  readonly close: () => Promise<void>
}

/**
 * Serves a fetch handler, and the files of a page beside it: `listen(clients.fetch, { files: 'dist' })`.
 *
 * @param fetch Answers what is no file, such as `fetch` of `httpClients`.
 * @param options The port, the address, the folder of the page, and what takes faults.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or the port is taken (its `cause` has the code `EADDRINUSE`); `ENOENT` if there
 * is no folder `files`.
 * @example
 * ```ts
 * import { listen } from 'toolwright/client/node'
 *
 * const { url, close } = await listen(() => new Response('Hello'), { port: 0 })
 * console.log(await (await fetch(url)).text()) // Hello
 * await close()
 * ```
 */
export async function listen(fetch: FetchHandler, options: ListenOptions = {}): Promise<Listening> {
  checkOptions('listen', options, {
    port: integerFrom(0, 65_535),
    hostname: stringOption,
    files: stringOption,
    report: functionOption,
  })
  const { port = 0, hostname = '127.0.0.1', files } = options
  const report = reporterOf(options.report)
  const handler = files === undefined ? fetch : besideFiles(await filesIn(files), fetch)
  const server = createServer(nodeListener(handler, { report }))
  const { address, port: actualPort, family } = await listenAt(server, port, hostname, 'hostname')
  server.removeAllListeners('error').on('error', report) // without file descriptors left, there is one for each client
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const fileMediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

/** Returns the files below a folder by the paths under which they are served. No request can name another file. */
async function filesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).replaceAll(sep, '/')}`
    if (entry.isFile() && !path.includes('/.')) files.set(path.replace(/\/index\.html$/, '/'), file)
  }
  return files
}

/** Returns a handler that answers with files, and asks another for all else. */
function besideFiles(files: ReadonlyMap<string, string>, fetch: FetchHandler): FetchHandler {
  return async (request, from) => {
    const file = request.method === 'GET' || request.method === 'HEAD' ? files.get(requestPath(request)) : undefined
    if (file === undefined) return fetch(request, from)
    const headers = {
      'content-type': fileMediaTypes[extname(file).toLowerCase()] ?? 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    }
    return new Response(await readFile(file), { headers })
  }
}

function requestPath({ url }: Request): string {
  try {
    return decodeURIComponent(new URL(url).pathname)
  } catch {
    return '' // it is not well-formed, so no file has it
  }
}

/**
 * Makes a listener for `node:http` of a fetch handler. Express takes it as `app.use(nodeListener(fetch))`: it then gets the
 * whole path, also below a mount. Mount it before `express.json()` and other parsers, since they leave no body to read: such a
 * request is answered with 500, and reported.
 *
 * @param fetch Answers the requests, such as `fetch` of `httpClients`.
 * @param options `report`: receives the errors of the handler. Default: `console.error`.
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { nodeListener } from 'toolwright/client/node'
 *
 * const server = createServer(nodeListener(async () => new Response('Hello')))
 * ```
 */
export function nodeListener(
  fetch: FetchHandler,
  options: Pick<ListenOptions, 'report'> = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const report = reporterOf(options.report)
  return (incoming, outgoing) => {
    serveRequest(incoming, outgoing, fetch).catch((error: unknown) => {
      report(error)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(500).end()
    })
  }
}

async function serveRequest(incoming: IncomingMessage, outgoing: ServerResponse, fetch: FetchHandler): Promise<void> {
  // The handler reads the text itself, so what a parser has made of it is no substitute.
  if (incoming.readableDidRead && incoming.method !== 'GET' && incoming.method !== 'HEAD') {
    throw new InvalidConfigurationError(
      'The body of this request was read before `nodeListener` had it. Mount it before `express.json()` and the like.',
    )
  }
  const leaving = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) leaving.abort(new Error('The client has left.'))
  })
  outgoing.on('error', () => {}) // `close` follows
  const request = requestOf(incoming, leaving.signal)
  if (request === undefined) {
    outgoing.writeHead(400).end()
    return
  }
  const response = await fetch(request, { address: incoming.socket.remoteAddress })
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  outgoing.writeHead(response.status, headers)
  if (response.body === null) {
    outgoing.end()
    return
  }
  outgoing.flushHeaders() // a stream may send its first bytes much later
  await pipeline(response.body, outgoing).catch(() => {}) // the client has left, and the body is cancelled
}

/** Makes a web request of one of Node. Returns `undefined` if it is not valid. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  try {
    const { method = 'GET', headers, url = '/' } = incoming
    const { originalUrl = url } = incoming as IncomingMessage & { readonly originalUrl?: string } // of Express, below a mount
    const fields = Object.entries(headers).flatMap(([name, value]) => {
      return value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one])
    })
    const body = method === 'GET' || method === 'HEAD' ? undefined : ReadableStream.from(incoming)
    // Only the path is the client's: `Host` is a header that the handler checks, and `//x/y` is a path and names no host.
    const { pathname, search } = new URL(originalUrl.startsWith('/') ? `http://localhost${originalUrl}` : originalUrl)
    return new Request(`http://localhost${pathname}${search}`, {
      method,
      headers: fields,
      signal,
      ...(body && { body: body as unknown as NonNullable<RequestInit['body']>, duplex: 'half' }),
    })
  } catch {
    return undefined
  }
}
