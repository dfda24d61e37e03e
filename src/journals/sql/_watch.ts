import { Listeners, tellRow, type RecordHint } from '../_listeners.ts'
import type { KeyOf, Row } from '../_rows.ts'

/** What a watch needs of its journal. */
export interface Watched {
  readonly keyOf: KeyOf
  /** How often a watch asks what has changed, in milliseconds. */
  readonly interval: number
  /** Returns the number of the last change. */
  lastChange(): Promise<number>
  /** Returns the rows that were changed after a change. */
  changed(after: number): Promise<readonly Row[]>
  /** Calls the listener when another process has changed something, if it can be heard. Returns what ends it. */
  hear(listener: () => void): () => void
}

/** Tells listeners of changes, by this process and by others. Transactions take turns, so that no change has a number of the past. */
export class Watch {
  readonly #journal: Watched
  readonly #listeners = new Listeners()
  #timer: ReturnType<typeof setInterval> | undefined
  #unhear: (() => void) | undefined
  #isLooking = false
  /** Whether something may have changed since the question was asked. */
  #isStale = false
  #last: number | undefined

  constructor(journal: Watched) {
    this.#journal = journal
  }

  add(listener: (...told: RecordHint) => void): () => void {
    const remove = this.#listeners.add(listener)
    if (this.#timer === undefined) this.#begin()
    return () => {
      remove()
      if (this.#listeners.size === 0) this.close()
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#unhear?.()
    this.#unhear = undefined
    this.#last = undefined
    this.#listeners.clear()
  }

  /** Tells what has changed since it looked last. If that fails, the next look tells the same. */
  look(): void {
    if (this.#timer === undefined) return
    this.#isStale = this.#isLooking
    if (this.#isLooking) return
    this.#isLooking = true
    void this.#ask(this.#timer)
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false
        if (this.#isStale) this.look()
      })
  }

  #begin(): void {
    this.#timer = setInterval(() => this.look(), this.#journal.interval)
    ;(this.#timer as { unref?: () => void }).unref?.() // a watch does not keep the process alive
    this.#unhear = this.#journal.hear(() => this.look())
    this.look()
  }

  async #ask(watching: unknown): Promise<void> {
    const last = this.#last
    if (last === undefined) {
      const begun = await this.#journal.lastChange()
      if (this.#timer === watching) this.#last = begun
      return
    }
    const rows = await this.#journal.changed(last)
    if (this.#timer !== watching) return
    for (const row of rows) {
      this.#last = Number(row['changed'])
      tellRow(this.#listeners, row, this.#journal.keyOf)
    }
  }
}
