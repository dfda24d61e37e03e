// What was thrown, as JSON, and back.
import { isToolError, ToolError, ToolFailure } from '../../errors.ts'
import { errorWords } from '../../kernel/outcome/failure.ts'
import type { RecordedError } from './_recorded.ts'
import { taggedValue, untagged } from './_values.ts'

/** Returns what was thrown. @param hide Hides the secrets of a text. */
export function recordedError(thrown: unknown, hide: (text: string) => string): RecordedError {
  if (typeof thrown !== 'object' || thrown === null) {
    return { value: taggedValue(typeof thrown === 'function' ? String(thrown) : hiddenText(thrown, hide)) }
  }
  const { name, message } = errorWords(thrown)
  const words = { name: hide(name), message: hide(message) }
  try {
    if (thrown instanceof ToolFailure) {
      const { recommendations, retryable, category, effect } = thrown
      const details = { recommendations: recommendations.map(hide), retryable, category, effect }
      return { ...words, failure: JSON.parse(JSON.stringify(details)) as NonNullable<RecordedError['failure']> }
    }
    if (isToolError(thrown)) return { ...words, error: toolErrorJson(thrown, hide) }
    const fields = categoryFieldsOf(thrown, hide)
    return {
      ...words,
      ...(Object.keys(fields).length > 0 && { fields }),
      ...(!(thrown instanceof Error) && { isPlain: true }),
    }
  } catch {
    return words // a getter throws, so the words are all that is known
  }
}

function toolErrorJson(error: ToolError, hide: (text: string) => string): Readonly<Record<string, unknown>> {
  const { code, message, category, retryable, recommendations, issues, exposed } = error
  const plain = {
    code,
    message: hide(message),
    category,
    retryable,
    recommendations: recommendations?.map(hide),
    issues,
  }
  return { ...(JSON.parse(hide(JSON.stringify(plain))) as object), ...(!exposed && { exposed }) }
}

function hiddenText(thrown: unknown, hide: (text: string) => string): unknown {
  return typeof thrown === 'string' ? hide(thrown) : thrown
}

/** The fields by which the kernel tells the category of an error, and the connection that failed. */
const categoryFields = ['status', 'statusCode', 'code'] as const

function categoryFieldsOf(error: object, hide: (text: string) => string): Readonly<Record<string, unknown>> {
  const own = error as Readonly<Record<string, unknown>>
  const fields: Record<string, unknown> = {}
  for (const name of categoryFields) {
    const value = own[name]
    if (typeof value === 'number') fields[name] = value
    if (typeof value === 'string') fields[name] = hide(value)
  }
  const cause: unknown = own['cause']
  const code: unknown = typeof cause === 'object' && cause !== null ? (cause as { code?: unknown }).code : undefined
  if (typeof code === 'string') fields['cause'] = { code: hide(code) }
  return fields
}

/** Makes what was thrown again. */
export function thrownAgain(recorded: RecordedError): unknown {
  const { name = 'Error', message = '', failure, error: json, fields = {}, isPlain } = recorded
  if ('value' in recorded) return untagged(recorded.value)
  if (failure !== undefined) return new ToolFailure(message, failure)
  if (json !== undefined) {
    const { exposed = true, ...written } = json
    return Object.assign(ToolError.restore(written), { exposed })
  }
  if (isPlain === true) return { name, message, ...fields }
  const error = new Error(message)
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return Object.assign(error, fields)
}
