import type { SpooledArtifact } from './artifact.ts'
import type { ContentBlock } from './content.ts'
import type { ToolError } from './errors.ts'

/** What a model, a person or an app asks for. */
export interface ToolCall {
  /** The provider's own id of the call: echoed in the reply, and the key of nothing. */
  readonly id?: string | number | undefined
  readonly name: string
  /** The arguments as a value, or as JSON text. */
  readonly args?: unknown
  /** What the provider answered itself; for tools of type `provider` only. */
  readonly result?: unknown
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

/** A call of any shape, as one that the passage can answer. */
export function callOf(given: ToolCall): ToolCall {
  try {
    const { id, name, args, result } = (given ?? {}) as { [Field in keyof ToolCall]?: unknown }
    return {
      id: typeof id === 'string' || typeof id === 'number' ? id : undefined,
      name: typeof name === 'string' ? name : '',
      args,
      result,
    }
  } catch {
    return { name: '' } // whatever it is, it names no tool
  }
}
