import { join } from 'node:path'
import pg from 'pg'
import { postgresJournal } from 'toolwright/journals/postgres'
import { sqlJournal, type SqlDatabase, type SqlJournal } from 'toolwright/journals/sql'
import { onTestFinished } from 'vitest'
import { mysqlPool } from '../journals/sql/_mysql-pool.ts'
import { mysqlJournal } from '../journals/sql/mysql-journal.ts'
import { memoryBus, postgresDatabase } from '../journals/sql/_postgres.ts'
import { startPostgres } from '../servers/postgres.ts'
import { directory, type Place } from './_journals.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The tests of journals in Postgres are skipped: ${server}.`)

let count = 0

interface Schema {
  readonly name: string
  readonly pool: pg.Pool
  readonly made: Promise<unknown>
}

/** Makes a schema of its own on the server, which is gone after the test. */
function schemaOn(connectionString: string): Schema {
  const name = `places_${process.pid}_${Date.now().toString(36)}_${count++}`
  const pool = new pg.Pool({ connectionString })
  const made = pool.query(`CREATE SCHEMA "${name}"`)
  onTestFinished(async () => {
    await made
    await pool.query(`DROP SCHEMA "${name}" CASCADE`)
    await pool.end()
  })
  return { name, pool, made }
}

const monotonic = performance.now.bind(performance)

/** Sets the server's clock, by which calls expire, as a test has set that of this process: in each answer that tells it. */
function inTestTime(text: string): string {
  const ahead = Math.round(Date.now() - performance.timeOrigin - monotonic())
  if (Math.abs(ahead) < 10_000) return text
  return text.replaceAll('SELECT 1000 *', `SELECT ${ahead} + 1000 *`)
}

function postgres(connectionString: string): Place {
  const { name: schema, pool, made } = schemaOn(connectionString)
  const own = { query: async (text: string, values?: unknown[]) => (await made, pool.query(inTestTime(text), values)) }
  return {
    open: () => {
      const mounted = postgresJournal(own, { schema })
      onTestFinished(() => mounted.close?.())
      return mounted
    },
  }
}

/** The kit for journals, on the server. */
function kitOnPostgres(connectionString: string): Place {
  const { name, made } = schemaOn(connectionString)
  const inSchema = new pg.Pool({ connectionString, options: `-c search_path=${name}` })
  onTestFinished(() => inSchema.end())
  const database = postgresDatabase(inSchema, memoryBus())
  const own: SqlDatabase = {
    ...database,
    read: async (text, values) => (await made, database.read(text, values)),
    change: async (text, values) => (await made, database.change(text, values)),
    transaction: async (run) => (await made, database.transaction(run)),
  }
  return { open: () => closedAfterTest(sqlJournal(own)) }
}

/** The kit for journals, on what refuses all that MySQL would. */
function kitOnMysql(): Place {
  const file = join(directory(), 'mysql.db')
  return {
    open: () => {
      const pool = mysqlPool(file)
      onTestFinished(() => pool.end())
      return closedAfterTest(mysqlJournal(pool))
    },
  }
}

function closedAfterTest(mounted: SqlJournal): SqlJournal {
  onTestFinished(() => mounted.close())
  return mounted
}

/** The journals over databases that are at hand, by name. */
export const databases: readonly (readonly [string, () => Place])[] = [
  ['the kit on MySQL', kitOnMysql],
  ...(typeof server === 'string'
    ? []
    : [
        ['Postgres', () => postgres(server.connectionString)] as const,
        ['the kit on Postgres', () => kitOnPostgres(server.connectionString)] as const,
      ]),
]
