import { keptFor, unref } from '#clock'
import type { ToolResult } from '../kernel/call/call.ts'
import { ToolCancelledError } from '../kernel/errors.ts'
import type { RecordChange } from '../kernel/call/record.ts'
import { awaitJournal, journalErrorOf } from './journal-timeout.ts'
import type { FoundRecord, Journal } from './journal.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'

/** How often to look, in milliseconds: beside a watch, without one, and if each call is read alone. */
const watched = 5_000
const [soonest, latest] = [25, 500]
const alone = 1_000
/** How long a watch may take to begin, in milliseconds. Until then it may miss changes. */
const beginning = 2_000
/** How many calls are remembered that settled before they were waited for. */
const mostLately = 1_000
/** How long to wait without a look at the record, which may be gone or damaged: no hint tells of that. In milliseconds. */
const unseen = 60_000

/** Hints that a call has changed, with its record if it has settled. */
type Hint = (settled?: FoundRecord) => void

/** What a look at a call that is not in flight here found. */
interface Look {
  /** Its result, if it has settled. */
  readonly result?: ToolResult
  /** When to look again at the latest, in milliseconds since the epoch. */
  readonly until?: number
}

/**
 * Waits until a call has settled.
 *
 * @param look Looks for a call that is not in flight here. Called again after each hint that it has changed.
 * @param watch Subscribes to such hints.
 * @param known What a look would find at first.
 * @throws `E_TOOL_CANCELLED` if a signal aborts.
 */
export async function untilSettled(
  invocationId: string,
  { inFlight }: RecordsContext,
  signals: readonly (AbortSignal | undefined)[],
  look: (settled?: FoundRecord) => Promise<Look>,
  watch: (hint: Hint) => () => void = () => () => {},
  formerLook?: Look,
): Promise<ToolResult> {
  let settled: FoundRecord | undefined
  for (let first = formerLook; ; first = undefined) {
    const aborted = signals.find((signal) => signal?.aborted)
    if (aborted !== undefined)
      throw new ToolCancelledError('The wait for the call was given up.', { cause: aborted.reason })
    let wake = (_result?: ToolResult): void => {}
    const change = new Promise<ToolResult | undefined>((resolve) => (wake = resolve))
    const hint = (): void => wake()
    const onHint: Hint = (found) => {
      settled = found
      wake()
    }
    const stops = [inFlight.next(invocationId, wake)]
    for (const signal of signals) {
      signal?.addEventListener('abort', hint)
      stops.push(() => signal?.removeEventListener('abort', hint))
    }
    try {
      if (inFlight.get(invocationId) === undefined) {
        stops.push(watch(onHint)) // before the look, so that no change is missed
        const { result, until } = first ?? (await look(settled))
        if (result !== undefined) return result
        const timer = setTimeout(hint, Math.max(0, Math.min(unseen, (until ?? Infinity) - Date.now() + 1)))
        stops.push(() => clearTimeout(timer))
      }
      const result = await change
      if (result !== undefined && isOfCall(result)) return result
    } catch (error) {
      if (!signals.some((signal) => signal?.aborted)) throw error // else the journal may have closed with the executor
    } finally {
      for (const stop of stops) stop()
    }
  }
}

/** Whether a result ends the call. The refusal of a call that repeats its id does not. */
function isOfCall({ status, error }: ToolResult): boolean {
  return status !== 'waiting' && error?.code !== 'E_DUPLICATE_INVOCATION'
}

/** Gives hints of changes in a journal: at once if it has a watch, and by looking now and then. */
export class Hints {
  readonly #journal: Journal
  readonly #waiting = new Map<string, Set<Hint>>()
  /** The calls that have settled, and are asked for together. */
  readonly #due = new Set<string>()
  /** The calls that settled while none waited for them. */
  readonly #lately = new Set<string>()
  #unwatch: (() => void) | undefined
  /** When the watch will surely have begun, in milliseconds of the monotonic clock. */
  #hasBegunAt = 0
  /** Ends a watch that is not needed for a while. */
  #ending: ReturnType<typeof setTimeout> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the sweep is due, in milliseconds of the monotonic clock. */
  #dueAt = 0
  #isSweeping = false
  #isAsking = false
  #interval = soonest

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Calls the listener when an invocation may have changed. Returns an unsubscribe function. */
  on(invocationId: string, listener: Hint): () => void {
    this.#watch()
    const listeners = this.#waiting.get(invocationId) ?? new Set()
    this.#waiting.set(invocationId, listeners.add(listener))
    if (this.#lately.delete(invocationId)) this.#hear(invocationId, 'settled')
    this.#interval = soonest
    this.#plan()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#waiting.get(invocationId) === listeners) this.#waiting.delete(invocationId)
      if (this.#waiting.size > 0) return
      this.#unplan()
      if (this.#unwatch === undefined || this.#ending !== undefined) return
      if (keptFor === 0) return this.close()
      this.#ending = setTimeout(() => this.close(), keptFor) // the next call is likely to wait too
      unref(this.#ending)
    }
  }

  /** Ends the watch, also if calls are waited for. */
  close(): void {
    clearTimeout(this.#ending)
    this.#ending = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#lately.clear()
  }

  #watch(): void {
    clearTimeout(this.#ending)
    this.#ending = undefined
    if (this.#unwatch !== undefined) return
    try {
      this.#unwatch = this.#journal.watch?.((changed, _session, change) => this.#hear(changed, change))
    } catch (cause) {
      throw journalErrorOf(cause)
    }
    this.#hasBegunAt = performance.now() + beginning
  }

  /** Plans a sweep, unless one is near: those that come in quick succession must not put it off. */
  #plan(): void {
    if (this.#isSweeping) return
    const between = typeof this.#journal.settledOf === 'function' ? this.#interval : alone
    const isWatched = this.#unwatch !== undefined && performance.now() > this.#hasBegunAt
    const pause = isWatched ? watched : between
    const dueAt = performance.now() + pause
    if (this.#timer !== undefined && this.#dueAt <= dueAt) return
    this.#unplan()
    this.#dueAt = dueAt
    this.#interval = Math.min(latest, this.#interval * 2)
    this.#timer = setTimeout(() => void this.#sweep(), pause)
  }

  #unplan(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #sweep(): Promise<void> {
    this.#unplan()
    this.#isSweeping = true
    const ids = [...this.#waiting.keys()]
    if (typeof this.#journal.settledOf === 'function') await this.#ask(ids, false)
    else for (const id of ids) this.#tell(id)
    this.#isSweeping = false
    if (this.#waiting.size > 0) this.#plan()
  }

  /** Hears of a change. Only its end and a new wait concern those who wait for a call. */
  #hear(id: string, change: RecordChange | undefined): void {
    if (change === 'settled') void this.#collect(id)
    else if (change === undefined || change === 'waiting') this.#tell(id)
  }

  /** Asks for what has settled: at once, or with others after the question that is being asked. */
  async #collect(id: string): Promise<void> {
    if (!this.#waiting.has(id)) return this.#remember(id)
    this.#due.add(id)
    if (this.#isAsking) return
    this.#isAsking = true
    await Promise.resolve() // hints that come together are one question
    while (this.#due.size > 0) {
      const ids = [...this.#due]
      this.#due.clear()
      await this.#ask(ids, true)
    }
    this.#isAsking = false
  }

  #remember(id: string): void {
    this.#lately.add(id)
    for (const oldest of this.#lately) {
      if (this.#lately.size <= mostLately) break
      this.#lately.delete(oldest)
    }
  }

  /** Asks which calls have settled, and tells those who wait for them. Each of the others reads its record if `isSure`. */
  async #ask(ids: readonly string[], isSure: boolean): Promise<void> {
    const left = new Set(ids)
    try {
      const found = await awaitJournal(this.#journal.settledOf?.(ids), (settled) => settled?.map(foundRecord))
      for (const settled of found ?? []) {
        left.delete(settled.record.id)
        this.#tell(settled.record.id, settled)
      }
      if (!isSure) return
    } catch {
      // each reads its record, and so gets the error
    }
    for (const id of left) this.#tell(id)
  }

  #tell(id: string, settled?: FoundRecord): void {
    for (const listener of this.#waiting.get(id) ?? []) listener(settled)
  }
}

function foundRecord({ record, fence }: FoundRecord): FoundRecord {
  return { record, fence }
}
