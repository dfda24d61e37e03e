import { Alarms } from '#clock'
import { amount, assemble, type ExecutorOptions } from './assemble.ts'
import type { Caller, CallOptions, Extension, Observer, Policy, Recorder, Shelf } from './ports.ts'
import { callOf, requireShort, type ToolCall, type ToolResult } from './call/call.ts'
import { CallContext } from './call/context.ts'
import { Deadline, limited } from './call/deadline.ts'
import { canBeDescribed, type ToolDefinition } from './tool/definition.ts'
import { InvalidConfigurationError, JournalError, ToolCancelledError, ToolTimeoutError } from './errors.ts'
import type { ToolEvent, ToolEventName } from './call/events.ts'
import { type InFlight, Slots } from './call/in-flight.ts'
import { duplicate } from './outcome/failure.ts'
import { failed, failure } from './outcome/result.ts'
import { receive, type Received } from './call/parcel.ts'
import type { Kernel } from './kernel.ts'
import { execute } from './passage.ts'
import { streamEvents } from './run/generator.ts'
import type { ToolCallSnapshot, RecoverOptions, Recovery } from './call/record.ts'
import { invocationOf, type Resumption, type WaitingCall } from './call/pause.ts'
import type { EventNamed, Inbox, ToolExecutor, TurnOptions } from './executor-types.ts'
import type { ToolRegistry } from './tool/registry.ts'

/** What the executor itself adds to a call. */
interface Walk {
  readonly slots?: Slots | undefined
  readonly watcher?: Observer | undefined
  readonly resumed?: Resumption | undefined
}

const noWalk: Walk = {}
/** How long an extension may take to close, in milliseconds. */
const closingTime = 30_000

function notClosed(): ToolTimeoutError {
  return new ToolTimeoutError(`An extension did not close within ${closingTime.toLocaleString('en')} ms.`)
}

class Executor implements ToolExecutor {
  readonly #kernel: Kernel
  readonly #registry: ToolRegistry
  readonly #extensions: readonly Extension[]
  readonly #concurrency: number
  readonly #inFlight: InFlight
  readonly #alarms = new Alarms()
  /** Made for the first call that names none: some platforms have no random values while a module loads. */
  #session: string | undefined
  #prefix: string | undefined
  #count = 0
  /** Ends the waits of `settled`; made on first use. */
  #ended: AbortController | undefined
  #closing: Promise<void> | undefined

  constructor(options: ExecutorOptions) {
    const { kernel, registry } = assemble(options, () => this.#owner)
    this.#kernel = kernel
    this.#registry = registry
    this.#inFlight = kernel.inFlight
    this.#extensions = options.use ?? []
    this.#concurrency = amount(options, 'concurrency', 3, 1)
  }

  execute(call: ToolCall, options: CallOptions = {}): Promise<ToolResult> {
    try {
      return this.#walk(callOf(call), options, noWalk)
    } catch (error) {
      return Promise.reject(error) // the options cannot be read
    }
  }

  async executeToolCalls(calls: readonly ToolCall[], options: TurnOptions = {}): Promise<ToolResult[]> {
    if (!Array.isArray(calls)) {
      throw new InvalidConfigurationError(
        'executeToolCalls takes an array of calls. Make it of a message with a format, as in executor.executeToolCalls(anthropic().calls(message)).',
      )
    }
    const slots = new Slots(this.#concurrency)
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

  /** Runs the host's code after a turn. Its errors are reported, since the results stand. */
  async #conclude(work: () => unknown): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#kernel.report(error)
    }
  }

  stream(call: ToolCall, options: CallOptions = {}): AsyncGenerator<ToolEvent, ToolResult, undefined> {
    return streamEvents(
      (watcher, signal) => this.#walk(callOf(call), { ...options, signal }, { watcher }),
      options.signal,
    )
  }

  on<Name extends ToolEventName | '*'>(name: Name, listener: (event: EventNamed<Name>) => void): () => void {
    const watcher: Observer = (event) => {
      if (name === '*' || event.event === name) return listener(event as EventNamed<Name>)
    }
    this.#kernel.watchers.add(watcher)
    return () => void this.#kernel.watchers.delete(watcher)
  }

  async decide(...[token, decision, options = {}]: Parameters<ToolExecutor['decide']>): Promise<ToolResult> {
    return this.#resume(token, () => this.#kernel.approvals.decide(token, decision, options), options.signal)
  }

  async respond(...[token, value, options = {}]: Parameters<ToolExecutor['respond']>): Promise<ToolResult> {
    return this.#resume(token, () => this.#kernel.approvals.respond(token, value, options), options.signal)
  }

  readonly waiting: Inbox['waiting'] = async (query) => (await this.#inbox).waiting(query)
  readonly lease: Inbox['lease'] = async (...lease) => (await this.#inbox).lease(...lease)
  readonly calls: Inbox['calls'] = async (query) => (await this.#inbox).calls(query)
  readonly cancel: Inbox['cancel'] = async (id, reason) => (await this.#inbox).cancel(id, reason)
  readonly expire: Inbox['expire'] = async () => (await this.#inbox).expire()
  readonly prune: Inbox['prune'] = async (query) => (await this.#inbox).prune(query)
  readonly settled: Inbox['settled'] = async (call, { signal } = {}) => {
    if (typeof call !== 'string' && call.status !== 'pending') return call
    const ended = (this.#ended ??= new AbortController()).signal
    return (await this.#inbox).settled(call, { signal: signal ? AbortSignal.any([signal, ended]) : ended })
  }

  async snapshot(invocationId: string): Promise<ToolCallSnapshot> {
    const snapshot = await this.#kernel.recorder?.snapshot(invocationId, this.#inFlight.get(invocationId))
    if (snapshot === undefined) throw new JournalError(`Tool record not found: ${invocationId}`)
    return snapshot
  }

  async recover(options: RecoverOptions = {}): Promise<Recovery> {
    if (this.#kernel.recorder !== undefined) return this.#kernel.recorder.recover(options)
    throw new InvalidConfigurationError(
      'There is nothing to recover without a journal: give the executor one in `use`.',
    )
  }

  list(caller: Caller = 'model', session: string = this.#session ?? ''): ToolDefinition[] {
    const tools = this.#kernel.registryFor(session).list(caller)
    return tools.filter((tool) => canBeDescribed(tool, this.#kernel.report))
  }

  onToolsChange(listener: () => void): () => void {
    const ofExtensions = this.#extensions.map((extension) => extension.onToolsChange?.(listener))
    const undos = [this.#kernel.registryFor(this.#session ?? '').onChange(listener), ...ofExtensions]
    return () => {
      for (const undo of undos) undo?.()
    }
  }

  get policies(): readonly Policy[] {
    return this.#kernel.policies
  }

  get artifacts(): Shelf {
    return this.#kernel.spool.shelf
  }

  get session(): string {
    return (this.#session ??= crypto.randomUUID())
  }

  close(options: { readonly drain?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.drain ?? 0)
    return this.#closing
  }

  /** Throws if the executor is closed. The token stays valid for other executors. */
  #requireOpen(): void {
    if (this.#closing !== undefined)
      throw new ToolCancelledError('The executor is closed. Give the answer to another one.')
  }

  async #close(drain: number): Promise<void> {
    await this.#inFlight.drain(drain, 'The executor was closed.')
    ;(this.#ended ??= new AbortController()).abort(new ToolCancelledError('The executor was closed.'))
    this.#kernel.recorder?.close()
    const closed = await Promise.allSettled(
      this.#extensions.map(async (extension) => limited(extension.close?.(), closingTime, notClosed, () => {})),
    )
    for (const outcome of closed) if (outcome.status === 'rejected') throw outcome.reason
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  get #inbox(): Promise<Inbox> {
    return Promise.resolve(this.#kernel.pauses()).then(({ inbox }) => inbox)
  }

  /** Redeems a token and resumes its call. The call counts as in flight meanwhile. */
  async #resume(
    token: string | WaitingCall,
    redeem: () => Promise<Resumption>,
    signal: AbortSignal | undefined,
  ): Promise<ToolResult> {
    this.#requireOpen()
    const arrived = this.#inFlight.expect(invocationOf(token))
    try {
      const resumed = await redeem()
      const { call, invocationId, session, principal, caller, values } = resumed
      // The pause may still be being emitted, and a repeated call may have just asked for what its id has.
      while (this.#inFlight.get(invocationId) !== undefined) await this.#inFlight.left(invocationId)
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
      deadline: new Deadline(kernel.timeout, signal, this.#alarms),
      slots: walk.slots,
      watcher: walk.watcher,
      resumption: resumed,
      receivedAt: performance.now(),
      seq: resumed?.seq ?? 0,
      recording: kernel.recorder && resumed?.recording,
    }
    const received = receive(reception, (parcel) => new CallContext(parcel, kernel, values))
    if (resumed?.reason === 'client') received.effect = 'unknown' // the client may have done its work
    const isClosed = this.#closing !== undefined && resumed === undefined // a redeemed call still runs to its end
    if (isClosed) received.deadline.cancel('The executor is closed.')
    const isDuplicate = named !== undefined && this.#inFlight.get(named) !== undefined
    if (isDuplicate) return Promise.resolve(failure(received, kernel, duplicate(received)))
    this.#inFlight.enter(received, named !== undefined)
    const { recorder } = kernel
    const mayBeKnown = named !== undefined && resumed === undefined && !isClosed && recorder !== undefined
    return mayBeKnown ? this.#once(received, recorder) : execute(received, kernel)
  }

  /** Runs a call with an id of the host, unless the id has a record. */
  async #once(received: Received, recorder: Recorder): Promise<ToolResult> {
    let isOver = true
    try {
      const known = await received.deadline.within(recorder.recall(received))
      if (known !== undefined) return known
      isOver = false
    } catch (error) {
      return failed(received, this.#kernel, error)
    } finally {
      if (isOver) {
        received.deadline.end()
        this.#inFlight.leave(received)
      }
    }
    return execute(received, this.#kernel)
  }

  /** Ids of one executor differ by a number. Those of different executors differ by 122 random bits. */
  #nextId(): string {
    return `${this.#owner}-${this.#count++}`
  }

  get #owner(): string {
    return (this.#prefix ??= crypto.randomUUID())
  }
}

/**
 * Makes an executor, which runs calls.
 *
 * @param options The tools, the extensions, and the limits.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong; `E_TOOL_ALREADY_REGISTERED` and `E_SCHEMA_CONVERSION` as `ToolRegistry.add`.
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
  return new Executor(options)
}
