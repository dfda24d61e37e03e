import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { sha256 } from '#sha256'
import { InvalidConfigurationError } from '../../index.ts'
import { isPreflight, preflight } from './_cross-origin.ts'

/** Who may send requests. */
export interface GuardOptions {
  /**
   * What a client has to send as `Authorization: Bearer …`: one token for everybody, or a function that says whose token it
   * is, as a text that is not empty, and nothing where it is nobody's. Default: no token.
   */
  readonly token?: string | ((token: string) => string | undefined | Promise<string | undefined>)
  /** The names under which this server is reached, without ports. Default: those of this machine alone. */
  readonly hosts?: readonly string[]
  /**
   * The names of the web sites whose pages may send requests, without ports. Browsers are told so (CORS) where they are named
   * here. Default: those of this machine alone, as far as browsers let their pages by themselves.
   */
  readonly origins?: readonly string[]
}

/** Whose a request is, and the origin of the page that may read the answer; or the answer of one that is not let in. */
export type Admission =
  | { readonly principal: string | undefined; readonly answer?: undefined; readonly page: string | undefined }
  | { readonly answer: Response; readonly page: string | undefined }

/**
 * Looks at where a request comes from before anything else of it is read.
 *
 * @throws `E_INVALID_CONFIGURATION` where the token is none that a header can carry.
 */
export function guard(options: GuardOptions): (request: Request) => Promise<Admission> {
  const { token } = options
  const hosts = [...(options.hosts ?? localhostAllowedHostnames())]
  const origins = [...(options.origins ?? localhostAllowedHostnames())]
  if (token !== undefined && typeof token !== 'function' && !isToken(token)) {
    throw new InvalidConfigurationError('`token` has to be a function, or a text of visible signs without spaces.')
  }
  const expected = typeof token === 'string' ? sha256(token) : undefined

  async function principalOf(given: string): Promise<string | undefined> {
    if (typeof token === 'function') return token(given)
    return expected !== undefined && isSame(sha256(given), expected) ? 'token' : undefined
  }

  return async (request) => {
    const refusal = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
    if (refusal !== undefined) return { answer: refusal, page: undefined }
    const page = options.origins === undefined ? undefined : (request.headers.get('origin') ?? undefined)
    // Browsers ask without the token.
    if (page !== undefined && isPreflight(request)) return { answer: preflight(request), page }
    if (token === undefined) return { principal: undefined, page }
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    // A look-up that finds nobody gives null, or false, as often as undefined: only a name is somebody.
    const principal: unknown = given === undefined ? undefined : await principalOf(given)
    const isSomebody = typeof principal === 'string' && principal !== ''
    return isSomebody ? { principal, page } : { answer: unauthorized(given !== undefined), page }
  }
}

function isToken(token: unknown): boolean {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)
}

/** Compares two digests in a time that tells nothing of where they differ. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let index = 0; index < other.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

function unauthorized(isWrong: boolean): Response {
  const challenge = isWrong ? 'Bearer error="invalid_token"' : 'Bearer'
  return refuse(401, -32_000, 'Unauthorized: a valid bearer token is required', { 'WWW-Authenticate': challenge })
}

/** An answer to a request that is not let in, or cannot be read. */
export function refuse(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
