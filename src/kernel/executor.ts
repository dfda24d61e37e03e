import { amount, assemble, type ExecutorOptions } from './assemble.ts'
import { TurnSlots } from './call/gates.ts'
import { callOf, type Caller, type CallOptions, type ToolCall, type ToolResult } from './call/call.ts'
import { CallContext } from './call/context.ts'
import { Alarms, CallDeadline, limited } from './call/deadline.ts'
import { canBeDescribed, type ToolDefinition } from './tool/definition.ts'
import { InvalidConfigurationError, JournalError, ToolCancelledError, ToolTimeoutError } from './errors.ts'
import type { ToolEvent, ToolEventName, ToolEventOf } from './call/events.ts'
import type { InFlight } from './call/in-flight.ts'
import { duplicate, type JournalLedger } from '../records/recorder.ts'
import { failed, failure } from './outcome/result.ts'
import { receive, type Received, type Slots } from './call/parcel.ts'
import type { Extension, Kernel, Observer, Policy, Shelf } from './ports.ts'
import { execute } from './passage.ts'
import { pump } from './run/stream-events.ts'
import { recall } from '../records/replay.ts'
import { snapshotOf, type ToolCallSnapshot } from '../records/record.ts'
import { recover, type RecoverOptions, type Recovery } from '../records/recover.ts'
import type { ToolRegistry } from './tool/registry.ts'
import { invocationOf, type Holding, type DecideOptions, type Redeemed } from '../approvals/paused-calls.ts'

/** What the host says of a whole turn. */
export interface TurnOptions extends Omit<CallOptions, 'invocationId'> {
  /** The identity of each occurrence, where the host wants at-most-once execution. */
  readonly invocationId?: (call: ToolCall, index: number) => string
  /**
   * Whether the turn ends what was given for it: unless one of its calls is `pending`, the `ephemeral` tools are taken out of the
   * executor's registry after it, as `ToolRegistry.pruneEphemeral` does. Default: `false`.
   */
  readonly pruneEphemeral?: boolean
  /** Is given the calls before any of them starts. If it throws, none does, and the turn rejects with the error. */
  readonly beforeTurn?: (calls: readonly ToolCall[]) => void | Promise<void>
  /**
   * Is given the results once every call has one, in the order of the calls; it follows each `beforeTurn` that did not throw.
   * What it throws is reported, since the calls have run.
   */
  readonly afterTurn?: (results: readonly ToolResult[]) => void | Promise<void>
}

/** What the executor itself says of a call. */
interface Walk {
  readonly slots?: Slots | undefined
  readonly watcher?: Observer | undefined
  readonly resumed?: Redeemed | undefined
}

const noWalk: Walk = {}
const longestName = 1_024
/** What an extension may take to close, in milliseconds. */
const closingTime = 30_000

function notClosed(): ToolTimeoutError {
  return new ToolTimeoutError(`An extension did not close within ${closingTime.toLocaleString('en')} ms.`)
}

/** What the host says of a call stands in each of its events. */
function requireShort({ session, principal, invocationId, caller }: CallOptions): void {
  const app = typeof caller === 'object' ? caller?.app : undefined
  if (!isLong(session) && !isLong(principal) && !isLong(invocationId) && !isLong(app)) return
  throw new InvalidConfigurationError(
    `\`session\`, \`principal\`, \`invocationId\` and the app of \`caller\` have at most ${longestName} characters each.`,
  )
}

function isLong(name: string | undefined): boolean {
  return name !== undefined && name.length > longestName
}

/** Runs the calls of models, people and apps. Made by `createExecutor`. */
export class ToolExecutor {
  readonly #kernel: Kernel
  readonly #registry: ToolRegistry
  readonly #holding: Holding
  readonly #ledger: JournalLedger | undefined
  readonly #extensions: readonly Extension[]
  readonly #concurrency: number
  readonly #inFlight: InFlight
  readonly #alarms = new Alarms()
  #session: string | undefined
  #prefix: string | undefined
  #count = 0
  #closing: Promise<void> | undefined

  constructor(options: ExecutorOptions) {
    const { kernel, registry, holding, ledger, inFlight } = assemble(options, () => this.#owner)
    this.#kernel = kernel
    this.#registry = registry
    this.#holding = holding
    this.#ledger = ledger
    this.#inFlight = inFlight
    this.#extensions = options.use ?? []
    this.#concurrency = amount(options, 'concurrency', 3, 1)
  }

  /**
   * Runs one call. Never rejects for anything that a model, a handler, a validator or a store can do: what went wrong is in
   * the result's `status`, `error` and `content`.
   *
   * @param call As the provider's message says it; `args` is a value, or JSON text.
   * @param options Who asks, in which session, with which values, and how the call is given up.
   * @example
   * ```ts
   * import { createExecutor, tool } from 'toolwright'
   *
   * const executor = createExecutor({ tools: [tool('add', ({ a, b }: { a: number; b: number }) => a + b)] })
   * const result = await executor.execute({ id: 'call_1', name: 'add', args: '{"a":1,"b":2}' })
   * // result.status is 'ok', result.content is [{ type: 'text', text: '3' }]
   * ```
   */
  execute(call: ToolCall, options: CallOptions = {}): Promise<ToolResult> {
    try {
      return this.#walk(callOf(call), options, noWalk)
    } catch (error) {
      return Promise.reject(error) // of options that cannot be read
    }
  }

  /**
   * Runs the calls of one model turn, some at a time, and gives their results in the order of the calls. One bad call never
   * touches the others. Rejects, before any of them runs, with what the host's `invocationId` or `beforeTurn` throws.
   *
   * @param calls As a format makes them of a message.
   * @throws `E_INVALID_CONFIGURATION` if `calls` is not an array.
   */
  async executeToolCalls(calls: readonly ToolCall[], options: TurnOptions = {}): Promise<ToolResult[]> {
    if (!Array.isArray(calls)) {
      throw new InvalidConfigurationError(
        'executeToolCalls takes an array of calls. Make it of a message with a format, as in executor.executeToolCalls(anthropic().calls(message)).',
      )
    }
    const slots = new TurnSlots(this.#concurrency)
    const { invocationId, beforeTurn, afterTurn, pruneEphemeral = false, ...rest } = options
    const turn = calls.map((call, index) => {
      const id = invocationId?.(call, index)
      const own = id === undefined ? rest : { ...rest, invocationId: id }
      requireShort(own)
      return { call: callOf(call), options: own }
    })
    if (beforeTurn !== undefined) await beforeTurn(turn.map((each) => each.call))
    const results = await Promise.all(turn.map((each) => this.#walk(each.call, each.options, { slots })))
    const isOver = pruneEphemeral && results.every(({ status }) => status !== 'pending')
    if (isOver) await this.#conclude(() => this.#registry.pruneEphemeral())
    if (afterTurn !== undefined) await this.#conclude(() => afterTurn([...results]))
    return results
  }

  /** Does what follows a turn. What it throws is reported, since the results stand. */
  async #conclude(work: () => unknown): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#kernel.report(error)
    }
  }

  /** Runs one call, yields its events as they happen, and returns its result; leaving early gives the call up. */
  stream(call: ToolCall, options: CallOptions = {}): AsyncGenerator<ToolEvent, ToolResult, undefined> {
    return pump((watcher, signal) => this.#walk(callOf(call), { ...options, signal }, { watcher }), options.signal)
  }

  /** Hears the events of one name; gives the undo. */
  on<Name extends ToolEventName>(name: Name, listener: (event: ToolEventOf<Name>) => void): () => void {
    const watcher: Observer = (event) => {
      if (event.event === name) return listener(event as ToolEventOf<Name>)
    }
    this.#kernel.watchers.add(watcher)
    return () => void this.#kernel.watchers.delete(watcher)
  }

  /**
   * Answers a call that waits for approval, and runs it where the answer is `allow`.
   *
   * @param token The `token` of the `pending` result; of use once.
   * @throws `E_APPROVAL_INVALID` where the token is unknown or used, or the tool has changed; `E_APPROVAL_EXPIRED`.
   */
  async decide(token: string, decision: 'allow' | 'deny', options: DecideOptions = {}): Promise<ToolResult> {
    return this.#resume(token, () => this.#holding.decided(token, decision, options), options.signal)
  }

  /**
   * Gives the client's answer to a call that waits for it.
   *
   * @param token The `token` of the `pending` result; of use once.
   * @param value What the client answers; checked against the tool's `outputSchema`.
   * @throws `E_APPROVAL_INVALID` as `decide` does. An answer that comes too late gives a result that is `timed_out`, `E_CLIENT_TOOL`.
   */
  async respond(
    token: string,
    value: unknown,
    options: Pick<DecideOptions, 'session' | 'values' | 'signal'> = {},
  ): Promise<ToolResult> {
    return this.#resume(token, () => this.#holding.answered(token, value, options), options.signal)
  }

  /**
   * How a call stands, be it in flight or over: what the journal's record says of it.
   *
   * @throws `E_JOURNAL` where there is no record of it, or no journal.
   */
  async snapshot(invocationId: string): Promise<ToolCallSnapshot> {
    const record = this.#inFlight.get(invocationId)?.record ?? (await this.#ledger?.read(invocationId))?.record
    if (record === undefined) throw new JournalError(`Tool record not found: ${invocationId}`)
    return snapshotOf(record)
  }

  /**
   * Closes what executors that died left unfinished in the journal. It never runs anything again, and leaves alone what
   * living executors and people are still busy with.
   *
   * An executor counts as dead once it was silent for `staleAfter`, which is 30 seconds by default. What a process left that died
   * less long ago is not closed yet: call this at the start, and again each minute.
   *
   * @throws `E_INVALID_CONFIGURATION` without a journal, or where an option is wrong; `E_JOURNAL`.
   */
  async recover(options: RecoverOptions = {}): Promise<Recovery> {
    return recover(options, this.#ledger, this.#kernel, (id) => this.#inFlight.has(id))
  }

  /** The tools that a caller is shown, without those that are hidden; one whose schema cannot be said is set aside and reported. */
  list(caller: Caller = 'model', session: string = this.session): ToolDefinition[] {
    const tools = this.#kernel.registryFor(session).list(caller)
    return tools.filter((tool) => canBeDescribed(tool, this.#kernel.report))
  }

  /**
   * Subscribes to changes of the executor's registry (tools that are added, removed, hidden or shown again), and of what
   * extensions give. Returns the undo.
   */
  onToolsChange(listener: () => void): () => void {
    const ofExtensions = this.#extensions.map((extension) => extension.onToolsChange?.(listener))
    const undos = [this.#kernel.registryFor(this.session).onChange(listener), ...ofExtensions]
    return () => {
      for (const undo of undos) undo?.()
    }
  }

  /** The policies of all extensions, in the order in which they are asked. */
  get policies(): readonly Policy[] {
    return this.#kernel.policies
  }

  /** The artifacts in the store: what they are, and a way to open each in its own session. */
  get artifacts(): Shelf {
    return this.#kernel.shelf
  }

  /** The session of calls that name none. */
  get session(): string {
    return (this.#session ??= crypto.randomUUID())
  }

  /**
   * Takes no more calls, waits for those in flight, and lets go of what the extensions hold. Rejects with what an extension
   * throws when it closes, and with `E_TOOL_TIMEOUT` if it takes longer than 30,000 ms.
   *
   * @param options `drain`: how long calls in flight may still take, in milliseconds, before they are cancelled. Default: 0.
   */
  close(options: { readonly drain?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.drain ?? 0)
    return this.#closing
  }

  /** A token that cannot be redeemed here any more may still be of use elsewhere: it is not touched. */
  #requireOpen(): void {
    if (this.#closing !== undefined)
      throw new ToolCancelledError('The executor is closed. Give the answer to another one.')
  }

  async #close(drain: number): Promise<void> {
    await this.#inFlight.drain(drain, 'The executor was closed.')
    this.#ledger?.end()
    const closed = await Promise.allSettled(
      this.#extensions.map(async (extension) => limited(extension.close?.(), closingTime, notClosed, () => {})),
    )
    for (const outcome of closed) if (outcome.status === 'rejected') throw outcome.reason
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Redeems a token, and goes on with its call; meanwhile the call counts as one that is under way. */
  async #resume(token: string, redeem: () => Promise<Redeemed>, signal: AbortSignal | undefined): Promise<ToolResult> {
    this.#requireOpen()
    const arrived = this.#inFlight.expect(invocationOf(token))
    try {
      const resumed = await redeem()
      const { call, invocationId, session, principal, caller, values } = resumed
      await this.#inFlight.left(invocationId) // an answer may come before the pause is told to the end
      return this.#walk(call, { session, principal, caller, invocationId, values, signal }, { resumed })
    } finally {
      arrived()
    }
  }

  #walk(call: ToolCall, options: CallOptions, walk: Walk): Promise<ToolResult> {
    requireShort(options)
    const kernel = this.#kernel
    const { signal, values = {}, session = this.session, invocationId: named } = options
    const invocationId = named ?? this.#nextId()
    const { resumed } = walk
    const reception = {
      call,
      invocationId,
      session,
      principal: options.principal,
      caller: options.caller ?? ('model' as const),
      deadline: new CallDeadline(kernel.timeout, signal, this.#alarms),
      slots: walk.slots,
      watcher: walk.watcher,
      resumption: resumed?.resumption,
      receivedAt: performance.now(),
      seq: resumed?.seq() ?? 0,
      record: resumed?.record,
      fence: resumed?.fence,
    }
    const received = receive(reception, (parcel) => new CallContext(parcel, kernel, values))
    if (resumed?.resumption.reason === 'client') received.effect = 'unknown' // it may have done what it was asked for
    const isClosed = this.#closing !== undefined && resumed === undefined // a token is redeemed only while it is open
    if (isClosed) received.deadline.cancel('The executor is closed.')
    const isDuplicate = named !== undefined && this.#inFlight.get(named) !== undefined
    if (isDuplicate) return Promise.resolve(failure(received, kernel, duplicate(received)))
    this.#inFlight.enter(received, named !== undefined)
    const mayBeKnown = named !== undefined && resumed === undefined && !isClosed && this.#ledger !== undefined
    return mayBeKnown ? this.#once(received, this.#ledger) : execute(received, kernel)
  }

  /** Runs a call that the host identified, unless it has a record. */
  async #once(received: Received, ledger: JournalLedger): Promise<ToolResult> {
    let isOver = true
    try {
      const known = await received.deadline.within(recall(received, this.#kernel, ledger))
      if (known !== undefined) return known
      isOver = false
    } catch (error) {
      return failed(received, this.#kernel, error)
    } finally {
      if (isOver) this.#inFlight.leave(received)
    }
    return execute(received, this.#kernel)
  }

  /** Ids of one executor differ by a number, those of different executors by 122 random bits. */
  #nextId(): string {
    return `${this.#owner}-${this.#count++}`
  }

  get #owner(): string {
    return (this.#prefix ??= crypto.randomUUID())
  }
}

/**
 * Makes an executor: the passage that every call walks.
 *
 * @param options The tools, what extends the executor, and its limits.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong; `E_TOOL_ALREADY_REGISTERED` and `E_SCHEMA_CONVERSION` as `ToolRegistry.add`.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 *
 * const executor = createExecutor({ tools: [tool('now', () => new Date().toISOString())], timeout: 5_000 })
 * executor.on('call:settled', ({ callId, status, durationMs }) => console.log(callId, status, durationMs))
 * ```
 */
export function createExecutor(options: ExecutorOptions = {}): ToolExecutor {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidConfigurationError('createExecutor takes an object of options, such as { tools: [myTool] }.')
  }
  return new ToolExecutor(options)
}
