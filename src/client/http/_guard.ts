import { sha256 } from '#sha256'
import { InvalidConfigurationError } from '../../errors.ts'
import { optionsError } from '../../extension.ts'
import type { HttpClientsOptions, PageUser } from '../http.ts'
import type { Right } from '../protocol.ts'
import { faultAnswer } from './_reply.ts'

const ownNames = ['localhost', '127.0.0.1', '[::1]']
const allRights: readonly Right[] = ['watch', 'decide', 'answer', 'cancel', 'artifacts']

/** A user whose rights are known. */
export interface AdmittedRequest extends PageUser {
  readonly may: readonly Right[]
}

/** The user of a request, or the answer that refuses it. `sign` lets the page read the answer, if its site may. */
export type UserAdmission = { readonly sign: (answer: Response) => Response } & (
  { readonly user: AdmittedRequest; readonly answer?: undefined } | { readonly answer: Response }
)

/**
 * Makes a function that checks host, origin and user of a request before its body is read.
 *
 * @throws `E_INVALID_CONFIGURATION` if there is no way to know a user.
 */
export function pageGuard(options: HttpClientsOptions): (request: Request) => Promise<UserAdmission> {
  const { authorize, token } = options
  if (authorize === undefined && token === undefined) {
    throw optionsError(
      'httpClients',
      'lets in only users that it knows: give it `authorize`, or a `token` that all of them share',
    )
  }
  const expected = token === undefined ? undefined : sha256(token)
  const hosts = new Set((options.hosts ?? ownNames).map((name) => name.toLowerCase()))
  const origins = new Set((options.origins ?? ownNames).map((name) => name.toLowerCase()))

  async function userOf(request: Request): Promise<PageUser | undefined> {
    const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    // The digests are compared, so that the time tells nothing of the token.
    if (expected !== undefined && bearer !== undefined && sha256(bearer) === expected) return { session: '*' }
    return authorize?.(request)
  }

  return async (request) => {
    const { headers } = request
    const origin = headers.get('origin')
    const isCors = options.origins !== undefined
    const refused = (...parts: Parameters<typeof faultAnswer>): UserAdmission => ({
      answer: faultAnswer(...parts),
      sign: unsignedAnswer,
    })
    if (!hosts.has(hostName(headers.get('host') ?? new URL(request.url).host) ?? '')) {
      return refused(403, 'E_HOST', 'This server does not go by the name of the request.')
    }
    if (origin !== null ? !origins.has(siteOf(origin) ?? '') : headers.get('sec-fetch-site') === 'cross-site') {
      return refused(403, 'E_ORIGIN', 'Pages of this site may not send requests here.')
    }
    const sign = isCors ? (answer: Response) => withOrigin(origin, answer) : unsignedAnswer
    // A preflight carries no token.
    if (isCors && origin !== null && request.method === 'OPTIONS') return { answer: preflightAnswer(), sign }
    const user = await userOf(request)
    if (user === undefined || user === null || (user as unknown) === false) {
      return {
        answer: faultAnswer(401, 'E_UNAUTHORIZED', 'Say who you are.', { 'www-authenticate': 'Bearer' }),
        sign,
      }
    }
    if (typeof user.session !== 'string' || user.session === '') {
      throw new InvalidConfigurationError('`authorize` has to return { session }, a text that is not empty.')
    }
    return { user: { ...user, may: user.may ?? allRights }, sign }
  }
}

/** The name in a `Host` header, without its port. */
function hostName(host: string): string | undefined {
  return /^(\[[\da-f:.]+\]|[^:/@\s]+)(?::\d+)?$/i.exec(host)?.[1]?.toLowerCase()
}

function siteOf(origin: string): string | undefined {
  const host = /^https?:\/\/([^/?#]+)$/i.exec(origin)?.[1]
  return host === undefined ? undefined : hostName(host)
}

function unsignedAnswer(answer: Response): Response {
  return answer
}

function preflightAnswer(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, PUT',
      'access-control-allow-headers': 'authorization, content-type, last-event-id, prefer, range',
      'access-control-max-age': '7200',
    },
  })
}

/** Lets pages of an origin read an answer. What depends on the origin says so to caches. */
function withOrigin(origin: string | null, answer: Response): Response {
  const headers = new Headers(answer.headers)
  headers.append('vary', 'Origin')
  if (origin !== null) {
    headers.set('access-control-allow-origin', origin)
    headers.set('access-control-expose-headers', 'content-range, retry-after, www-authenticate, x-media-type')
  }
  return new Response(answer.body, { status: answer.status, headers })
}
