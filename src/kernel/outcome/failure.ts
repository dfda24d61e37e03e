import { isToolError, ToolDownstreamError, ToolFailure, type ErrorCategory, type ToolError } from '../errors.ts'
import { shortened } from '../json/text.ts'

const longestLine = 1_000
const longestMessage = 8_192

/** A name and a message, read from anything that can be thrown. */
interface Words {
  readonly name: string
  readonly message: string
}

/** Reads what was thrown: it may be no error at all, and its getters may throw in turn. */
export function wordsOf(thrown: unknown): Words {
  try {
    if (typeof thrown !== 'object' || thrown === null) return { name: 'Error', message: String(thrown) }
    const { name, message } = thrown as { readonly name?: unknown; readonly message?: unknown }
    const words = typeof message === 'string' ? message : (JSON.stringify(thrown) ?? 'no message')
    return {
      name: typeof name === 'string' && name !== '' ? shortened(name, 256) : 'Error',
      message: withoutCredentials(shortened(words, longestMessage)) + connectionOf(thrown, words),
    }
  } catch {
    return { name: 'Error', message: 'something was thrown that cannot be read' }
  }
}

/** Hides the user and the password of every URL in a text. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s@]+@/g, '//…@')
}

interface SystemError {
  readonly code?: unknown
  readonly hostname?: unknown
  readonly address?: unknown
  readonly port?: unknown
  /** One for each address that was tried. */
  readonly errors?: readonly SystemError[]
}

/** Returns which connection failed and how, since `fetch` says neither. Of other causes it tells nothing. */
function connectionOf(thrown: object, words: string): string {
  try {
    const { cause } = thrown as { readonly cause?: SystemError }
    const { code, errors } = cause ?? {}
    if (typeof code !== 'string' || !networkCodes.has(code) || words.includes(code)) return ''
    const { hostname, address = hostname, port } = errors?.[0] ?? cause ?? {}
    if (typeof address !== 'string' || !/^[\w.:%-]{1,253}$/.test(address)) return ` (${code})`
    return ` (${code} ${address}${typeof port === 'number' ? ` port ${port}` : ''})`
  } catch {
    return ''
  }
}

/** Wraps whatever a handler or a middleware threw. */
export function downstream(toolName: string, thrown: unknown): ToolDownstreamError {
  const { name, message } = wordsOf(thrown)
  const failure = thrown instanceof ToolFailure ? thrown : undefined
  const category = categoryOf(thrown)
  return new ToolDownstreamError(`Tool ${JSON.stringify(toolName)} failed: ${name}: ${message}`, {
    cause: thrown,
    category,
    retryable: failure?.retryable ?? (isRetryable(thrown) || category === 'network' || category === 'rate_limit'),
    recommendations: failure?.recommendations,
  })
}

function isRetryable(thrown: unknown): boolean {
  return isToolError(thrown) && thrown.retryable
}

/** The failure that a handler returned instead of throwing it: `{ ok: false, error, recommendations?, note? }` and nothing else. */
export function returnedFailure(value: unknown): ToolFailure | undefined {
  if (typeof value !== 'object' || value === null || (value as { ok?: unknown }).ok !== false) return undefined
  const { ok: _ok, error, recommendations, note, ...others } = value as Record<string, unknown>
  if (typeof error !== 'string' || Object.keys(others).length > 0) return undefined
  const advice = [...(Array.isArray(recommendations) ? recommendations : []), ...(note === undefined ? [] : [note])]
  return new ToolFailure(error, { recommendations: advice.map(String) })
}

const resolverCodes = ['ENOTFOUND', 'EAI_AGAIN']
const socketCodes = ['ETIMEDOUT', 'ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH']
const fetchCodes = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_SOCKET']
const networkCodes = new Set([...resolverCodes, ...socketCodes, ...fetchCodes])

/** Whether the code is one of a broken or missing connection; `fetch` has it in the cause of what it throws. */
function isOfNetwork({ code, cause }: { readonly code?: unknown; readonly cause?: unknown }): boolean {
  const behind = typeof cause === 'object' && cause !== null ? (cause as { readonly code?: unknown }).code : undefined
  return [code, behind].some((one) => typeof one === 'string' && networkCodes.has(one))
}

/** What kind of trouble was thrown, read from types and codes alone. */
export function categoryOf(thrown: unknown): ErrorCategory {
  try {
    if (isToolError(thrown)) return thrown.category
    if (typeof thrown !== 'object' || thrown === null) return 'unknown'
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
 * Returns the one line of an error that a model may read: never a stack, and of the cause only what a handler threw. Class names
 * of others may help, such as `TypeError`. Ours do not.
 */
export function modelLine(error: ToolError, isExposed: boolean): string {
  if (!isExposed || !error.exposed) return 'The tool failed; the reason is not shown.'
  const cause = error.code === 'E_TOOL_DOWNSTREAM_ERROR' ? error.cause : undefined
  const { name, message } = cause === undefined ? error : wordsOf(cause)
  const isForeign = cause !== undefined && !isToolError(cause) && !(cause instanceof ToolFailure)
  const advice = error.recommendations?.length ? ` Recommendations: ${error.recommendations.join(' ')}` : ''
  return oneLine(`${isForeign ? `${name}: ` : ''}${message}${advice}`, longestLine)
}

/** Control, direction and separator characters: what a terminal or a log obeys, or a reader is deceived by. */
// oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
const deceptive = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text in lines that no terminal or log obeys: all but tabs and the ends of lines is escaped. */
export function plainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(deceptive, (character) => (/[\n\t]/.test(character) ? character : escape(character)))
}

/** Text as one line that no terminal or log obeys: control, direction and separator characters are escaped. */
export function oneLine(text: string, longest: number): string {
  const escaped = cut(text, longest).replace(deceptive, escape)
  return escaped.length > longest || text.length > longest ? `${cut(escaped, longest - 1)}…` : escaped
}

/** The beginning of a text, without half of a character at its end. */
function cut(text: string, longest: number): string {
  return text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')
}

function escape(character: string): string {
  if (character === '\n') return '\\n'
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
