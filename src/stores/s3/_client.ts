import { sha256 } from '#sha256'
import { ArtifactError, isToolError } from '../../index.ts'
import { isPair, type S3Credentials, type Settings } from './_options.ts'
import { signedHeaders } from './_signing.ts'

/** Of the first pause between two attempts, in milliseconds; each next one may be twice as long. */
const firstPause = 100

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly key: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** How many bytes the answer has to have. Default: any. */
  readonly length?: number
}

export interface S3Answer {
  readonly headers: Headers
  readonly body: Uint8Array
}

/** A refusal of the server's, whose status is known. */
class S3Refusal extends ArtifactError {
  readonly status: number

  constructor(status: number, kind: string, retryable: boolean) {
    super(`The artifact store refused the request (${kind}).`, { retryable })
    this.status = status
  }
}

/** Whether the server said that there is nothing of this name. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3Refusal && error.status === 404
}

/** Sends a request, signed; again, a few times, where the server or the network may do better the next time. */
export async function send(
  settings: Settings,
  request: S3Request,
  signal: AbortSignal | undefined,
  attempts = 4,
): Promise<S3Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(settings, request, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (attempt === attempts || !isToolError(error) || !error.retryable) throw error
    }
    await pause(Math.random() * firstPause * 2 ** attempt, signal)
  }
}

async function sendOnce(settings: Settings, request: S3Request, signal: AbortSignal | undefined): Promise<S3Answer> {
  const { method, key, query = '', headers, body } = request
  const url = `${settings.url}${key}${query}`
  const signed = await signedHeaders(
    { method, url, headers, bodyHash: sha256(body ?? '') },
    await credentialsOf(settings),
    settings.region,
  )
  // A length is that of the bytes as they are. Not signed: what stands between us and the server may write it anew.
  signed.set('accept-encoding', 'identity')
  const late = AbortSignal.timeout(settings.timeout)
  try {
    const response = await fetch(url, {
      method,
      headers: signed,
      ...(body === undefined ? undefined : { body: body as Uint8Array<ArrayBuffer> }),
      redirect: 'manual', // what is signed is meant for this server alone
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    })
    if (!response.ok) throw await refusalOf(response)
    const length = Number(response.headers.get('content-length'))
    if (request.length !== undefined && length !== request.length) {
      await response.body?.cancel()
      throw new ArtifactError('The artifact store gave another range than it was asked for.')
    }
    const answer = { headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) }
    // Where the server has to work long it says 200 first, and then how it went.
    if (method === 'POST' && isError(answer.body)) throw refusal(response.status, answer.body)
    return answer
  } catch (error) {
    if (isToolError(error)) throw error
    const why = late.aborted ? `no answer within ${settings.timeout} ms` : codeOf(error)
    throw new ArtifactError(`The artifact store cannot be reached (${why}).`, {
      cause: error,
      retryable: true,
    })
  }
}

async function credentialsOf(settings: Settings): Promise<S3Credentials> {
  try {
    const credentials = await settings.credentials()
    if (isPair(credentials)) return credentials
  } catch (cause) {
    throw new ArtifactError('There are no credentials for the artifact store.', { cause })
  }
  throw new ArtifactError('There are no credentials for the artifact store.')
}

async function refusalOf(response: Response): Promise<S3Refusal> {
  const body = await response.arrayBuffer().catch(() => new ArrayBuffer())
  return refusal(response.status, new Uint8Array(body))
}

/** Tells the status and the code, and nothing else of what the server said: it may name hosts, keys and accounts. */
function refusal(status: number, body: Uint8Array): S3Refusal {
  const code = elementOf(body, 'Code')
  const kind = code !== undefined && /^[A-Za-z0-9.]{1,60}$/.test(code) ? `${status} ${code}` : String(status)
  const retryable = status === 429 || status >= 500 || code === 'RequestTimeout' || code === 'InternalError'
  return new S3Refusal(status, kind, retryable)
}

function isError(body: Uint8Array): boolean {
  return /^\s*(?:<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(new TextDecoder().decode(body))
}

/** Takes away what a write that failed may have left; nobody is there to hear of it if that fails too. */
export async function dispose(settings: Settings, request: S3Request): Promise<void> {
  // Also where the signal has aborted: what is left there would be kept, and paid for, without an end.
  await send(settings, request, undefined, 2).catch(() => {})
}

/** The text of the first element of a name. */
export function elementOf(body: Uint8Array, name: string): string | undefined {
  const text = new TextDecoder().decode(body.subarray(0, 65_536))
  const content = new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]
  const signs: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return content?.replace(/&(amp|lt|gt|quot|apos);/g, (_, sign: string) => signs[sign] ?? '')
}

/** The code of what a network failed with, which `fetch` hides in a cause. */
function codeOf(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : 'no connection'
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted === true) reject(signal.reason as Error)
      else resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end, { once: true })
  })
}
