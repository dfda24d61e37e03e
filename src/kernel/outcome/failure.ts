import type { Approval } from '../call/approval.ts'
import type { Received } from '../call/parcel.ts'
import {
  DuplicateInvocationError,
  isToolError,
  longestMessage,
  ToolDeniedError,
  ToolDownstreamError,
  ToolFailure,
} from '../errors.ts'
import type { ErrorCategory, ToolError } from '../errors.ts'
import { escapeDeceptive } from '../json/deceptive.ts'
import { shortened } from '../json/shortened.ts'
import { isObject } from '../schema/json-schema.ts'

const longestFailure = 1_000

const unreadWords = 'something was thrown that cannot be read'

/** Reads a thrown value. It may be no error, and its getters may throw too. */
export function errorWords(thrown: unknown): Pick<Error, 'name' | 'message'> {
  try {
    if (typeof thrown !== 'object' || thrown === null) return { name: 'Error', message: String(thrown) }
    const { name, message } = thrown as Record<string, unknown>
    const words = typeof message === 'string' ? message : (JSON.stringify(thrown) ?? '')
    return {
      name: typeof name === 'string' && name !== '' ? shortened(name, 256) : 'Error',
      message:
        (withoutCredentials(shortened(words, longestMessage)) + connectionOf(thrown, words)).trim() || 'no message',
    }
  } catch {
    return { name: 'Error', message: unreadWords }
  }
}

/** Hides the user and the password of every URL in a text. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s@]+@/g, '//…@')
}

interface SystemError {
  readonly cause?: SystemError
  readonly code?: string
  readonly hostname?: unknown
  readonly address?: unknown
  readonly port?: unknown
  /** One error for each address that was tried. */
  readonly errors?: readonly SystemError[]
}

/** Returns which connection failed and how, if `fetch` or an error of several addresses says neither. */
function connectionOf(thrown: SystemError, words: string): string {
  try {
    const failed = words === '' ? thrown : (thrown.cause ?? {})
    const { code = '', errors } = failed
    if (!networkCodes.has(code) || words.includes(code)) return ''
    const { hostname, address = hostname, port } = errors?.[0] ?? failed
    if (typeof address !== 'string' || !/^[\w.:%-]{1,253}$/.test(address)) return ` (${code})`
    return ` (${code} ${address}${typeof port === 'number' ? ` port ${port}` : ''})`
  } catch {
    return ''
  }
}

/** @param what What of the tool failed, as the subject of a sentence. */
export function downstream(toolName: string, thrown: unknown, what = 'Tool'): ToolDownstreamError {
  const { name, message } = errorWords(thrown)
  const category = categoryOf(thrown)
  const isTransient = category === 'network' || category === 'rate_limit'
  try {
    const { retryable = isTransient, recommendations } = thrown instanceof ToolFailure ? thrown : {}
    return new ToolDownstreamError(`${what} ${JSON.stringify(toolName)} failed: ${name}: ${message}`, {
      cause: thrown === undefined ? new Error('undefined') : thrown, // an error has no cause that is undefined
      category,
      retryable: retryable || (isToolError(thrown) && thrown.retryable),
      recommendations,
    })
  } catch {
    return downstream(toolName, unreadWords, what)
  }
}

/** Returns the side effect that a handler's `ToolFailure` tells of, if it does. */
export function failureEffect(thrown: unknown): ToolFailure['effect'] {
  try {
    const effect = thrown instanceof ToolFailure ? thrown.effect : undefined
    return effect === 'none' || effect === 'completed' ? effect : undefined
  } catch {
    return undefined
  }
}

/** Returns the failure in a result of exactly the form `{ ok: false, error, recommendations?, note? }`. */
export function returnedFailure(value: unknown): ToolFailure | undefined {
  if (typeof value !== 'object' || value === null || (value as { ok?: unknown }).ok !== false) return undefined
  const { ok: _ok, error, recommendations, note, ...others } = value as Record<string, unknown>
  if (typeof error !== 'string' || Object.keys(others).length > 0) return undefined
  const advice = [...(Array.isArray(recommendations) ? recommendations : []), ...(note === undefined ? [] : [note])]
  return new ToolFailure(error, { recommendations: advice.map(String) })
}

/** Of resolvers, sockets and `fetch`. */
const networkCodes = new Set<unknown>(
  'ENOTFOUND EAI_AGAIN ETIMEDOUT ECONNRESET ECONNREFUSED ECONNABORTED EPIPE EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_SOCKET'.split(
    ' ',
  ),
)

/** Whether a network failed. Errors of `fetch` have the code in their cause. */
function isOfNetwork({ code, cause }: SystemError): boolean {
  return [code, cause?.code].some((one) => networkCodes.has(one))
}

/** Returns the category of a thrown value, by types and codes alone. */
export function categoryOf(thrown: unknown): ErrorCategory {
  try {
    if (isToolError(thrown)) return thrown.category
    if (!isObject(thrown)) return 'unknown'
    if (thrown instanceof ToolFailure && thrown.category !== undefined) return thrown.category
    const { status, statusCode, name } = thrown as Record<string, unknown>
    const http = status ?? statusCode
    if (isOfNetwork(thrown)) return 'network'
    if (http === 429) return 'rate_limit'
    if (http === 401 || http === 403) return 'auth'
    if (name === 'ZodError' || name === 'ValidationError') return 'validation'
    if (name === 'TimeoutError') return 'timeout'
    if (name === 'AbortError') return 'cancelled'
    return thrown instanceof Error ? 'application' : 'unknown'
  } catch {
    return 'unknown'
  }
}

/**
 * Returns the text of an error for the model. It never has a stack. Of causes it has only what a handler threw, with class
 * names such as `TypeError`, but not those of this package.
 */
export function modelText(error: ToolError, isExposed: boolean): string {
  if (!isExposed || !error.exposed) return 'The tool failed; the reason is not shown.'
  const cause = error.code === 'E_TOOL_DOWNSTREAM_ERROR' ? error.cause : undefined
  const { name, message } = cause === undefined ? error : errorWords(cause)
  const isForeign = cause !== undefined && !isToolError(cause) && !(cause instanceof ToolFailure)
  const joint = message.includes('\n') ? '\n' : /[.!?]$/.test(message) ? ' ' : '. '
  const advice = error.recommendations?.length ? `${joint}Recommendations: ${error.recommendations.join(' ')}` : ''
  const text = `${isForeign ? `${name}: ` : ''}${message}${advice}`.replaceAll('\r\n', '\n')
  return shortened(escapeDeceptive(text.slice(0, longestFailure + 1), '\n\t'), longestFailure)
}

/** Returns text as one line. Deceptive characters are escaped. */
export function oneLine(text: string, longest: number): string {
  return shortened(escapeDeceptive(text.slice(0, longest + 1)), longest)
}

/**
 * Makes the error of an invocation that already exists. The existing call may have had an effect.
 *
 * @param state What the existing call is. Only a call of the same session may be told.
 */
export function duplicate(
  received: Received,
  effect: Received['effect'] = 'unknown',
  state = 'is still running, or was made with different arguments, session or caller',
  advice = 'Retry later; a new id may run the tool twice.',
): DuplicateInvocationError {
  received.effect = effect
  const which = `Invocation ${JSON.stringify(received.invocationId)} already exists: it ${state}.`
  return new DuplicateInvocationError(`${which} ${advice}`)
}

export function duplicateOf(received: Received, { session }: Received): DuplicateInvocationError {
  return duplicate(received, 'unknown', session === received.session ? 'is still running' : undefined)
}

/** Returns the approval of a person. Throws the error of a refusal, in words for the model. */
export function requireAllowed(approval: Approval): Approval {
  const { decision, note } = approval
  if (decision === 'allow') return approval
  throw new ToolDeniedError(`Permission denied by user${note === undefined ? '' : `: ${note}`}`)
}
