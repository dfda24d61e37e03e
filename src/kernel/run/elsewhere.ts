import { withAny } from '#clock'
import type { ToolResult } from '../call/call.ts'
import { limited } from '../call/deadline.ts'
import type { Confirmed, Received } from '../call/parcel.ts'
import { Pause } from '../call/pause.ts'
import type { QueuedWork, ToolCallRecord } from '../call/record.ts'
import { toldInput } from '../call/secrets.ts'
import { isToolError, JournalError, ToolCancelledError, UnavailableError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { failed, failure, queueOf } from '../outcome/result.ts'
import type { Observer, ToolValues } from '../ports.ts'
import type { ToolDefinition } from '../tool/definition.ts'

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

/** Says which calls of `server` and `mcp` tools run on workers, and tells the workers of them. */
export interface Elsewhere {
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

/** Pauses a call that runs on a worker. Returns `undefined` if it runs here. */
export function handOver(confirmed: Confirmed, kernel: Kernel): Promise<never> | undefined {
  const { tool, verdict, resumption } = confirmed
  const { elsewhere } = kernel
  if (elsewhere === undefined || resumption?.reason === 'worker') return undefined
  if (verdict !== null && verdict.result !== null) return undefined
  if (tool.type !== 'server' && tool.type !== 'mcp') return undefined
  const queue = elsewhere.queueOf(tool)
  return queue === undefined ? undefined : enqueue(confirmed, elsewhere, queue, kernel)
}

async function enqueue(confirmed: Confirmed, elsewhere: Elsewhere, queue: string, kernel: Kernel): Promise<never> {
  const { tool, context, deadline } = confirmed
  const depth = async (atMost: number): Promise<number> => (await kernel.recorder?.queue.depth(queue, atMost)) ?? 0
  if ((await deadline.within(elsewhere.admits?.(queue, depth))) === false) {
    throw new UnavailableError(`Too many calls wait in the queue ${JSON.stringify(queue)}. Call it again later.`)
  }
  const { readonly, idempotent, concurrent } = tool.traits
  const values = elsewhere.carry?.(context.values)
  const work: QueuedWork = {
    queue,
    attempts: 0,
    ...(tool.type === 'server' && (readonly || idempotent) && { isRepeatable: true }),
    ...(!concurrent && { isAlone: true }),
    ...(values !== undefined && { values }),
  }
  throw new Pause('worker', { prompt: `Run ${tool.name}`, input: toldInput(confirmed) }, elsewhere.expiry, work)
}

/** Returns the result of a call. If it waits for a worker, tells the workers and waits until it has settled. */
export async function awaitElsewhere(
  first: Promise<ToolResult>,
  received: Received,
  kernel: Kernel,
  closed: AbortSignal,
  signal: AbortSignal | undefined,
): Promise<ToolResult> {
  const waiting = await first
  const queue = queueOf(waiting)
  const { elsewhere, recorder } = kernel
  if (queue === undefined || elsewhere === undefined || recorder === undefined) return waiting
  const { invocationId, watcher, receivedAt } = received
  const { inbox } = recorder
  const arrived = kernel.inFlight.expect(invocationId) // a drain waits for it
  const unfollow = watcher && elsewhere.follow?.(received, watcher, recorder.queue.bus)
  const settled = async (either: AbortSignal): Promise<ToolResult> => {
    for (let call: ToolResult | string = waiting; ; call = invocationId) {
      try {
        return await inbox.settled(call, { signal: either })
      } catch (error) {
        if (signal?.aborted && !closed.aborted) return giveUp()
        if (closed.aborted) return waiting
        if (!isToolError(error) || !error.retryable) return failed(received, kernel, error)
      }
      await new Promise((resolve) => setTimeout(resolve, again)) // the journal may answer again
    }
  }
  const giveUp = async (): Promise<ToolResult> => {
    received.effect = 'unknown'
    const words = 'The call was cancelled by its caller.'
    const late = (): JournalError => new JournalError('The journal did not cancel the call in time.')
    const outcome = await limited(inbox.cancel(invocationId, words), cancelTimeout, late).catch(() => 'asked')
    if (outcome !== 'asked') return inbox.settled(invocationId).catch((error) => failed(received, kernel, error))
    elsewhere.cancel?.(invocationId)
    return failure(received, kernel, new ToolCancelledError(words, { cause: signal?.reason }))
  }
  if (queue !== '') void elsewhere.send([{ invocationId, queue }]).catch(kernel.report)
  const result = await withAny([signal, closed], settled).finally(arrived)
  if (unfollow !== undefined) unfollow(await recorder.queue.record(invocationId).catch(() => undefined))
  const { id } = received
  return { ...result, ...(id !== undefined && { id }), durationMs: performance.now() - receivedAt }
}
