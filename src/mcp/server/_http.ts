import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { parseJson } from '../../index.ts'
import { attend, serve } from './_connection.ts'
import { readableBy } from './_cross-origin.ts'
import { guard, refuse, type GuardOptions } from './_guard.ts'
import { Rounds } from './_rounds.ts'
import type { Peer, Settings } from './_settings.ts'

/** Who may send requests over HTTP, and how much is kept for them. */
export interface HttpOptions extends GuardOptions {
  /** How many clients of the older protocol may be connected at once. Default: 1,000. */
  readonly maximumSessions?: number
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
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly close: () => Promise<void>
  usedAt: number
  /** Answers that are still being sent, and streams that are open. */
  busy: number
}

const deepest = 512

/**
 * Serves both eras of the protocol: clients of the older one in sessions, each with a transport of its own; those of the newer
 * one request by request, with nothing kept between them.
 */
export function httpHandler(given: Settings, options: HttpOptions): HttpHandler {
  const { maximumSessions = 1_000, sessionTimeout = 3_600_000 } = options
  // Questions of its own, since whom they were put to has nowhere to answer once this handler is closed.
  const settings: Settings = { ...given, rounds: new Rounds(given.answerTimeout) }
  const { messageLimit, executor } = settings
  const admit = guard(options)
  const sessions = new Map<string, Session>()
  const modern = createMcpHandler(
    ({ authInfo }) => {
      const principal = authInfo?.clientId
      const isLone = principal === undefined || typeof options.token !== 'function'
      const session = isLone ? `mcp-${crypto.randomUUID()}` : `mcp-of-${principal}`
      return serve({ session, principal, era: 'modern', owner: `modern ${principal ?? ''}`, isLone }, settings)
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
  let opening = 0

  async function open(request: Request, body: unknown, principal: string | undefined): Promise<Response> {
    makeRoom()
    if (sessions.size + opening >= maximumSessions) {
      return refuse(503, -32_000, 'Too many sessions are open', { 'Retry-After': '60' })
    }
    const session = `mcp-${crypto.randomUUID()}`
    const peer: Peer = { session, principal, era: 'legacy', owner: session, isLone: false }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      maxRequestBodySize: messageLimit,
    })
    const served = attend(serve(peer, settings), peer, settings, () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
    })
    const entry = { principal, transport, close: () => served.close(), usedAt: performance.now(), busy: 0 }
    opening++
    try {
      await served.connect(transport)
      return await handle(entry, request, body)
    } finally {
      opening--
      if (transport.sessionId === undefined || isClosed) await served.close()
      else sessions.set(transport.sessionId, entry)
    }
  }

  function makeRoom(): void {
    const oldest = performance.now() - sessionTimeout
    for (const session of sessions.values()) {
      if (session.busy === 0 && session.usedAt < oldest) session.close().catch(settings.report)
    }
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
      await Promise.all([modern.close(), ...[...sessions.values()].map((session) => session.close())])
    },
  }
}

/** Hands a request to a session, which stays as long as the answer is on its way. */
async function handle(session: Session, request: Request, body: unknown): Promise<Response> {
  session.usedAt = performance.now()
  session.busy++
  const end = (): void => {
    session.usedAt = performance.now()
    session.busy--
  }
  let response: Response
  try {
    response = await session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body })
  } catch (error) {
    end()
    throw error
  }
  if (response.body === null) {
    end()
    return response
  }
  return new Response(watched(response.body, end), response)
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
