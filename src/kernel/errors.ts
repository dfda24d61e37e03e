import type { Issue } from './schema/standard.ts'
import { shortened } from './json/shortened.ts'

/** How a call has settled. */
export type SettledStatus = 'ok' | 'error' | 'denied' | 'timed_out' | 'cancelled'
/** How a call has settled, or that it waits. */
export type CallStatus = SettledStatus | 'waiting'

/** The kind of an error, derived from types and codes, never from message text. */
export type ErrorCategory =
  'network' | 'rate_limit' | 'auth' | 'validation' | 'timeout' | 'cancelled' | 'application' | 'unknown'

type ErrorRow = readonly [category: ErrorCategory, status?: Exclude<SettledStatus, 'ok'>, retryable?: boolean]

/**
 * Every code: its category, the status of a call that it ends (default `error`), and `retryable`: whether the same call may
 * succeed later (default `false`). An error may override its category and `retryable`.
 */
const table = {
  E_INVALID_INITIAL_TOOL_VALUE: ['validation'],
  E_TOOL_NOT_FOUND: ['validation'],
  E_TOOL_NO_HANDLER: ['application'],
  E_TOOL_ALREADY_REGISTERED: ['validation'],
  E_INVALID_TOOL_ARGS: ['validation'],
  E_UNCANONICAL_ARGS: ['validation'],
  E_VALIDATOR_FAILED: ['application', 'error', true],
  E_SCHEMA_CONVERSION: ['validation'],
  E_TOOL_DENIED: ['auth', 'denied'],
  E_APPROVAL_INVALID: ['auth'],
  E_APPROVAL_EXPIRED: ['timeout', 'denied'],
  E_LEASED: ['application', 'error', true],
  E_UNAVAILABLE: ['application', 'error', true],
  E_TOOL_DOWNSTREAM_ERROR: ['application'],
  E_TOOL_TIMEOUT: ['timeout', 'timed_out'],
  E_TOOL_CANCELLED: ['cancelled', 'cancelled'],
  E_INVALID_TOOL_RESULT: ['validation'],
  E_CLIENT_TOOL: ['timeout', 'timed_out'],
  E_INVALID_EXECUTION_TYPE: ['validation'],
  E_DUPLICATE_INVOCATION: ['application'],
  E_ILLEGAL_TRANSITION: ['application'],
  E_ARTIFACT: ['application'],
  E_JOURNAL: ['application'],
  E_SEALED: ['application'],
  E_INVALID_CONFIGURATION: ['validation'],
  E_INTERNAL: ['unknown'],
} as const

/** The code of an error. */
export type ErrorCode = keyof typeof table

/** The details of an error beside its message. */
export interface ToolErrorDetails {
  readonly cause?: unknown
  readonly issues?: readonly Issue[] | undefined
  readonly recommendations?: readonly string[] | undefined
  readonly retryable?: boolean | undefined
  readonly category?: ErrorCategory | undefined
  /** Whether a model may read the message; `false` shows it a generic line. Default: `true`. */
  readonly exposed?: boolean | undefined
}

// Registered symbols, so that two copies of the package in one process recognise each other's errors.
const errorBrand: unique symbol = Symbol.for('toolwright.error') as never
const failureBrand: unique symbol = Symbol.for('toolwright.failure') as never

// Limits, since errors go into records and events.
export const longestMessage = 8_192
const longestErrorLine = 1_024
const longestKey = 256
const [mostIssues, mostInIssues] = [100, 65_536]

/**
 * The base of every error that the kernel throws or settles a call with. Each `code` has a subclass.
 * `message` has at most 8,192 characters; a longer one becomes the `cause`, if no other was given. `issues` are at most 101.
 * @example if (error instanceof ToolError && error.retryable) console.log('Try again:', error.code)
 */
export class ToolError<Code extends ErrorCode = ErrorCode> extends Error {
  static readonly code: ErrorCode = 'E_INTERNAL'
  readonly code: Code
  readonly category: ErrorCategory
  readonly retryable: boolean
  readonly exposed: boolean
  readonly issues?: readonly Issue[]
  readonly recommendations?: readonly string[]
  /** The call that it belongs to; set when the call settles. */
  toolName?: string
  callId?: string | null
  invocationId?: string

  constructor(message: string, details: ToolErrorDetails = {}) {
    const { cause = message.length > longestMessage ? message : undefined, issues, recommendations: advice } = details
    super(shortened(message, longestMessage), cause === undefined ? undefined : { cause })
    this.code = new.target.code as Code
    const [category, , retryable = false]: ErrorRow = table[this.code]
    Object.defineProperty(this, 'name', { value: classNameOf(this.code), configurable: true, writable: true })
    Object.defineProperty(this, errorBrand, { value: this })
    this.category = details.category ?? category
    this.retryable = details.retryable ?? retryable
    this.exposed = details.exposed ?? true
    if (issues) this.issues = firstOf(issues)
    if (advice) this.recommendations = [...advice].slice(0, 16).map((line) => shortened(String(line), longestErrorLine))
  }

  /** Restores an error from the JSON of `toJSON`, without its stack and cause. */
  static restore(written: Record<string, unknown>): ToolError {
    const { code, message, category, retryable, recommendations, issues } = written as Partial<ToolError>
    const error = new ToolError(String(message), { category, retryable, recommendations, issues })
    const knownCode = code !== undefined && Object.hasOwn(table, code) ? code : 'E_INTERNAL'
    const { toolName, callId, invocationId } = written
    return Object.assign(error, { code: knownCode, name: classNameOf(knownCode), toolName, callId, invocationId })
  }

  /** Returns what may leave the process: never the stack, never the cause. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, category, retryable, toolName, callId, invocationId, issues, recommendations } = this
    return { name, code, message, category, retryable, toolName, callId, invocationId, issues, recommendations }
  }

  /** Compares the code, not only the prototype, so that an error of another copy of the package is recognised. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!isToolError(value)) return false
    if (this === ToolError || Object.prototype.isPrototypeOf.call(this.prototype, value)) return true
    return Object.hasOwn(this, 'code') && value.code === this.code
  }
}

export function statusOf(error: ToolError): NonNullable<ErrorRow[1]> {
  return (table[error.code] as ErrorRow)[1] ?? 'error'
}

/** Returns the name of a code's class: `ToolNotFoundError` of `E_TOOL_NOT_FOUND`. */
function classNameOf(code: ErrorCode): string {
  const words = code.replace(/_ERROR$/, '').toLowerCase()
  return `${words.replace(/^e|_(.)/g, (_, letter = '') => String(letter).toUpperCase())}Error`
}

/** Returns the issues if they are few and short, else the first ones and an issue with the number of the others. */
function firstOf(issues: readonly Issue[]): readonly Issue[] {
  const first: Issue[] = []
  let [length, isWhole] = [0, true]
  for (const issue of issues.slice(0, mostIssues)) {
    const message = shortened(issue.message, longestErrorLine)
    const path = issue.path.map((key) => (typeof key === 'string' ? shortened(key, longestKey) : key))
    length += path.reduce<number>((sum, key) => sum + String(key).length + 4, message.length)
    if (length > mostInIssues) break
    isWhole &&= message === issue.message && path.every((key, index) => key === issue.path[index])
    first.push({ message, path })
  }
  const more = issues.length - first.length
  if (more === 0) return isWhole ? issues : first
  return [...first, { message: `and ${more} more`, path: [] }]
}

/** Whether a value is its own brand. A proxy has its target's; its traps may throw at any time. */
function isBranded(value: unknown, brand: symbol): boolean {
  try {
    return (value as never)[brand] === value && Object.hasOwn(value as object, brand)
  } catch {
    return false
  }
}

/** Whether a value is an error of any copy of this package. @example const words = isToolError(error) && error.message */
export function isToolError(value: unknown): value is ToolError {
  return isBranded(value, errorBrand)
}

interface ErrorClass<Instance extends ToolError> {
  readonly code: Instance['code']
  readonly prototype: Instance
  new (message: string, details?: ToolErrorDetails): Instance
}

/* @__NO_SIDE_EFFECTS__ */
function classOf<Instance extends ToolError>(code: Instance['code']): ErrorClass<Instance> {
  const Class = class extends ToolError {
    static override readonly code = code
  }
  return Object.defineProperty(Class, 'name', { value: classNameOf(code) }) as unknown as ErrorClass<Instance>
}

/** The config of a tool is wrong; the message and `issues` name every wrong field. */
export interface InvalidInitialToolValueError extends ToolError<'E_INVALID_INITIAL_TOOL_VALUE'> {}
export const InvalidInitialToolValueError: ErrorClass<InvalidInitialToolValueError> =
  classOf('E_INVALID_INITIAL_TOOL_VALUE')
/** The caller named a tool that does not exist, or that it may not see. */
export interface ToolNotFoundError extends ToolError<'E_TOOL_NOT_FOUND'> {}
export const ToolNotFoundError: ErrorClass<ToolNotFoundError> = classOf('E_TOOL_NOT_FOUND')
/** The tool has no handler that could run here. */
export interface ToolNoHandlerError extends ToolError<'E_TOOL_NO_HANDLER'> {}
export const ToolNoHandlerError: ErrorClass<ToolNoHandlerError> = classOf('E_TOOL_NO_HANDLER')
/** The registry has a tool of this or a too similar name. */
export interface ToolAlreadyRegisteredError extends ToolError<'E_TOOL_ALREADY_REGISTERED'> {}
export const ToolAlreadyRegisteredError: ErrorClass<ToolAlreadyRegisteredError> = classOf('E_TOOL_ALREADY_REGISTERED')
/** The args are not JSON, or do not fit the tool's schema; `issues` has the places. */
export interface InvalidToolArgsError extends ToolError<'E_INVALID_TOOL_ARGS'> {}
export const InvalidToolArgsError: ErrorClass<InvalidToolArgsError> = classOf('E_INVALID_TOOL_ARGS')
/** The args have no canonical form: not JSON, too deep, too large, or ambiguous. */
export interface UncanonicalArgsError extends ToolError<'E_UNCANONICAL_ARGS'> {}
export const UncanonicalArgsError: ErrorClass<UncanonicalArgsError> = classOf('E_UNCANONICAL_ARGS')
/** The validator itself failed; the args may have been right. */
export interface ValidatorFailedError extends ToolError<'E_VALIDATOR_FAILED'> {}
export const ValidatorFailedError: ErrorClass<ValidatorFailedError> = classOf('E_VALIDATOR_FAILED')
/** A schema cannot be used, or cannot be shown to a model as JSON Schema. */
export interface SchemaConversionError extends ToolError<'E_SCHEMA_CONVERSION'> {}
export const SchemaConversionError: ErrorClass<SchemaConversionError> = classOf('E_SCHEMA_CONVERSION')
/** The token is unknown, used, or of another session or definition. */
export interface ApprovalInvalidError extends ToolError<'E_APPROVAL_INVALID'> {}
export const ApprovalInvalidError: ErrorClass<ApprovalInvalidError> = classOf('E_APPROVAL_INVALID')
/** The request for approval was not answered in time. */
export interface ApprovalExpiredError extends ToolError<'E_APPROVAL_EXPIRED'> {}
export const ApprovalExpiredError: ErrorClass<ApprovalExpiredError> = classOf('E_APPROVAL_EXPIRED')
/** A client that lives holds the waiting call. The call still waits: answer again when the lease has run out. */
export interface LeasedError extends ToolError<'E_LEASED'> {}
export const LeasedError: ErrorClass<LeasedError> = classOf('E_LEASED')
/** The call cannot run here or now: the worker lacks its tool, or too many calls wait. */
export interface UnavailableError extends ToolError<'E_UNAVAILABLE'> {}
export const UnavailableError: ErrorClass<UnavailableError> = classOf('E_UNAVAILABLE')
/** The handler threw or reported a failure; `cause` is what it threw. */
export interface ToolDownstreamError extends ToolError<'E_TOOL_DOWNSTREAM_ERROR'> {}
export const ToolDownstreamError: ErrorClass<ToolDownstreamError> = classOf('E_TOOL_DOWNSTREAM_ERROR')
/** The deadline passed before the call ended. */
export interface ToolTimeoutError extends ToolError<'E_TOOL_TIMEOUT'> {}
export const ToolTimeoutError: ErrorClass<ToolTimeoutError> = classOf('E_TOOL_TIMEOUT')
/** The caller cancelled the call, or the executor closed. */
export interface ToolCancelledError extends ToolError<'E_TOOL_CANCELLED'> {}
export const ToolCancelledError: ErrorClass<ToolCancelledError> = classOf('E_TOOL_CANCELLED')
/** The result does not fit `outputSchema`, or cannot be kept without loss. */
export interface InvalidToolResultError extends ToolError<'E_INVALID_TOOL_RESULT'> {}
export const InvalidToolResultError: ErrorClass<InvalidToolResultError> = classOf('E_INVALID_TOOL_RESULT')
/** The client did not answer in time. */
export interface ClientToolError extends ToolError<'E_CLIENT_TOOL'> {}
export const ClientToolError: ErrorClass<ClientToolError> = classOf('E_CLIENT_TOOL')
/** This executor cannot run a tool of this type. */
export interface InvalidExecutionTypeError extends ToolError<'E_INVALID_EXECUTION_TYPE'> {}
export const InvalidExecutionTypeError: ErrorClass<InvalidExecutionTypeError> = classOf('E_INVALID_EXECUTION_TYPE')
/** An invocation with this id is already running. */
export interface DuplicateInvocationError extends ToolError<'E_DUPLICATE_INVOCATION'> {}
export const DuplicateInvocationError: ErrorClass<DuplicateInvocationError> = classOf('E_DUPLICATE_INVOCATION')
/** A record cannot change from its state to the requested one. */
export interface IllegalTransitionError extends ToolError<'E_ILLEGAL_TRANSITION'> {}
export const IllegalTransitionError: ErrorClass<IllegalTransitionError> = classOf('E_ILLEGAL_TRANSITION')
/** A result could not be written, found or read. */
export interface ArtifactError extends ToolError<'E_ARTIFACT'> {}
export const ArtifactError: ErrorClass<ArtifactError> = classOf('E_ARTIFACT')
/** The journal could not be written or read. */
export interface JournalError extends ToolError<'E_JOURNAL'> {}
export const JournalError: ErrorClass<JournalError> = classOf('E_JOURNAL')
/** The call was left unfinished by a process that died, and has been closed. */
export interface SealedError extends ToolError<'E_SEALED'> {}
export const SealedError: ErrorClass<SealedError> = classOf('E_SEALED')
/** An option of the executor, a registry or an extension is wrong. */
export interface InvalidConfigurationError extends ToolError<'E_INVALID_CONFIGURATION'> {}
export const InvalidConfigurationError: ErrorClass<InvalidConfigurationError> = classOf('E_INVALID_CONFIGURATION')
/** A fault of this package; the call is settled nevertheless. */
export interface InternalError extends ToolError<'E_INTERNAL'> {}
export const InternalError: ErrorClass<InternalError> = classOf('E_INTERNAL')

/** A policy or a person refused the call. */
export class ToolDeniedError extends ToolError<'E_TOOL_DENIED'> {
  static override readonly code = 'E_TOOL_DENIED'
  /** What the model is shown instead of the message, if the policy gave it. */
  readonly toolResult?: unknown

  constructor(message: string, details: ToolErrorDetails & { readonly toolResult?: unknown } = {}) {
    super(message, details)
    if (details.toolResult !== undefined) Object.defineProperty(this, 'toolResult', { value: details.toolResult })
  }
}

/**
 * A handler throws it to report a failure, and what the model could do next. A returned
 * `{ ok: false, error }`, optionally with `recommendations` and `note`, means the same. With another member it is a result.
 * @example throw new ToolFailure('Room 12 is taken.', { recommendations: ['Ask for another room.'] })
 */
export class ToolFailure extends Error {
  readonly recommendations: readonly string[]
  readonly retryable: boolean
  readonly category?: ErrorCategory
  readonly effect?: 'none' | 'completed'
  /**
   * @param message What went wrong, for the model to read.
   * @param details `recommendations`: what to try next, one sentence each; `retryable`: whether the same call may succeed later (default `false`);
   *   `category` (default `application`); `effect`: what the handler knows of the side effect of this attempt (default: unknown).
   */
  constructor(message: string, details: Partial<Omit<ToolFailure, keyof Error>> = {}) {
    super(message)
    Object.defineProperty(this, 'name', { value: 'ToolFailure', configurable: true, writable: true })
    Object.defineProperty(this, failureBrand, { value: this })
    this.recommendations = Array.isArray(details.recommendations) ? details.recommendations.map(String) : []
    this.retryable = details.retryable ?? false
    if (details.category !== undefined) this.category = details.category
    if (details.effect !== undefined) this.effect = details.effect
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!isBranded(value, failureBrand)) return false
    return this === ToolFailure || Object.prototype.isPrototypeOf.call(this.prototype, value as object)
  }
}
