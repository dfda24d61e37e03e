/**
 * Runs the calls of an executor on workers, which `fleet` tells with a dispatcher and you may tell in any way.
 *
 * @module
 */
import { withAny } from '#clock'
import {
  InvalidConfigurationError,
  isToolError,
  JournalError,
  ToolCancelledError,
  UnavailableError,
  type Bus,
  type Confirmed,
  type Elsewhere,
  type Extension,
  type Observer,
  type QueuedWork,
  type Received,
  type Recorder,
  type ToolCallRecord,
  type ToolDefinition,
  type ToolResult,
  type ToolValues,
} from '../index.ts'
import { limited } from '../kernel/call/deadline.ts'
import { toldInput } from '../kernel/call/parcel.ts'
import { Pause } from '../kernel/call/pause.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { failed, failure } from '../kernel/outcome/result.ts'
import { queueOf } from '../records/queued.ts'

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
  /** Returns what goes with a call of the host's values, as JSON. */
  carry?(values: ToolValues): unknown
  /** Tells the workers. A call that no worker hears of is sent again by their sweep. */
  send(calls: readonly { readonly invocationId: string; readonly queue: string }[]): Promise<void>
  /** Tells the worker that runs a call to cancel it at once. Else it hears of it from the journal. */
  cancel?(invocationId: string): void
  /**
   * Passes on the events of a call's worker. Call the returned function with its settled record.
   *
   * @param bus That of the journal.
   */
  follow?(call: Received, listener: Observer, bus?: Bus): (settled: ToolCallRecord | undefined) => void
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
    elsewhere(kernel, hasStore) {
      const { recorder } = kernel
      // Else the workers could not find the calls and their results.
      const isShared = recorder !== undefined && (recorder.isDurable || workers.isLocal === true)
      if (isShared && hasStore) return new CallerSide(workers, kernel, recorder)
      throw new InvalidConfigurationError(
        'Calls on workers need a journal that is durable and a store, which the workers share. Bring both in `use`, such as `postgresJournal(pool)` and `postgresStore(pool)`.',
      )
    },
  }
}

class CallerSide implements Elsewhere {
  readonly #workers: Workers
  readonly #kernel: Kernel
  readonly #recorder: Recorder

  constructor(workers: Workers, kernel: Kernel, recorder: Recorder) {
    this.#workers = workers
    this.#kernel = kernel
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
    throw new Pause('worker', { prompt: `Run ${tool.name}`, input: toldInput(confirmed) }, this.#workers.expiry, work)
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
    const [workers, kernel, { inbox, queue: line }] = [this.#workers, this.#kernel, this.#recorder]
    const { id, invocationId, watcher, receivedAt } = received
    const arrived = kernel.inFlight.expect(invocationId) // a drain waits for it
    const unfollow = watcher && workers.follow?.(received, watcher, line.bus)
    const settled = async (either: AbortSignal): Promise<ToolResult> => {
      for (let call: ToolResult | string = waiting; ; call = invocationId) {
        try {
          return await inbox.settled(call, { signal: either })
        } catch (error) {
          if (signal?.aborted && !closed.aborted) return this.#giveUp(received, signal.reason)
          if (closed.aborted) return waiting
          if (!isToolError(error) || !error.retryable) return failed(received, kernel, error)
        }
        await new Promise((resolve) => setTimeout(resolve, again)) // the journal may answer again
      }
    }
    if (queue !== '') void workers.send([{ invocationId, queue }]).catch(kernel.report)
    const result = await withAny([signal, closed], settled).finally(arrived)
    if (unfollow !== undefined) unfollow(await line.record(invocationId).catch(() => undefined))
    return { ...result, ...(id !== undefined && { id }), durationMs: performance.now() - receivedAt }
  }

  /** Cancels a call whose caller has cancelled it. */
  async #giveUp(received: Received, cause: unknown): Promise<ToolResult> {
    const { invocationId } = received
    const { inbox } = this.#recorder
    received.effect = 'unknown'
    const words = 'The call was cancelled by its caller.'
    const late = (): JournalError => new JournalError('The journal did not cancel the call in time.')
    const outcome = await limited(inbox.cancel(invocationId, words), cancelTimeout, late).catch(() => 'asked')
    if (outcome !== 'asked') return inbox.settled(invocationId).catch((error) => failed(received, this.#kernel, error))
    this.#workers.cancel?.(invocationId)
    return failure(received, this.#kernel, new ToolCancelledError(words, { cause }))
  }
}
