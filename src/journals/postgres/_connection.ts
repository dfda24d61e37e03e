import { sha256 } from '#sha256'
import { JournalError } from '../../errors.ts'
import type { Row } from '../_rows.ts'

/** A connection of a pool. `pg` has it. */
export interface PostgresConnection {
  query(text: string): Promise<unknown>
  on(
    event: 'notification',
    listener: (message: { readonly channel?: string; readonly payload?: string | undefined }) => void,
  ): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  /** Returns the connection to its pool, or ends it. */
  release(isEnded: boolean): void
  unref?(): void
}

/** The part of a pool that the journal needs. `pg.Pool` and others have it. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Row[] }>
  /** Gives out a connection, on which a watch listens. Without it, a watch asks each 5 seconds. */
  connect?(): Promise<PostgresConnection>
  readonly options?: { readonly max?: number | undefined } | undefined
}

/** What runs a statement by a name, under which each connection has the server prepare it once. `pg.Pool` is one. */
interface PreparingPool {
  query(statement: {
    readonly name: string
    readonly text: string
    readonly values: unknown[]
  }): ReturnType<PostgresPool['query']>
}

/** A pool that the journal made. */
export interface JournalPool extends PostgresPool {
  end(): Promise<void>
}

// In `try`, so that bundlers let the package be missing.
async function pgOfJournal(): Promise<(typeof import('pg'))['default']> {
  try {
    return (await import('#pg')).default
  } catch (cause) {
    const words =
      'A connection string needs the package pg, which could not be loaded: install it, or give postgresJournal a pool.'
    throw new JournalError(words, { cause })
  }
}

export async function connectPool(connectionString: string, timeout: number): Promise<JournalPool> {
  const { Pool } = await pgOfJournal()
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: timeout,
    query_timeout: timeout,
    allowExitOnIdle: true, // signs of life do not keep the process alive
  })
  pool.on('error', () => {}) // an idle connection failed: the next statement opens another, or fails with the reason
  return pool
}

/** Whether a pool prepares statements by name, as far as one can see: `pg` makes it. */
export function isOfPg(pool: PostgresPool | string): boolean {
  return typeof pool === 'string' || ('Client' in pool && 'options' in pool)
}

/** What gives a connection to a function, as `pg.Pool` does. */
interface HandingPool {
  connect(handOver: (error: unknown, connection: PostgresConnection | undefined) => void): void
}

/**
 * Takes a connection of a pool. A server that shuts down may end it in the same breath in which the pool hands it over: an `error`
 * before there is a listener would end the process.
 */
export async function heardConnection(pool: PostgresPool): Promise<PostgresConnection | undefined> {
  if (!isOfPg(pool)) return pool.connect?.()
  return new Promise((resolve, reject) => {
    ;(pool as unknown as HandingPool).connect((error, connection) => {
      connection?.on('error', () => {})
      if (connection === undefined) reject(error)
      else resolve(connection)
    })
  })
}

/** Runs statements. Those that are frequent are prepared by name, unless a pooler between loses their names. */
export class StatementRunner {
  readonly #names = new Map<string, string>()
  #prepares: boolean

  constructor(prepares: boolean) {
    this.#prepares = prepares
  }

  async run(
    pool: PostgresPool,
    text: string,
    values: unknown[] | undefined,
    isFrequent: boolean,
  ): ReturnType<PostgresPool['query']> {
    if (!this.#prepares || !isFrequent || values === undefined) return pool.query(text, values)
    try {
      return await (pool as unknown as PreparingPool).query({ name: this.#nameOf(text), text, values })
    } catch (error) {
      if (!isNameLost(error)) throw error
      this.#prepares = false // nothing has run
      return pool.query(text, values)
    }
  }

  #nameOf(text: string): string {
    const former = this.#names.get(text)
    if (former !== undefined) return former
    const name = `toolwright_${sha256(text).slice(0, 32)}`
    this.#names.set(text, name)
    return name
  }
}

/** Whether the server has no statement of a name, or has another: the connection behind a pooler has changed. */
function isNameLost(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === '26000' || code === '42P05'
}

/** Whether an error is a serialization failure or a deadlock. The server then undid the statement. */
export function isUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === '40001' || code === '40P01'
}
