import { sha256 } from '#sha256'
import type { SpooledArtifact } from '../result/artifact.ts'
import type { ContentBlock } from '../result/content.ts'
import { InvalidToolArgsError, type ToolError } from '../errors.ts'
import { shortened } from '../json/text.ts'

/** What a model, a person or an app asks for. */
export interface ToolCall {
  /** The provider's own id of the call: echoed in the reply, and the key of nothing. */
  readonly id?: string | number | undefined
  readonly name: string
  /** The arguments as a value, or as JSON text. */
  readonly args?: unknown
  /** What the provider answered itself; for tools of type `provider` only. */
  readonly result?: unknown
  /** Providers and protocols call the args so. A block of theirs is no call: a format makes calls of a message. */
  readonly input?: never
  readonly arguments?: never
  readonly parameters?: never
}

/** A call as the passage takes it in. */
export interface TakenCall extends ToolCall {
  /** Why it cannot be run. */
  readonly refusal?: ToolError
}

/** Who asks: decides which tools are listed and may be called. An app names the server that it came from. */
export type Caller = 'model' | 'user' | { readonly app: string }

/** Data of the host's own that handlers, policies and middleware find in their context; hosts merge their fields into it. */
// oxlint-disable-next-line typescript/no-empty-object-type -- hosts add the members by declaration merging
export interface ToolValues {}

/** What the host says of a call; nothing of it is ever read from the call itself. */
export interface CallOptions {
  /** Default: `'model'`. */
  readonly caller?: Caller | undefined
  /** Handles and approvals are of use only in the session that made them. Default: one random id for each executor. */
  readonly session?: string | undefined
  /** For whom the call is made, such as a user's id: many sessions may be one principal's. Default: not known. */
  readonly principal?: string | undefined
  readonly values?: ToolValues | undefined
  /** Gives the call up: the caller is released at once, whatever the handler does. */
  readonly signal?: AbortSignal | undefined
  /** The identity of this occurrence, for at-most-once execution. Default: a new one. */
  readonly invocationId?: string | undefined
}

export type CallStatus = 'ok' | 'error' | 'denied' | 'timed_out' | 'cancelled' | 'pending'

/** What is known of the side effect: `none` happened, it is `completed`, or nobody can tell. */
export type SideEffect = 'none' | 'completed' | 'unknown'

/** What a settled call gives. As JSON, the artifact is `{ kind, mediaType, byteLength, handle? }`. */
export interface ToolResult {
  readonly id?: string | number
  readonly invocationId: string
  /** 64 hexadecimal digits, the same for the same tool and args on every machine; `null` where the args have no canonical form. */
  readonly callId: string | null
  readonly toolName: string
  readonly status: CallStatus
  readonly effect: SideEffect
  readonly isError: boolean
  /** What to show to the model, small by construction. */
  readonly content: readonly ContentBlock[]
  /** Everything that the handler returned, to be queried. */
  readonly artifact?: SpooledArtifact
  /** Under which the store keeps the artifact; absent for small results, which live in this object alone. */
  readonly handle?: string
  readonly error?: ToolError
  /** A policy gave the result, the handler did not run. */
  readonly skipped?: true
  /**
   * Redeems a `pending` call, once. Whoever holds it can approve the call, so it is not enumerable: neither the JSON of the
   * result nor a copy by spread, `Object.assign` or `structuredClone` has it. Read it from the result itself, and keep it
   * where the one who asked for the call cannot see it.
   */
  readonly token?: string
  /** When the token ends, in milliseconds since the epoch. */
  readonly expiresAt?: number
  /** From receipt to settlement, in milliseconds of a monotonic clock. */
  readonly durationMs: number
}

const longestName = 256
const longestId = 65_536
const longestToldId = 1_024
const strangers = ['input', 'arguments', 'parameters'] as const

/** Makes a call that the passage can answer of a value of any shape. Its answer keeps the whole id. */
export function callOf(given: ToolCall): TakenCall {
  try {
    const { id, name, args, result } = (given ?? {}) as { [Field in keyof ToolCall]?: unknown }
    const call = {
      id: typeof id === 'string' || typeof id === 'number' ? id : undefined,
      name: typeof name === 'string' ? shortened(name, longestName) : '',
      args,
      result,
    }
    const refusal = args === undefined || typeof id === 'string' ? refusalOf(given, call) : undefined
    return refusal === undefined ? call : { ...call, refusal }
  } catch {
    return { name: '' } // whatever it is, it names no tool
  }
}

/** Returns the id as events and records have it: a long one is its beginning and its SHA-256. */
export function toldId(id: ToolCall['id']): ToolCall['id'] {
  if (typeof id !== 'string' || id.length <= longestToldId) return id
  return `${shortened(id, 256)}${sha256(id)}`
}

/** A call whose args stand under another name would run without them. */
function refusalOf(given: object | null | undefined, { id, args }: ToolCall): ToolError | undefined {
  if (typeof id === 'string' && id.length > longestId) {
    return new InvalidToolArgsError(`The id of the call has ${id.length} characters. Use one of at most ${longestId}.`)
  }
  if (args !== undefined || typeof given !== 'object' || given === null) return undefined
  const stranger = strangers.find((field) => Object.hasOwn(given, field) && given[field as never] !== undefined)
  if (stranger === undefined) return undefined
  return new InvalidToolArgsError(
    `The call has \`${stranger}\` and no \`args\`, so nothing was run. Pass { id, name, args: block.${stranger} }, or make calls of the whole message with a format, such as anthropic().calls(message).`,
  )
}
