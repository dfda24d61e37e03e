import type pg from 'pg'
import type { Bus } from 'toolwright/extension'
import type { SqlConnection, SqlDatabase } from 'toolwright/journals/sql'

function connectionOf(queryable: pg.Pool | pg.PoolClient): SqlConnection {
  const ask = async (text: string, values: readonly unknown[]): Promise<pg.QueryResult<Record<string, unknown>>> =>
    queryable.query<Record<string, unknown>>(text, [...values])
  return {
    read: async (text, values) => (await ask(text, values)).rows,
    change: async (text, values) => (await ask(text, values)).rowCount ?? 0,
  }
}

/** Postgres as the kit for journals takes a database: its transactions run beside each other. */
export function postgresDatabase(pool: pg.Pool, bus: Bus): SqlDatabase {
  return {
    ...connectionOf(pool),
    async transaction(run) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const value = await run(connectionOf(client))
        await client.query('COMMIT')
        return value
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    isRetryable: (error) => ['40001', '40P01'].includes(String((error as { code?: unknown }).code)),
    bus,
    dialect: {
      types: { key: 'text COLLATE "C"', text: 'text COLLATE "C"', number: 'double precision' },
      now: '(1000 * extract(epoch FROM clock_timestamp())::float8)',
      placeholder: (number) => `$${number}`,
      skipExisting: 'ON CONFLICT DO NOTHING',
    },
  }
}

/** A bus of one process. */
export function memoryBus(): Bus {
  const topics = new Map<string, Set<(message: string) => void>>()
  return {
    publish: (topic, message) => topics.get(topic)?.forEach((listener) => listener(message)),
    subscribe(topic, listener) {
      const listeners = topics.get(topic) ?? new Set()
      topics.set(topic, listeners.add(listener))
      return () => void listeners.delete(listener)
    },
  }
}
