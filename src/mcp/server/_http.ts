import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { InvalidConfigurationError, parseJson } from '../../index.ts'
import { attend, serve } from './_connection.ts'
import { readableBy } from './_cross-origin.ts'
import { guard, refuse, type GuardOptions } from './_guard.ts'
import { networkOf, yielding } from './_quota.ts'
import { Rounds } from './_rounds.ts'
import { amount, type Peer, type Settings } from './_settings.ts'

/**
 * Who may send requests over HTTP, and how much is kept for them.
 *
 * What is kept is counted for each principal, and so are the limits of its calls that count `per: 'principal'`. The principal
 * is the one that a `token` function names; without such a function, all clients of one address are one.
 */
export interface HttpOptions extends GuardOptions {
  /**
   * How many clients of the older protocol may be connected at once. If there are more, the principal with most sessions loses
   * the one that it has not used for longest, but none in which a call runs. Default: 1,000.
   */
  readonly maximumSessions?: number
  /** How many of these sessions one principal may have; of more, it loses the one not used for longest. Default: 100. */
  readonly sessionsPerPrincipal?: number
  /** How many calls of one principal may wait for answers of their clients; of more, its oldest is given up. Default: 100. */
  readonly questionsPerPrincipal?: number
  /**
   * Says from which address a request comes. Needed to tell clients without a `token` function apart if the handler is mounted
   * or stands behind a proxy: `(request) => request.headers.get('x-real-ip')`. Default: the other end of the connection, if the
   * server listens by itself.
   */
  readonly clientAddress?: (request: Request) => string | null | undefined
  /** After how many milliseconds without a request such a client makes room for others. Default: 3,600,000. */
  readonly sessionTimeout?: number
}

/** The server, as a web-standard handler. */
export interface HttpHandler {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

/** A client of the older protocol, which has a session of its own. */
interface Session {
  readonly principal: string | undefined
  readonly party: string | undefined
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly close: () => Promise<void>
  usedAt: number
  /** Requests that are not answered to the end. */
  calls: number
  /** Streams on which the client waits for messages. */
  streams: number
}

/** Where requests come from, as far as this process took their connections. */
export const addresses: WeakMap<Request, string> = new WeakMap()

const deepest = 512

/**
 * Serves both eras of the protocol: clients of the older one in sessions, each with a transport of its own; those of the newer
 * one request by request, with nothing kept between them.
 */
export function httpHandler(given: Settings, options: HttpOptions): HttpHandler {
  const { sessionTimeout = 3_600_000, clientAddress = (request) => addresses.get(request) } = options
  const quota = { each: amount(options, 'sessionsPerPrincipal', 100), all: amount(options, 'maximumSessions', 1_000) }
  const questions = amount(options, 'questionsPerPrincipal', 100)
  // Questions of its own, since whom they were put to has nowhere to answer once this handler is closed.
  const settings: Settings = { ...given, rounds: new Rounds(given.answerTimeout, questions) }
  const { messageLimit, executor } = settings
  const admit = guard(options)
  const hasPrincipals = typeof options.token === 'function'
  for (const { name, scope } of executor.policies) if (scope === 'session') settings.report(boundless(name))
  const sessions = new Map<string, Session>()
  // The same and those that are being opened, the longest unused first.
  const entries = new Set<Session>()
  const parties = new WeakMap<Request, string>()
  const modern = createMcpHandler(
    ({ authInfo, requestInfo }) => {
      const principal = authInfo?.clientId
      const party = requestInfo && parties.get(requestInfo)
      const isLone = principal === undefined || !hasPrincipals
      const session = isLone ? `mcp-${crypto.randomUUID()}` : `mcp-of-${principal}`
      return serve({ session, principal, era: 'modern', owner: `modern ${principal ?? ''}`, isLone, party }, settings)
    },
    { legacy: 'reject', maxRequestBodySize: messageLimit },
  )
  let isTelling = false
  const silence = executor.onToolsChange(() => {
    if (isTelling) return
    isTelling = true // several changes at once are told of once
    queueMicrotask(() => {
      isTelling = false
      modern.notify.toolsChanged()
    })
  })
  let isClosed = false

  async function open(request: Request, body: unknown, principal: string | undefined): Promise<Response> {
    const party = parties.get(request)
    if (!makeRoom(party)) return refuse(503, -32_000, 'Too many sessions are open', { 'Retry-After': '60' })
    const session = `mcp-${crypto.randomUUID()}`
    const peer: Peer = { session, principal, era: 'legacy', owner: session, isLone: false, party }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      maxRequestBodySize: messageLimit,
    })
    const served = attend(serve(peer, settings), peer, settings, () => {
      drop(entry)
    })
    const close = (): Promise<void> => served.close()
    const entry: Session = { principal, party, transport, close, usedAt: performance.now(), calls: 0, streams: 0 }
    entries.add(entry)
    try {
      entry.calls++ // until it is known by its id, it is in nobody's way
      await served.connect(transport)
      return await handle(entry, request, body)
    } finally {
      entry.calls--
      if (transport.sessionId === undefined || isClosed) {
        drop(entry)
        await served.close()
      } else sessions.set(transport.sessionId, entry)
    }
  }

  function drop(session: Session): void {
    entries.delete(session)
    if (session.transport.sessionId !== undefined) sessions.delete(session.transport.sessionId)
  }

  /** Closes what was left for long, and what has to give way to one more session; tells whether there is room for it. */
  function makeRoom(party: string | undefined): boolean {
    const oldest = performance.now() - sessionTimeout
    for (const session of entries) if (rank(session) === 0 && session.usedAt < oldest) end(session)
    const over = yielding(entries, party, quota, rank)
    if (over) end(over)
    return over !== null
  }

  function end(session: Session): void {
    drop(session)
    session.close().catch(settings.report)
  }

  /** Hands a request to a session, which stays as long as the answer is on its way. */
  async function handle(session: Session, request: Request, body: unknown): Promise<Response> {
    const kind = request.method === 'GET' ? 'streams' : 'calls'
    use(session)
    session[kind]++
    const done = (): void => {
      use(session)
      session[kind]--
    }
    let response: Response
    try {
      response = await session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body })
    } catch (error) {
      done()
      throw error
    }
    if (response.body === null) {
      done()
      return response
    }
    return new Response(watched(response.body, done), response)
  }

  function use(session: Session): void {
    session.usedAt = performance.now()
    if (entries.delete(session)) entries.add(session)
  }

  /** Whose quotas a request counts for. */
  function partyOf(request: Request, principal: string | undefined): string | undefined {
    if (hasPrincipals) return principal
    const address: unknown = clientAddress(request)
    return typeof address === 'string' && address !== '' ? `address ${networkOf(address)}` : undefined
  }

  async function legacy(request: Request, body: unknown, principal: string | undefined): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) {
      if (isInitializeRequest(body)) return open(request, body, principal)
      return refuse(400, -32_000, 'Bad Request: Mcp-Session-Id header is required')
    }
    const session = sessions.get(id)
    // Another client's session is the same to a client as one that never was.
    if (session === undefined || session.principal !== principal) return refuse(404, -32_001, 'Session not found')
    return handle(session, request, body)
  }

  async function answer(request: Request, principal: string | undefined): Promise<Response> {
    if (isClosed) return refuse(503, -32_000, 'The server is closed')
    const isPost = request.method === 'POST'
    if (!isPost && request.method !== 'GET' && request.method !== 'DELETE') {
      return refuse(405, -32_000, 'Method not allowed', { Allow: 'GET, POST, DELETE' })
    }
    const body = isPost ? await bodyOf(request, messageLimit) : undefined
    if (body instanceof Response) return body
    const stripped = new Request(request.url, {
      method: request.method,
      headers: request.headers,
      signal: request.signal,
    })
    const party = partyOf(request, principal)
    if (party !== undefined) parties.set(stripped, party)
    if (await isLegacyRequest(stripped, body)) return legacy(stripped, body, principal)
    return modern.fetch(stripped, {
      parsedBody: body,
      ...(principal === undefined ? undefined : { authInfo: { clientId: principal, token: '', scopes: [] } }),
    })
  }

  return {
    async fetch(request) {
      let page: string | undefined
      let response: Response
      try {
        const admission = await admit(request)
        page = admission.page
        response = admission.answer ?? (await answer(request, admission.principal))
      } catch (error) {
        settings.report(error)
        response = refuse(500, -32_603, 'Internal server error')
      }
      return page === undefined ? response : readableBy(page, response)
    },
    async close() {
      isClosed = true
      silence()
      settings.rounds.end()
      await Promise.all([modern.close(), ...[...entries].map((session) => session.close())])
    },
  }
}

/** In which order the sessions of one client give way: those without a stream first, none in which a call runs. */
function rank({ calls, streams }: Session): number {
  return calls > 0 ? Infinity : Math.min(streams, 1)
}

/** What is reported of a policy that counts by session, if clients can begin as many sessions as they like. */
function boundless(policy: string): InvalidConfigurationError {
  return new InvalidConfigurationError(
    `\`${policy}\` counts by session, but over HTTP a client may begin a session with each request, and is not held by it. Give it \`per: 'principal'\`.`,
  )
}

/** A stream that tells once when it is over, be it read to its end or left. */
function watched(stream: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  let isOver = false
  const over = (): void => {
    if (!isOver) end()
    isOver = true
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        over()
        controller.close()
      } catch (error) {
        over()
        controller.error(error)
      }
    },
    cancel(reason) {
      over()
      return reader.cancel(reason)
    },
  })
}

/** The message, read strictly: what could be read in two ways is refused. */
async function bodyOf(request: Request, limit: number): Promise<unknown> {
  if (!isJsonContentType(request.headers.get('content-type'))) {
    return refuse(415, -32_000, 'Unsupported Media Type: Content-Type must be application/json')
  }
  const read = await readRequestBody(request, limit)
  if (read.tooLarge) return refuse(413, -32_000, `Payload Too Large: a message may have ${limit} bytes`)
  try {
    return parseJson(read.text, { limit, depth: deepest })
  } catch {
    return refuse(400, -32_700, 'Parse error: the body is not JSON that can be read in one way only')
  }
}
