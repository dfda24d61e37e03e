import { isToolError, parseJson, type ErrorCode, type Issue } from '../../index.ts'
import type { WireCode, WireFault } from '../protocol.ts'

type HeaderFields = Readonly<Record<string, string>>

/** Headers of every answer: a call is never cached, and never taken for something else than it says. */
export const commonHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

/** How long a client waits before it tries again, in seconds. */
const retryAfter = { 'retry-after': '1' }

const statuses: { readonly [Code in ErrorCode]?: number } = {
  E_APPROVAL_INVALID: 409,
  E_APPROVAL_EXPIRED: 410,
  E_ARTIFACT: 404,
  E_CLIENT_TOOL: 410,
  E_INVALID_CONFIGURATION: 400,
  E_INVALID_INITIAL_TOOL_VALUE: 400,
  E_INVALID_TOOL_ARGS: 400,
  E_INVALID_TOOL_RESULT: 400,
  E_JOURNAL: 503,
  E_LEASED: 409,
  E_SCHEMA_CONVERSION: 400,
  E_TOOL_CANCELLED: 503,
  E_UNCANONICAL_ARGS: 400,
  E_VALIDATOR_FAILED: 400,
}

/** A refusal that ends the request. */
export class RefusedRequest extends Error {
  readonly response: Response

  constructor(...parts: Parameters<typeof faultAnswer>) {
    super(parts[2])
    this.response = faultAnswer(...parts)
  }
}

/** Returns a copy of what the application gave, as JSON has it. What JSON cannot hold is named as such: one value spoils no answer. */
export function plainJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as unknown
  } catch {
    return '[no JSON]'
  }
}

/** Makes an answer of JSON. */
export function reply(body: unknown, status = 200, headers: HeaderFields = {}): Response {
  return Response.json(body, { status, headers: { ...commonHeaders, ...headers } })
}

/** Makes the answer to a request that is refused. */
export function faultAnswer(
  status: number,
  code: WireCode,
  message: string,
  headers: HeaderFields = {},
  issues?: readonly Issue[],
): Response {
  const body: WireFault = { error: { code, message, ...(issues && { issues }) } }
  return reply(body, status, headers)
}

/** Makes the answer of what was thrown. A fault of the server is reported, and not told. */
export function answerOfThrown(thrown: unknown, report: (error: unknown) => void): Response {
  if (thrown instanceof RefusedRequest) return thrown.response
  const status = isToolError(thrown) ? statuses[thrown.code] : undefined
  if (!isToolError(thrown) || status === undefined) {
    report(thrown)
    return faultAnswer(500, 'E_INTERNAL', 'The server failed. It knows why.')
  }
  const { code, message, issues, retryable } = thrown
  const isDown = code === 'E_JOURNAL' || (retryable && code === 'E_ARTIFACT')
  if (!isDown) return faultAnswer(status, code, message, status === 503 ? retryAfter : {}, issues)
  report(thrown) // its message may name machines of the application
  return faultAnswer(503, code, 'What the server keeps is not at hand. Try again.', retryAfter)
}

/** Makes the refusal of a call that does not exist, or is not the user's: both in the same words. */
export function noSuchThing(): RefusedRequest {
  return new RefusedRequest(404, 'E_NOT_FOUND', 'There is no such thing here.')
}

/**
 * Reads the JSON object of a request.
 *
 * @throws A `RefusedRequest` if it is no JSON object that can be read in one way only, or too large.
 */
export async function jsonBody(request: Request, limit: number): Promise<Readonly<Record<string, unknown>>> {
  // A page of another site can send other types without asking first.
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    throw new RefusedRequest(415, 'E_BODY', 'Send a body of type application/json.')
  }
  const tooLarge = new RefusedRequest(413, 'E_LIMIT', `The body has more than ${limit.toLocaleString('en')} bytes.`)
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [text, length] = ['', 0]
  let value: unknown
  try {
    for await (const piece of request.body ?? [await readAll(request)]) {
      length += piece.byteLength
      if (length > limit) throw tooLarge
      text += decoder.decode(piece, { stream: true })
    }
    value = parseJson(text + decoder.decode(), { limit })
  } catch (error) {
    if (error === tooLarge) throw error
    throw new RefusedRequest(400, 'E_BODY', 'The body is no JSON that can be read in one way only.')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new RefusedRequest(400, 'E_BODY', 'The body has to be a JSON object.')
}

/** Reads a request that shows no `body`: it has none, or the platform shows none, as Firefox. */
async function readAll(request: Request): Promise<Uint8Array> {
  return new Uint8Array(await request.arrayBuffer())
}

/**
 * Returns a field that is text, if it is there.
 *
 * @throws A `RefusedRequest` if it is no text, or too long.
 */
export function textField(body: Readonly<Record<string, unknown>>, name: string, longest = 16_384): string | undefined {
  const value = body[name]
  if (value === undefined || (typeof value === 'string' && value.length <= longest)) return value
  throw new RefusedRequest(
    400,
    'E_BODY',
    `\`${name}\` has to be text of at most ${longest.toLocaleString('en')} characters.`,
  )
}
