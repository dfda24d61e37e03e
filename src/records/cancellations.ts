import { keptFor, unref } from '#clock'
import type { RecordsContext } from '../kernel/executor-context.ts'
import type { Journal } from './journal.ts'

/** How long a call runs before its cancellation is watched for, and how often that is looked at, in milliseconds. */
const cancellationInterval = 250

/** Hears that another process asked to cancel a call that runs here. Shorter calls than the interval need no watch. */
export class Cancellations {
  readonly #journal: Journal
  readonly #kernel: RecordsContext
  /** Asks the journal which calls are to be cancelled. */
  readonly #ask: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  #unwatch: (() => void) | undefined

  constructor(journal: Journal, kernel: RecordsContext, ask: () => void) {
    this.#journal = journal
    this.#kernel = kernel
    this.#ask = ask
  }

  /** Starts to look for calls that run for long, if a timer may serve more than one call. It keeps no process alive. */
  start(): void {
    const isNeeded = this.#journal.watch !== undefined && this.#journal.requestCancel !== undefined && keptFor > 0
    if (this.#timer !== undefined || !isNeeded) return
    this.#timer = setInterval(() => this.#look(), cancellationInterval)
    unref(this.#timer)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  #look(): void {
    const hasLong = this.#hasLong(performance.now() - cancellationInterval)
    if (hasLong === (this.#unwatch !== undefined)) return
    try {
      this.#unwatch?.()
      this.#unwatch = hasLong ? this.#watch() : undefined
    } catch {
      // the journal has closed or failed, and the next look tries again
    }
  }

  #watch(): (() => void) | undefined {
    const unwatch = this.#journal.watch?.((invocationId, _session, change) => {
      if (change === 'cancelled' && this.#kernel.inFlight.has(invocationId)) this.#ask()
    })
    this.#ask() // what was asked before the watch
    return unwatch
  }

  #hasLong(before: number): boolean {
    for (const { receivedAt } of this.#kernel.inFlight) if (receivedAt < before) return true
    return false
  }
}
