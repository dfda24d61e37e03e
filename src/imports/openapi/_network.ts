import { addressesOf } from '#resolve'
import { ToolFailure } from '../../index.ts'
import { quotedFromDocument } from './_document.ts'
import { isPrivateHost } from './_hosts.ts'

/** Refuses an address that leads into a private network, unless it is one of the origins that the application's code names. */
export async function requirePublic(
  url: URL,
  origins: ReadonlySet<string>,
  resolve: (hostname: string) => Promise<readonly string[]> = addressesOf,
): Promise<void> {
  if (origins.has(url.origin)) return
  if (isPrivateHost(url.hostname)) throw privateFailure(url)
  const addresses = await resolve(url.hostname)
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

/** What a reader of a stream returns. */
interface ReadResult {
  readonly value?: Uint8Array | undefined
}

/** Reads a body until a limit. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #most: number
  readonly #tooLong: Error
  #size = 0

  /** @param tooLong What is thrown after `most` bytes. */
  constructor(body: ReadableStream<Uint8Array>, most: number, tooLong: Error) {
    this.#reader = body.getReader()
    this.#most = most
    this.#tooLong = tooLong
  }

  /** Reads on. @throws if the limit was passed. */
  read(): Promise<ReadResult> {
    if (this.#size > this.#most) throw this.#tooLong
    return this.#reader.read()
  }

  /** Returns what was read, or nothing at the end. A failure and a stream of events show their beginning, until the limit. */
  piece({ value }: ReadResult): Uint8Array | undefined {
    if (value === undefined) return undefined
    this.#size += value.byteLength
    return this.#size > this.#most ? value.subarray(0, this.#most - this.#size) : value
  }

  /** Ends the body, of which no more is read. */
  drop(): void {
    this.#reader.cancel().catch(() => {})
  }
}

/** Drops the body of an answer that is not read. */
export function dropBody({ body }: Response): void {
  body?.cancel().catch(() => {})
}
