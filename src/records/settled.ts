import type { ToolResult } from '../kernel/call/call.ts'
import { timerLength } from '../kernel/call/deadline.ts'
import { ToolCancelledError } from '../kernel/errors.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { awaitJournal, journalErrorOf } from './journal-timeout.ts'
import type { Journal } from './journal.ts'

/** How often to look, in milliseconds: beside a watch, without one, and if each call is read alone. */
const watched = 5_000
const [soonest, latest] = [25, 500]
const alone = 1_000
/** How long to wait without a look at the record, which may be gone or damaged: no hint tells of that. In milliseconds. */
const unseen = 60_000

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
 * @param watch Subscribes to such hints. Returns an unsubscribe function.
 * @throws `E_TOOL_CANCELLED` if the signal aborts.
 */
export async function untilSettled(
  invocationId: string,
  { inFlight }: Kernel,
  signal: AbortSignal | undefined,
  look: () => Promise<Look>,
  watch: (hint: () => void) => () => void = () => () => {},
): Promise<ToolResult> {
  for (;;) {
    if (signal?.aborted) throw new ToolCancelledError('The wait for the call was given up.', { cause: signal.reason })
    let wake = (_result?: ToolResult): void => {}
    const change = new Promise<ToolResult | undefined>((resolve) => (wake = resolve))
    const hint = (): void => wake()
    const stops = [inFlight.next(invocationId, wake), () => signal?.removeEventListener('abort', hint)]
    signal?.addEventListener('abort', hint)
    try {
      if (inFlight.get(invocationId) === undefined) {
        stops.push(watch(hint)) // before the look, so that no change is missed
        const { result, until } = await look()
        if (result !== undefined) return result
        const timer = setTimeout(hint, Math.min(unseen, timerLength((until ?? Infinity) - Date.now() + 1)))
        stops.push(() => clearTimeout(timer))
      }
      const result = await change
      if (result !== undefined && isOfCall(result)) return result
    } catch (error) {
      if (!signal?.aborted) throw error // else the journal may have closed with the executor
    } finally {
      for (const stop of stops) stop()
    }
  }
}

/** Whether a result ends the call. A call that repeats the id of another is refused, which is no result of that other. */
function isOfCall({ status, error }: ToolResult): boolean {
  return status !== 'pending' && error?.code !== 'E_DUPLICATE_INVOCATION'
}

/** Gives hints of changes in a journal: at once if it has a watch, and by looking now and then. */
export class Hints {
  readonly #journal: Journal
  readonly #waiting = new Map<string, Set<() => void>>()
  #unwatch: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the sweep is due, in milliseconds of the monotonic clock. */
  #dueAt = 0
  #isSweeping = false
  #interval = soonest

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Calls the listener when an invocation may have changed. Returns an unsubscribe function. */
  on(invocationId: string, listener: () => void): () => void {
    try {
      this.#unwatch ??= this.#journal.watch?.((changed) => this.#tell([changed]))
    } catch (cause) {
      throw journalErrorOf(cause)
    }
    const listeners = this.#waiting.get(invocationId) ?? new Set()
    this.#waiting.set(invocationId, listeners.add(listener))
    this.#interval = soonest
    this.#plan()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#waiting.get(invocationId) === listeners) this.#waiting.delete(invocationId)
      if (this.#waiting.size > 0) return
      this.#unplan()
      this.#unwatch?.()
      this.#unwatch = undefined
    }
  }

  /** Plans a sweep, unless one is near: those that come in quick succession must not put it off. */
  #plan(): void {
    if (this.#isSweeping) return
    const between = typeof this.#journal.settledOf === 'function' ? this.#interval : alone
    const pause = this.#unwatch === undefined ? between : watched
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
    const ids = [...this.#waiting.keys()]
    this.#unplan()
    this.#isSweeping = true
    try {
      const settled = await awaitJournal(this.#journal.settledOf?.(ids), (found) =>
        found?.map(({ record }) => record.id),
      )
      this.#tell(settled ?? ids)
    } catch {
      this.#tell(ids) // each reads its record, and so gets the error
    }
    this.#isSweeping = false
    if (this.#waiting.size > 0) this.#plan()
  }

  #tell(ids: readonly string[]): void {
    for (const id of ids) for (const listener of this.#waiting.get(id) ?? []) listener()
  }
}
