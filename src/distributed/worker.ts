/**
 * Runs the calls that wait for workers: those that a dispatcher delivers, or those that the journal has.
 *
 * @module
 */
import type { ToolExecutor, ToolEvent } from '../index.ts'
import { InvalidConfigurationError, UnavailableError, isToolError } from '../errors.ts'
import type { RunOptions } from '../extension.ts'
import { cancelTopic, eventsTopic, followTopic } from './_bus.ts'
import { pull } from './_pull.ts'
import { isQueueName, type Delivery, type Dispatcher, type QueueOptions } from './fleet.ts'

/** The options of `createWorker`. */
export interface WorkerOptions {
  /** Runs the calls. It has the tools of the callers, their journal and their store. The worker closes it. */
  readonly executor: ToolExecutor
  /** Delivers the calls. The application closes it. Default: none, and the worker takes the calls from the journal. */
  readonly dispatcher?: Dispatcher | undefined
  /** The queues, each with how many of its calls run at a time here. A `limit` needs a dispatcher. */
  readonly queues: Readonly<Record<string, number | QueueOptions>>
  /** How often to look for what is left over, in milliseconds. Default: 2,000. */
  readonly sweepEvery?: number
  /** How long a worker may be silent before it counts as dead, in milliseconds: at least 10,000. Default: 30,000. */
  readonly staleAfter?: number
  /** How many workers may take a call before it is closed. Default: 3. */
  readonly attempts?: number
  /** How long a call waits before it is sent to the dispatcher again, in milliseconds. Default: 5,000. */
  readonly resendAfter?: number
  /** Makes the application's values of what `fleet({ carry })` wrote. */
  readonly receive?: RunOptions['receive']
}

/** A running worker. */
export interface Worker {
  /** Resolves when the worker takes calls of all queues. */
  readonly ready: Promise<void>
  /**
   * Subscribes. `'idle'`: the last call that ran has ended. `'error'`: the dispatcher or the journal failed; the worker goes on.
   * Returns an unsubscribe function.
   */
  on(event: 'idle', listener: () => void): () => void
  on(event: 'error', listener: (error: unknown) => void): () => void
  /** Returns how many calls wait in each queue. */
  depth(): Promise<Readonly<Record<string, number>>>
  /**
   * Takes no more calls, waits for those that run, and closes the executor. Calls that have not ended by then wait for another
   * worker if they may run again, and are cancelled if not.
   *
   * @param options `drain`: how long calls may still take, in milliseconds. Default: 0.
   */
  close(options?: { readonly drain?: number }): Promise<void>
}

/** The most calls of a queue that `depth` counts. */
const mostDepth = 1_000_000
/** The shortest time after which a worker may count as dead, in milliseconds: two signs of life. */
const leastStale = 10_000
/** The most calls whose events are passed on. */
const mostFollowed = 10_000
/** The most events that are kept of a running call until a caller wants them. */
const mostKeptEvents = 8
/** The longest id of a call, in characters. */
const longestCallId = 1_024
/** How long to wait before a dispatcher that failed is asked again, in milliseconds. */
const reconnect = 1_000

/**
 * Starts a worker.
 *
 * @param options The executor, the dispatcher and the queues.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong.
 * @experimental
 * @example
 * ```ts
 * import { createExecutor, memoryStore, tool } from 'toolwright'
 * import { createWorker } from 'toolwright/distributed/worker'
 * import { sqliteJournal } from 'toolwright/journals/sqlite'
 *
 * const use = [sqliteJournal('./calls.db'), { store: memoryStore() }]
 * const executor = createExecutor({ tools: [tool('now', () => Date.now())], use })
 * const worker = createWorker({ executor, queues: { default: 16 } })
 * process.on('SIGTERM', () => worker.close({ drain: 30_000 }))
 * ```
 */
export function createWorker(options: WorkerOptions): Worker {
  const { executor, dispatcher, receive } = options
  if (typeof executor?.queue.run !== 'function') {
    throw new InvalidConfigurationError(
      '`executor` is no executor. Make one with createExecutor, and give it a journal.',
    )
  }
  const queues = queuesOf(options)
  const names = [...queues.keys()]
  const sweepEvery = workerNumber(options, 'sweepEvery', 2_000, 1)
  const staleAfter = workerNumber(options, 'staleAfter', 30_000, leastStale)
  const attempts = workerNumber(options, 'attempts', 3, 1)
  const resendAfter = workerNumber(options, 'resendAfter', 5_000, 1)
  /** The calls that run, each with its last events that no caller wanted yet. */
  const running = new Map<string, ToolEvent[]>()
  /** The calls whose events a caller wants. */
  const followed = new Set<string>()
  const listeners = { idle: new Set<() => void>(), error: new Set<(error: unknown) => void>() }
  const bus = dispatcher?.bus ?? executor.queue.bus
  let cancelling: Promise<void> | undefined
  let isCancelDue = false
  let closing: Promise<void> | undefined
  /** Ends what has not begun when the worker closes. */
  const ending = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let sweeping: Promise<void> | undefined
  /** When this worker woke, if it was frozen, in milliseconds of the monotonic clock. */
  let wokeAt = -Infinity

  function fail(error: unknown): void {
    for (const listener of listeners.error) listener(error)
  }

  async function run(invocationId: string): Promise<void> {
    const isFirst = !running.has(invocationId) // else it is delivered again while it runs
    if (isFirst) running.set(invocationId, [])
    try {
      const result = await executor.queue.run(invocationId, { receive })
      if (result?.status === 'waiting') throw new UnavailableError('The worker closed before the call had ended.')
    } catch (error) {
      // `E_INTERNAL`: a part of the package could not be loaded.
      if (!isToolError(error) || error.code === 'E_JOURNAL' || error.code === 'E_INTERNAL') fail(error)
      throw error
    } finally {
      if (isFirst) running.delete(invocationId)
      if (running.size === 0) for (const listener of listeners.idle) listener()
    }
  }

  function forward(event: ToolEvent): void {
    const { invocationId } = event
    const runningCall = running.get(invocationId)
    if (runningCall === undefined) return
    const isWaiting = event.event === 'call:waiting'
    if (event.event === 'call:settled' || (isWaiting && event.inProcess === undefined)) followed.delete(invocationId)
    else if (isWaiting)
      return // the caller of the call has no use for it
    else if (followed.has(invocationId)) publish(event)
    else if (runningCall.push(event) > mostKeptEvents) runningCall.splice(mostKeptEvents / 2, 1) // the first ones have the start
  }

  function publish(event: ToolEvent): void {
    bus?.publish(eventsTopic(event.invocationId), JSON.stringify(event))
  }

  /** Cancels the calls here whose cancellation the journal has. Who sends a message alone cancels nothing. */
  function cancel(invocationId: string): void {
    if (!running.has(invocationId)) return
    isCancelDue = cancelling !== undefined
    cancelling ??= executor.queue
      .cancelRequested()
      .catch(fail)
      .finally(() => {
        cancelling = undefined
        if (isCancelDue) cancel(invocationId)
      })
  }

  async function start(name: string, own: QueueOptions): Promise<Delivery> {
    if (dispatcher === undefined) return pull(executor, name, own.concurrency, run, { resendAfter, fail })
    for (;;) {
      try {
        return await dispatcher.work(name, own, run, ending.signal)
      } catch (error) {
        if (closing !== undefined) throw error
        fail(error)
      }
      await new Promise((resolve) => setTimeout(resolve, reconnect))
    }
  }

  async function sweep(): Promise<void> {
    try {
      // What froze this worker may have frozen the others, which need time for a sign of life.
      const isAwake = performance.now() - wokeAt >= staleAfter
      const silentFor = isAwake ? staleAfter : Number.MAX_SAFE_INTEGER
      const { requeued } = await executor.calls.recover({ rerun: true, attempts, staleAfter: silentFor })
      if (dispatcher !== undefined) {
        const again = requeued.filter(({ queue }) => queues.has(queue))
        const silent = await executor.queue.unsent(names, resendAfter)
        const unsent = silent.map((call) => ({ ...call, isAgain: true }))
        if (again.length + unsent.length > 0) await dispatcher.send([...again, ...unsent])
      }
    } catch (error) {
      fail(error)
    }
  }

  function plan(): void {
    if (closing !== undefined) return
    const [before, ownBefore] = [Date.now(), performance.now()]
    timer = setTimeout(() => {
      // The monotonic clock may stop while a machine sleeps, the other may be set.
      const late = Math.max(Date.now() - before, performance.now() - ownBefore) - sweepEvery
      if (late >= staleAfter / 4) wokeAt = performance.now()
      sweeping = sweep().finally(plan)
    }, sweepEvery)
  }

  function follow(invocationId: string): void {
    if (invocationId.length > longestCallId) return
    followed.add(invocationId)
    for (const event of running.get(invocationId)?.splice(0) ?? []) publish(event)
    for (const oldest of followed) {
      if (followed.size <= mostFollowed) break
      followed.delete(oldest)
    }
  }

  const unsubscribes = [
    dispatcher?.bus?.subscribe(cancelTopic, cancel) ??
      executor.calls.watch((invocationId, _session, change) => change === 'cancelled' && cancel(invocationId)),
    ...(dispatcher ? [executor.queue.onOrder((calls) => void dispatcher.send(calls).catch(fail))] : []),
    ...(bus ? [bus.subscribe(followTopic, follow), executor.on('*', forward)] : []),
  ]
  const starting = [...queues].map(([name, own]) => start(name, own))
  const ready = Promise.all(starting).then(() => {})
  ready.catch(() => {}) // the worker closed before
  plan()

  async function close(drain: number): Promise<void> {
    clearTimeout(timer)
    ending.abort()
    const started = await Promise.allSettled(starting)
    const delivering = started.flatMap((delivery) => (delivery.status === 'fulfilled' ? [delivery.value] : []))
    await Promise.all(delivering.map((delivery) => delivery.pause()))
    await sweeping
    await executor.close({ drain })
    await Promise.all(delivering.map((delivery) => delivery.close()))
    for (const unsubscribe of unsubscribes) unsubscribe()
  }

  return {
    ready,
    on(event: 'idle' | 'error', listener: never) {
      const all: Set<unknown> = listeners[event]
      all.add(listener)
      return () => void all.delete(listener)
    },
    async depth() {
      const entries = names.map(async (name) => [name, await executor.queue.depth(name, mostDepth)] as const)
      return Object.fromEntries(await Promise.all(entries))
    },
    close({ drain = 0 } = {}) {
      closing ??= Promise.resolve().then(() => close(drain))
      return closing
    },
  }
}

function queuesOf({ queues, dispatcher }: WorkerOptions): ReadonlyMap<string, QueueOptions> {
  const queueEntries = Object.entries(queues ?? {})
  if (queueEntries.length === 0)
    throw new InvalidConfigurationError('`queues` is empty: name a queue, as in { default: 16 }.')
  return new Map(
    queueEntries.map(([name, own]) => {
      const options = typeof own === 'number' ? { concurrency: own } : own
      const { concurrency, limit } = options
      const isWhole = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1
      const isPaced = limit === undefined || (isWhole(limit.calls) && limit.interval > 0)
      if (!isQueueName(name) || !isWhole(concurrency) || !isPaced) {
        throw new InvalidConfigurationError(
          `The queue ${JSON.stringify(name)} takes how many calls run at a time, or { concurrency, limit: { calls, interval } }.`,
        )
      }
      if (limit !== undefined && dispatcher === undefined) {
        throw new InvalidConfigurationError(`The limit of the queue ${JSON.stringify(name)} needs a dispatcher.`)
      }
      return [name, options]
    }),
  )
}

type NumberOption = 'sweepEvery' | 'staleAfter' | 'attempts' | 'resendAfter'

function workerNumber(options: WorkerOptions, name: NumberOption, otherwise: number, least: number): number {
  const value = options[name] ?? otherwise
  if (typeof value === 'number' && value >= least && value < 2 ** 31) return value
  throw new InvalidConfigurationError(`\`${name}\` must be a number of at least ${least}, got ${String(value)}.`)
}
