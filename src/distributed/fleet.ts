/**
 * Runs the calls of an executor on the workers of a fleet. The journal has the calls; the dispatcher carries their ids alone.
 *
 * @module
 */
import type { Extension, ToolDefinition, ToolEvent, ToolValues } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { escapeDeceptive, type Bus, type Observer, type Received, type ToolCallRecord } from '../extension.ts'
import { cancelTopic, eventsTopic, followTopic } from './_bus.ts'
import { lastEventsOf } from './_last-events.ts'
import { elsewhere, type Workers } from './elsewhere.ts'

export type { Bus } from '../extension.ts'

/** A call for a dispatcher. */
export interface QueuedCall {
  readonly invocationId: string
  readonly queue: string
  /** 1 is the most urgent. Default: as it came, before those that have one. */
  readonly priority?: number | undefined
  /** How many workers have taken it. To send a call again after one did is another call. Default: 0. */
  readonly attempts?: number | undefined
  /** Set if it was delivered before its place in the order of its session came. To send it again with another one is another call. */
  readonly place?: string | undefined
  /** Whether it was sent before and may not be delivered yet. To send it so changes nothing, or delivers it once more. Default: `false`. */
  readonly isAgain?: boolean | undefined
}

/** How a worker takes calls from a queue. */
export interface QueueOptions {
  /** How many calls run at a time. */
  readonly concurrency: number
  /** How many calls all workers of the queue start in an interval, in milliseconds. */
  readonly limit?: { readonly calls: number; readonly interval: number } | undefined
}

/** A worker's part of a dispatcher. */
export interface Delivery {
  /** Delivers no more calls. Does not wait for those that run. */
  pause(): Promise<void>
  /** Waits for the calls that run, and ends. */
  close(): Promise<void>
}

/** Carries ids of calls to workers. It decides nothing: a call that it loses is sent again, one that it repeats runs once. */
export interface Dispatcher {
  /** Whether it reaches only workers of this process. */
  readonly isLocal?: boolean
  /** Carries the events of calls, and requests to cancel them. Default: that of the journal, if it has one. */
  readonly bus?: Bus | undefined
  /** Sends calls, each at least once. To send one again that has not been delivered changes nothing. Rejects if it is down. */
  send(calls: readonly QueuedCall[]): Promise<void>
  /**
   * Delivers the calls of a queue.
   *
   * @param run Runs a call. If it rejects, the call is delivered again later, to any worker.
   * @param signal Is aborted if the worker closes before the delivery has begun. Reject then: the worker waits for it.
   */
  work(
    queue: string,
    options: QueueOptions,
    run: (invocationId: string) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<Delivery>
  /** Returns how many calls it holds for a queue. */
  depth?(queue: string): Promise<number>
  close?(): Promise<void>
}

/** The options of `fleet`. */
export interface FleetOptions {
  /** Tells the workers. Default: none, and the workers take the calls from the journal. */
  readonly dispatcher?: Dispatcher | undefined
  /** Returns the queue of a tool's calls, or `undefined` for a tool that runs here. Default: `'default'` for every tool. */
  readonly queueOf?: (tool: ToolDefinition) => string | undefined
  /** How long a call may wait for a worker, in milliseconds. Default: 3,600,000. */
  readonly expiry?: number
  /** The most calls that may wait in a queue. Further ones end with `E_UNAVAILABLE`. Default: no limit. */
  readonly maximumWaiting?: number
  /**
   * Returns what a worker gets of the call's values, as JSON of at most 16,384 bytes. It is in the journal until the call
   * settles, and nothing of it is masked. Default: nothing.
   */
  readonly carry?: (values: ToolValues) => unknown
}

/** How long a count of waiting calls is kept, in milliseconds. */
const countedFor = 1_000
/** The longest name of a queue, in characters. */
const longestQueue = 128
/** The most JSON that is carried of a call's values, in bytes. */
const mostCarried = 16_384

/**
 * Runs the calls of `server` and `mcp` tools on workers. The executor needs a durable journal and a store that the workers share.
 *
 * @param options The dispatcher, and which tools run on workers. The application closes the dispatcher.
 * @returns The extension for `use`.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong.
 * @experimental
 * @example
 * ```ts
 * import { createExecutor, memoryStore, tool } from 'toolwright'
 * import { fleet } from 'toolwright/distributed/fleet'
 * import { memoryDispatcher } from 'toolwright/distributed/memory'
 * import { sqliteJournal } from 'toolwright/journals/sqlite'
 *
 * const dispatcher = memoryDispatcher()
 * const use = [sqliteJournal('./calls.db'), { store: memoryStore() }, fleet({ dispatcher })]
 * const executor = createExecutor({ tools: [tool('now', () => Date.now())], use })
 * ```
 */
export function fleet(options: FleetOptions = {}): Required<Pick<Extension, 'elsewhere'>> {
  const { dispatcher, queueOf = () => 'default', expiry = 3_600_000, maximumWaiting, carry } = options
  if (dispatcher !== undefined && typeof dispatcher?.send !== 'function') {
    throw new InvalidConfigurationError(
      '`dispatcher` is not a dispatcher. Make one, as in fleet({ dispatcher: memoryDispatcher() }).',
    )
  }
  requirePositive('expiry', expiry)
  if (maximumWaiting !== undefined) requirePositive('maximumWaiting', maximumWaiting)
  const own = dispatcher?.bus
  return elsewhere({
    queueOf: (tool) => checkedQueue(queueOf(tool), tool),
    expiry,
    ...(maximumWaiting !== undefined && { admits: admission(maximumWaiting) }),
    isLocal: dispatcher?.isLocal,
    ...(carry && { carry: (values: ToolValues) => carried(carry(values)) }),
    send: async (calls) => dispatcher?.send(calls),
    ...(own && { cancel: (invocationId: string) => own.publish(cancelTopic, invocationId) }),
    follow: (call, listener, bus, report) => follow(call, listener, own ?? bus, report),
  })
}

function requirePositive(option: string, value: number): void {
  if (typeof value === 'number' && value > 0) return
  throw new InvalidConfigurationError(`\`${option}\` must be a number above 0, got ${String(value)}.`)
}

/** Counts the calls that wait, and adds those of this executor until it counts again. */
function admission(most: number): NonNullable<Workers['admits']> {
  const counts = new Map<string, { readonly counted: Promise<number>; added: number; readonly until: number }>()
  return async (queue, depth) => {
    let queueCount = counts.get(queue)
    if (queueCount === undefined || queueCount.until < performance.now()) {
      queueCount = { counted: depth(most), added: 0, until: performance.now() + countedFor }
      counts.set(queue, queueCount)
    }
    const counted = await queueCount.counted.catch((error: unknown) => {
      counts.delete(queue)
      throw error
    })
    return counted + queueCount.added < most && ++queueCount.added > 0
  }
}

function checkedQueue(queue: unknown, { name }: ToolDefinition): string | undefined {
  if (queue === undefined) return undefined
  if (isQueueName(queue)) return queue
  throw new InvalidConfigurationError(
    `\`queueOf\` must give ${name} a queue of 1 to ${longestQueue} characters, or undefined, got ${JSON.stringify(queue)}.`,
  )
}

/**
 * Returns whether a value may name a queue: a text of 1 to 128 characters that is valid Unicode. A dispatcher of your own checks
 * with it what it is given.
 *
 * @example
 * ```ts
 * import { isQueueName } from 'toolwright/distributed/fleet'
 *
 * console.log(isQueueName('gpu'), isQueueName(''), isQueueName('x'.repeat(10_000))) // true false false
 * ```
 */
export function isQueueName(queue: unknown): queue is string {
  return typeof queue === 'string' && queue !== '' && queue.length <= longestQueue && queue.isWellFormed()
}

function carried(value: unknown): unknown {
  const text = JSON.stringify(value)
  if (text === undefined) return undefined
  if (new TextEncoder().encode(text).length <= mostCarried) return JSON.parse(text) as unknown
  throw new InvalidConfigurationError(
    `\`carry\` gave more than ${mostCarried} bytes of JSON. Carry an id, and read the rest on the worker.`,
  )
}

/** Passes on the events of a worker in their order, and adds those that the bus lost once the call has settled. */
function follow(
  call: Received,
  listener: Observer,
  bus: Bus | undefined,
  report?: (error: unknown) => void,
): (settled: ToolCallRecord | undefined) => void {
  const { seq: first, invocationId, callId, name: toolName, session } = call
  let next = first
  const names = new Set<string>()
  const tell = (event: ToolEvent): void => {
    next = event.seq + 1
    names.add(event.event)
    listener(event)
  }
  const unsubscribe = bus?.subscribe(eventsTopic(invocationId), (message) => {
    const event = busEvent(message, invocationId, report)
    if (event === undefined || event.seq < next) return
    // The start is told from the record if it was lost, and must not come after the progress or the end.
    const isLate = event.event === 'tool:progress' || event.event === 'tool:end'
    if (isLate && !names.has('tool:start')) return
    tell({ ...event, callId, toolName, session })
  })
  bus?.publish(followTopic, invocationId) // only now: the worker answers at once
  return (settled) => {
    unsubscribe?.()
    if (settled === undefined) return
    for (const event of lastEventsOf(settled, first)) if (!names.has(event.event)) tell(event)
  }
}

/** The events that a worker may send, and whether a caller hears of them by the bus. A call settles by its record alone. */
const isCarried: Readonly<Record<ToolEvent['event'], boolean>> = {
  'call:received': false,
  'call:repaired': false,
  'call:blocked': true,
  'call:waiting': false,
  'call:resumed': true,
  'tool:start': true,
  'tool:progress': true,
  'tool:end': true,
  'call:settled': false,
}

function busEvent(message: string, invocationId: string, report?: (error: unknown) => void): ToolEvent | undefined {
  const event = messageOf(message)
  if (event?.invocationId !== invocationId || typeof event.event !== 'string') return undefined
  if (!Object.hasOwn(isCarried, event.event)) return reportUnknown(event.event, report)
  return isCarried[event.event] && Number.isSafeInteger(event.seq) ? event : undefined
}

function messageOf(message: string): ToolEvent | undefined {
  try {
    return (JSON.parse(message) as ToolEvent | null) ?? undefined
  } catch {
    return undefined // not of a worker
  }
}

/** The names of events that this process has reported. Every process on the bus may send any number. */
const reportedNames = new Set<string>()
const [mostReported, longestQueueName] = [100, 80]

/** Reports an event that another release has and this one lacks: once for each name. */
function reportUnknown(event: string, report: ((error: unknown) => void) | undefined): undefined {
  const name = escapeDeceptive(JSON.stringify(event.slice(0, longestQueueName)))
  if (reportedNames.has(name) || reportedNames.size >= mostReported) return
  reportedNames.add(name)
  report?.(
    new InvalidConfigurationError(
      `A worker sent the event ${name}, which this release does not have. It is left out. Give the callers and the workers of a fleet the same release of toolwright.`,
    ),
  )
}
