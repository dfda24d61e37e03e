import { ToolFailure, type ToolContext } from '../../index.ts'
import { beforeAbort, credentialRequest } from '../_minted.ts'
import { answerComparison } from './_answer-schemas.ts'
import { resultOfAnswer, type AnswerPlan, type OpenBody } from './_answers.ts'
import { acceptOf, shownHeaders } from './_declared.ts'
import type { DocumentNode } from './_document.ts'
import { connectionFailure, type KnownEffect } from './_failures.ts'
import { CredentialMask } from './_mask.ts'
import type { AllowedHosts } from './_hosts.ts'
import { dropBody, requirePublic } from './_network.ts'
import type { FoundOperation } from './_operations.ts'
import { headerValue } from './_parameters.ts'
import { locationOf, redirectedLeg, type RequestLeg } from './_redirects.ts'
import type { RequestPlan } from './_request-plan.ts'
import { operationRequest, type OperationRequest } from './_requests.ts'
import type { PlannedScheme } from './_security.ts'
import { putCredentials } from './_sent-credentials.ts'
import type { ApiSource } from './_source.ts'

export { strictAnswerSchema } from './_answer-schemas.ts'
export { consentPolicy } from './_consent.ts'

/** An operation that can be called. */
export interface CallableOperation {
  readonly found: FoundOperation
  readonly source: ApiSource
  readonly request: RequestPlan
  readonly schemes: readonly PlannedScheme[]
  readonly hosts: AllowedHosts
  /** The header `Accept`. Missing if the document says it. */
  readonly accept: string | undefined
  /** Whether the application allows to repeat it: by its method, or by a key. */
  readonly isRepeatable: boolean
}

interface CalledOperation extends CallableOperation {
  readonly accept: string
  readonly origin: string
  /** The address of the API without a slash at its end. */
  readonly address: string
  /** The headers of each request, as `Headers` take them. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly answers: AnswerPlan
}

/** Returns what calls an operation. */
export function operationCall(
  callable: CallableOperation,
): (input: DocumentNode, context: ToolContext) => Promise<unknown> {
  const { found, source, request, isRepeatable } = callable
  const { document, settings } = source
  const accept = callable.accept ?? acceptOf(document.root, found.node)
  const headers = settings.headers.map(([name, value]) => [name, headerValue(value)] as const)
  const { origin, pathname } = callable.hosts.base
  const called: CalledOperation = {
    ...callable,
    accept,
    origin,
    address: origin + pathname.replace(/\/$/, ''),
    headers: [...headers, ['accept', accept]],
    answers: {
      found,
      source,
      operation: { method: request.method, isRepeatable, hasKey: request.idempotencyHeader !== undefined },
      shownHeaders: shownHeaders(document.root, found.node),
      compare: settings.responses === 'report' ? answerComparison(found, source) : undefined,
    },
  }
  return (input, context) => {
    const open: OpenBody = { reader: undefined }
    return beforeAbort(callOperation(called, input, context, open), context.signal, () => open.reader?.drop())
  }
}

/** Calls an operation: credentials are made now, once for each request. */
async function callOperation(
  callable: CalledOperation,
  input: DocumentNode,
  context: ToolContext,
  open: OpenBody,
): Promise<unknown> {
  const mask = new CredentialMask()
  const { signal } = context
  const parts = await operationRequest(callable.request, input, context)
  const { headers, body } = parts
  for (const [name, value] of callable.headers) headers.set(name, value)
  if (body !== undefined) headers.set('content-type', body.contentType)
  for (let isRejected = false; ; isRejected = true) {
    const { response, leg } = await exchange(callable, parts, context, mask, isRejected)
    const { effect, isTrusted } = leg
    // A credential that was revoked meanwhile is made anew, once. A host that got none says nothing about it.
    if (response.status === 401 && callable.schemes.length > 0 && isTrusted && effect === undefined) {
      if (!isRejected) {
        dropBody(response)
        continue
      }
      tellRevoked(callable, context)
    }
    return await resultOfAnswer({ response, plan: callable.answers, mask, signal, open, effect })
  }
}

/** Sends a request with its credentials, and follows redirects. Returns the last answer, and the request that it answers. */
async function exchange(
  callable: CalledOperation,
  parts: OperationRequest,
  context: ToolContext,
  mask: CredentialMask,
  rejected: boolean,
): Promise<{ readonly response: Response; readonly leg: RequestLeg }> {
  const { hosts, request } = callable
  const { headers, body } = parts
  const secrets = { headers, query: [] as string[], cookies: [...parts.cookies] }
  if (callable.schemes.length > 0) await putCredentials(callable.schemes, context, rejected, mask, secrets)
  if (secrets.cookies.length > 0) headers.set('cookie', secrets.cookies.join('; '))
  const url = urlOf(callable, parts.path, [...parts.query, ...secrets.query])
  let leg: RequestLeg = { url, method: request.method, body, redirects: 0, effect: undefined, isTrusted: true }
  for (;;) {
    if (!hosts.isNamedInCode) await requirePublic(leg.url, hosts.origins)
    const response = await sendLeg(callable, leg, headers, context.signal)
    const location = locationOf(response, leg)
    if (location === null) return { response, leg }
    dropBody(response)
    leg = redirectedLeg(leg, response.status, location, callable, mask)
    if (leg.effect === 'completed') headers.delete('content-type') // what comes next has no body
    if (leg.isTrusted) for (const pair of secrets.query) appendOnce(leg.url, pair)
  }
}

/** Sends a request once, and follows no redirect. A host that is not trusted gets no headers but `Accept`. */
async function sendLeg(
  callable: CalledOperation,
  { url, method, body, effect, isTrusted }: RequestLeg,
  headers: Headers,
  signal: AbortSignal,
): Promise<Response> {
  const opened = body === undefined ? undefined : await body.open()
  signal.throwIfAborted()
  const sent: Sent = {
    method,
    headers: isTrusted ? headers : new Headers({ accept: callable.accept }),
    signal,
    redirect: 'manual',
  }
  if (opened !== undefined) sent.body = opened
  if (body?.isStreamed === true) sent.duplex = 'half'
  return sendOnceOnly(callable, url, sent, effect)
}

/** A request, but for its address. */
interface Sent extends RequestInit {
  readonly signal: AbortSignal
  duplex?: 'half'
}

/** Sends a request. A connection that breaks, or a caller who gives up, ends the call. */
async function sendOnceOnly(
  { source: { settings }, answers }: CalledOperation,
  url: URL,
  sent: Sent,
  effect: KnownEffect,
): Promise<Response> {
  const { signal } = sent
  let response: Response
  try {
    response = await (settings.fetch ?? globalThis.fetch)(url, sent)
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    const failure = connectionFailure(thrown, answers.operation)
    if (effect === undefined) throw failure
    throw new ToolFailure(failure.message, { category: 'network', retryable: failure.retryable, effect })
  }
  if (signal.aborted) {
    dropBody(response)
    throw signal.reason
  }
  return response
}

function appendOnce(target: URL, pair: string): void {
  const [name = ''] = pair.split('=', 1)
  if (!target.searchParams.has(decodeURIComponent(name))) target.search += `${target.search === '' ? '?' : '&'}${pair}`
}

/** Returns the address of a request, which never leaves the origin of the base. */
function urlOf({ address, origin }: CalledOperation, path: string, query: readonly string[]): URL {
  const joint = query.length === 0 ? '' : path.includes('?') ? '&' : '?'
  const url = URL.parse(`${address}${path}${joint}${query.join('&')}`)
  if (url === null || url.origin !== origin) {
    throw new ToolFailure('The request would leave the host of the API. It was not sent.', {
      effect: 'none',
      category: 'validation',
    })
  }
  return url
}

function tellRevoked({ schemes }: CallableOperation, context: ToolContext): void {
  for (const scheme of schemes) {
    try {
      const answer: unknown = scheme.options.revoked?.(credentialRequest(scheme, context, true))
      if (answer instanceof Promise) answer.catch(() => {})
    } catch {
      // the failure of the call says more
    }
  }
}
