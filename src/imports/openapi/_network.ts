import { addressesOf } from '#resolve'
import { ToolFailure } from '../../index.ts'
import { beforeAbort } from '../_minted.ts'
import type { RequestBody } from './_sent-bodies.ts'
import { quotedFromDocument } from './_document.ts'
import { isPrivateHost, type AllowedHosts } from './_hosts.ts'

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

/** Reads a body piece by piece. It ends at the abort, even if the stream ignores it, and throws `tooLong` after `most` bytes. */
export async function* piecesOfBody(
  { body }: Response,
  signal: AbortSignal,
  most: number,
  tooLong: Error,
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
        throw tooLong
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
