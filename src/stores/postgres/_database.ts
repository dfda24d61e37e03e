import { ArtifactError, isToolError } from '../../errors.ts'
import { postgresFailure } from '../../extension.ts'

export type StoreRow = Record<string, unknown>

/** A connection, such as a `pg.PoolClient`. */
export interface PostgresConnection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly StoreRow[] }>
  /** Returns the connection to the pool. With `true` it is closed, since its state is unknown. */
  release(destroy?: boolean): void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool, such as a `pg.Pool`. */
export interface PostgresStorePool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly StoreRow[] }>
  connect(): Promise<PostgresConnection>
}

/** Statements that take effect together or not at all. */
export interface Transaction {
  ask(text: string, values?: unknown[]): Promise<readonly StoreRow[]>
  commit(): Promise<void>
  /** Undoes everything unless it is committed. Never throws. */
  rollBack(): Promise<void>
}

export interface Database {
  /** Runs one statement. Retries it if the server undid it because of a conflict with another. */
  ask(text: string, values?: unknown[]): Promise<readonly StoreRow[]>
  begin(): Promise<Transaction>
  close(): Promise<void>
}

/** Connects to a server through the application's pool, or through an own pool that the first statement makes. */
export function openDatabase(source: PostgresStorePool | string, timeout: number): Database {
  let own: Promise<StorePool> | undefined
  let isClosed = false

  async function connected(): Promise<PostgresStorePool> {
    if (isClosed) throw new ArtifactError('The artifact store has been closed.')
    if (typeof source !== 'string') return source
    own ??= connectStore(source, timeout)
    return own
  }

  return {
    async ask(text, values) {
      for (let attempt = 1; ; attempt++) {
        try {
          const { rows } = await storeWithin(timeout, async () => (await connected()).query(text, values))
          return rows
        } catch (error) {
          if (attempt === 5 || !hadNoEffect(error)) throw storeRefusal(error, source)
        }
      }
    },

    async begin() {
      try {
        const pool = await connected()
        const connecting = storeConnection(pool)
        // A connection that arrives after the timeout goes back to the pool.
        const late = (): void =>
          void connecting.then((connection) => returnConnection(connection, false)).catch(() => {})
        const connection = await storeWithin(timeout, () => connecting, late)
        return await transactionOf(connection, timeout)
      } catch (error) {
        throw storeRefusal(error, source)
      }
    },

    async close() {
      isClosed = true
      const pool = await own?.catch(() => undefined)
      own = undefined
      await pool?.end()
    },
  }
}

/** A connection that is lost between two statements emits `error`; without a listener that would end the process. */
function ignoreLoss(): void {}

/** What gives a connection to a function, as `pg.Pool` does. */
interface HandingStorePool {
  connect(handOver: (error: unknown, connection: PostgresConnection | undefined) => void): void
}

/**
 * Takes a connection of a pool. `pg` gets a function: a server that shuts down may end a connection in the same breath in which the
 * pool hands it over, before a promise of it is told.
 */
async function storeConnection(pool: PostgresStorePool): Promise<PostgresConnection> {
  if (!('Client' in pool && 'options' in pool)) {
    const connection = await pool.connect()
    connection.on?.('error', ignoreLoss)
    return connection
  }
  return new Promise((resolve, reject) => {
    ;(pool as unknown as HandingStorePool).connect((error, connection) => {
      connection?.on?.('error', ignoreLoss)
      if (connection === undefined) reject(error)
      else resolve(connection)
    })
  })
}

function returnConnection(connection: PostgresConnection, destroy: boolean): void {
  if (!destroy) connection.off?.('error', ignoreLoss)
  connection.release(destroy)
}

async function transactionOf(connection: PostgresConnection, timeout: number): Promise<Transaction> {
  let isOver = false

  function end(destroy: boolean): void {
    isOver = true
    returnConnection(connection, destroy)
  }

  const transaction: Transaction = {
    async ask(text, values) {
      try {
        return (await storeWithin(timeout, () => connection.query(text, values))).rows
      } catch (error) {
        throw storeRefusal(error)
      }
    },
    async commit() {
      await transaction.ask('COMMIT')
      end(false)
    },
    async rollBack() {
      if (isOver) return
      await transaction.ask('ROLLBACK').then(
        () => end(false),
        () => end(true),
      )
    },
  }
  try {
    await transaction.ask('BEGIN ISOLATION LEVEL READ COMMITTED')
    return transaction
  } catch (error) {
    end(true)
    throw error
  }
}

/** The pool that the store makes from a connection string. */
interface StorePool extends PostgresStorePool {
  end(): Promise<void>
}

// In `try`, so that bundlers let the package be missing.
async function pgOfStore(): Promise<(typeof import('pg'))['default']> {
  try {
    return (await import('#pg')).default
  } catch (cause) {
    const words =
      'A connection string needs the package pg, which could not be loaded: install it, or give postgresStore a pool.'
    throw new ArtifactError(words, { cause })
  }
}

async function connectStore(connectionString: string, timeout: number): Promise<StorePool> {
  const { Pool } = await pgOfStore()
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: timeout,
    query_timeout: timeout,
    allowExitOnIdle: true,
  })
  pool.on('error', () => {}) // an idle connection failed: the next statement opens another, or reports the error
  return pool
}

/** Waits for the work, but no longer than `timeout` milliseconds. */
async function storeWithin<Value>(timeout: number, run: () => Promise<Value>, onLate?: () => void): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLate?.()
      reject(new ArtifactError(`The artifact store did not answer within ${timeout} ms.`, { retryable: true }))
    }, timeout)
  })
  try {
    return await Promise.race([run(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the error is a serialization failure or a deadlock: the statement had no effect. */
function hadNoEffect(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === '40001' || code === '40P01'
}

/** Returns the error to throw. It has the code of the refusal but not its message, which may name hosts. */
function storeRefusal(error: unknown, source?: unknown): ArtifactError {
  if (isToolError(error) && error.code === 'E_ARTIFACT') return error as ArtifactError
  const { kind, isRetryable } = postgresFailure(error, source)
  return new ArtifactError(`The artifact store could not be read or written (${kind}).`, {
    cause: error,
    retryable: isRetryable,
  })
}
