import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { sha256 } from '#sha256'
import type { OptionCheck, OptionChecks } from '../../extension.ts'
import { isPreflight, preflight } from './_cross-origin.ts'

/** Who may send requests. */
export interface GuardOptions {
  /**
   * What a client has to send as `Authorization: Bearer …`: one token for all clients, or a function that returns the token's
   * principal as a non-empty string. Any other return value rejects the token. Default: no token.
   */
  readonly token?: string | ((token: string) => string | undefined | Promise<string | undefined>)
  /** The host names under which clients reach this server, without ports. Default: those of loopback. */
  readonly hosts?: readonly string[]
  /**
   * The host names of the sites whose pages may send requests, without ports. If set, responses carry CORS headers for these
   * sites. Default: the names of loopback, without CORS headers.
   */
  readonly origins?: readonly string[]
}

/** The principal of a request, or the response that refuses it; with the origin of the page that may read the response. */
export type Admission =
  | { readonly principal: string | undefined; readonly answer?: undefined; readonly page: string | undefined }
  | { readonly answer: Response; readonly page: string | undefined }

const guardedHosts: OptionCheck = {
  expected: 'a list of host names',
  accepts: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
}

/** What the options take. */
export const guardChecks: OptionChecks<GuardOptions> = {
  token: {
    expected: 'a function, or a string of printable ASCII characters without spaces,',
    accepts: (value) => typeof value === 'function' || isToken(value),
    isSecret: true,
  },
  hosts: guardedHosts,
  origins: guardedHosts,
}

/** Makes a function that checks host, origin and token of a request before its body is read. */
export function requestGuard(options: GuardOptions): (request: Request) => Promise<Admission> {
  const { token } = options
  const hosts = [...(options.hosts ?? localhostAllowedHostnames())]
  const origins = [...(options.origins ?? localhostAllowedHostnames())]
  const expected = typeof token === 'string' ? sha256(token) : undefined

  async function principalOf(bearer: string): Promise<string | undefined> {
    if (typeof token === 'function') return token(bearer)
    return expected !== undefined && areEqualDigests(sha256(bearer), expected) ? 'token' : undefined
  }

  return async (request) => {
    const refusal = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
    if (refusal !== undefined) return { answer: refusal, page: undefined }
    const page = options.origins === undefined ? undefined : (request.headers.get('origin') ?? undefined)
    // A preflight carries no token.
    if (page !== undefined && isPreflight(request)) return { answer: preflight(request), page }
    if (token === undefined) return { principal: undefined, page }
    const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    // A failed look-up may return null or false as well as undefined: only a non-empty string is a principal.
    const principal: unknown = bearer === undefined ? undefined : await principalOf(bearer)
    const isKnown = typeof principal === 'string' && principal !== ''
    return isKnown ? { principal, page } : { answer: unauthorized(bearer !== undefined), page }
  }
}

function isToken(token: unknown): boolean {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)
}

/** Compares two digests in constant time. */
function areEqualDigests(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let index = 0; index < other.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

function unauthorized(isWrong: boolean): Response {
  const challenge = isWrong ? 'Bearer error="invalid_token"' : 'Bearer'
  return refuseRequest(401, -32_000, 'Unauthorized: a valid bearer token is required', {
    'WWW-Authenticate': challenge,
  })
}

/** Makes the response to a request that is refused or cannot be read. */
export function refuseRequest(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
