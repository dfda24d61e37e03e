import type { Issue } from '../../index.ts'
import { protocolVersion, type WireCode, type WireFault } from '../protocol.ts'
import { sleep } from './_page.ts'

/**
 * The server refused a request of the page, or could not be reached. What `connect` returns rejects with it.
 *
 * @example
 * ```ts
 * import { connect, WireError } from 'toolwright/client/browser'
 *
 * const client = connect('http://localhost:3000/api/tools')
 * const words = (error: unknown): string => {
 *   if (!(error instanceof WireError)) throw error
 *   return error.status === 0 ? 'You are offline.' : `${error.message} (${error.code})`
 * }
 * console.log(await client.decide('call-1', 'allow').then(({ state }) => state, words)) // without a server: You are offline.
 * client.close()
 * ```
 */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly code: WireCode
  /** The status of HTTP; 0 if there was no answer. */
  readonly status: number
  /** The places that are wrong. */
  readonly issues: readonly Issue[] | undefined

  constructor(status: number, { code, message, issues }: WireFault['error'], cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.code = code
    this.issues = issues
  }
}

/** The parts of a request that are its own. */
export interface RequestParts {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly keepalive?: boolean
  /** How often to try if the server cannot be reached, or fails. Default: 3. */
  readonly tries?: number
}

/** Sends a request. Resolves with an answer that is a success. */
export type SendRequest = (path: string, asking?: RequestParts) => Promise<Response>

export interface RequestOptions {
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>)
  readonly fetch?: typeof globalThis.fetch
}

/** Makes the function that sends requests. It is safe to send any of them again. */
export function requests(url: string, { headers, fetch }: RequestOptions): SendRequest {
  return async (path, { method, body, headers: own, tries = 3, ...init } = {}) => {
    for (let attempt = 1; ; attempt++) {
      const error = await once()
      if (error instanceof Response) return error
      if (attempt >= tries || init.signal?.aborted || (error.status > 0 && error.status < 500)) throw error
      await sleep(100 * 2 ** attempt)
    }

    async function once(): Promise<Response | WireError> {
      // What fails here is the application's, and not the server's: it is thrown as it is, and not tried again.
      const fields = new Headers(typeof headers === 'function' ? await headers() : headers)
      for (const [name, value] of Object.entries(own ?? {})) fields.set(name, value)
      if (body !== undefined) fields.set('content-type', 'application/json')
      const content = JSON.stringify(body) // nothing for no body
      try {
        const verb = method ?? (body === undefined ? 'GET' : 'POST')
        // Not by a header: a server of another site would have to allow it first.
        const version = `${path.includes('?') ? '&' : '?'}protocol=${protocolVersion}`
        const response = await (fetch ?? globalThis.fetch)(url + path + version, {
          ...init,
          body: content,
          method: verb,
          headers: fields,
        })
        if (response.ok) return response
        const { error } = (await response.json().catch(() => ({}))) as Partial<WireFault>
        return new WireError(response.status, error ?? { code: 'E_NETWORK', message: `HTTP ${response.status}` })
      } catch (cause) {
        return new WireError(0, { code: 'E_NETWORK', message: 'The server cannot be reached.' }, cause)
      }
    }
  }
}

/** What the constructor of `Headers` takes. */
export type HeadersInit = ConstructorParameters<typeof Headers>[0]
