// A journal of MySQL 8, as a package of someone else would have it. It imports nothing of ours but public entries.
import {
  sqlJournal,
  type SqlConnection,
  type SqlJournal,
  type SqlJournalOptions,
  type SqlValue,
} from 'toolwright/journals/sql'

/** What the pools and connections of `mysql2/promise` have in common. */
interface Executing {
  execute(text: string, values: SqlValue[]): Promise<readonly [unknown, ...unknown[]]>
}

/** A connection of a pool. `mysql2/promise` has it. */
export interface MysqlConnection extends Executing {
  beginTransaction(): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  release(): void
  destroy(): void
}

/** The part of a pool that the journal needs. `mysql2/promise` has it. */
export interface MysqlPool extends Executing {
  getConnection(): Promise<MysqlConnection>
}

// What MySQL and the system say if the same may succeed later.
const retryable: ReadonlySet<unknown> = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CON_COUNT_ERROR',
  'PROTOCOL_CONNECTION_LOST',
  'ECONNREFUSED',
  'ECONNRESET',
])

const text = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin' // compares bytes, and blanks at the end too

function connectionOf(mysql: Executing): SqlConnection {
  return {
    async read(statement, values) {
      const [rows] = await mysql.execute(statement, [...values])
      return rows as Record<string, unknown>[]
    },
    async change(statement, values) {
      const [header] = await mysql.execute(statement, [...values])
      return (header as { affectedRows: number }).affectedRows
    },
  }
}

/** Keeps the records of calls in MySQL. The application makes the pool, whose connections have the time zone UTC, and closes it. */
export function mysqlJournal(pool: MysqlPool, options?: SqlJournalOptions): SqlJournal {
  return sqlJournal(
    {
      ...connectionOf(pool),

      async transaction(run) {
        const connection = await pool.getConnection()
        try {
          await connection.beginTransaction()
          const value = await run(connectionOf(connection))
          await connection.commit()
          connection.release()
          return value
        } catch (error) {
          await connection.rollback().then(
            () => connection.release(),
            () => connection.destroy(), // the server rolls back what its connection leaves
          )
          throw error
        }
      },

      isRetryable: (error) => retryable.has((error as { code?: unknown } | null)?.code),

      dialect: {
        types: { key: `VARCHAR(200) ${text}`, text: `LONGTEXT ${text}`, number: 'DOUBLE' },
        now: '(UNIX_TIMESTAMP(SYSDATE(3)) * 1000)',
        hasInlineIndexes: true,
      },
    },
    options,
  )
}
