import { isToolError, ToolDownstreamError, ToolFailure, type ErrorCategory, type ToolError } from './errors.ts'

const longestLine = 1_000

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
    return {
      name: typeof name === 'string' && name !== '' ? name : 'Error',
      message: typeof message === 'string' ? message : (JSON.stringify(thrown) ?? 'no message'),
    }
  } catch {
    return { name: 'Error', message: 'something was thrown that cannot be read' }
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

/** The one line of an error that a model may read: never a stack, never a cause beyond its name and message. */
export function modelLine(error: ToolError, isExposed: boolean): string {
  if (!isExposed || !error.exposed) return 'The tool failed; the reason is not shown.'
  const { name, message } = error.code === 'E_TOOL_DOWNSTREAM_ERROR' ? wordsOf(error.cause) : error
  const advice = error.recommendations?.length ? ` Recommendations: ${error.recommendations.join(' ')}` : ''
  return oneLine(`${name}: ${message}${advice}`, longestLine)
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
