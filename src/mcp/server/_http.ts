import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { parseJson } from '../../index.ts'
import { InvalidConfigurationError } from '../../errors.ts'
import { functionOption, numberFrom, policiesOf, type OptionChecks } from '../../extension.ts'
import { connectServer, serve } from './_connection.ts'
import { onListChange } from './_list-changes.ts'
import { readableBy } from './_cross-origin.ts'
import { requestGuard, guardChecks, refuseRequest, type GuardOptions } from './_guard.ts'
import { OnceCalls } from './_once.ts'
import { networkOf, yielding } from './_quota.ts'
import { OpenQuestions } from './_rounds.ts'
import { wholeNumber, type Peer, type ServerSettings } from './_settings.ts'

/**
 * Who may send requests over HTTP, and how much is kept for them.
 *
 * The quotas count per principal, as do limits of calls with `per: 'principal'`. The `token` function names the principal.
 * Without such a function, all clients of one address are one principal.
 */
export interface HttpOptions extends GuardOptions {
  /**
   * How many sessions of the older protocol may be open at once. If there are more, the principal with most sessions loses its
   * least recently used one, but none in which a call runs. Default: 1,000.
   */
  readonly maximumSessions?: number
  /** How many of these sessions one principal may have; with one more it loses its least recently used one. Default: 100. */
  readonly sessionsPerPrincipal?: number
  /** How many calls of one principal may wait for answers of its clients; with one more its oldest is cancelled. Default: 100. */
  readonly questionsPerPrincipal?: number
  /**
   * Returns the address that a request comes from. Set it if the handler is mounted or behind a proxy, to distinguish clients
   * without a `token` function: `(request) => request.headers.get('x-real-ip')`. Default: the remote address of the connection,
   * if the server listens by itself.
   */
  readonly clientAddress?: (request: Request) => string | null | undefined
  /** After how many milliseconds without a request such a session may be closed. Default: 3,600,000. */
  readonly sessionTimeout?: number
}

/** What the options take. */
export const httpChecks: OptionChecks<HttpOptions> = {
  ...guardChecks,
  maximumSessions: wholeNumber,
  sessionsPerPrincipal: wholeNumber,
  questionsPerPrincipal: wholeNumber,
  clientAddress: functionOption,
  sessionTimeout: numberFrom(0),
}

/** The server, as a web-standard handler. */
export interface HttpHandler {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

/** The session of a client of the older protocol. */
interface LegacySession {
  readonly principal: string | undefined
  readonly party: string | undefined
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly close: () => Promise<void>
  usedAt: number
  /** How many requests are not fully answered. */
  calls: number
  /** How many streams the client holds open for messages. */
  streams: number
}

/** The remote addresses of requests whose connections this process accepted. */
export const addresses: WeakMap<Request, string> = new WeakMap()

const deepestMessage = 512

/**
 * Serves both eras of the protocol. A client of the older era has a session with its own transport. Requests of the newer era
 * are independent: nothing is kept between them.
 */
export function httpHandler(allSettings: ServerSettings, options: HttpOptions): HttpHandler {
  const { sessionTimeout = 3_600_000, clientAddress = (request) => addresses.get(request) } = options
  const { sessionsPerPrincipal = 100, maximumSessions = 1_000, questionsPerPrincipal: questions = 100 } = options
  const quota = { each: sessionsPerPrincipal, all: maximumSessions }
  // This handler has its own waiting calls: once it is closed, its clients cannot answer them elsewhere.
  const settings: ServerSettings = {
    ...allSettings,
    openQuestions: new OpenQuestions(allSettings.answerTimeout, questions),
    onceCalls: new OnceCalls(),
  }
  const { messageLimit, executor } = settings
  const admit = requestGuard(options)
  const hasPrincipals = typeof options.token === 'function'
  for (const { name, scope } of policiesOf(executor)) if (scope === 'session') settings.report(boundless(name))
  const sessions = new Map<string, LegacySession>()
  // These sessions and those that are being opened. Least recently used first.
  const entries = new Set<LegacySession>()
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
  const silence = onListChange(() => modern.notify.toolsChanged(), settings)
  let isClosed = false

  async function open(request: Request, body: unknown, principal: string | undefined): Promise<Response> {
    const party = parties.get(request)
    if (!makeRoom(party)) return refuseRequest(503, -32_000, 'Too many sessions are open', { 'Retry-After': '60' })
    const session = `mcp-${crypto.randomUUID()}`
    const peer: Peer = { session, principal, era: 'legacy', owner: session, isLone: false, party }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      maxRequestBodySize: messageLimit,
    })
    const served = connectServer(serve(peer, settings), peer, settings, () => {
      drop(entry)
    })
    const close = (): Promise<void> => served.close()
    const entry: LegacySession = { principal, party, transport, close, usedAt: performance.now(), calls: 0, streams: 0 }
    entries.add(entry)
    try {
      entry.calls++ // a running call protects the session from `makeRoom` until it is open
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

  function drop(session: LegacySession): void {
    entries.delete(session)
    if (session.transport.sessionId !== undefined) sessions.delete(session.transport.sessionId)
  }

  /** Closes expired sessions, and one more if a quota is full. Returns whether there is room for a new session. */
  function makeRoom(party: string | undefined): boolean {
    const oldest = performance.now() - sessionTimeout
    for (const session of entries) if (rank(session) === 0 && session.usedAt < oldest) end(session)
    const over = yielding(entries, party, quota, rank)
    if (over) end(over)
    return over !== null
  }

  function end(session: LegacySession): void {
    drop(session)
    session.close().catch(settings.report)
  }

  /** Hands a request to a session, and counts it until its response has been sent. */
  async function handle(session: LegacySession, request: Request, body: unknown): Promise<Response> {
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
    return new Response(watchedStream(response.body, done), response)
  }

  function use(session: LegacySession): void {
    session.usedAt = performance.now()
    if (entries.delete(session)) entries.add(session)
  }

  /** Returns the party whose quotas a request counts for. */
  function partyOf(request: Request, principal: string | undefined): string | undefined {
    if (hasPrincipals) return principal
    const address: unknown = clientAddress(request)
    return typeof address === 'string' && address !== '' ? `address ${networkOf(address)}` : undefined
  }

  async function legacy(request: Request, body: unknown, principal: string | undefined): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) {
      if (isInitializeRequest(body)) return open(request, body, principal)
      return refuseRequest(400, -32_000, 'Bad Request: Mcp-Session-Id header is required')
    }
    const session = sessions.get(id)
    // A client cannot distinguish another client's session from one that never existed.
    if (session === undefined || session.principal !== principal)
      return refuseRequest(404, -32_001, 'Session not found')
    return handle(session, request, body)
  }

  async function answer(request: Request, principal: string | undefined): Promise<Response> {
    if (isClosed) return refuseRequest(503, -32_000, 'The server is closed')
    const isPost = request.method === 'POST'
    if (!isPost && request.method !== 'GET' && request.method !== 'DELETE') {
      return refuseRequest(405, -32_000, 'Method not allowed', { Allow: 'GET, POST, DELETE' })
    }
    const body = isPost ? await messageBody(request, messageLimit) : undefined
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
        response = refuseRequest(500, -32_603, 'Internal server error')
      }
      return page === undefined ? response : readableBy(page, response)
    },
    async close() {
      isClosed = true
      silence()
      settings.openQuestions.end()
      settings.onceCalls.end()
      await Promise.all([modern.close(), ...[...entries].map((session) => session.close())])
    },
  }
}

/** Ranks the sessions of one client for closing: those without a stream first, never one in which a call runs. */
function rank({ calls, streams }: LegacySession): number {
  return calls > 0 ? Infinity : Math.min(streams, 1)
}

/** Makes the warning about a policy that counts by session, since clients can begin any number of sessions. */
function boundless(policy: string): InvalidConfigurationError {
  return new InvalidConfigurationError(
    `\`${policy}\` counts by session, but over HTTP a client may begin a session with each request, which evades the limit. Set \`per: 'principal'\`.`,
  )
}

/** Returns a stream that calls `end` once, when it is read to its end, fails or is cancelled. */
function watchedStream(stream: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
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

/** Reads the message strictly: JSON that parsers could read in two ways is refused. */
async function messageBody(request: Request, limit: number): Promise<unknown> {
  if (!isJsonContentType(request.headers.get('content-type'))) {
    return refuseRequest(415, -32_000, 'Unsupported Media Type: Content-Type must be application/json')
  }
  // Firefox shows the `body` of responses alone.
  const isHidden = (request.body as unknown) === undefined
  const { body } = isHidden ? new Response(await request.arrayBuffer()) : request
  const reading = readRequestBody(isHidden ? ({ headers: request.headers, body } as Request) : request, limit)
  const requestText = await reading.catch((error: unknown) => {
    if (!request.signal.aborted) throw error // else the client has left, which no one can mend
  })
  if (requestText === undefined) return refuseRequest(400, -32_700, 'Parse error: the body ends too early')
  if (requestText.tooLarge) return refuseRequest(413, -32_000, `Payload Too Large: a message may have ${limit} bytes`)
  try {
    return parseJson(requestText.text, { limit, depth: deepestMessage })
  } catch {
    return refuseRequest(400, -32_700, 'Parse error: the body is not JSON that can be read in one way only')
  }
}
