/**
 * A page that shows the calls of an executor as they happen, and answers those that wait for approval.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { httpClients, type HttpClientsOptions } from '../client/http.ts'
import { listen, type Listening, type ListenOptions } from '../client/node.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { callsOfPage } from './inspector/_calls.ts'

/** The options of `inspector`. */
export interface InspectorOptions extends Pick<
  HttpClientsOptions,
  'executor' | 'base' | 'hosts' | 'limits' | 'heartbeat' | 'report'
> {
  /** What opens the page, as printable ASCII. Default: 32 random bytes. */
  readonly token?: string
  /** Lets the page call tools. Default: `false`: it shows and answers the calls of others. */
  readonly canCall?: boolean
}

/** A page, and what it talks to. */
export interface Inspector {
  /** Answers the requests of the page. Never rejects. */
  readonly fetch: (request: Request) => Promise<Response>
  /** What opens the page. */
  readonly token: string
  /** Serves the page. The `url` has the token in its fragment, which no log and no `Referer` contains. */
  readonly listen: (options?: ListenOptions) => Promise<Listening>
  /** Ends the streams. Calls go on. */
  readonly close: () => Promise<void>
}

// The page has no inline script or style, and makes no markup of text.
const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'",
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
].join('; ')

const pageMediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/**
 * Makes an inspector of an executor: of the calls of all sessions, and with a journal of other processes too.
 *
 * @param options The executor, the token that opens the page, and whether the page may make calls.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or the page is not built.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { inspector } from 'toolwright/devtools/inspector'
 *
 * const deploy = tool({ name: 'deploy', description: 'Deploys', requiresConfirmation: true, handler: () => 'deployed' })
 * const executor = createExecutor({ tools: [deploy] })
 * const { url, close } = await inspector({ executor }).listen({ port: 4984 })
 * console.log(url) // http://127.0.0.1:4984/#token=…
 * await close()
 * ```
 */
export function inspector(options: InspectorOptions): Inspector {
  const { token = randomBytes(32).toString('base64url'), canCall = false, ...rest } = options
  const base = `/${options.base ?? ''}/`.replaceAll(/\/+/g, '/').slice(0, -1)
  const files = pageFiles()
  const clients = httpClients({ ...rest, token, base: `${base}/api` })
  const own = callsOfPage({ ...rest, token }, canCall)
  const hosts = new Set((options.hosts ?? ['localhost', '127.0.0.1', '[::1]']).map((name) => name.toLowerCase()))

  async function fetch(request: Request): Promise<Response> {
    const { pathname, host } = new URL(request.url)
    const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : ''
    if (path === '/api/tools') return own(request)
    if (path.startsWith('/api/')) return clients.fetch(request)
    const name = (request.headers.get('host') ?? host).replace(/:\d+$/, '').toLowerCase()
    if (!hosts.has(name)) return textResponse(403, 'This server does not go by the name of the request.')
    if (request.method !== 'GET' && request.method !== 'HEAD') return textResponse(405, 'There is only a page to read.')
    if (pathname === base) return new Response(null, { status: 308, headers: { location: `${base}/` } })
    return files.get(path === '/' ? '/index.html' : path)?.() ?? textResponse(404, 'There is no such thing here.')
  }

  return {
    fetch,
    token,
    async listen(listening = {}) {
      const { url, close } = await listen(fetch, { ...(options.report && { report: options.report }), ...listening })
      return {
        url: `${url}${base}/#token=${encodeURIComponent(token)}`,
        async close() {
          await clients.close()
          await close()
        },
      }
    },
    close: () => clients.close(),
  }
}

/** Reads the files of the page. Each returns an answer with its text. */
function pageFiles(): ReadonlyMap<string, () => Response> {
  const root = dirname(createRequire(import.meta.url).resolve('toolwright/package.json'))
  const folder = join(root, 'dist', 'devtools', 'inspector')
  try {
    return new Map(
      readdirSync(folder)
        .filter((name) => extname(name) in pageMediaTypes)
        .map((name) => {
          const text = readFileSync(join(folder, name), 'utf8')
          return [`/${name}`, () => new Response(text, { headers: pageHeaders(pageMediaTypes[extname(name)] ?? '') })]
        }),
    )
  } catch (cause) {
    const words = `The page of the inspector is not in ${folder}. In a clone, run \`npm run build:page\` first.`
    throw new InvalidConfigurationError(words, { cause })
  }
}

function textResponse(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: pageHeaders('text/plain; charset=utf-8') })
}

function pageHeaders(mediaType: string): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
}
