import { JournalError } from '../../errors.ts'
import { journalError, type Row } from '../_rows.ts'

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

/** A pool that the journal made. */
export interface JournalPool extends PostgresPool {
  end(): Promise<void>
}

export async function connectPool(connectionString: string, timeout: number): Promise<JournalPool> {
  const { default: pg } = await import('#pg').catch((cause: unknown) => {
    throw new JournalError('A connection string needs the package pg: install it, or give postgresJournal a pool.', {
      cause,
    })
  })
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: timeout,
    query_timeout: timeout,
    allowExitOnIdle: true, // signs of life do not keep the process alive
  })
  pool.on('error', () => {}) // an idle connection failed: the next statement opens another, or fails with the reason
  return pool
}

/** Whether an error is a serialization failure or a deadlock. The server then undid the statement. */
export function isUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === '40001' || code === '40P01'
}

export function postgresRefusal(error: unknown): JournalError {
  const { code } = (error ?? {}) as { code?: unknown }
  const kind = typeof code === 'string' ? code : 'no connection'
  // Classes 08 (connection), 53 (resources), 57 (shut down), and the codes of Node, which begin with a letter.
  return journalError(error, kind, typeof code !== 'string' || /^(?:08|53|57|[A-Z])/.test(code))
}
