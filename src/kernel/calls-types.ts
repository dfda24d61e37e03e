import type { ToolResult } from './call/call.ts'
import type { WaitingCall } from './call/wait.ts'
import type { RecordChange, RecoverOptions, Recovery, ToolCallSnapshot } from './call/record.ts'
import type { ApprovalAnswer } from './call/approval.ts'
import type { CallOptions, ToolValues } from './call/context-types.ts'

/** Options of an answer to a waiting call. */
export interface DecideOptions extends Omit<ApprovalAnswer, 'decision'> {
  /** Args to use instead. They are identified and validated anew. */
  readonly editedArgs?: unknown
  /** If given, the call must belong to this session. */
  readonly session?: string
  /** Who answers. If a client holds a lease of the call, it has to be that client. */
  readonly holder?: string
  /** The application's data for the rest of the call. Default: the values of the call, if it began to wait in this process. */
  readonly values?: ToolValues
  /** Cancels the rest of the call. */
  readonly signal?: AbortSignal | undefined
}

/** Options of a client's answer to a waiting call. */
export type RespondOptions = Pick<DecideOptions, 'session' | 'holder' | 'values' | 'signal'>

/** Which waiting calls. Default: all. */
export interface WaitingQuery {
  readonly session?: string
  readonly invocationId?: string
  readonly reason?: WaitingCall['reason']
}

/** Which calls, newest first. */
export interface CallQuery {
  readonly session?: string
  /** The invocation whose handler made them. */
  readonly parent?: string
  /** The last snapshot of the page before. */
  readonly before?: Pick<ToolCallSnapshot, 'createdAt' | 'id'>
  /** Default: 50. */
  readonly limit?: number
}

/** Which records to delete: those that settled before a time, oldest first. */
export interface PruneQuery {
  readonly settledBefore: Date | number
  /** Default: all of them. */
  readonly limit?: number
}

/** The calls in the records of an executor, as its recorder knows them. */
export interface RecordedCalls {
  /** Lists the calls that wait for an answer, newest first. Expired ones are left out. */
  waiting(query?: WaitingQuery): Promise<WaitingCall[]>
  /**
   * Reserves a waiting call for one of several clients, or prolongs its lease. Returns the call and its args, unmasked for a
   * client's call. Returns `undefined` if another client holds it, or it waits no more.
   *
   * @param holder The client, up to 1,024 characters. It answers with `{ holder }`.
   * @param milliseconds How long no other client may answer.
   * @throws `E_APPROVAL_INVALID` if `call` was not listed in this process; `E_INVALID_CONFIGURATION`; `E_JOURNAL`.
   */
  lease(
    call: WaitingCall,
    holder: string,
    milliseconds: number,
  ): Promise<{ readonly call: WaitingCall; readonly args: unknown } | undefined>
  /** Lists calls in any state, newest first. */
  list(query?: CallQuery): Promise<ToolCallSnapshot[]>
  /**
   * Waits until a call has settled, here or in another process. Returns its result. Without a journal, the result of a call that
   * has waited is kept until it is asked for once: the newest 10,000, up to 64 MiB.
   *
   * @param call A result, which may be `waiting`, or an `invocationId`.
   * @throws `E_JOURNAL` if the call has no record; `E_TOOL_CANCELLED` if `signal` aborts, or the executor closes.
   */
  settled(call: ToolResult | string, options?: Pick<CallOptions, 'signal'>): Promise<ToolResult>
  /**
   * Cancels a call that waits or runs. The executor of another process is asked, and does it once the journal tells it.
   *
   * @param reason The message of the error, for the model.
   * @returns `'not found'` if there is no such call, or it has settled.
   */
  cancel(invocationId: string, reason?: string): Promise<'cancelled' | 'asked' | 'not found'>
  /** Closes the calls that waited too long: `denied`, `E_APPROVAL_EXPIRED`, or `timed_out`, `E_CLIENT_TOOL`. `recover` does too. */
  expire(): Promise<ToolCallSnapshot[]>
  /**
   * Deletes records of settled calls, and their content in the artifact store. Returns how many.
   *
   * @throws `E_INVALID_CONFIGURATION` without a journal that deletes; `E_JOURNAL`.
   */
  prune(query: PruneQuery): Promise<number>
  /**
   * Calls the listener after a record in the journal has changed, here or in another process. It is a hint: a change may be told
   * late, twice or not at all. Without a journal that watches, no change is told. Returns an unsubscribe function.
   *
   * @param listener `change`: what has become of the call, if the journal knows.
   * @throws `E_JOURNAL` if the journal is closed.
   */
  watch(listener: (invocationId: string, session: string, change?: RecordChange) => void): () => void
}

/**
 * The book of calls: those that wait, run or have settled. Without a journal these are the calls in flight and the waiting
 * calls of this executor. A journal that fails rejects with `E_JOURNAL`, `retryable`.
 */
export interface ExecutorCalls extends RecordedCalls {
  /**
   * Returns the state of a call, in flight or settled, from its record.
   *
   * @throws `E_JOURNAL` if it has no record, or there is no journal.
   */
  get(invocationId: string): Promise<ToolCallSnapshot>
  /**
   * Answers a call that waits for approval, and runs it here if the answer is `allow`. A denial needs no tool.
   *
   * @param token The `token` of the `waiting` result, or the call as `waiting` lists it; of use once.
   * @throws `E_APPROVAL_INVALID` if the token is unknown or used, or the tool to allow has changed or is not here; `E_APPROVAL_EXPIRED`;
   * `E_LEASED` if another client holds the call; `E_INVALID_TOOL_ARGS` or `E_UNCANONICAL_ARGS` if the edited args do not fit: then it still waits,
   * as after `E_INVALID_CONFIGURATION` for a decision that is neither.
   */
  decide(token: string | WaitingCall, decision: 'allow' | 'deny', options?: DecideOptions): Promise<ToolResult>
  /**
   * Passes a client's answer to the call that waits for it.
   *
   * @param token The `token` of the `waiting` result, or the call as `waiting` lists it; of use once.
   * @param value The client's answer. It has to fit the tool's `outputSchema`, unless it is a failure: `{ ok: false, error }`.
   * @throws `E_APPROVAL_INVALID` and `E_LEASED` as `decide` does; `E_INVALID_TOOL_RESULT` if the answer does not fit. Then the
   * call still waits, and the token is good. A late answer returns a `timed_out` result with `E_CLIENT_TOOL`.
   */
  respond(token: string | WaitingCall, value: unknown, options?: RespondOptions): Promise<ToolResult>
  /**
   * Returns the result of a call that has settled. If it is not known what the call did, asks `reconcile` of its tool. What that
   * finds out is written once, and is the result from then on. As long as it finds nothing out, this returns the first result.
   *
   * A tool that says `none` is not believed while the handler may still run: here, or in another executor that lives.
   *
   * @throws `E_INVALID_CONFIGURATION` without a journal; `E_JOURNAL` if the call has no record; `E_UNAVAILABLE` if it has not
   * settled; `E_TOOL_CANCELLED` if the executor closes.
   */
  reconcile(invocationId: string): Promise<ToolResult>
  /**
   * Closes the calls that dead executors left unfinished in the journal. It never runs a call again. It does not touch calls
   * of living executors, or calls that wait for an answer. A call of a tool with `reconcile` settles as that finds out.
   *
   * An executor counts as dead once it was silent for `staleAfter`, 30 seconds by default. Call this at the start and again
   * each minute, since calls of a process that died later are not closed yet.
   *
   * @throws `E_INVALID_CONFIGURATION` without a journal, or if an option is wrong; `E_JOURNAL`.
   */
  recover(options?: RecoverOptions): Promise<Recovery>
}
