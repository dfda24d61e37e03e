import type { Issue } from './schema/standard.ts'
import { shortened } from './json/text.ts'

/** What kind of trouble an error tells of, read from types and codes, never from message text. */
export type ErrorCategory =
  'network' | 'rate_limit' | 'auth' | 'validation' | 'timeout' | 'cancelled' | 'application' | 'unknown'

/** Every code that the kernel can answer with, and what is true of it unless the place that throws knows better. */
const table = {
  E_INVALID_INITIAL_TOOL_VALUE: ['InvalidInitialToolValueError', 'validation'],
  E_TOOL_NOT_FOUND: ['ToolNotFoundError', 'validation'],
  E_TOOL_NO_HANDLER: ['ToolNoHandlerError', 'application'],
  E_TOOL_ALREADY_REGISTERED: ['ToolAlreadyRegisteredError', 'validation'],
  E_INVALID_TOOL_ARGS: ['InvalidToolArgsError', 'validation'],
  E_UNCANONICAL_ARGS: ['UncanonicalArgsError', 'validation'],
  E_VALIDATOR_FAILED: ['ValidatorFailedError', 'application'],
  E_SCHEMA_CONVERSION: ['SchemaConversionError', 'validation'],
  E_TOOL_DENIED: ['ToolDeniedError', 'auth'],
  E_APPROVAL_INVALID: ['ApprovalInvalidError', 'auth'],
  E_APPROVAL_EXPIRED: ['ApprovalExpiredError', 'timeout'],
  E_TOOL_DOWNSTREAM_ERROR: ['ToolDownstreamError', 'application'],
  E_TOOL_TIMEOUT: ['ToolTimeoutError', 'timeout'],
  E_TOOL_CANCELLED: ['ToolCancelledError', 'cancelled'],
  E_INVALID_TOOL_RESULT: ['InvalidToolResultError', 'validation'],
  E_CLIENT_TOOL: ['ClientToolError', 'timeout'],
  E_INVALID_EXECUTION_TYPE: ['InvalidExecutionTypeError', 'validation'],
  E_DUPLICATE_INVOCATION: ['DuplicateInvocationError', 'application'],
  E_ILLEGAL_TRANSITION: ['IllegalTransitionError', 'application'],
  E_ARTIFACT: ['ArtifactError', 'application'],
  E_JOURNAL: ['JournalError', 'application'],
  E_SEALED: ['SealedError', 'application'],
  E_INVALID_CONFIGURATION: ['InvalidConfigurationError', 'validation'],
  E_INTERNAL: ['InternalError', 'unknown'],
} as const

export type ErrorCode = keyof typeof table

/** What the place that throws knows beyond the message. */
export interface ToolErrorDetails {
  readonly cause?: unknown
  readonly issues?: readonly Issue[] | undefined
  readonly recommendations?: readonly string[] | undefined
  readonly retryable?: boolean | undefined
  readonly category?: ErrorCategory | undefined
  /** Whether a model may read the message; `false` shows it a generic line. Default: `true`. */
  readonly exposed?: boolean | undefined
}

// Registered symbols, so that two copies of the package in one process know each other's errors.
const errorBrand: unique symbol = Symbol.for('toolwright.error') as never
const failureBrand: unique symbol = Symbol.for('toolwright.failure') as never

// What an error says is written down and told to all who watch, so it has an end.
const longestMessage = 8_192
const longestLine = 1_024
const longestKey = 256
const mostIssues = 100
const mostInIssues = 65_536

/**
 * Every error that the kernel throws or settles a call with; `code` tells which, and there is a subclass for each code.
 *
 * `message` has at most 8,192 characters: the whole of a longer one is the `cause`, if no other cause was given. There are at
 * most 100 `issues`, of which the last then says how many more there were.
 */
export class ToolError<Code extends ErrorCode = ErrorCode> extends Error {
  static readonly code: ErrorCode = 'E_INTERNAL'
  readonly code: Code
  readonly category: ErrorCategory
  readonly retryable: boolean
  readonly exposed: boolean
  readonly issues?: readonly Issue[]
  readonly recommendations?: readonly string[]
  /** Which call it belongs to; filled in when the call settles. */
  toolName?: string
  callId?: string | null
  invocationId?: string

  constructor(message: string, details: ToolErrorDetails = {}) {
    const { cause = message.length > longestMessage ? message : undefined } = details
    super(shortened(message, longestMessage), cause === undefined ? undefined : { cause })
    this.code = new.target.code as Code
    const [name, category] = table[this.code]
    Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true })
    Object.defineProperty(this, errorBrand, { value: true })
    this.category = details.category ?? category
    this.retryable = details.retryable ?? false
    this.exposed = details.exposed ?? true
    if (details.issues) this.issues = firstOf(details.issues)
    if (details.recommendations) {
      this.recommendations = Array.from(details.recommendations, (line) => shortened(String(line), longestLine)).slice(
        0,
        16,
      )
    }
  }

  /** The error that was written down by `toJSON`, as far as it was. */
  static restore(written: Record<string, unknown>): ToolError {
    const { code, message, category, retryable, recommendations, issues } = written as Partial<ToolError>
    const error = new ToolError(String(message), { category, retryable, recommendations, issues })
    const known = code !== undefined && Object.hasOwn(table, code) ? code : 'E_INTERNAL'
    const { toolName, callId, invocationId } = written
    return Object.assign(error, { code: known, name: table[known][0], toolName, callId, invocationId })
  }

  /** What may leave the process: never the stack, never the cause. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, category, retryable, toolName, callId, invocationId, issues, recommendations } = this
    return { name, code, message, category, retryable, toolName, callId, invocationId, issues, recommendations }
  }

  /** Asks the code instead of the prototype, so that an error of another copy of the package is recognised. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!isToolError(value)) return false
    if (this === ToolError || Object.prototype.isPrototypeOf.call(this.prototype, value)) return true
    return Object.hasOwn(this, 'code') && value.code === this.code
  }
}

/** Returns the issues if they are few and short, else the first of them and how many more there are. */
function firstOf(issues: readonly Issue[]): readonly Issue[] {
  const first: Issue[] = []
  let length = 0
  let isWhole = issues.length <= mostIssues
  for (const { message, path } of issues.slice(0, mostIssues)) {
    const short = {
      message: shortened(message, longestLine),
      path: path.map((key) => (typeof key === 'string' ? shortened(key, longestKey) : key)),
    }
    const isSame = short.message === message && short.path.every((key, index) => key === path[index])
    for (const key of short.path) length += String(key).length + 4
    length += short.message.length
    if (length > mostInIssues) break
    isWhole &&= isSame
    first.push(short)
  }
  if (isWhole && first.length === issues.length) return issues
  const more = issues.length - first.length
  return more === 0 ? first : [...first, { message: `and ${more} more`, path: [] }]
}

/** Whether an object bears a brand; what was thrown may be a proxy, and asking it may throw in turn. */
function isBranded(value: unknown, brand: symbol): boolean {
  try {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, brand)
  } catch {
    return false
  }
}

/** Whether a value is an error of this package, whichever copy of it made the error. */
export function isToolError(value: unknown): value is ToolError {
  return isBranded(value, errorBrand)
}

/** A tool's definition is not one: the message and `issues` name every field that is wrong. */
export class InvalidInitialToolValueError extends ToolError<'E_INVALID_INITIAL_TOOL_VALUE'> {
  static override readonly code = 'E_INVALID_INITIAL_TOOL_VALUE'
}

/** The caller named a tool that is not there, or that it may not see. */
export class ToolNotFoundError extends ToolError<'E_TOOL_NOT_FOUND'> {
  static override readonly code = 'E_TOOL_NOT_FOUND'
}

/** The tool has nothing that could run it here. */
export class ToolNoHandlerError extends ToolError<'E_TOOL_NO_HANDLER'> {
  static override readonly code = 'E_TOOL_NO_HANDLER'
}

/** The registry holds a tool of this name, or of one that is too like it. */
export class ToolAlreadyRegisteredError extends ToolError<'E_TOOL_ALREADY_REGISTERED'> {
  static override readonly code = 'E_TOOL_ALREADY_REGISTERED'
}

/** The args cannot be read, or do not fit the tool's schema; `issues` says where. */
export class InvalidToolArgsError extends ToolError<'E_INVALID_TOOL_ARGS'> {
  static override readonly code = 'E_INVALID_TOOL_ARGS'
}

/** The args have no canonical form: not JSON, too deep, too large, or ambiguous. */
export class UncanonicalArgsError extends ToolError<'E_UNCANONICAL_ARGS'> {
  static override readonly code = 'E_UNCANONICAL_ARGS'
}

/** The validator itself broke; the args may have been right. */
export class ValidatorFailedError extends ToolError<'E_VALIDATOR_FAILED'> {
  static override readonly code = 'E_VALIDATOR_FAILED'
}

/** A schema cannot be used, or cannot be shown to a model as JSON Schema. */
export class SchemaConversionError extends ToolError<'E_SCHEMA_CONVERSION'> {
  static override readonly code = 'E_SCHEMA_CONVERSION'
}

/** A policy or a person refused the call. */
export class ToolDeniedError extends ToolError<'E_TOOL_DENIED'> {
  static override readonly code = 'E_TOOL_DENIED'
  /** What the model is shown in place of the message, where the policy says so. */
  readonly toolResult?: unknown

  constructor(message: string, details: ToolErrorDetails & { readonly toolResult?: unknown } = {}) {
    super(message, details)
    if (details.toolResult !== undefined) {
      Object.defineProperty(this, 'toolResult', { value: details.toolResult })
    }
  }
}

/** The token is unknown, used, or of another session or definition. */
export class ApprovalInvalidError extends ToolError<'E_APPROVAL_INVALID'> {
  static override readonly code = 'E_APPROVAL_INVALID'
}

/** Nobody answered the request for approval in time. */
export class ApprovalExpiredError extends ToolError<'E_APPROVAL_EXPIRED'> {
  static override readonly code = 'E_APPROVAL_EXPIRED'
}

/** The handler threw, or said that it failed; `cause` is what it threw. */
export class ToolDownstreamError extends ToolError<'E_TOOL_DOWNSTREAM_ERROR'> {
  static override readonly code = 'E_TOOL_DOWNSTREAM_ERROR'
}

/** The deadline passed before the call was done. */
export class ToolTimeoutError extends ToolError<'E_TOOL_TIMEOUT'> {
  static override readonly code = 'E_TOOL_TIMEOUT'
}

/** The caller gave the call up, or the executor closed. */
export class ToolCancelledError extends ToolError<'E_TOOL_CANCELLED'> {
  static override readonly code = 'E_TOOL_CANCELLED'
}

/** The result does not fit `outputSchema`, or cannot be kept without loss. */
export class InvalidToolResultError extends ToolError<'E_INVALID_TOOL_RESULT'> {
  static override readonly code = 'E_INVALID_TOOL_RESULT'
}

/** The client did not answer in time. */
export class ClientToolError extends ToolError<'E_CLIENT_TOOL'> {
  static override readonly code = 'E_CLIENT_TOOL'
}

/** This executor cannot run a tool of this type. */
export class InvalidExecutionTypeError extends ToolError<'E_INVALID_EXECUTION_TYPE'> {
  static override readonly code = 'E_INVALID_EXECUTION_TYPE'
}

/** An invocation with this id is already running. */
export class DuplicateInvocationError extends ToolError<'E_DUPLICATE_INVOCATION'> {
  static override readonly code = 'E_DUPLICATE_INVOCATION'
}

/** A record cannot go from its state to the one that was asked. */
export class IllegalTransitionError extends ToolError<'E_ILLEGAL_TRANSITION'> {
  static override readonly code = 'E_ILLEGAL_TRANSITION'
}

/** A result could not be written, found or read. */
export class ArtifactError extends ToolError<'E_ARTIFACT'> {
  static override readonly code = 'E_ARTIFACT'
}

/** The journal could not be written or read. */
export class JournalError extends ToolError<'E_JOURNAL'> {
  static override readonly code = 'E_JOURNAL'
}

/** The call was left unfinished by a process that died, and has been closed. */
export class SealedError extends ToolError<'E_SEALED'> {
  static override readonly code = 'E_SEALED'
}

/** An option of the executor, a registry or an extension is wrong. */
export class InvalidConfigurationError extends ToolError<'E_INVALID_CONFIGURATION'> {
  static override readonly code = 'E_INVALID_CONFIGURATION'
}

/** A fault of this package; the call is settled all the same. */
export class InternalError extends ToolError<'E_INTERNAL'> {
  static override readonly code = 'E_INTERNAL'
}

/**
 * Thrown by a handler to say that it failed, and what the model could do about it.
 *
 * A handler that returns `{ ok: false, error }`, with `recommendations` and `note` or without and with nothing else, says the
 * same; an object with any other member is a result.
 */
export class ToolFailure extends Error {
  readonly recommendations: readonly string[]
  readonly retryable: boolean

  /**
   * @param message What went wrong, for the model to read.
   * @param details `recommendations`: what to try next, one sentence each; `retryable`: whether the same call may succeed later (default `false`).
   */
  constructor(message: string, details: { recommendations?: readonly string[]; retryable?: boolean } = {}) {
    super(message)
    Object.defineProperty(this, 'name', { value: 'ToolFailure', configurable: true, writable: true })
    Object.defineProperty(this, failureBrand, { value: true })
    const { recommendations } = details
    this.recommendations = Array.isArray(recommendations) ? recommendations.map(String) : []
    this.retryable = details.retryable ?? false
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!isBranded(value, failureBrand)) return false
    return this === ToolFailure || Object.prototype.isPrototypeOf.call(this.prototype, value as object)
  }
}
