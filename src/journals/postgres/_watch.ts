import type { RecordChange } from '../../extension.ts'
import { Listeners, tellRow, type RecordHint } from '../_listeners.ts'
import { Looks } from '../_looks.ts'
import type { Row } from '../_rows.ts'
import { channelsOf } from './_channels.ts'
import type { PostgresPool } from './_connection.ts'

/** How often a watch asks what has changed, in milliseconds. */
const watchInterval = 5_000

/** What a watch needs of its journal. */
interface WatchedTables {
  readonly channel: string
  connected(): Promise<PostgresPool>
  /**
   * Returns what was changed by transactions from `since` on, and the first transaction that may not have ended.
   *
   * @param since Empty: nothing is returned but the transaction.
   */
  changed(since: string): Promise<{ readonly rows: readonly Row[]; readonly next: string }>
}

/**
 * Tells listeners of changes to the tables. It listens on a connection of the pool. When it begins to, and each 5 seconds, it asks
 * for what it may have missed. Without a connection to spare it only asks.
 */
export class PostgresWatch {
  readonly #journal: WatchedTables
  readonly #listeners = new Listeners({ begin: () => this.#begin(), end: () => this.close() })
  readonly #looks = new Looks(watchInterval, (isOver) => this.#ask(isOver))
  /** Ends the listening; set while it begins too. */
  #unhear: (() => void) | undefined
  #since = ''
  /** The changes that the last answer had. They are told once, although a transaction that lasts keeps them in the answers. */
  #changes = new Set<string>()

  constructor(journal: WatchedTables) {
    this.#journal = journal
  }

  add(listener: (...hint: RecordHint) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): void {
    this.#looks.end()
    this.#listeners.clear()
    this.#since = ''
    this.#changes.clear()
    this.#unhear?.()
    this.#unhear = undefined
  }

  #begin(): void {
    this.#looks.begin()
    this.#looks.now()
  }

  /** Listens if it does not, and asks what has changed. If that fails, the next time does the same. */
  async #ask(isOver: () => boolean): Promise<void> {
    void this.#listen()
    const { rows, next } = await this.#journal.changed(this.#since)
    if (isOver()) return
    const before = this.#changes
    this.#changes = new Set()
    this.#since = next
    for (const row of rows) {
      const change = `${String(row['version'])} ${String(row['id'])}`
      this.#changes.add(change)
      if (!before.has(change)) tellRow(this.#listeners, row)
    }
  }

  async #listen(): Promise<void> {
    if (this.#unhear !== undefined) return
    let isWanted = true
    const end = (): void => void (isWanted = false)
    this.#unhear = end
    try {
      const channels = channelsOf(await this.#journal.connected())
      if (!isWanted) return
      this.#unhear = channels.add(
        this.#journal.channel,
        (payload) => this.#hear(payload),
        () => this.#looks.now(), // what was changed before it listened
      )
    } catch {
      if (this.#unhear === end) this.#unhear = undefined
    }
  }

  /** Hears of a change. A record with long names is not named: what has changed is asked for. So it is if others told it. */
  #hear(payload: string): void {
    const hint = hintOf(payload)
    if (hint === undefined) this.#looks.now()
    else this.#listeners.tell(...hint)
  }
}

const recordChanges: ReadonlySet<unknown> = new Set<RecordChange>([
  'waiting',
  'queued',
  'running',
  'settled',
  'cancelled',
])

/** Reads a payload. Every user of the database may send one, so it may say anything. */
function hintOf(payload: string): RecordHint | undefined {
  try {
    const [id, session, change] = JSON.parse(payload) as unknown[]
    if (typeof id !== 'string' || typeof session !== 'string') return undefined
    return recordChanges.has(change) ? [id, session, change as RecordChange] : [id, session]
  } catch {
    return undefined
  }
}
