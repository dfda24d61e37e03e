import { ToolFailure } from '../../index.ts'
import { quotedFromDocument } from './_document.ts'
import { effectDetail, type KnownEffect } from './_failures.ts'
import type { AllowedHosts } from './_hosts.ts'
import type { CredentialMask } from './_mask.ts'
import { isSafe } from './_operations.ts'
import type { SentBody } from './_sent-bodies.ts'
import type { ApiSource } from './_source.ts'

/** A request on its way: the first, or what a redirect has made of it. */
export interface RequestLeg {
  readonly url: URL
  readonly method: string
  readonly body: SentBody | undefined
  /** How many redirects have led here. */
  readonly redirects: number
  /** What a redirect has said of the effect. */
  readonly effect: KnownEffect
  /** Whether it goes to a host that gets the credentials. */
  readonly isTrusted: boolean
}

/** What of an operation says where redirects may lead. */
export interface RedirectRules {
  /** The origin that gets the credentials. */
  readonly origin: string
  readonly hosts: AllowedHosts
  readonly source: ApiSource
}

/** Returns where an answer redirects to, or `null`. @throws `ToolFailure` if a page is not told. */
export function locationOf({ type, status, headers }: Response, leg: RequestLeg): string | null {
  if (type === 'opaqueredirect') throw redirectFailure('The API redirects, and a page is not told where.', leg)
  return status >= 300 && status < 400 && status !== 304 ? headers.get('location') : null
}

/** Returns the request that a redirect asks for. @throws `ToolFailure` if it is not sent; `mask` hides credentials in its words. */
export function redirectedLeg(
  leg: RequestLeg,
  status: number,
  location: string,
  { origin, hosts, source }: RedirectRules,
  mask: CredentialMask,
): RequestLeg {
  const most = source.settings.limits.redirects
  const next = withRedirectedMethod(leg, status)
  const url = URL.parse(location, leg.url.href)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw redirectFailure('The API redirects to no address of the web.', next)
  if (leg.redirects >= most) throw redirectFailure(`The API redirects more than ${most} times.`, next)
  const isTrusted = leg.isTrusted && url.origin === origin
  const mayFollow = isTrusted || (isSafe(next.method) && (url.origin === origin || hosts.origins.has(url.origin)))
  if (!mayFollow) {
    const host = quotedFromDocument(mask.text(url.host))
    throw redirectFailure(`The API redirects to ${host}, which the application does not name in \`hosts\`.`, next)
  }
  url.username = ''
  url.password = ''
  return { ...next, url, isTrusted, redirects: leg.redirects + 1 }
}

/** After a 303 the result is fetched: the request has done its work. Only a 307 or 308 may repeat a method that writes. */
function withRedirectedMethod(leg: RequestLeg, status: number): RequestLeg {
  const { method } = leg
  if (isSafe(method) || status === 307 || status === 308) return leg
  if (status === 303) return { ...leg, method: 'GET', body: undefined, effect: 'completed' }
  throw redirectFailure(`The API answered ${status} to ${method}, which is not sent again elsewhere.`, leg)
}

function redirectFailure(words: string, { method, effect }: RequestLeg): ToolFailure {
  return new ToolFailure(words, {
    category: 'application',
    ...effectDetail(effect ?? (isSafe(method) ? 'none' : undefined)),
  })
}
