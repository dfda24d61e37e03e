import { Listeners, tellRow, type RecordHint } from '../_listeners.ts'
import { Looks } from '../_looks.ts'
import type { KeyOf, Row } from '../_rows.ts'

/** What a watch needs of its journal. */
export interface WatchedJournal {
  readonly keyOf: KeyOf
  /** How often a watch asks what has changed, in milliseconds. */
  readonly interval: number
  /** Returns the number of the last change. */
  lastChange(): Promise<number>
  /** Returns the rows that were changed after a change. */
  changed(after: number): Promise<readonly Row[]>
  /** Calls the listener when another process has changed something, if it can be heard. Returns what ends it. */
  subscribe(listener: () => void): () => void
}

/** Tells listeners of changes, by this process and by others. Transactions follow one another, so that no change has a number of the past. */
export class SqlWatch {
  readonly #journal: WatchedJournal
  readonly #listeners = new Listeners({ begin: () => this.#begin(), end: () => this.close() })
  readonly #looks: Looks
  #unhear: (() => void) | undefined
  #last: number | undefined

  constructor(journal: WatchedJournal) {
    this.#journal = journal
    this.#looks = new Looks(journal.interval, (isOver) => this.#ask(isOver))
  }

  add(listener: (...hint: RecordHint) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): void {
    this.#looks.end()
    this.#unhear?.()
    this.#unhear = undefined
    this.#last = undefined
    this.#listeners.clear()
  }

  /** Tells what has changed since it looked last. */
  look(): void {
    this.#looks.now()
  }

  #begin(): void {
    this.#looks.begin()
    this.#unhear = this.#journal.subscribe(() => this.look())
    this.look()
  }

  async #ask(isOver: () => boolean): Promise<void> {
    const last = this.#last
    if (last === undefined) {
      const begun = await this.#journal.lastChange()
      if (!isOver()) this.#last = begun
      return
    }
    const rows = await this.#journal.changed(last)
    if (isOver()) return
    for (const row of rows) {
      this.#last = Number(row['changed'])
      tellRow(this.#listeners, row, this.#journal.keyOf)
    }
  }
}
