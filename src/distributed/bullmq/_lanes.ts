import type { Job, Worker } from 'bullmq'
import { backoff } from '../_retry.ts'
import type { Delivery } from '../fleet.ts'
import { callsOf, dataOf, jobAgain, triesOf, type BullJob } from './_jobs.ts'

/** How long a job is held whose calls have no free places here, in milliseconds. Then others get them. */
const longestHold = 10
/** How long to wait before BullMQ is asked again after it failed, and after it had no job and did not wait for one, in milliseconds. */
const [afterFailure, afterNothing] = [1_000, 20]
/** An answer that came sooner was not waited for, in milliseconds. */
const unwaited = 5

/** What the lanes of a queue deliver their calls with. */
interface LanesOptions {
  /** How many calls run at a time. */
  readonly concurrency: number
  /** Whether BullMQ counts the jobs that start: then each has to start one call. */
  readonly isPaced: boolean
  readonly run: (invocationId: string) => Promise<void>
  /** How long BullMQ leaves a job to its worker without a sign of life, in milliseconds. */
  readonly lockDuration: number
  /** Waits for BullMQ while the lanes end, and rejects if it takes too long. */
  readonly inTime: (work: Promise<unknown>) => Promise<unknown>
  /** Adds a job to the queue. */
  readonly add: (job: BullJob) => Promise<unknown>
  readonly report: (error: unknown) => void
}

/** The places of calls that run at a time. */
class RunPlaces {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  get hasFree(): boolean {
    return this.#free > 0
  }

  /** Takes as many as are free, up to a number. Returns how many it took. */
  take(most: number): number {
    const count = Math.min(this.#free, most)
    this.#free -= count
    return count
  }

  giveBack(): void {
    this.#free++
    this.wake()
  }

  wake(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Waits until a place is given back, or `wake` is called, or the time is over. */
  async change(milliseconds?: number): Promise<void> {
    let wake = (): void => {}
    const change = new Promise<void>((resolve) => (wake = resolve))
    const timer = milliseconds === undefined ? undefined : setTimeout(wake, milliseconds)
    this.#waiting.add(wake)
    await change
    this.#waiting.delete(wake)
    clearTimeout(timer)
  }
}

/**
 * Delivers the calls of a queue. Each worker of BullMQ is a lane, which fetches one job after the other as long as there are free
 * places. A job ends with the last of its calls, so that none is delivered again while it runs.
 */
export class Lanes implements Delivery {
  readonly #workers: readonly Worker[]
  readonly #options: LanesOptions
  readonly #places: RunPlaces
  /** The runs of calls. */
  readonly #running = new Set<Promise<unknown>>()
  /** What is asked of BullMQ or told to it, but the waits for jobs. */
  readonly #asking = new Set<Promise<unknown>>()
  /** The jobs whose calls run, with their tokens. */
  readonly #held = new Map<Job<unknown>, string>()
  readonly #holding: ReturnType<typeof setInterval>
  #isOpen = true
  #ending: Promise<unknown> | undefined

  constructor(workers: readonly Worker[], options: LanesOptions) {
    this.#workers = workers
    this.#options = options
    this.#places = new RunPlaces(options.concurrency)
    workers[0]?.startStalledCheckTimer().catch(this.#report)
    this.#holding = setInterval(() => this.#hold(), options.lockDuration / 3)
    for (const worker of workers) void this.#loop(worker)
  }

  /** Reports an error. What the application's own function throws must end no lane. */
  readonly #report = (error: unknown): void => {
    try {
      this.#options.report(error)
    } catch {
      // there is nothing else to tell
    }
  }

  async pause(): Promise<void> {
    this.#isOpen = false
    this.#places.wake()
    this.#ending ??= this.#end()
  }

  async close(): Promise<void> {
    await this.pause()
    await allOver(this.#running)
    await this.#ending
  }

  /** Ends the workers, and with them the waits for jobs. A server that does not answer is not waited for without an end. */
  async #end(): Promise<void> {
    const { inTime } = this.#options
    await allOver(this.#running)
    const hearing = inTime(this.#heard()) // what could be told no more would be delivered late
    const isHeard = await hearing.then(
      () => true,
      () => false,
    )
    clearInterval(this.#holding)
    const closing = this.#workers.map((worker) => worker.close(!isHeard).catch(this.#report))
    if (!isHeard) return
    const waits = this.#workers.map(async ({ backend }) => backend.disconnectBlocking(true).catch(this.#report))
    await inTime(Promise.all([...waits, ...closing])).catch(() => {}) // a wait for a job on Postgres may never return then
  }

  /** Waits until BullMQ has answered all that it was asked, and one more question on each connection. */
  async #heard(): Promise<void> {
    await allOver(this.#asking)
    await Promise.all(this.#workers.map(async ({ backend }) => backend.getRateLimitTtl(1)))
  }

  /** Gives signs of life of the jobs whose calls run. */
  #hold(): void {
    for (const [job, token] of this.#held) job.extendLock(token, this.#options.lockDuration).catch(this.#report)
  }

  async #loop(worker: Worker): Promise<void> {
    let nothings = 0
    while (this.#isOpen) {
      if (!this.#places.hasFree) {
        await this.#places.change()
        continue
      }
      const began = performance.now()
      const block = nothings > 0
      try {
        const fetching = worker.getNextJob(worker.id, { block })
        const job = await (block ? fetching : keepIn(this.#asking, fetching))
        if (job !== undefined) await keepIn(this.#asking, this.#deliver(job, worker.id))
        // It has not waited for a job if the limit of the queue is reached.
        nothings = job === undefined && performance.now() - began < unwaited ? nothings + 1 : Number(job === undefined)
        if (nothings > 2) await this.#places.change(afterNothing)
      } catch (error) {
        if (!this.#isOpen) return
        this.#report(error)
        await this.#places.change(afterFailure)
      }
    }
  }

  /** Starts the calls of a job. Those that get no place soon wait again, before all others. */
  async #deliver(job: Job<unknown>, token: string): Promise<void> {
    const { isPaced } = this.#options
    const telling = Promise.withResolvers<void>()
    const calls = callsOf(job.data)
    const runs: Promise<void>[] = []
    const count = calls.length
    const until = performance.now() + longestHold
    while (this.#isOpen && calls.length > 0) {
      const startable = this.#places.take(isPaced ? 1 : calls.length)
      for (const invocationId of calls.splice(0, startable)) runs.push(this.#start(invocationId, job, telling.promise))
      const left = until - performance.now()
      if (calls.length === 0 || (isPaced && startable > 0) || left <= 0) break
      await this.#places.change(left)
    }
    if (calls.length > 0) return this.#putBack(job, token, calls, count).finally(telling.resolve)
    // The next job need not wait for the end of this one.
    void keepIn(this.#asking, this.#complete(job, token, runs).finally(telling.resolve))
  }

  async #complete(job: Job<unknown>, token: string, runs: readonly Promise<void>[]): Promise<void> {
    this.#held.set(job, token)
    await Promise.all(runs)
    this.#held.delete(job)
    try {
      await job.moveToCompleted(null, token, false)
    } catch (error) {
      this.#report(error) // it is delivered again, and its calls wait no more
    }
  }

  async #putBack(job: Job<unknown>, token: string, calls: readonly string[], count: number): Promise<void> {
    if (calls.length < count) await job.updateData(dataOf(calls))
    await job.moveToWait(token)
  }

  #start(invocationId: string, job: Job<unknown>, telling: Promise<void>): Promise<void> {
    const running = this.#options
      .run(invocationId)
      .catch((error: unknown) => void keepIn(this.#asking, this.#again(invocationId, job, telling, error)))
      .finally(() => this.#places.giveBack())
    return keepIn(this.#running, running)
  }

  /** Delivers a call again later whose run was rejected. */
  async #again(
    invocationId: string,
    { data, opts: { priority } }: Job<unknown>,
    telling: Promise<void>,
    error: unknown,
  ): Promise<void> {
    const tries = triesOf(data) + 1
    if (tries > 1) await telling // its job has the same id
    try {
      await this.#options.add(jobAgain(invocationId, tries, backoff(tries, error), priority))
    } catch (failure) {
      this.#report(failure) // it still waits in the journal, and is sent again
    }
  }
}

/** Keeps a promise in a set until it has settled. */
function keepIn<Value>(set: Set<Promise<unknown>>, work: Promise<Value>): Promise<Value> {
  const over: Promise<unknown> = work.then(
    () => set.delete(over),
    () => set.delete(over),
  )
  set.add(over)
  return work
}

/** Waits until nothing is kept in a set. */
async function allOver(set: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (set.size > 0) await Promise.all(set)
}
