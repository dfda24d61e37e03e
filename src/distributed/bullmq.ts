/**
 * Carries the calls of a fleet with BullMQ, on Redis or on Postgres. A job has the ids of its calls and nothing else.
 *
 * @module
 */
import { createPostgresBackend, Queue, Worker, type QueueOptions as BullOptions } from 'bullmq'
import { sha256 } from '#sha256'
import { InvalidConfigurationError, isToolError, UnavailableError } from '../errors.ts'
import type { Bus } from '../extension.ts'
import { callsOf, jobsOf, type BullJob } from './bullmq/_jobs.ts'
import { Lanes } from './bullmq/_lanes.ts'
import { redisBus } from './bullmq/_redis-bus.ts'
import type { Delivery, Dispatcher, QueuedCall } from './fleet.ts'

/** The options of `bullmq`. */
export interface BullmqOptions {
  /** The URL of a Redis server, or options of `ioredis`. Needs the package `ioredis`. */
  readonly connection?: string | Readonly<Record<string, unknown>>
  /** The connection string of a Postgres database, or options of a `pg.Pool`, in place of Redis. Needs the package `pg`. */
  readonly postgres?: string | Readonly<Record<string, unknown>>
  /** The prefix of the keys in Redis; on Postgres the schema of the tables. Default: `toolwright`. */
  readonly prefix?: string
  /** How long the server may take to take calls, in milliseconds. Default: 5,000. */
  readonly timeout?: number
  /** Takes errors of connections, which are made again. Default: they are dropped. */
  readonly report?: (error: unknown) => void
}

/** How often BullMQ may deliver a job: as often as need be, since the journal counts. */
const unboundedAttempts = 2 ** 31 - 1
/** The most workers of BullMQ for one queue. Each has two connections. */
const mostLanes = 4
/** How many jobs Redis gets one by one, in one trip, and how many calls are added at a time. */
const [mostAlone, mostAtOnce] = [100, 500]
/** How many jobs are read at a time to count their calls. */
const mostJobsRead = 1_000
/** How long a worker holds a job without a sign of life, and how often others look for such jobs, in milliseconds. */
const [lockDuration, stalledInterval] = [30_000, 15_000]

/** Workers of earlier releases need the first two. */
const jobOptions = {
  attempts: unboundedAttempts,
  backoff: { type: 'custom' },
  removeOnComplete: true,
  removeOnFail: true,
} as const

/** A call that waits to be added with others. */
interface Adding {
  readonly call: QueuedCall
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Makes a dispatcher of BullMQ. Set `maxmemory-policy noeviction` on its Redis. What a Redis forgets is sent again.
 *
 * @param options Where BullMQ keeps its jobs.
 * @throws `E_INVALID_CONFIGURATION` if neither `connection` nor `postgres` is given, or both are.
 * @experimental
 * @see https://docs.bullmq.io
 * @example
 * ```ts
 * import { bullmq } from 'toolwright/distributed/bullmq'
 *
 * const dispatcher = bullmq({ connection: 'redis://localhost:6379' })
 * await dispatcher.close?.()
 * ```
 */
export function bullmq(options: BullmqOptions): Dispatcher {
  const { connection, postgres, prefix = 'toolwright', timeout = 5_000, report = () => {} } = options ?? {}
  if ((connection === undefined) === (postgres === undefined)) {
    throw new InvalidConfigurationError('bullmq takes one of `connection`, for Redis, and `postgres`.')
  }
  if (typeof prefix !== 'string' || !/^[a-z_][a-z0-9_]{0,39}$/.test(prefix)) {
    throw new InvalidConfigurationError('`prefix` must be lower-case letters, digits and underscores, 40 at most.')
  }
  const queues = new Map<string, Promise<Queue>>()
  const adding = new Map<string, Adding[]>()
  const bus: (Bus & { close(): Promise<void> }) | undefined =
    connection === undefined ? undefined : redisBus(redisOf(connection), prefix, report)

  function base(isWorker: boolean): BullOptions {
    if (postgres !== undefined) {
      const pool = typeof postgres === 'string' ? { connectionString: postgres } : postgres
      return { connection: { ...pool, schema: prefix, migrate: true } }
    }
    // A worker waits for its server as long as need be. What is sent fails at once, and is sent again later.
    const patience = isWorker ? { maxRetriesPerRequest: null } : { maxRetriesPerRequest: 1, enableOfflineQueue: false }
    return { connection: { ...redisOf(connection), ...patience }, prefix }
  }

  const backend = postgres === undefined ? [] : [createPostgresBackend as never]

  async function open(name: string): Promise<Queue> {
    const queue = new Queue(bullName(name), { ...base(false), defaultJobOptions: jobOptions }, ...backend)
    queue.on('error', report)
    try {
      await inTime(queue.waitUntilReady())
    } catch (error) {
      queue.close().catch(report)
      throw error
    }
    return queue
  }

  function queueOf(name: string): Promise<Queue> {
    const openQueue = queues.get(name)
    if (openQueue !== undefined) return openQueue
    const opening = open(name)
    queues.set(name, opening)
    opening.catch(() => queues.delete(name)) // the next call tries again
    return opening
  }

  async function inTime<Value>(work: Promise<Value>): Promise<Value> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(notTaken(` within ${timeout} ms`)), timeout)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Closes a queue. A server that does not answer is left. */
  async function ended(queue: Queue): Promise<void> {
    await inTime(queue.close()).catch(() => void queue.disconnect().catch(report))
  }

  function addJobs(queue: Queue, jobs: BullJob[]): Promise<unknown> {
    if (postgres !== undefined || jobs.length > mostAlone) return queue.addBulk(jobs)
    // Workers get the jobs of a transaction of Redis only once it has added the last.
    return Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)))
  }

  /** Adds the calls that came before the event loop went on. */
  async function addAll(name: string): Promise<void> {
    const batch = adding.get(name) ?? []
    adding.delete(name)
    try {
      const queue = await queueOf(name)
      for (let start = 0; start < batch.length; start += mostAtOnce) {
        const calls = batch.slice(start, start + mostAtOnce).map(({ call }) => call)
        await inTime(addJobs(queue, jobsOf(calls)))
      }
      for (const { resolve } of batch) resolve()
    } catch (cause) {
      const error = isToolError(cause) ? cause : notTaken('', cause)
      for (const { reject } of batch) reject(error)
    }
  }

  function add(call: QueuedCall): Promise<void> {
    return new Promise((resolve, reject) => {
      const batch = adding.get(call.queue)
      if (batch !== undefined) return void batch.push({ call, resolve, reject })
      adding.set(call.queue, [{ call, resolve, reject }])
      setImmediate(() => void addAll(call.queue))
    })
  }

  return {
    ...(bus && { bus }),

    async send(calls) {
      await Promise.all(calls.map(add))
    },

    async work(name, { concurrency, limit }, run, signal): Promise<Delivery> {
      const shared = {
        ...base(true),
        ...(limit && { limiter: { max: limit.calls, duration: limit.interval } }),
        lockDuration,
        stalledInterval,
        maxStalledCount: unboundedAttempts,
      }
      const most = postgres === undefined ? mostLanes : 1
      const lanes = Math.min(most, Math.ceil(Math.sqrt(concurrency)))
      const workers = Array.from({ length: lanes }, () => new Worker(bullName(name), null, shared, ...backend))
      for (const worker of workers) worker.on('error', report)
      try {
        await unlessWorkerCloses(Promise.all(workers.map((worker) => worker.waitUntilReady())), signal)
      } catch (error) {
        for (const worker of workers) worker.close(true).catch(report) // it would try to connect for ever
        throw error
      }
      const addAgain = async (job: BullJob): Promise<unknown> => inTime(addJobs(await queueOf(name), [job]))
      const isPaced = limit !== undefined
      return new Lanes(workers, { concurrency, isPaced, lockDuration, inTime, run, add: addAgain, report })
    },

    async depth(name) {
      const queue = await queueOf(name)
      let count = 0
      for (let start = 0; ; start += mostJobsRead) {
        const jobs = await queue.getJobs(
          ['waiting', 'prioritized', 'delayed', 'active'],
          start,
          start + mostJobsRead - 1,
        )
        for (const job of jobs) count += callsOf(job?.data).length
        if (jobs.length === 0) return count
      }
    },

    async close() {
      const opened = await Promise.allSettled(queues.values())
      queues.clear()
      await Promise.all(opened.flatMap((queue) => (queue.status === 'fulfilled' ? [ended(queue.value)] : [])))
      await bus?.close()
    },
  }
}

/** Says what becomes of the calls, since an operator reads it. The cause has the words of the connection. */
function notTaken(when: string, cause?: unknown): UnavailableError {
  return new UnavailableError(
    `BullMQ took no calls${when}. They wait in the journal, and a worker sends them again once BullMQ takes calls.`,
    { cause },
  )
}

/** Waits for work, until the signal of a worker is aborted. */
async function unlessWorkerCloses(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal?.reason)
  if (signal?.aborted === true) abort()
  signal?.addEventListener('abort', abort)
  try {
    await Promise.race([work, aborted])
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** BullMQ takes no name with a colon. */
function bullName(queue: string): string {
  return /^[\w.-]{1,64}$/.test(queue) ? queue : `queue-${sha256(queue)}`
}

function redisOf(connection: BullmqOptions['connection']): Readonly<Record<string, unknown>> {
  if (typeof connection !== 'string') return connection ?? {}
  const url = new URL(connection)
  if (url.protocol === 'unix:') return { path: url.pathname }
  return { url: connection }
}
