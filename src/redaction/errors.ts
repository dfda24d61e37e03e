import {
  InvalidToolArgsError,
  ToolDeniedError,
  ToolError,
  ToolFailure,
  UncanonicalArgsError,
  type ErrorCode,
} from '../kernel/errors.ts'
import type { Redactor } from '../kernel/call/redactor.ts'
import { errorWords } from '../kernel/outcome/failure.ts'

/** Also masks plain JSON. */
interface DataRedactor extends Redactor {
  data(value: unknown): unknown
}

/** Messages in place of those that quote a handler or a validator. */
const unquotedMessages: Partial<Record<ErrorCode, string>> = {
  E_TOOL_DOWNSTREAM_ERROR:
    'The tool failed. It has secrets, so what it threw is not told: throw a ToolFailure to say what may be read.',
  E_ARTIFACT: 'An artifact could not be kept or read. The tool has secrets, so no more is told.',
  E_VALIDATOR_FAILED:
    'The validator failed. The tool has secrets, so its words are not told. The args may have been right; the same call may succeed later.',
}

/**
 * Returns a copy of an error without causes and without secret values.
 *
 * @param isIdentified Whether the args were identified. The error is else about args that cannot be read.
 */
export function redactError(error: ToolError, redactor: DataRedactor, isIdentified: boolean): ToolError {
  const {
    cause,
    code,
    category,
    retryable: isRetryable,
    issues,
    recommendations: advice,
    message,
  } = isIdentified ? error : withoutQuotes(error)
  const toolFailure = cause instanceof ToolFailure ? cause : undefined
  const instead = toolFailure === undefined ? unquotedMessages[code] : undefined
  const maskedError = ToolError.restore({
    ...(redactor.data({ issues, recommendations: advice }) as object),
    code,
    category,
    retryable: isRetryable,
    message: instead ?? redactor.text(message),
  })
  const isExposed = error.exposed && !(instead !== undefined && code === 'E_TOOL_DOWNSTREAM_ERROR')
  Object.assign(maskedError, { exposed: isExposed })
  if (toolFailure !== undefined) {
    const words = redactor.text(errorWords(toolFailure).message)
    Object.defineProperty(maskedError, 'cause', { value: new ToolFailure(words, maskedError) })
  }
  if (error instanceof ToolDeniedError && error.toolResult !== undefined) {
    try {
      Object.defineProperty(maskedError, 'toolResult', { value: redactor.result(error.toolResult) })
    } catch {
      // what the policy gave cannot be shown: its words can
    }
  }
  return maskedError
}

/** Returns the error of invalid args without its quotes of text and keys, which may be secret. */
function withoutQuotes(error: ToolError): ToolError {
  const reason = error.issues?.[0]?.message
  if (reason === undefined) return error
  const message = reason.replace(/, found [^]*$/, '.')
  const details = { issues: [{ message, path: [] }] }
  return error instanceof UncanonicalArgsError
    ? new UncanonicalArgsError(`The args cannot be identified: ${message}.`, details)
    : new InvalidToolArgsError(`The args are not valid JSON: ${message}`, details)
}
