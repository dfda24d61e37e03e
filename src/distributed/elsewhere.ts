/**
 * Runs the calls of an executor on workers, which `fleet` tells with a dispatcher and you may tell in any way.
 *
 * @module
 */
import type { Extension, ToolDefinition, ToolResult, ToolValues } from '../index.ts'
import {
  InvalidConfigurationError,
  JournalError,
  ToolCancelledError,
  UnavailableError,
  isToolError,
} from '../errors.ts'
import type {
  Bus,
  Confirmed,
  Elsewhere,
  Observer,
  QueuedWork,
  Received,
  Recorder,
  ToolCallRecord,
} from '../extension.ts'
import { CallResult } from '../kernel/call/call-result.ts'
import { limited } from '../kernel/call/limited.ts'
import { maskedInput } from '../kernel/call/parcel.ts'
import { Wait } from '../kernel/call/wait.ts'
import { publish } from '../kernel/call/emit.ts'
import { failed, failure } from '../kernel/outcome/result.ts'
import { queueOf } from '../records/queued.ts'
import { isSettled } from '../records/record.ts'
import { withAny } from './_any-signal.ts'
import { lastEventsOf } from './_last-events.ts'
import type { ElsewhereContext } from '../kernel/executor-context.ts'

/** Says which calls of `server` and `mcp` tools run on workers, and tells the workers of them. */
export interface Workers {
  /** Returns the queue of a tool's calls, or `undefined` to run them here. */
  queueOf(tool: ToolDefinition): string | undefined
  /** How long a call may wait for a worker, in milliseconds. */
  readonly expiry: number
  /** Whether one more call may wait in a queue. `depth` counts those that wait, up to a number. Default: always. */
  admits?(queue: string, depth: (atMost: number) => Promise<number>): Promise<boolean>
  /** Whether the workers are in this process, so that the journal need not be durable. */
  readonly isLocal?: boolean | undefined
  /** Returns what goes with a call of the application's values, as JSON. */
  carry?(values: ToolValues): unknown
  /** Tells the workers. A call that no worker hears of is sent again by their sweep. */
  send(calls: readonly { readonly invocationId: string; readonly queue: string }[]): Promise<void>
  /** Tells the worker that runs a call to cancel it at once. Else it hears of it from the journal. */
  cancel?(invocationId: string): void
  /**
   * Passes on the events of a call's worker. Call the returned function with its settled record.
   *
   * @param bus That of the journal.
   * @param report Receives what is wrong with messages of the bus.
   */
  follow?(
    call: Received,
    listener: Observer,
    bus?: Bus,
    report?: (error: unknown) => void,
  ): (settled: ToolCallRecord | undefined) => void
}

/** How long to wait before a journal that failed is asked again, in milliseconds. */
const again = 500
/** How long the caller of a cancelled call may wait for the journal, in milliseconds. */
const cancelTimeout = 5_000

/**
 * Runs calls on workers. The executor needs a store that the workers share, and a journal that is durable unless they are local.
 *
 * @param workers Which calls they run, and how they are told.
 * @returns The extension for `use`.
 * @experimental
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { elsewhere } from 'toolwright/distributed/elsewhere'
 * import { sqliteJournal } from 'toolwright/journals/sqlite'
 * import { fileStore } from 'toolwright/stores/file'
 *
 * const workers = elsewhere({ queueOf: () => 'default', expiry: 60_000, send: async (calls) => console.log(calls) })
 * const use = [sqliteJournal('./calls.db'), fileStore('./artifacts'), workers]
 * const executor = createExecutor({ tools: [tool('now', () => Date.now())], use })
 * ```
 */
export function elsewhere(workers: Workers): Required<Pick<Extension, 'elsewhere'>> {
  return {
    elsewhere(context) {
      const { recorder, hasStore } = context
      // Else the workers could not find the calls and their results.
      const isShared = recorder !== undefined && (recorder.isDurable || workers.isLocal === true)
      if (isShared && hasStore) return new CallerSide(workers, context, recorder)
      throw new InvalidConfigurationError(
        'Calls on workers need a journal that is durable and a store, which the workers share. Bring both in `use`, such as `postgresJournal(pool)` and `postgresStore(pool)`.',
      )
    },
  }
}

class CallerSide implements Elsewhere {
  readonly #workers: Workers
  readonly #context: ElsewhereContext
  readonly #recorder: Recorder
  /** The errors of sends that were reported: calls that are sent together have one. */
  readonly #reported = new WeakSet<object>()

  constructor(workers: Workers, context: ElsewhereContext, recorder: Recorder) {
    this.#workers = workers
    this.#context = context
    this.#recorder = recorder
  }

  handOver(confirmed: Confirmed): Promise<never> | undefined {
    const { tool, verdict, resumption } = confirmed
    if (resumption?.reason === 'worker') return undefined
    if (verdict !== null && verdict.result !== null) return undefined
    if (tool.type !== 'server' && tool.type !== 'mcp') return undefined
    const queue = this.#workers.queueOf(tool)
    return queue === undefined ? undefined : this.#enqueue(confirmed, queue)
  }

  async #enqueue(confirmed: Confirmed, queue: string): Promise<never> {
    const { tool, context, deadline } = confirmed
    const depth = (atMost: number): Promise<number> => this.#recorder.queue.depth(queue, atMost)
    if ((await deadline.within(this.#workers.admits?.(queue, depth))) === false) {
      throw new UnavailableError(`Too many calls wait in the queue ${JSON.stringify(queue)}. Call it again later.`)
    }
    const { readonly, idempotent, concurrent } = tool.traits
    const values = this.#workers.carry?.(context.values)
    const work: QueuedWork = {
      queue,
      attempts: 0,
      ...(tool.type === 'server' && (readonly || idempotent) && { isRepeatable: true }),
      ...(!concurrent && { isAlone: true }),
      ...(values !== undefined && { values }),
    }
    throw new Wait('worker', { prompt: `Run ${tool.name}`, input: maskedInput(confirmed) }, this.#workers.expiry, work)
  }

  async settled(
    first: Promise<ToolResult>,
    received: Received,
    signal: AbortSignal | undefined,
    closed: AbortSignal,
  ): Promise<ToolResult> {
    const waiting = await first
    const queue = queueOf(waiting)
    if (queue === undefined) return waiting
    const { id, invocationId, watcher, receivedAt } = received
    const arrived = this.#context.inFlight.expect(invocationId) // a drain waits for it
    try {
      const unfollow =
        watcher && this.#workers.follow?.(received, watcher, this.#recorder.queue.bus, this.#context.report)
      if (queue !== '') void this.#workers.send([{ invocationId, queue }]).catch((error) => this.#reportOnce(error))
      const settled = (either: AbortSignal): Promise<ToolResult> =>
        this.#untilSettled(waiting, received, either, signal, closed)
      const result = await withAny([signal, closed], settled)
      if (unfollow !== undefined || this.#isHeard(received)) this.#tell(received, await this.#end(received), unfollow)
      const durationMs = performance.now() - receivedAt
      return CallResult.of(result, { ...(id !== undefined && { id }), durationMs })
    } finally {
      arrived()
    }
  }

  #reportOnce(error: unknown): void {
    if (this.#reported.has(error as object)) return
    if (typeof error === 'object' && error !== null) this.#reported.add(error)
    this.#context.report(error)
  }

  async #untilSettled(
    waiting: ToolResult,
    received: Received,
    either: AbortSignal,
    signal: AbortSignal | undefined,
    closed: AbortSignal,
  ): Promise<ToolResult> {
    const { invocationId } = received
    for (let call: ToolResult | string = waiting; ; call = invocationId) {
      try {
        return await this.#recorder.calls.settled(call, { signal: either })
      } catch (error) {
        if (signal?.aborted && !closed.aborted) return this.#giveUp(received, signal.reason, closed)
        if (closed.aborted) return this.#leave(waiting)
        if (!isToolError(error) || !error.retryable) return failed(received, this.#context, error)
      }
      await new Promise((resolve) => setTimeout(resolve, again)) // the journal may answer again
    }
  }

  /** Whether observers heard the call begin here, and hear how it ends. */
  #isHeard({ recording }: Received): boolean {
    return recording !== undefined && this.#context.watchers.size > 0
  }

  /** Returns the record of a call, if it has settled. */
  async #end({ invocationId }: Received): Promise<ToolCallRecord | undefined> {
    const record = await this.#recorder.queue.record(invocationId).catch(() => undefined)
    return record !== undefined && isSettled(record.state) ? record : undefined
  }

  /** Tells the caller's own observers how a call ended. What ended here has told them already. */
  #tell(
    received: Received,
    end: ToolCallRecord | undefined,
    unfollow?: (end: ToolCallRecord | undefined) => void,
  ): void {
    unfollow?.(end)
    if (end === undefined || !this.#isHeard(received) || end.journal?.owner === this.#context.owner()) return
    for (const event of lastEventsOf(end, received.seq)) publish(event, undefined, this.#context)
  }

  /** Returns what is known of a call when its caller closes. The call goes on. */
  async #leave(waiting: ToolResult): Promise<ToolResult> {
    const { calls, queue } = this.#recorder
    const { invocationId } = waiting
    const late = (): JournalError => new JournalError('The journal did not tell of the call in time.')
    const record = await limited(queue.record(invocationId), cancelTimeout, late).catch(() => undefined)
    if (record !== undefined && isSettled(record.state)) return calls.settled(invocationId).catch(() => waiting)
    const isQueued = record?.journal?.awaits !== undefined
    return { ...waiting, effect: isQueued ? record.effect : 'unknown' } // its worker may run the handler now
  }

  /** Cancels a call whose caller has cancelled it. */
  async #giveUp(received: Received, cause: unknown, closed: AbortSignal): Promise<ToolResult> {
    const { invocationId } = received
    const { calls } = this.#recorder
    received.effect = 'unknown'
    const words = 'The call was cancelled by its caller.'
    const late = (): JournalError => new JournalError('The journal did not cancel the call in time.')
    const outcome = await limited(calls.cancel(invocationId, words), cancelTimeout, late).catch(() => 'asked')
    if (outcome !== 'asked') return calls.settled(invocationId).catch((error) => failed(received, this.#context, error))
    this.#workers.cancel?.(invocationId)
    if (this.#isHeard(received)) void this.#tellLater(received, closed)
    return failure(received, this.#context, new ToolCancelledError(words, { cause }))
  }

  /** Tells the observers how a call ended for which its caller did not wait. */
  async #tellLater(received: Received, closed: AbortSignal): Promise<void> {
    try {
      await this.#recorder.calls.settled(received.invocationId, { signal: closed })
      this.#tell(received, await this.#end(received))
    } catch {
      // the executor has closed, or the journal has failed: the record has the end
    }
  }
}
