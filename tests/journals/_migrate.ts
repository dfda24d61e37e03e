// Run by migration.test.ts in a process of its own: waits for a word, opens an older journal, and kills itself at a statement.
import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'
import { postgresJournal } from 'toolwright/journals/postgres'
import { sqliteJournal } from 'toolwright/journals/sqlite'

interface Task {
  readonly file?: string
  readonly connectionString?: string
  readonly schema?: string
  /** At which moment it kills itself: before a statement, or after it. 0 for never. */
  readonly lastMoment: number
}

const { file, connectionString, schema = '', lastMoment } = JSON.parse(process.argv[2] ?? '') as Task
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))

let moments = 0
/** How many statements have changed the tables. */
let alterations = 0
function moment(): void {
  if (++moments === lastMoment) process.kill(process.pid, 'SIGKILL')
}

if (file !== undefined) {
  for (const [prototype, method] of [
    [DatabaseSync.prototype, 'exec'],
    [StatementSync.prototype, 'run'],
  ] as const) {
    const own = Reflect.get(prototype, method) as (...parameters: unknown[]) => unknown
    Reflect.set(prototype, method, function (this: unknown, ...parameters: unknown[]) {
      moment()
      const answer = own.apply(this, parameters)
      if (String(parameters[0]).startsWith('ALTER')) alterations++
      moment()
      return answer
    })
  }
  const { journal, close } = sqliteJournal(file, { busyTimeout: 30_000 })
  await journal.read('running')
  await close()
} else {
  const pool = new pg.Pool({ connectionString })
  const query = async (text: string, values?: unknown[]): Promise<pg.QueryResult<Record<string, unknown>>> => {
    moment()
    const before = text.includes('ALTER TABLE') ? await versionOf() : undefined
    const result = await pool.query<Record<string, unknown>>(text, values)
    if (before !== undefined && before !== (await versionOf())) alterations++
    moment()
    return result
  }
  const versionOf = async (): Promise<string | undefined> => {
    const { rows } = await pool.query<{ version: string }>(
      `SELECT obj_description('"${schema}".toolwright_calls'::regclass, 'pg_class') AS version`,
    )
    return rows[0]?.version
  }
  await postgresJournal({ query }, { schema }).journal.read('running')
  await pool.end()
}
process.stdout.write(`${JSON.stringify({ moments, alterations })}\n`)
process.exit()
