import { Alarms } from '#clock'
import { keepShapes } from '#shapes'
import { amount, assemble, closeExtensions, loadOnDemand, type ExecutorOptions } from './assemble.ts'
import { Calls } from './calls.ts'
import type { ExecutorCalls } from './calls-types.ts'
import type { Caller, CallOptions } from './call/context-types.ts'
import type { Extension } from './ports.ts'
import { type Observer, requireListener, type ToolEvent } from './call/events.ts'
import type { Shelf } from './result/shelf.ts'
import { callerApp, callOf, noJournal, requireNames } from './call/call.ts'
import type { TakenCall, ToolCall, ToolResult } from './call/call.ts'
import { CallContext } from './call/context.ts'
import { callAround, inherited, runningCall } from './call/parent.ts'
import { Deadline, timerLength } from './call/deadline.ts'
import { definitionOf, isToolLike, type ToolDefinition } from './tool/definition.ts'
import { InvalidConfigurationError, ToolCancelledError } from './errors.ts'
import { optionsOf } from './call/options.ts'
import { Slots } from './call/slots.ts'
import { TurnOrder } from './call/turn-order.ts'
import { duplicateOf } from './outcome/failure.ts'
import { notInvocable } from './outcome/not-found.ts'
import { failure, upToDate } from './outcome/result.ts'
import { Parcel, type Received, type Resumption } from './call/parcel.ts'
import type { Kernel } from './kernel.ts'
import { execute, executeOnce, orReleased } from './pipeline.ts'
import { putServed } from './run/served.ts'
import { asyncDispose, streamEvents } from './run/stream.ts'
import { invocationOf } from './call/wait.ts'
import type { Evaluation, Invocable, InvokeResult, ToolExecutor, TurnOptions } from './executor-types.ts'
import type { ExecutorQueue } from './queue-types.ts'
import type { Resume } from './recorder.ts'
import type { ToolRegistry } from './tool/registry.ts'
import { ShownTools } from './tool/shown-tools.ts'

/** What the executor itself adds to a call. */
interface Origin {
  readonly slots?: Slots | undefined
  readonly order?: TurnOrder | undefined
  readonly watcher?: Observer | undefined
  readonly resumed?: Resumption | undefined
}

const newCall: Origin = {}

class Executor implements ToolExecutor {
  readonly #kernel: Kernel
  readonly #registry: ToolRegistry
  readonly #extensions: readonly Extension[]
  readonly #shown: ShownTools
  readonly #concurrency: number
  readonly #alarms = new Alarms()
  /** Made for the first call that names none: some platforms have no random values while a module loads. */
  #session: string | undefined
  #prefix: string | undefined
  #count = 0
  #ended: AbortController | undefined
  #closing: Promise<void> | undefined
  #calls: Calls | undefined
  #queue: ExecutorQueue | undefined

  constructor(options: ExecutorOptions) {
    const { kernel, registry } = assemble(options, () => this.#owner)
    this.#kernel = kernel
    putServed(this, kernel)
    this.#registry = registry
    this.#extensions = options.use ?? []
    this.#shown = new ShownTools(this.#extensions, kernel)
    this.#shown.check(registry.list())
    this.#concurrency = amount(options, 'concurrency', 3, 1)
  }

  execute(call: ToolCall, options: CallOptions = {}): Promise<ToolResult> {
    try {
      return this.#begin(callOf(call), inherited('execute', options, this.#kernel), newCall)
    } catch (error) {
      return Promise.reject(error) // the options cannot be read
    }
  }

  async invoke<Input, Output>(
    tool: Invocable<Input, Output>,
    args?: unknown,
    options: CallOptions = {},
  ): Promise<InvokeResult<Output>> {
    if (!isToolLike(tool)) {
      throw new InvalidConfigurationError(
        'invoke takes a tool and its args: invoke(add, { a: 1 }). A name goes to execute({ name, args }).',
      )
    }
    const { caller = 'user', session = this.session, ...own } = inherited('invoke', options, this.#kernel)
    const definition = definitionOf(tool)
    const { name } = definition
    const present = this.#kernel.registryFor(session).resolve(name)
    const refusal = present === definition ? undefined : notInvocable(name, present !== undefined)
    const call: TakenCall = refusal === undefined ? { name, args } : { name, refusal } // the args may have secrets of that tool
    return this.#begin(call, { ...own, caller, session }, newCall) as Promise<InvokeResult<Output>>
  }

  async evaluate(call: ToolCall, options: CallOptions = {}): Promise<Evaluation> {
    const [taken, own] = [callOf(call), { ...inherited('evaluate', options, this.#kernel) }]
    const { evaluate } = await loadOnDemand()
    const receiveBy = (kernel: Kernel): Received => this.#receive(taken, own, newCall, kernel)
    return evaluate(this.#kernel, receiveBy)
  }

  async executeToolCalls(calls: readonly ToolCall[], options: TurnOptions = {}): Promise<ToolResult[]> {
    if (!Array.isArray(calls)) {
      throw new InvalidConfigurationError('executeToolCalls takes an array of calls, as anthropic().calls(message).')
    }
    const origin: Origin = { slots: new Slots(this.#concurrency), order: new TurnOrder() }
    const { invocationId, beforeTurn, afterTurn, pruneEphemeral, ...others } = optionsOf('executeToolCalls', options)
    const rest = inherited('executeToolCalls', others, this.#kernel)
    const turn = calls.map((call, index) => {
      const own = invocationId === undefined ? rest : { ...rest, invocationId: invocationId(call, index) }
      requireNames(own)
      return { call: callOf(call), options: own }
    })
    if (beforeTurn !== undefined) await beforeTurn(turn.map((each) => each.call))
    const first = await Promise.all(turn.map((each) => this.#begin(each.call, each.options, origin)))
    const results = first.some(({ status }) => status === 'waiting') ? await upToDate(first, this.#kernel) : first
    const isOver = pruneEphemeral && results.every(({ status }) => status !== 'waiting')
    if (isOver) await this.#conclude(() => this.#registry.pruneEphemeral())
    if (afterTurn !== undefined) await this.#conclude(() => afterTurn([...results]))
    return results
  }

  /** Runs the application's code after a turn. Its errors are reported, since the results stand. */
  async #conclude(work: () => unknown): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#kernel.report(error)
    }
  }

  stream(call: ToolCall, options: CallOptions = {}): AsyncGenerator<ToolEvent, ToolResult, undefined> {
    const own = inherited('stream', options, this.#kernel)
    return streamEvents((watcher, signal) => this.#begin(callOf(call), { ...own, signal }, { watcher }), own.signal)
  }

  on(name: string, listener: Observer | (() => void)): () => void {
    requireListener(name, listener)
    if (name === 'tools:changed') return this.#onToolsChange(listener as () => void)
    const watcher: Observer = (event, tool, result) => {
      if (name === '*' || event.event === name) return listener(event, tool, result)
    }
    this.#kernel.watchers.add(watcher)
    return () => void this.#kernel.watchers.delete(watcher)
  }

  #onToolsChange(listener: () => void): () => void {
    const ofExtensions = this.#extensions.map((extension) => extension.onToolsChange?.(listener))
    const undos = [this.#kernel.registryFor(this.#session ?? '').onChange(listener), ...ofExtensions]
    return () => undos.forEach((undo) => undo?.())
  }

  get calls(): ExecutorCalls {
    return (this.#calls ??= new Calls(this.#kernel, this.#resume, () => this.#closed.signal))
  }

  get queue(): ExecutorQueue {
    const { recorder } = this.#kernel
    if (recorder === undefined) throw noJournal('No call waits for a worker')
    return (this.#queue ??= recorder.queueFor(this.#resume))
  }

  tools(caller: Caller = 'model', session: string = this.#session ?? ''): readonly ToolDefinition[] {
    callerApp(caller)
    return this.#shown.of(this.#kernel.registryFor(session), caller, session)
  }

  get artifacts(): Shelf {
    return this.#kernel.spool.shelf
  }

  get session(): string {
    return (this.#session ??= crypto.randomUUID())
  }

  close(options: { readonly drain?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#close(optionsOf('close', options, 'drain').drain ?? 0))
  }

  async #close(drain: number): Promise<void> {
    const words = 'The executor was closed.'
    const end = async (): Promise<void> => {
      await this.#kernel.unrecorded?.cancelAll(words)
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

  /** Redeems a token and resumes its call. The call counts as in flight meanwhile. */
  readonly #resume: Resume = async (token, redeem, options) => {
    if (this.#closing !== undefined) throw new ToolCancelledError('The executor is closed. Give the call to another.')
    const arrived = this.#kernel.inFlight.expect(invocationOf(token))
    try {
      const resumed = await redeem()
      if (resumed === undefined) return resumed
      const { call, invocationId, session, principal, caller, values } = resumed
      // The wait may still be being emitted, and a repeated call may have just asked for what its id has.
      while (this.#kernel.inFlight.get(invocationId) !== undefined) await this.#kernel.inFlight.left(invocationId)
      const own = { session, principal, caller, invocationId, values, signal: options.signal }
      return await this.#begin(call, own, { resumed })
    } finally {
      arrived()
    }
  }

  #receive(call: ToolCall, options: CallOptions, origin: Origin, kernel: Kernel): Received {
    requireNames(options)
    const { signal, values, session = this.session, invocationId = this.#nextId() } = options
    const { slots, order, watcher, resumed } = origin
    const deadline = new Deadline(kernel.timeout, signal, this.#alarms)
    const parcel = new Parcel(call, invocationId, session, options.caller ?? 'model', deadline)
    parcel.principal = options.principal
    parcel.slots = slots
    parcel.order = order
    parcel.watcher = watcher
    parcel.requiresApproval = options.requireApproval
    parcel.receivedAt = performance.now()
    parcel.context = new CallContext(parcel, kernel, values ?? {})
    if (options.parent !== undefined) parcel.parent = runningCall(options.parent, session, this.#kernel)
    if (resumed !== undefined) takeUp(parcel, resumed, kernel)
    const isClosed = this.#closing !== undefined && (resumed ?? parcel.parent) === undefined // these still run
    if (isClosed) deadline.cancel('The executor is closed.')
    return parcel
  }

  #begin(call: ToolCall, options: CallOptions, origin: Origin): Promise<ToolResult> {
    const kernel = this.#kernel
    const received = this.#receive(call, options, origin, kernel)
    const named = options.invocationId
    const { recorder, inFlight } = kernel
    const other = named === undefined ? undefined : inFlight.get(named)
    if (other !== undefined) return Promise.resolve(failure(received, kernel, duplicateOf(received, other)))
    inFlight.enter(received, named !== undefined)
    origin.order?.add(received)
    const mayBeKnown = named !== undefined && origin.resumed === undefined && this.#closing === undefined
    const result =
      mayBeKnown && recorder !== undefined ? executeOnce(received, kernel, recorder) : execute(received, kernel)
    const settled = kernel.elsewhere?.settled(result, received, options.signal, this.#closed.signal) ?? result
    return options.signal === undefined ? settled : orReleased(settled, received, kernel)
  }

  /** Ids of one executor differ by a number. Those of different executors differ by 122 random bits. */
  #nextId(): string {
    return `${this.#owner}-${this.#count++}`
  }

  get #owner(): string {
    return (this.#prefix ??= crypto.randomUUID())
  }
}

/** Gives a call what it had when it began to wait. */
function takeUp(parcel: Parcel, resumed: Resumption, kernel: Kernel): void {
  parcel.resumption = resumed
  parcel.parent = callAround(resumed, kernel)
  parcel.seq = resumed.seq
  parcel.recording = kernel.recorder && resumed.recording
  if (resumed.reason === 'client') parcel.effect = 'unknown' // the client may have done its work
  if (resumed.taken !== undefined) parcel.effect = resumed.recording?.record.effect ?? 'unknown'
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
  keepShapes()
  return new Executor(options)
}
