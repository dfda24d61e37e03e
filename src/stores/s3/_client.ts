import { sha256 } from '#sha256'
import { ArtifactError, isToolError } from '../../errors.ts'
import { causesOf } from '../../extension.ts'
import { isPair, type S3Credentials, type S3Settings } from './_options.ts'
import { signedHeaders } from './_signing.ts'

/** The base of the pause between attempts, in milliseconds; it doubles with each attempt. */
const firstPause = 100

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly key: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** Bytes that the answer must have. Default: any number. */
  readonly length?: number
}

export interface S3Answer {
  readonly headers: Headers
  readonly body: Uint8Array
}

/** An error answer of the server. */
class S3Refusal extends ArtifactError {
  readonly status: number

  constructor(status: number, kind: string, retryable: boolean) {
    super(`The artifact store refused the request (${kind}).`, { retryable })
    this.status = status
  }
}

/** Whether the server answered that there is no such object or upload. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3Refusal && error.status === 404
}

/** Signs and sends a request. Retries errors that are retryable. */
export async function sendRequest(
  settings: S3Settings,
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
    await retryPause(Math.random() * firstPause * 2 ** attempt, signal)
  }
}

async function sendOnce(settings: S3Settings, request: S3Request, signal: AbortSignal | undefined): Promise<S3Answer> {
  const { method, key, query = '', headers, body } = request
  const url = `${settings.url}${key}${query}`
  const signed = await signedHeaders(
    { method, url, headers, bodyHash: sha256(body ?? '') },
    await credentialsOf(settings),
    settings.region,
  )
  // Lengths must be those of the plain bytes. Not signed, since a proxy may rewrite it.
  signed.set('accept-encoding', 'identity')
  const leaving = new AbortController()
  const leave = (): void => leaving.abort(signal?.reason)
  if (signal?.aborted === true) leave()
  else signal?.addEventListener('abort', leave)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    leaving.abort()
  }, settings.timeout)
  try {
    const response = await fetch(url, {
      method,
      headers: signed,
      ...(body === undefined ? undefined : { body: body as Uint8Array<ArrayBuffer> }),
      redirect: 'manual', // the signature is for this server alone
      signal: leaving.signal, // some platforms have no `AbortSignal.any`
    })
    if (!response.ok) throw await refusedResponse(response)
    const length = Number(response.headers.get('content-length'))
    if (request.length !== undefined && length !== request.length) {
      await response.body?.cancel()
      throw new ArtifactError('The artifact store returned a different range from the one requested.')
    }
    const answer = { headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) }
    // For long work S3 sends status 200 first, and an error only in the body.
    if (method === 'POST' && isError(answer.body)) throw s3Refusal(response.status, answer.body)
    return answer
  } catch (error) {
    if (isToolError(error)) throw error
    const why = isLate ? `no answer within ${settings.timeout} ms` : networkCode(error)
    throw new ArtifactError(`The artifact store cannot be reached (${why}).`, {
      cause: error,
      retryable: true,
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}

async function credentialsOf(settings: S3Settings): Promise<S3Credentials> {
  try {
    const credentials = await settings.credentials()
    if (isPair(credentials)) return credentials
  } catch (cause) {
    throw new ArtifactError('There are no credentials for the artifact store.', { cause })
  }
  throw new ArtifactError('There are no credentials for the artifact store.')
}

async function refusedResponse(response: Response): Promise<S3Refusal> {
  const body = await response.arrayBuffer().catch(() => new ArrayBuffer())
  return s3Refusal(response.status, new Uint8Array(body))
}

/** Makes an error with the status and the code alone: the server's message may name hosts, keys and accounts. */
function s3Refusal(status: number, body: Uint8Array): S3Refusal {
  const code = elementOf(body, 'Code')
  const kind = code !== undefined && /^[A-Za-z0-9.]{1,60}$/.test(code) ? `${status} ${code}` : String(status)
  const retryable = status === 429 || status >= 500 || code === 'RequestTimeout' || code === 'InternalError'
  return new S3Refusal(status, kind, retryable)
}

function isError(body: Uint8Array): boolean {
  return /^\s*(?:<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(new TextDecoder().decode(body))
}

/** Removes what a failed write may have left. Ignores its own errors, since the write has already failed. */
export async function dispose(settings: S3Settings, request: S3Request): Promise<void> {
  // Without the caller's signal: after an abort, the leftovers would be stored, and paid for, indefinitely.
  await sendRequest(settings, request, undefined, 2).catch(() => {})
}

/** Returns the text of the first XML element with a name. */
export function elementOf(body: Uint8Array, name: string): string | undefined {
  const text = new TextDecoder().decode(body.subarray(0, 65_536))
  const content = new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]
  const signs: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return content?.replace(/&(amp|lt|gt|quot|apos);/g, (_, sign: string) => signs[sign] ?? '')
}

/** Returns the code of a network error, which `fetch` puts into its causes. */
function networkCode(error: unknown): string {
  return causesOf(error).find(({ code }) => code !== '')?.code ?? 'no connection'
}

function retryPause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
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
