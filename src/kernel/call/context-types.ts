import type { SpoolSource, StoredArtifact } from '../result/store.ts'

/** Who makes the call. It decides which tools are visible. An app names the server that it came from. */
export type Caller = 'model' | 'user' | { readonly app: string }

/** The application's data in the context of handlers, policies and middleware. Applications merge their fields into this interface. */
// oxlint-disable-next-line typescript/no-empty-object-type -- applications add the members by declaration merging
export interface ToolValues {}

/** A thing that calls of a tool touch: text is what is written, for the whole executor. */
export type Conflict =
  | string
  | {
      /** What is touched. `/` separates segments, and a key covers all keys below it. At most 1,024 characters. */
      readonly key: string
      /** Reads run beside each other. Default: `'write'`. */
      readonly mode?: 'read' | 'write' | undefined
      /** Whether calls of other sessions touch the same thing. Default: `'executor'`, they do. */
      readonly scope?: 'session' | 'executor' | undefined
    }

/** The application's options for a call. They are never read from the call itself. */
export interface CallOptions {
  /** Default: `'model'`. */
  readonly caller?: Caller | undefined
  /** Handles and approvals work only in the session that made them. Default: one random id for each executor. */
  readonly session?: string | undefined
  /** For whom the call is made, such as a user's id. A principal may have many sessions. Default: not known. */
  readonly principal?: string | undefined
  readonly values?: ToolValues | undefined
  /** Cancels the call. The caller gets the result at once, even if the handler continues. */
  readonly signal?: AbortSignal | undefined
  /** The identity of this occurrence, for at-most-once execution. Default: a new one. */
  readonly invocationId?: string | undefined
  /**
   * The context of the call whose handler makes this one. Its locks, and those of the calls around it, do not stand in the way of this
   * call, which has of it by default: principal, caller, values and signal. Its session is always the same. At most 8 calls are within
   * another. Default: none.
   */
  readonly parent?: ToolContext | undefined
  /** Makes a call that is not refused wait for `decide`, even if no policy asks or there is an `approver`. Default: `false`. */
  readonly requireApproval?: boolean | undefined
}

/** The context of a call for handlers, policies and middleware. */
export interface ToolContext {
  readonly callId: string
  /** The id of this occurrence. Use it as the idempotency key for other systems. */
  readonly invocationId: string
  readonly toolName: string
  readonly session: string
  /** For whom the call is made, if the application says so. */
  readonly principal: string | undefined
  readonly caller: Caller
  /** Aborts at the deadline and when the caller cancels. */
  readonly signal: AbortSignal
  /** 1 for the first run, plus 1 for each retry and for each worker that took the call before. */
  readonly attempt: number
  /** Grows with each executor that takes the call over: a condition for writes elsewhere. `0` if none did. */
  readonly fence: number
  readonly values: ToolValues
  /** Emits a `tool:progress` event. */
  readonly emit: (type: string, data?: unknown) => void
  /**
   * Keeps an artifact beside the result, in the executor's store and in this session. Secrets in it are not masked.
   *
   * Rejects with `E_ARTIFACT` if the store cannot take it, the call has settled, or the tool is called directly;
   * `E_INVALID_TOOL_RESULT` without `mediaType` or bytes.
   */
  readonly keep: (source: SpoolSource, described: { readonly mediaType: string }) => Promise<StoredArtifact>
}
