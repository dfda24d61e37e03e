import { addressesOf } from '#resolve'
import { ToolFailure } from '../../index.ts'
import { beforeAbort } from '../_minting.ts'
import type { RequestBody } from './_bodies.ts'
import { quotedFromDocument } from './_document.ts'

/** Where the requests of an operation may go. */
export interface AllowedHosts {
  /** The address of the API. */
  readonly base: URL
  /** Whether the application's code names it. If not, it may not be private. */
  readonly isNamedInCode: boolean
  /** The further origins that the application's code names. */
  readonly origins: ReadonlySet<string>
}

/** Returns the origins that a host of the option `hosts` stands for. */
export function originsOf(host: string): string[] {
  const url = URL.parse(/^https?:\/\//.test(host) ? host : `https://${host}`)
  if (url === null) return []
  return isLoopback(url.hostname) ? [`https://${url.host}`, `http://${url.host}`] : [`https://${url.host}`]
}

/** Whether a credential may be sent to an address. */
export function isSafeForCredentials({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

const privateNames = /^[^.]*$|\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/
const privateIpv4 =
  /^(?:0|10|127|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.(?:168|0\.0)|198\.1[89]|22[4-9]|2[3-5]\d)\./
/** The public addresses, but for those of documents, and of tunnels that carry addresses of IPv4. */
const publicIpv6 = /^\[(?!2001:(?:0|db8)?:|2002:)[23][\da-f]{3}:/
/** What a gateway translates into an address of IPv4. */
const translatedIpv6 = /^\[64:ff9b::([\da-f]+):([\da-f]+)\]$/

/** Whether a host is no host of the public internet. It is as `URL` writes it, which knows all spellings of an address. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (!host.startsWith('[')) return privateNames.test(host) || (/^[\d.]+$/.test(host) && privateIpv4.test(host))
  const [, ...groups] = translatedIpv6.exec(host) ?? []
  if (groups.length === 0) return !publicIpv6.test(host)
  const bytes = groups.map((group) => Number.parseInt(group, 16)).flatMap((pair) => [pair >> 8, pair & 255])
  return privateIpv4.test(bytes.join('.'))
}

/** Refuses an address that leads into a private network, unless the application's code names it. */
export async function requirePublic(
  url: URL,
  { isNamedInCode, origins }: AllowedHosts,
  signal: AbortSignal,
  resolve: (hostname: string) => Promise<readonly string[]> = addressesOf,
): Promise<void> {
  if (isNamedInCode || origins.has(url.origin)) return
  if (isPrivateHost(url.hostname)) throw privateFailure(url)
  const addresses = await beforeAbort(resolve(url.hostname), signal)
  // An address with a zone is none of a URL, and never public.
  const isPrivate = (address: string): boolean => {
    return isPrivateHost(URL.parse(`http://${address.includes(':') ? `[${address}]` : address}`)?.hostname ?? '')
  }
  if (addresses.some(isPrivate)) throw privateFailure(url)
}

function privateFailure({ hostname }: URL): ToolFailure {
  const words = `The host ${quotedFromDocument(hostname)} is in a private network, and the application does not name it. The request was not sent.`
  return new ToolFailure(words, { effect: 'none' })
}

/** A request, as it is sent once. */
export interface SentRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: RequestBody | undefined
  readonly isStreamed: boolean
  readonly signal: AbortSignal
}

/** Sends a request once, and follows no redirect. */
export async function sendOnceOnly(
  send: typeof fetch,
  { url, method, headers, body, isStreamed, signal }: SentRequest,
): Promise<Response> {
  const init: RequestInit & { duplex?: 'half' } = { method, headers, signal, redirect: 'manual' }
  if (body !== undefined) init.body = body
  if (isStreamed) init.duplex = 'half'
  return beforeAbort(send(url, init), signal)
}

/** Reads a body piece by piece. It ends at the abort, even if the stream ignores it. */
export async function* piecesOfBody(
  { body }: Response,
  signal: AbortSignal,
  most: number,
  tooLarge: (bytes: number) => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return
  const reader = body.getReader()
  let size = 0
  let isWhole = false
  try {
    for (;;) {
      const { done, value } = await beforeAbort(reader.read(), signal)
      if (done) break
      if ((size += value.byteLength) > most) {
        yield value.subarray(0, most - (size - value.byteLength)) // a failure and a stream of events show their beginning
        throw tooLarge(most)
      }
      yield value
    }
    isWhole = true
  } finally {
    if (!isWhole) reader.cancel().catch(() => {})
  }
}

/** Drops the body of an answer that is not read. */
export function dropBody({ body }: Response): void {
  body?.cancel().catch(() => {})
}
