import type { CallStatus, ToolError } from './errors.ts'
import type { ToolCall, ToolResult } from './call/call.ts'
import type { ToolEvent, ToolEventName, ToolEventOf } from './call/events.ts'
import type { Question } from './call/approval.ts'
import type { ExecutorCalls } from './calls-types.ts'
import type { Caller, CallOptions } from './call/context-types.ts'
import type { Shelf } from './result/shelf.ts'
import type { ExecutorQueue } from './queue-types.ts'
import type { ToolDefinition, ToolLike } from './tool/definition.ts'

/** The application's options for a whole turn. */
export interface TurnOptions extends Omit<CallOptions, 'invocationId'> {
  /** Returns the id of each call, for at-most-once execution. Default: new ids. */
  readonly invocationId?: (call: ToolCall, index: number) => string
  /**
   * Whether to remove `ephemeral` tools from the executor's registry after the turn, as `ToolRegistry.pruneEphemeral` does.
   * They stay if a call of the turn is `waiting`. Default: `false`.
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

/** What `on` calls: as an observer, for the events of one name. */
type ListenerOf<Name extends ToolEventName | '*'> = (
  event: EventNamed<Name>,
  tool?: ToolDefinition,
  result?: ToolResult,
) => void

/** What would become of a call before it runs. */
export interface Evaluation extends Partial<Omit<Question, 'input'>> {
  /**
   * `allow`: it would run. `ask`: a person would be asked. `deny`: a policy would deny it, with `error`. `invalid`: it would
   * fail with `error` before it runs, such as for its args.
   */
  readonly decision: 'allow' | 'ask' | 'deny' | 'invalid'
  /** `null` if the args have no canonical form or the tool is not known. */
  readonly callId: string | null
  /** The executor's `approver` would be asked. Otherwise the call would wait for `decide`. */
  readonly hasApprover?: true
  readonly error?: ToolError
}

/** A tool of known types, as `tool` makes it. */
export type Invocable<Input, Output> = ToolLike & ((args: Input) => Promise<Output>)

/** The arguments of `invoke` after the tool. A tool without arguments needs none. */
export type InvokeArguments<Input> = undefined extends Input
  ? [args?: Input, options?: CallOptions]
  : [args: Input, options?: CallOptions]

/** A result whose `value` has the type of the tool. It is `undefined` if the result is too large for it, so `artifact` has it. */
export type InvokeResult<Output> = ToolResult &
  (
    | { readonly status: 'ok'; readonly value: Output | undefined }
    | { readonly status: Exclude<CallStatus, 'ok'>; readonly value?: undefined }
  )

/** Runs the calls of models, people and apps. Made by `createExecutor`. */
export interface ToolExecutor extends AsyncDisposable {
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
   * Runs a tool of this executor for the application, with types, and through the whole pipeline: policies, approvals, limits,
   * records and events. Never rejects for a fault of a handler, like `execute`. The result is `E_TOOL_NOT_FOUND` if the executor
   * has no such tool, or another of its name.
   *
   * @param tool The tool, as it was added to the executor.
   * @param rest The args, typed by the tool, and the options of `execute`. The default of `caller` is `'user'`.
   * @throws `E_INVALID_CONFIGURATION` if `tool` is not a tool.
   * @example
   * ```ts
   * import { createExecutor, tool } from 'toolwright'
   *
   * const add = tool('add', ({ a, b }: { a: number; b: number }) => a + b)
   * const result = await createExecutor({ tools: [add] }).invoke(add, { a: 1, b: 2 })
   * if (result.status === 'ok') console.log(result.value?.toFixed(2)) // 3.00
   * ```
   */
  invoke<Input, Output>(
    tool: Invocable<Input, Output>,
    ...rest: InvokeArguments<NoInfer<Input>>
  ): Promise<InvokeResult<Output>>
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
   * const { decision, prompt } = await createExecutor({ tools: [pay] }).evaluate({ name: 'pay' })
   * // decision is 'ask', prompt is 'Allow pay to execute?'
   * ```
   */
  evaluate(call: ToolCall, options?: CallOptions): Promise<Evaluation>
  /**
   * Runs the calls of one model turn, `concurrency` at a time. Returns their results in the order of the calls: also of a call
   * that waited, if it was answered and settled before the turn ended. A call that fails never affects the others. Rejects
   * before any call runs if the application's `invocationId` or `beforeTurn` throws.
   *
   * @param calls The calls that a format made from a message.
   * @throws `E_INVALID_CONFIGURATION` if `calls` is not an array.
   */
  executeToolCalls(calls: readonly ToolCall[], options?: TurnOptions): Promise<ToolResult[]>
  /**
   * Runs one call, yields its events as they happen (but see `omitted`), and returns its result: read it with `next()`, since
   * `for await` drops it. The call begins when its first event is asked for: `await` alone runs nothing. Leaving early cancels
   * the call.
   */
  stream(call: ToolCall, options?: CallOptions): AsyncGenerator<ToolEvent, ToolResult, undefined>
  /**
   * Subscribes to the events of one name, with `'*'` to those of all calls, or with `'tools:changed'` to changes of the tool
   * list: tools that are added, removed, hidden or shown again, and tools of extensions. Returns an unsubscribe function.
   *
   * @throws `E_INVALID_CONFIGURATION` if there is no event of this name, or the listener is no function.
   */
  on(name: 'tools:changed', listener: () => void): () => void
  on<Name extends ToolEventName | '*'>(name: Name, listener: ListenerOf<Name>): () => void
  /** The calls that wait, run or have settled: lists them, answers them, ends them. */
  readonly calls: ExecutorCalls
  /**
   * The calls that wait for workers.
   *
   * @throws `E_INVALID_CONFIGURATION` without a journal.
   */
  readonly queue: ExecutorQueue
  /**
   * Returns the tools that a caller is shown. A tool whose schema cannot be converted is left out and reported. The array is the
   * same until the tools change.
   */
  tools(caller?: Caller, session?: string): readonly ToolDefinition[]
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
