import { Listeners, tellRow } from '../_listeners.ts'
import type { Row } from '../_rows.ts'
import type { PostgresConnection, PostgresPool } from './_connection.ts'

/** How often a watch asks what has changed, in milliseconds. */
const interval = 5_000

/** What a watch needs of its journal. */
interface Watched {
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
 * Tells listeners of changes to the tables. It listens on a connection of the pool, and asks each 5 seconds for what it may have
 * missed. Without a connection to spare it only asks.
 */
export class Watch {
  readonly #journal: Watched
  readonly #listeners = new Listeners()
  #timer: ReturnType<typeof setInterval> | undefined
  #connection: PostgresConnection | undefined
  #isConnecting = false
  #isAsking = false
  #since = ''
  /** The changes that the last answer had. They are told once, although a transaction that lasts keeps them in the answers. */
  #told = new Set<string>()

  constructor(journal: Watched) {
    this.#journal = journal
  }

  add(listener: (invocationId: string, session: string) => void): () => void {
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
    this.#listeners.clear()
    this.#since = ''
    this.#told.clear()
    this.#connection?.release(true)
    this.#connection = undefined
  }

  #begin(): void {
    this.#timer = setInterval(() => this.#look(), interval)
    ;(this.#timer as { unref?: () => void }).unref?.() // a watch does not keep the process alive
    this.#look()
  }

  /** Connects if need be, and asks what has changed. If that fails, the next time does the same. */
  #look(): void {
    void this.#listen().catch(() => {})
    if (this.#isAsking) return
    this.#isAsking = true
    void this.#ask()
      .catch(() => {})
      .finally(() => (this.#isAsking = false))
  }

  async #ask(): Promise<void> {
    const { rows, next } = await this.#journal.changed(this.#since)
    if (this.#timer === undefined) return
    const before = this.#told
    this.#told = new Set()
    this.#since = next
    for (const row of rows) {
      const change = `${String(row['version'])} ${String(row['id'])}`
      this.#told.add(change)
      if (!before.has(change)) tellRow(this.#listeners, row)
    }
  }

  async #listen(): Promise<void> {
    if (this.#connection !== undefined || this.#isConnecting) return
    this.#isConnecting = true
    let connection: PostgresConnection | undefined
    try {
      const pool = await this.#journal.connected()
      if ((pool.options?.max ?? Infinity) < 2) return // the only connection is for statements
      connection = await pool.connect?.()
      if (connection === undefined) return
      const lost = (): void => this.#lose(connection)
      connection.on('error', lost)
      connection.on('end', lost)
      connection.on('notification', ({ payload = '' }) => this.#hear(payload))
      await connection.query(`LISTEN "${this.#journal.channel}"`)
      connection.unref?.()
      if (this.#timer === undefined) connection.release(true)
      else this.#connection = connection
    } catch {
      connection?.release(true)
    } finally {
      this.#isConnecting = false
    }
  }

  #lose(connection: PostgresConnection | undefined): void {
    if (connection === undefined || this.#connection !== connection) return
    this.#connection = undefined
    connection.release(true)
  }

  /** Hears of a change. A record with long names is not named: what has changed is asked for. */
  #hear(payload: string): void {
    try {
      const [id, session] = JSON.parse(payload) as [string, string]
      this.#listeners.tell(id, session)
    } catch {
      this.#look()
    }
  }
}
