import type { DecideOptions, ToolExecutor } from '../../index.ts'
import type { ClientToolDescription } from '../../extension.ts'
import type { PageTools } from '../page-tools.ts'
import { protocolVersion, versionMismatch, type Hello, type LeaseAnswer, type Right } from '../protocol.ts'
import { type PageAnswers, hasArgs, isValueOf } from './_answers.ts'
import { artifactReply } from './_artifact.ts'
import type { PageCalls } from './_calls.ts'
import { frameText, type AudienceChannels } from './_channels.ts'
import type { AdmittedRequest } from './_guard.ts'
import { jsonBody, commonHeaders, faultAnswer, noSuchThing, RefusedRequest, reply, textField } from './_reply.ts'

/** What the routes answer with. */
export interface HttpApi {
  readonly executor: ToolExecutor
  readonly pageTools: PageTools | undefined
  readonly calls: PageCalls
  readonly channels: AudienceChannels
  readonly answers: PageAnswers
  readonly limits: { readonly body: number }
  readonly heartbeat: number
}

interface RouteRequest {
  readonly request: Request
  readonly url: URL
  readonly user: AdmittedRequest
  readonly api: HttpApi
  /** The part of the path that is an id. */
  readonly id: string
}

const methods = ['GET', 'POST', 'PUT'] as const
type Route = readonly [
  path: RegExp,
  routes: { readonly [Method in (typeof methods)[number]]?: (routeRequest: RouteRequest) => Promise<Response> },
]

const routes: readonly Route[] = [
  [/^\/events$/, { GET: eventsRoute }],
  [/^\/calls$/, { GET: callsRoute }],
  [/^\/calls\/([^/]+)$/, { GET: callRoute }],
  [/^\/calls\/([^/]+)\/decision$/, { POST: decision }],
  [/^\/calls\/([^/]+)\/lease$/, { POST: lease }],
  [/^\/calls\/([^/]+)\/cancellation$/, { POST: cancellation }],
  [/^\/tool-results$/, { POST: resultRoute }],
  [/^\/tools\/([^/]+)$/, { PUT: toolsRoute }],
  [/^\/artifacts\/([^/]+)$/, { GET: artifactRoute }],
]

/** The longest an answer is held back, in seconds. */
const longestWait = 60

/** Answers the request of a user. @throws A `RefusedRequest`, or a `ToolError`. */
export async function route(request: Request, base: string, user: AdmittedRequest, api: HttpApi): Promise<Response> {
  const url = new URL(request.url)
  const { pathname } = url
  const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : ''
  // The bytes of an artifact are those of every version, and a link to them says none.
  if (!path.startsWith('/artifacts/')) requireProtocol(request, url)
  for (const [pattern, handlers] of routes) {
    const found = pattern.exec(path)
    if (found === null) continue
    const method = methods.find((name) => name === request.method)
    const handle = method && handlers[method]
    if (handle === undefined) {
      return faultAnswer(405, 'E_METHOD', 'This method is not for this address.', {
        allow: Object.keys(handlers).join(', '),
      })
    }
    return handle({ request, url, user, api, id: pathId(found[1] ?? '') })
  }
  throw noSuchThing()
}

/** The version that pages speak which say none. */
const firstVersion = 1

/**
 * Refuses a page of another version. What says no version is a page of the first one, if a browser sent it for a page. Other programs,
 * such as curl, need not say it.
 */
function requireProtocol({ headers }: Request, url: URL): void {
  const text = url.searchParams.get('protocol')
  const site = headers.get('sec-fetch-site') ?? 'none'
  if (text === null && headers.get('origin') === null && site === 'none') return
  const version = Number(text ?? firstVersion)
  if (version === protocolVersion) return
  const words = Number.isSafeInteger(version) && version > 0 ? versionMismatch(version, protocolVersion) : undefined
  // A page of the first version tries again and again, unless it is forbidden.
  throw new RefusedRequest(
    403,
    'E_PROTOCOL',
    words ?? `\`protocol\` has to be the version that the page speaks, as in ?protocol=${protocolVersion}.`,
  )
}

/** Returns an id of a path. An id that no store could have is one that is not found. */
function pathId(part: string): string {
  try {
    const id = decodeURIComponent(part)
    // oxlint-disable-next-line eslint/no-control-regex -- databases refuse some of them
    if (id.length <= 1_024 && !/[\u0000-\u001f\u007f]/.test(id)) return id
  } catch {
    // it is not well-formed
  }
  throw noSuchThing()
}

function require(user: AdmittedRequest, right: Right): void {
  if (!user.may.includes(right))
    throw new RefusedRequest(403, 'E_FORBIDDEN', `You may not do this: it needs "${right}".`)
}

function helloOf({ user, api: { executor, heartbeat } }: RouteRequest): Hello {
  const { session, may } = user
  const listed = executor.tools('user', session === '*' ? undefined : session).slice(0, 1_000)
  const listing = listed.map(({ name, title, type }) => ({ name, ...(title !== undefined && { title }), type }))
  return { protocol: protocolVersion, now: Date.now(), heartbeat, session, may, tools: listing }
}

function requirePlace(channels: AudienceChannels, principal: string): void {
  const full = channels.isFull(principal)
  if (full === undefined) return
  const words = full === 'all' ? 'The server has no more streams.' : 'You have too many open streams.'
  throw new RefusedRequest(full === 'all' ? 503 : 429, 'E_LIMIT', words, { 'retry-after': '5' })
}

async function eventsRoute(routeRequest: RouteRequest): Promise<Response> {
  const { request, url, user, api } = routeRequest
  require(user, 'watch')
  const { session, name } = user
  const { channels } = api
  const principal = name === undefined ? `session ${session}` : `name ${name}`
  requirePlace(channels, principal)
  const channel = channels.of(session)
  const listing = async (): Promise<string> => frameText('calls', await api.calls.list(session))
  const after = channel.after(request.headers.get('last-event-id') ?? url.searchParams.get('after'))
  const { at, count } = channel
  const greeting = `retry: 1000\n\n${frameText('hello', helloOf(routeRequest))}`
  const first = after === undefined ? `id: ${at}\n${await listing()}` : ''
  requirePlace(channels, principal) // others have come while this one waited for its list
  const stream = channels.open(session, principal, greeting, { next: after ?? count + 1, first }, listing)
  request.signal.addEventListener('abort', () => stream.close(), { once: true })
  if (request.signal.aborted) stream.close()
  const headers = { ...commonHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
  return new Response(stream.body, { headers: { ...headers, 'cache-control': 'no-store, no-transform' } })
}

async function callsRoute(routeRequest: RouteRequest): Promise<Response> {
  const { url, user, api } = routeRequest
  require(user, 'watch')
  const { at } = api.channels.of(user.session)
  const limit = Number(url.searchParams.get('limit') ?? 200)
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) {
    throw new RefusedRequest(400, 'E_BODY', '`limit` has to be a whole number from 1 to 200.')
  }
  const page = await api.calls.list(user.session, url.searchParams.get('before') ?? undefined, limit)
  return reply({ ...page, hello: helloOf(routeRequest), at })
}

async function callRoute({ id, user, api }: RouteRequest): Promise<Response> {
  require(user, 'watch')
  const latest = await api.calls.look(id, user.session)
  if (latest === undefined) throw noSuchThing()
  const { view, snapshot } = latest
  return reply({ ...view, ...(snapshot && { auditTrail: snapshot.auditTrail }) })
}

async function decision({ request, id, user, api }: RouteRequest): Promise<Response> {
  require(user, 'decide')
  const body = await jsonBody(request, api.limits.body)
  const { decision: decided, always, editedArgs } = body
  if (decided !== 'allow' && decided !== 'deny') {
    throw new RefusedRequest(400, 'E_BODY', '`decision` has to be "allow" or "deny".')
  }
  if (always !== undefined && typeof always !== 'boolean')
    throw new RefusedRequest(400, 'E_BODY', '`always` has to be a boolean.')
  const note = textField(body, 'note')
  const holder = textField(body, 'holder', 1_024)
  const { session, name, values } = user
  const options: DecideOptions = {
    ...(note !== undefined && { note }),
    ...(always !== undefined && { always }),
    ...(editedArgs !== undefined && { editedArgs }),
    ...(holder !== undefined && { holder }),
    ...(name !== undefined && { decidedBy: name }),
    ...(values !== undefined && { values }),
  }
  const userAnswer = {
    session,
    invocationId: id,
    reason: 'approval' as const,
    text: JSON.stringify([decided, note, always ?? false, editedArgs]),
    give: (waiting: Parameters<ToolExecutor['calls']['lease']>[0]) =>
      api.executor.calls.decide(waiting, decided, options),
    isThatOf: (view: Parameters<typeof hasArgs>[0]) =>
      view.approval?.decision === decided && view.approval.note === note && hasArgs(view, editedArgs),
  }
  return awaitedAnswer(request, userAnswer, api)
}

async function resultRoute({ request, user, api }: RouteRequest): Promise<Response> {
  require(user, 'answer')
  const body = await jsonBody(request, api.limits.body)
  const invocationId = pathId(encodeURIComponent(textField(body, 'invocationId', 1_024) ?? ''))
  const holder = textField(body, 'holder', 1_024)
  const error = textField(body, 'error')
  if (error === undefined && body['value'] === undefined) {
    throw new RefusedRequest(400, 'E_BODY', 'The body has to have a `value`, or an `error` in words.')
  }
  const { recommendations } = body
  const value =
    error === undefined
      ? body['value']
      : { ok: false, error, ...(recommendations !== undefined && { recommendations }) }
  const { session, values } = user
  const options = { ...(holder !== undefined && { holder }), ...(values !== undefined && { values }) }
  const userAnswer = {
    session,
    invocationId,
    reason: 'client' as const,
    text: JSON.stringify([value]),
    give: (waiting: Parameters<ToolExecutor['calls']['lease']>[0]) =>
      api.executor.calls.respond(waiting, value, options),
    isThatOf: (view: Parameters<typeof isValueOf>[0]) =>
      error === undefined ? isValueOf(view, value) : view.status === 'error' && view.error?.message === error,
  }
  return awaitedAnswer(request, userAnswer, api)
}

async function awaitedAnswer(
  request: Request,
  userAnswer: Parameters<PageAnswers['give']>[0],
  api: HttpApi,
): Promise<Response> {
  const seconds = Number(/(?:^|,)\s*wait=(\d{1,6})\s*(?:$|[,;])/i.exec(request.headers.get('prefer') ?? '')?.[1] ?? 0)
  const answer = await api.answers.give(userAnswer, Math.min(seconds, longestWait) * 1_000)
  return reply(answer, answer.result === undefined ? 202 : 200)
}

async function lease({ request, id, user, api }: RouteRequest): Promise<Response> {
  const { executor, calls: callBook, limits } = api
  const body = await jsonBody(request, limits.body)
  const holder = textField(body, 'holder', 1_024) ?? ''
  const { milliseconds = 30_000 } = body
  const isReturned = milliseconds === 0
  if (typeof milliseconds !== 'number' || (milliseconds < 1_000 && !isReturned) || milliseconds > 120_000) {
    throw new RefusedRequest(
      400,
      'E_BODY',
      '`milliseconds` has to be a number from 1,000 to 120,000, or 0 to give it back.',
    )
  }
  if (holder === '') throw new RefusedRequest(400, 'E_BODY', '`holder` has to be text that is not empty.')
  const { session } = user
  const [waiting] = await executor.calls.waiting({ invocationId: id, ...(session !== '*' && { session }) })
  if (waiting === undefined) {
    if ((await callBook.look(id, session)) === undefined) throw noSuchThing()
    throw new RefusedRequest(409, 'E_APPROVAL_INVALID', 'The call waits for no answer.')
  }
  require(user, waiting.reason === 'client' ? 'answer' : 'decide')
  const leased = await executor.calls.lease(waiting, holder, milliseconds || 1)
  callBook.refresh(id, waiting.session)
  if (isReturned && leased !== undefined) return reply({})
  if (leased?.call.lease === undefined) throw new RefusedRequest(409, 'E_LEASED', 'Another client holds the call.')
  const answer: LeaseAnswer = { args: leased.args, lease: leased.call.lease, expiresAt: leased.call.expiresAt }
  return reply(answer)
}

async function cancellation({ request, id, user, api }: RouteRequest): Promise<Response> {
  require(user, 'cancel')
  const body = await jsonBody(request, api.limits.body)
  const reason = textField(body, 'reason')
  const latest = await api.calls.look(id, user.session)
  if (latest === undefined) throw noSuchThing()
  if (latest.view.status === 'cancelled') return reply({ state: 'cancelled' })
  const state = await api.executor.calls.cancel(id, reason)
  if (state === 'not found') throw new RefusedRequest(409, 'E_APPROVAL_INVALID', 'The call is over.')
  return reply({ state })
}

async function toolsRoute({ request, id, user, api }: RouteRequest): Promise<Response> {
  require(user, 'answer')
  const { pageTools, executor, limits } = api
  if (pageTools === undefined) throw new RefusedRequest(403, 'E_FORBIDDEN', 'Pages may declare no tools here.')
  const { tools: declared } = await jsonBody(request, limits.body)
  if (!Array.isArray(declared)) throw new RefusedRequest(400, 'E_BODY', '`tools` has to be a list.')
  const session = user.session === '*' ? executor.session : user.session
  pageTools.declare(session, id, declared as ClientToolDescription[])
  return reply({ tools: declared.length })
}

async function artifactRoute({ request, url, id, user, api }: RouteRequest): Promise<Response> {
  require(user, 'artifacts')
  const { session } = user
  // Only who sees all sessions says which one it means.
  const own = session === '*' ? (url.searchParams.get('session') ?? api.executor.session) : session
  return artifactReply(await api.executor.artifacts.open(id, own), request.headers.get('range'))
}
