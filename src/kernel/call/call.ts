import { valueKind } from '../json/value-kind.ts'
import type { SpooledArtifact } from '../result/artifact.ts'
import type { ContentBlock } from '../result/content.ts'
import { InvalidConfigurationError, InvalidToolArgsError, JournalError, ToolNotFoundError } from '../errors.ts'
import type { CallStatus, ToolError } from '../errors.ts'
import type { CallOptions } from './context-types.ts'
import { shortened } from '../json/shortened.ts'
import { sha256 } from '#sha256'
import { isObject } from '../schema/json-schema.ts'

/** A program that a provider runs for the model, as its message names it. */
export interface CallingProgram {
  /** The provider's word, such as `program` or `code_execution_20260120`: at most 256 characters. */
  readonly type: string
  /** The provider's id of the program: at most 256 characters. */
  readonly id?: string
}

/** What a model, a person or an app asks for. */
export interface ToolCall {
  /** The provider's id of the call. It is repeated in the reply and identifies nothing else. */
  readonly id?: string | number | undefined
  readonly name: string
  /** The arguments as a value, or as JSON text. */
  readonly args?: unknown
  /** The provider's own result, for tools of type `provider` only. */
  readonly result?: unknown
  /** The model's program that makes the call. It gives no right, and is no part of the `callId`. Default: none. */
  readonly program?: CallingProgram | undefined
  /** Names that providers use for the args. Their blocks are not calls: a format turns a message into calls. */
  readonly input?: never
  readonly arguments?: never
  readonly parameters?: never
}

/** A call as it enters the pipeline. */
export interface TakenCall extends ToolCall {
  /** Why it cannot be run. */
  readonly refusal?: ToolError
  /** The bridge that named the tool. */
  readonly via?: string | undefined
}

/** The side effect of a call: `none` happened, it is `completed`, or it is `unknown` whether it happened. */
export type SideEffect = 'none' | 'completed' | 'unknown'

/**
 * The result of a call. Its JSON is stable, and a format makes the same reply of it. It has no `token`, and as the artifact
 * `{ kind, mediaType, byteLength, handle? }`.
 */
export interface ToolResult {
  readonly id?: string | number
  readonly invocationId: string
  /** 64 hexadecimal digits, the same for the same tool and args on every machine; `null` if the args have no canonical form. */
  readonly callId: string | null
  readonly toolName: string
  /** The bridge that the model called, if its args named the tool. */
  readonly via?: string
  readonly status: CallStatus
  readonly effect: SideEffect
  readonly isError: boolean
  /** The content for the model. Its size is limited. */
  readonly content: readonly ContentBlock[]
  /** Everything that the handler returned, for queries. */
  readonly artifact?: SpooledArtifact
  /** The store's handle of the artifact. A small result has none: it is in this object alone. */
  readonly handle?: string
  readonly error?: ToolError
  /**
   * What the handler returned, as `outputSchema` returned it and with secrets masked, if the result is `ok` and whole in this
   * object; else `undefined`, and `artifact` has the rest. It is not enumerable. A result that was read from a record has its
   * one json block or its one text, unless the text may have been a number, a boolean or `null`.
   */
  readonly value?: unknown
  /** The args of a tool of type `output`, as its schema returned them. `outputsOf` collects them. */
  readonly output?: unknown
  /** A policy gave the result, or a middleware knew the outcome. The handler did not run. */
  readonly skipped?: true
  /**
   * Redeems a `waiting` call, once. The holder can approve the call: hide it from the caller. It is not enumerable, so neither
   * the JSON of the result nor a copy has it.
   */
  readonly token?: string
  /** When the token expires, in milliseconds since the epoch. */
  readonly expiresAt?: number
  /** From receipt to settlement, in milliseconds of a monotonic clock. The JSON of the result leaves it out. */
  readonly durationMs: number
}

/** An outcome that is known without a run, such as that of an equal call. */
export type KnownOutcome = Pick<ToolResult, 'status' | 'effect' | 'content'> &
  Partial<Pick<ToolResult, 'artifact' | 'handle' | 'error' | 'value'>>

/** With it ends the id of a record that says what was found out about another. */
export const findingMark = '~reconciled'

export const longestName = 256
const longestId = 65_536
const longestLabel = 1_024
const strangers = ['input', 'arguments', 'parameters', 'params']

/** Makes a call from any value, so that the pipeline can always answer. The answer has the whole id. */
export function callOf(candidate: ToolCall): TakenCall {
  try {
    const { id, name, args, result, program } = (candidate ?? {}) as { [Field in keyof ToolCall]?: unknown }
    const call: TakenCall = {
      id: typeof id === 'string' || typeof id === 'number' ? id : undefined,
      name: typeof name === 'string' ? shortened(name, longestName) : '',
      args,
      result,
    }
    const isLong = typeof id === 'string' && id.length > longestId
    const mayBeWrong = isLong || args === undefined || typeof name !== 'string'
    const refusal = mayBeWrong ? refusalOf(candidate, call, name) : undefined
    if (refusal === undefined && program === undefined) return call
    return { ...call, ...(refusal && { refusal }), ...(isProgram(program) && { program: callingProgram(program) }) }
  } catch {
    return { name: '' } // a value that cannot be read names no tool
  }
}

function isProgram(value: unknown): value is CallingProgram {
  return isObject(value) && 'type' in value && typeof value.type === 'string'
}

function callingProgram({ type, id }: CallingProgram): CallingProgram {
  return { type: shortened(type, longestName), ...(typeof id === 'string' && { id: shortened(id, longestName) }) }
}

/** Returns the id for events and records. A long id becomes its beginning and its SHA-256. */
export function shortId(id: ToolCall['id']): ToolCall['id'] {
  if (typeof id !== 'string' || id.length <= longestLabel) return id
  return `${shortened(id, 256)}${sha256(id)}`
}

/** Refuses what is no call, and a call whose args have another name, since it would run without them. */
function refusalOf(candidate: unknown, { id, args, name }: ToolCall, named: unknown): ToolError | undefined {
  if (typeof id === 'string' && id.length > longestId) {
    return new InvalidToolArgsError(`The id of the call has ${id.length} characters. Use one of at most ${longestId}.`)
  }
  const has = (field: string): boolean =>
    args === undefined && Object.hasOwn(Object(candidate), field) && candidate![field as never] !== undefined
  const stranger = name === '' && has('function') ? 'function' : strangers.find(has)
  if (stranger !== undefined) {
    const [ours, fields, format] =
      stranger === 'function'
        ? ['name', 'name: call.function.name, args: call.function.arguments', 'openai']
        : ['args', `name, args: block.${stranger}`, 'anthropic']
    return new InvalidToolArgsError(
      `The call has \`${stranger}\` and no \`${ours}\`, so nothing was run. Pass { id, ${fields} }, or make calls of the whole message with a format, such as ${format}().calls(message).`,
    )
  }
  if (typeof named === 'string') return undefined
  const kind = valueKind(isObject(candidate) ? named : candidate)
  return new ToolNotFoundError(
    `A call is an object { name, args } with text as \`name\`, and not ${kind}, so nothing was run.`,
  )
}

/** Requires the application's names for a call to be short text, since each event has them. */
export function requireNames(options: CallOptions): void {
  const { session, principal, invocationId, caller } = options
  const app = callerApp(caller)
  if (typeof invocationId === 'string' && invocationId.endsWith(findingMark)) {
    throw new InvalidConfigurationError(
      `No \`invocationId\` ends in ${findingMark}: such records say what was found out.`,
    )
  }
  if (isShortName(session) && isShortName(principal) && isShortName(invocationId) && isShortName(app)) return
  throw new InvalidConfigurationError(
    `\`session\`, \`principal\`, \`invocationId\` and the app of \`caller\` are text of at most ${longestLabel} characters each.`,
  )
}

function isShortName(name: unknown): boolean {
  return name === undefined || (typeof name === 'string' && name.length <= longestLabel)
}

/** Returns the app of a caller. @throws `E_INVALID_CONFIGURATION` if there is no such caller, who would see no tool. */
export function callerApp(caller: unknown = 'model'): string | undefined {
  const app = (caller as { readonly app?: string } | null)?.app
  if (caller === 'model' || caller === 'user' || typeof app === 'string') return app
  throw new InvalidConfigurationError("`caller` is 'model', 'user' or { app: 'its server' }.")
}

/** Returns the id of an invocation. @throws `E_INVALID_CONFIGURATION` if it is no text. */
export function idOf(invocationId: string): string {
  if (typeof invocationId === 'string') return invocationId
  throw new InvalidConfigurationError(`The id of an invocation is text, and not ${typeof invocationId}.`)
}

export function noJournal(what: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`${what} without a journal: give the executor one in \`use\`.`)
}

/** Makes the error for a call that has no record. */
export function noRecord(invocationId: string): JournalError {
  return new JournalError(
    `Tool record not found: ${invocationId}. Give the \`invocationId\` of a result, not its \`callId\` or the provider's \`id\`. \`calls.list()\` lists the calls.`,
  )
}
