import type { ToolCall, ToolResult } from './call/call.ts'
import type { ToolEvent, ToolEventName, ToolEventOf } from './call/events.ts'
import type { PausedCall, Question, WaitingCall } from './call/pause.ts'
import type { RecordChange, RecoverOptions, Recovery, ToolCallSnapshot } from './call/record.ts'
import type { ToolError } from './errors.ts'
import type { ApprovalAnswer, Caller, CallOptions, Policy, Shelf, ToolValues } from './ports.ts'
import type { ToolDefinition } from './tool/definition.ts'

/** The host's options for a whole turn. */
export interface TurnOptions extends Omit<CallOptions, 'invocationId'> {
  /** Returns the id of each call, for at-most-once execution. Default: new ids. */
  readonly invocationId?: (call: ToolCall, index: number) => string
  /**
   * Whether to remove `ephemeral` tools from the executor's registry after the turn, as `ToolRegistry.pruneEphemeral` does.
   * They stay if a call of the turn is `pending`. Default: `false`.
   */
  readonly pruneEphemeral?: boolean
  /** Called with the calls before any of them starts. If it throws, none starts, and the turn rejects with its error. */
  readonly beforeTurn?: (calls: readonly ToolCall[]) => void | Promise<void>
  /**
   * Called with all results in the order of the calls, after each `beforeTurn` that did not throw. Its errors are reported,
   * since the calls have run.
   */
  readonly afterTurn?: (results: readonly ToolResult[]) => void | Promise<void>
}

/** The events of a name; of `'*'` all. */
export type EventNamed<Name extends ToolEventName | '*'> = Name extends ToolEventName ? ToolEventOf<Name> : ToolEvent

/** What would become of a call before it runs. */
export interface Weighing extends Partial<Omit<Question, 'input'>> {
  /** `allow`: it would run. `ask`: a person would be asked. `refuse`: it would settle with `error`. */
  readonly decision: 'allow' | 'ask' | 'refuse'
  /** `null` if the args have no canonical form or the tool is not known. */
  readonly callId: string | null
  /** The executor's `approver` would be asked. Otherwise the call would wait for `decide`. */
  readonly hasApprover?: true
  readonly error?: ToolError
}

/** Options of an answer to a paused call. */
export interface DecideOptions extends Omit<ApprovalAnswer, 'decision'> {
  /** Args to use instead. They are identified and validated anew. */
  readonly editedArgs?: unknown
  /** If given, the call must belong to this session. */
  readonly session?: string
  /** Who answers. If a client holds a lease of the call, it has to be that client. */
  readonly holder?: string
  /** The host's data for the rest of the call. Default: the values of the call, if it paused in this process. */
  readonly values?: ToolValues
  /** Cancels the rest of the call. */
  readonly signal?: AbortSignal | undefined
}

/** Options of a client's answer to a paused call. */
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

/**
 * The calls that wait, run or have settled. Without a journal these are the calls in flight and the paused calls of this
 * executor. A journal that fails rejects with `E_JOURNAL`, `retryable`.
 */
export interface Inbox {
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
  calls(query?: CallQuery): Promise<ToolCallSnapshot[]>
  /**
   * Waits until a call has settled, here or in another process. Returns its result. Without a journal, the result of a call that
   * has paused is kept until it is asked for once: the newest 10,000, up to 64 MiB.
   *
   * @param call A result, which may be `pending`, or an `invocationId`.
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

/** The calls that wait for workers. A worker asks it. */
export interface CallQueue {
  /**
   * Takes over calls of a queue, oldest first. `run` runs them. A call that is taken and not run waits again after a while.
   *
   * @param except Invocations to leave out.
   * @returns Their invocations. None, if the journal cannot take calls by their queue.
   */
  take(queue: string, limit: number, except?: readonly string[]): Promise<readonly string[]>
  /** Returns calls that could run and have waited for so many milliseconds. Each is returned to one worker, and again after that time. */
  unsent(
    queues: readonly string[],
    milliseconds: number,
  ): Promise<readonly { readonly invocationId: string; readonly queue: string }[]>
  /**
   * Calls the listener with calls that `run` left alone because of other calls of their session, once they may run. Returns an
   * unsubscribe function.
   */
  onTurn(listener: (calls: readonly TurnedCall[]) => void): () => void
  /** Counts the calls that wait in a queue, up to a number. */
  depth(queue: string, atMost: number): Promise<number>
  /** Cancels the calls here whose cancellation was requested. Each sign of life does so too. */
  cancelRequested(): Promise<void>
  /** The bus of the journal. Default: none. */
  readonly bus?: Bus | undefined
}

/**
 * Carries messages between the processes of a fleet: the events of a running call, and requests to cancel one. It may lose
 * messages. It keeps the order of those that one process sends, and delivers none twice.
 */
export interface Bus {
  /** Sends a message to all who listen to a topic. */
  publish(topic: string, message: string): void
  /** Calls the listener with each message of a topic. Returns an unsubscribe function. */
  subscribe(topic: string, listener: (message: string) => void): () => void
}

/** A call whose turn has come in its session. `turn` is another one each time. */
export interface TurnedCall {
  readonly invocationId: string
  readonly queue: string
  readonly turn: string
}

/** The call for which a worker makes the host's values. */
export type CarriedCall = Pick<PausedCall, 'invocationId' | 'session' | 'principal' | 'caller'>

/** Options of a worker's run. */
export interface RunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined
  /** Makes the host's values of what its fleet carried. Default: no values. */
  readonly receive?: ((carried: unknown, call: CarriedCall) => ToolValues | Promise<ToolValues>) | undefined
}

/** Runs the calls of models, people and apps. Made by `createExecutor`. */
export interface ToolExecutor extends AsyncDisposable, Inbox {
  /**
   * Runs one call. Never rejects for a fault of a model, a handler, a validator or a store: the result's `status`, `error`
   * and `content` have it.
   *
   * @param call The call of a provider's message. `args` is a value or JSON text.
   * @param options The caller, the session, the values, and the signal that cancels the call.
   * @example
   * ```ts
   * import { createExecutor, tool } from 'toolwright'
   *
   * const executor = createExecutor({ tools: [tool('add', ({ a, b }: { a: number; b: number }) => a + b)] })
   * const result = await executor.execute({ id: 'call_1', name: 'add', args: '{"a":1,"b":2}' })
   * // result.status is 'ok', result.content is [{ type: 'text', text: '3' }]
   * ```
   */
  execute(call: ToolCall, options?: CallOptions): Promise<ToolResult>
  /**
   * Returns what would become of a call before it runs, by its schema, the policies and the tool. Emits, writes, asks and runs
   * nothing. No limit counts it. A policy may decide otherwise when the call is made. Never rejects, like `execute`.
   *
   * @param call The call of a provider's message.
   * @param options The options that `execute` would get.
   * @example
   * ```ts
   * import { createExecutor, tool } from 'toolwright'
   *
   * const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, handler: () => 'paid' })
   * const { decision, prompt } = await createExecutor({ tools: [pay] }).weigh({ name: 'pay' })
   * // decision is 'ask', prompt is 'Allow pay to execute?'
   * ```
   */
  weigh(call: ToolCall, options?: CallOptions): Promise<Weighing>
  /**
   * Runs the calls of one model turn, `concurrency` at a time. Returns their results in the order of the calls: also of a call
   * that waited, if it was answered and settled before the turn ended. A call that fails never affects the others. Rejects before any call runs if the host's `invocationId` or `beforeTurn` throws.
   *
   * @param calls The calls that a format made from a message.
   * @throws `E_INVALID_CONFIGURATION` if `calls` is not an array.
   */
  executeToolCalls(calls: readonly ToolCall[], options?: TurnOptions): Promise<ToolResult[]>
  /** Runs one call, yields its events as they happen (but see `omitted`), and returns its result. Leaving early cancels the call. */
  stream(call: ToolCall, options?: CallOptions): AsyncGenerator<ToolEvent, ToolResult, undefined>
  /** Subscribes to the events of one name, or with `'*'` to all. Returns an unsubscribe function. @throws `E_INVALID_CONFIGURATION`. */
  on<Name extends ToolEventName | '*'>(name: Name, listener: (event: EventNamed<Name>) => void): () => void
  /**
   * Answers a call that waits for approval, and runs it here if the answer is `allow`. A denial needs no tool.
   *
   * @param token The `token` of the `pending` result, or the call as `waiting` lists it; of use once.
   * @throws `E_APPROVAL_INVALID` if the token is unknown or used, or the tool to allow has changed or is not here; `E_APPROVAL_EXPIRED`;
   * `E_LEASED` if another client holds the call; `E_INVALID_TOOL_ARGS` or `E_UNCANONICAL_ARGS` if the edited args do not fit: then it still waits.
   */
  decide(token: string | WaitingCall, decision: 'allow' | 'deny', options?: DecideOptions): Promise<ToolResult>
  /**
   * Passes a client's answer to the call that waits for it.
   *
   * @param token The `token` of the `pending` result, or the call as `waiting` lists it; of use once.
   * @param value The client's answer. It has to fit the tool's `outputSchema`, unless it is a failure: `{ ok: false, error }`.
   * @throws `E_APPROVAL_INVALID` and `E_LEASED` as `decide` does; `E_INVALID_TOOL_RESULT` if the answer does not fit. Then the
   * call still waits, and the token is good. A late answer returns a `timed_out` result with `E_CLIENT_TOOL`.
   */
  respond(token: string | WaitingCall, value: unknown, options?: RespondOptions): Promise<ToolResult>
  /**
   * Runs a call that waits for a worker, to its end. Returns nothing if it waits no more, as when another worker took it.
   *
   * @throws `E_UNAVAILABLE` if this executor lacks the tool, or has another version of it; `E_JOURNAL`; `E_TOOL_CANCELLED` if it
   * is closed. Then the call waits for another worker.
   */
  run(invocationId: string, options?: RunOptions): Promise<ToolResult | undefined>
  /** The calls in the journal that wait for workers. */
  readonly queue: CallQueue
  /**
   * Returns the state of a call, in flight or settled, from its record.
   *
   * @throws `E_JOURNAL` if it has no record, or there is no journal.
   */
  snapshot(invocationId: string): Promise<ToolCallSnapshot>
  /**
   * Closes the calls that dead executors left unfinished in the journal. It never runs a call again. It does not touch calls
   * of living executors, or calls that wait for an answer.
   *
   * An executor counts as dead once it was silent for `staleAfter`, 30 seconds by default. Call this at the start and again
   * each minute, since calls of a process that died later are not closed yet.
   *
   * @throws `E_INVALID_CONFIGURATION` without a journal, or if an option is wrong; `E_JOURNAL`.
   */
  recover(options?: RecoverOptions): Promise<Recovery>
  /** Returns the tools that a caller sees. A tool whose schema cannot be converted is left out and reported. */
  list(caller?: Caller, session?: string): ToolDefinition[]
  /**
   * Subscribes to changes of the tool list: tools of the executor's registry that are added, removed, hidden or shown again,
   * and tools of extensions. Returns an unsubscribe function.
   */
  onToolsChange(listener: () => void): () => void
  /** The policies of all extensions, in the order in which they are asked. */
  readonly policies: readonly Policy[]
  /** The artifacts in the store. Each opens in its own session only. */
  readonly artifacts: Shelf
  /** The session of calls that do not name one. */
  readonly session: string
  /**
   * Takes no more calls, waits for those in flight, cancels those that wait without a journal, and closes the extensions.
   * Rejects with the error of an extension that fails to close, or with `E_TOOL_TIMEOUT` if it takes longer than 30,000 ms.
   *
   * @param options `drain`: how long calls in flight may still take, in milliseconds, before they are cancelled. Default: 0.
   */
  close(options?: { readonly drain?: number }): Promise<void>
}
