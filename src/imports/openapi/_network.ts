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

/** The private ranges of IPv4: the first address as a number, and how many bits all have in common. */
const privateRanges: readonly (readonly [first: number, bits: number])[] = (
  [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 3],
  ] as const
).map(([first, bits]) => [ipv4Number(first), bits])

function ipv4Number(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** Whether a host is no host of the public internet. It is as `URL` writes it, which knows all spellings of an address. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (host.startsWith('[')) return isPrivateIpv6(host.slice(1, -1))
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPrivateIpv4(ipv4Number(host))
  return !host.includes('.') || /\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/.test(host)
}

function isPrivateIpv4(address: number): boolean {
  return privateRanges.some(
    ([first, bits]) => Math.floor(address / 2 ** (32 - bits)) === Math.floor(first / 2 ** (32 - bits)),
  )
}

function isPrivateIpv6(address: string): boolean {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const groupsOf = (text: string): number[] => (text === '' ? [] : text.split(':').flatMap(groupNumbers))
  const [before, after] = [groupsOf(head), tail === undefined ? [] : groupsOf(tail)]
  const groups = [
    ...before,
    ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => 0),
    ...after,
  ]
  if (groups.length !== 8 || groups.some((group) => !(group >= 0 && group <= 0xffff))) return true
  const [first = 0, second = 0] = groups
  const embedded = (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0)
  // Mapped and compatible addresses, and those that a gateway translates, reach what they embed.
  if (groups.slice(0, 5).every((group) => group === 0)) return true
  if (first === 0x64 && second === 0xff9b) return isPrivateIpv4(embedded)
  if (first === 0x2002) return isPrivateIpv4(second * 65_536 + (groups[2] ?? 0))
  return (first & 0xe000) !== 0x2000 || (first === 0x2001 && second === 0xdb8)
}

function groupNumbers(group: string): number[] {
  if (!group.includes('.')) return [Number.parseInt(group, 16)]
  const address = ipv4Number(group)
  return [Math.floor(address / 65_536), address % 65_536]
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
  if (addresses.some((address) => isPrivateHost(address.includes(':') ? `[${address}]` : address)))
    throw privateFailure(url)
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
