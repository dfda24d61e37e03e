import { Alarms, withAny } from '#clock'
import { amount, assemble, closeExtensions, type ExecutorOptions } from './assemble.ts'
import type { Caller, CallOptions, Extension, Observer, Policy, Shelf, WorkQueue } from './ports.ts'
import { callOf, idOf, optionsOf, requireShort, type ToolCall, type ToolResult } from './call/call.ts'
import { receive } from './call/context.ts'
import { Deadline, timerLength } from './call/deadline.ts'
import { canBeDescribed, type ToolDefinition } from './tool/definition.ts'
import { InvalidConfigurationError, isToolError, JournalError, ToolCancelledError, type ToolError } from './errors.ts'
import { requireEventName, type ToolEvent, type ToolEventName } from './call/events.ts'
import { Slots } from './call/slots.ts'
import { duplicateOf } from './outcome/failure.ts'
import { failure, upToDate } from './outcome/result.ts'
import type { Received } from './call/parcel.ts'
import type { Approvals, Kernel } from './kernel.ts'
import { execute, executeOnce, walkToRun } from './passage.ts'
import { asyncDispose, streamEvents } from './run/stream.ts'
import { invocationOf, type Resumption, type WaitingCall } from './call/pause.ts'
import type { ToolCallSnapshot, RecoverOptions, Recovery } from './call/record.ts'
import type { EventNamed, Inbox, RunOptions, ToolExecutor, TurnOptions, Weighing } from './executor-types.ts'
import type { ToolRegistry } from './tool/registry.ts'
import { loadPart } from './json/thenable.ts'

/** What the executor itself adds to a call. */
interface Walk {
  readonly slots?: Slots | undefined
  readonly watcher?: Observer | undefined
  readonly resumed?: Resumption | undefined
}

const noWalk: Walk = {}

class Executor implements ToolExecutor {
  readonly #kernel: Kernel
  readonly #registry: ToolRegistry
  readonly #extensions: readonly Extension[]
  readonly #concurrency: number
  readonly #alarms = new Alarms()
  /** Made for the first call that names none: some platforms have no random values while a module loads. */
  #session: string | undefined
  #prefix: string | undefined
  #count = 0
  #ended: AbortController | undefined
  #closing: Promise<void> | undefined

  constructor(options: ExecutorOptions) {
    const { kernel, registry } = assemble(options, () => this.#owner)
    this.#kernel = kernel
    this.#registry = registry
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

  async weigh(call: ToolCall, options: CallOptions = {}): Promise<Weighing> {
    const part = await loadPart(import('./weigh.ts')).catch((error: ToolError) => error)
    if (isToolError(part)) return { decision: 'refuse', callId: null, error: part }
    const receiveBy = (kernel: Kernel): Received => this.#receive(callOf(call), options, noWalk, kernel)
    return part.weigh(this.#kernel, receiveBy, walkToRun)
  }

  async executeToolCalls(calls: readonly ToolCall[], options: TurnOptions = {}): Promise<ToolResult[]> {
    if (!Array.isArray(calls)) {
      throw new InvalidConfigurationError(
        'executeToolCalls takes an array of calls. Make it of a message with a format, as in executor.executeToolCalls(anthropic().calls(message)).',
      )
    }
    const slots = new Slots(this.#concurrency)
    const { invocationId, beforeTurn, afterTurn, pruneEphemeral = false, ...rest } = optionsOf(options)
    const turn = calls.map((call, index) => {
      const id = invocationId?.(call, index)
      const own = id === undefined ? rest : { ...rest, invocationId: id }
      requireShort(own)
      return { call: callOf(call), options: own }
    })
    if (beforeTurn !== undefined) await beforeTurn(turn.map((each) => each.call))
    const first = await Promise.all(turn.map((each) => this.#walk(each.call, each.options, { slots })))
    const results = first.some(({ status }) => status === 'pending') ? await upToDate(first, this.#kernel) : first
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
      optionsOf(options).signal,
    )
  }

  on<Name extends ToolEventName | '*'>(name: Name, listener: (event: EventNamed<Name>) => void): () => void {
    requireEventName(name)
    const watcher: Observer = (event) => {
      if (name === '*' || event.event === name) return listener(event as EventNamed<Name>)
    }
    this.#kernel.watchers.add(watcher)
    return () => void this.#kernel.watchers.delete(watcher)
  }

  async decide(...[token, decision, options = {}]: Parameters<ToolExecutor['decide']>): Promise<ToolResult> {
    return this.#resume<never>(token, (approvals) => approvals.decide(token, decision, options), options)
  }

  async respond(...[token, value, options = {}]: Parameters<ToolExecutor['respond']>): Promise<ToolResult> {
    return this.#resume<never>(token, (approvals) => approvals.respond(token, value, options), options)
  }

  readonly waiting: Inbox['waiting'] = async (query) => (await this.#inbox).waiting(query)
  readonly lease: Inbox['lease'] = async (...lease) => (await this.#inbox).lease(...lease)
  readonly calls: Inbox['calls'] = async (query = {}) => (await this.#inbox).calls(optionsOf(query))
  readonly cancel: Inbox['cancel'] = async (id, reason) => (await this.#inbox).cancel(idOf(id), reason)
  readonly expire: Inbox['expire'] = async () => (await this.#inbox).expire()
  readonly prune: Inbox['prune'] = async (query) => (await this.#inbox).prune(query)
  readonly watch: Inbox['watch'] = (listener) => this.#kernel.recorder?.inbox.watch(listener) ?? (() => {})
  readonly settled: Inbox['settled'] = async (call, options = {}) => {
    const { signal } = optionsOf(options)
    if (typeof call !== 'string' && optionsOf(call).status !== 'pending') return call
    const [id, inbox] = [typeof call === 'string' ? call : call.invocationId, await this.#inbox]
    return withAny([signal, this.#closed.signal], (either) => inbox.settled(id, { signal: either }))
  }

  async run(id: string, options: RunOptions = {}): Promise<ToolResult | undefined> {
    const { recorder } = this.#kernel
    return this.#resume<undefined>(`${idOf(id)}.`, async () => recorder?.queue.redeem(id, options), options)
  }

  get queue(): WorkQueue {
    if (this.#kernel.recorder !== undefined) return this.#kernel.recorder.queue
    throw new InvalidConfigurationError('No call waits for a worker without a journal: give the executor one in `use`.')
  }

  async snapshot(invocationId: string): Promise<ToolCallSnapshot> {
    const [id, { recorder, inFlight }] = [idOf(invocationId), this.#kernel]
    const snapshot = await recorder?.snapshot(id, inFlight.get(id))
    if (snapshot === undefined) throw new JournalError(`Tool record not found: ${id}`)
    return snapshot
  }

  async recover(options: RecoverOptions = {}): Promise<Recovery> {
    if (this.#kernel.recorder !== undefined) return this.#kernel.recorder.recover(options)
    throw new InvalidConfigurationError('Nothing is recovered without a journal: give the executor one in `use`.')
  }

  list(caller: Caller = 'model', session: string = this.#session ?? ''): ToolDefinition[] {
    const tools = this.#kernel.registryFor(session).list(caller)
    return tools.filter((tool) => canBeDescribed(tool, this.#kernel.report))
  }

  onToolsChange(listener: () => void): () => void {
    const ofExtensions = this.#extensions.map((extension) => extension.onToolsChange?.(listener))
    const undos = [this.#kernel.registryFor(this.#session ?? '').onChange(listener), ...ofExtensions]
    return () => undos.forEach((undo) => undo?.())
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
    return (this.#closing ??= this.#close(optionsOf(options).drain ?? 0))
  }

  async #close(drain: number): Promise<void> {
    const words = 'The executor was closed.'
    const end = async (): Promise<void> => {
      await this.#kernel.held?.cancelAll(words)
      this.#closed.abort(new ToolCancelledError(words))
    }
    const timer = setTimeout(() => void end(), timerLength(drain))
    await this.#kernel.inFlight.drain(drain, words).finally(() => clearTimeout(timer))
    await end()
    this.#kernel.recorder?.close()
    await closeExtensions(this.#extensions)
  }

  [asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Ends the waits for other executors. */
  get #closed(): AbortController {
    return (this.#ended ??= new AbortController())
  }

  get #inbox(): Promise<Inbox> {
    return Promise.resolve(this.#kernel.pauses()).then(({ inbox }) => inbox)
  }

  /** Redeems a token and resumes its call. The call counts as in flight meanwhile. */
  async #resume<None extends undefined>(
    token: string | WaitingCall,
    redeem: (approvals: Approvals) => Promise<Resumption | None>,
    options: Pick<CallOptions, 'signal'>,
  ): Promise<ToolResult | None> {
    const { signal } = optionsOf(options)
    if (this.#closing !== undefined) throw new ToolCancelledError('The executor is closed. Give the call to another.')
    const arrived = this.#kernel.inFlight.expect(invocationOf(token))
    try {
      const resumed = await redeem(await this.#kernel.approvals())
      if (resumed === undefined) return resumed
      const { call, invocationId, session, principal, caller, values } = resumed
      // The pause may still be being emitted, and a repeated call may have just asked for what its id has.
      while (this.#kernel.inFlight.get(invocationId) !== undefined) await this.#kernel.inFlight.left(invocationId)
      return this.#walk(call, { session, principal, caller, invocationId, values, signal }, { resumed })
    } finally {
      arrived()
    }
  }

  #receive(call: ToolCall, options: CallOptions, walk: Walk, kernel: Kernel): Received {
    requireShort(options)
    const { signal, values = {}, session = this.session, invocationId = this.#nextId() } = options
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
      isHeld: options.hold,
      receivedAt: performance.now(),
      seq: resumed?.seq ?? 0,
      recording: kernel.recorder && resumed?.recording,
    }
    const received = receive(reception, kernel, values)
    if (resumed?.reason === 'client') received.effect = 'unknown' // the client may have done its work
    if (resumed?.taken !== undefined) received.effect = resumed.recording?.record.effect ?? 'unknown'
    const isClosed = this.#closing !== undefined && resumed === undefined // a redeemed call still runs to its end
    if (isClosed) received.deadline.cancel('The executor is closed.')
    return received
  }

  #walk(call: ToolCall, options: CallOptions, walk: Walk): Promise<ToolResult> {
    const kernel = this.#kernel
    const received = this.#receive(call, options, walk, kernel)
    const [named, { recorder, inFlight }] = [options.invocationId, kernel]
    const other = named === undefined ? undefined : inFlight.get(named)
    if (other !== undefined) return Promise.resolve(failure(received, kernel, duplicateOf(received, other)))
    inFlight.enter(received, named !== undefined)
    const mayBeKnown = named !== undefined && walk.resumed === undefined && this.#closing === undefined
    const result =
      mayBeKnown && recorder !== undefined ? executeOnce(received, kernel, recorder) : execute(received, kernel)
    if (kernel.elsewhere === undefined) return result
    return kernel.elsewhere.settled(result, received, options.signal, this.#closed.signal)
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
