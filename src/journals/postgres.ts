/**
 * Keeps the records of calls in a Postgres database, for several machines. It decides nothing about calls, and does not
 * change records. Its SQL has no input except the checked names of its tables. It does not close a pool of the application.
 *
 * @module
 */
import type { Extension } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { booleanOption, checkOptions, isPostgresAddress, postgresFailure, timerOption } from '../extension.ts'
import { records, type Journal } from '../records/index.ts'
import { nameInTables } from './_options.ts'
import { closedJournal, journalError, pageLength, type Row } from './_rows.ts'
import { within } from './_within.ts'
import { NotifyBus } from './postgres/_bus.ts'
import {
  connectPool,
  isOfPg,
  isUndone,
  StatementRunner,
  type JournalPool,
  type PostgresPool,
} from './postgres/_connection.ts'
import { PostgresStatements } from './postgres/_statements.ts'
import { inServerTime } from './postgres/_server-time.ts'
import { prepareJournal, type JournalTables } from './postgres/_tables.ts'
import { PostgresWatch } from './postgres/_watch.ts'
import { journalOf } from './sql/_journal.ts'

export type { PostgresConnection, PostgresPool } from './postgres/_connection.ts'

/** The options of `postgresJournal`. */
export interface PostgresJournalOptions {
  /** The schema of the tables, which must exist: lower-case letters, digits and underscores. Default: `public`. */
  readonly schema?: string
  /** The prefix of the table names, in the same characters. Default: `toolwright_`. */
  readonly prefix?: string
  /** How long the server may take to answer, in milliseconds. Default: 10,000. */
  readonly timeout?: number
  /**
   * Whether the server prepares once what each call needs, by name. That saves it about a third of its time. The journal stops by
   * itself if a pooler between loses the names: PgBouncer in transaction mode before version 1.21, or with
   * `max_prepared_statements = 0`. Amazon RDS Proxy keeps a connection for each client then: say `false`. Default: `true` for a
   * connection string and a `Pool` of `pg`, which takes statements with names; else `false`.
   */
  readonly prepare?: boolean
  /**
   * Whether changes are told by `NOTIFY`, which takes a lock of the whole server at each commit. Without it there is no
   * `watch` and no `bus`. Default: `true`.
   */
  readonly notify?: boolean
}

/** A Postgres journal, for `use`. */
export interface PostgresJournal extends Extension {
  readonly journal: Journal
  /** Closes the journal after unfinished writes. The executor calls it when it closes. */
  readonly close: () => Promise<void>
}

/**
 * Keeps the records of calls in Postgres (12 or newer), for any number of machines.
 *
 * The tables are made on first use. Every change is one statement, and changes at the same moment share one. Only the server's
 * clock decides which owner is dead and which call has waited too long, so those of the processes may differ. An executor notices if the server's clock was set ahead, and
 * takes no living owner for dead. One that starts within 5 seconds of such a step cannot notice it.
 *
 * @param pool A `pg.Pool` or the like, which the application configures and closes. Or a connection string: the journal then loads
 * the package `pg`, and closes its pool with the executor.
 * @param options The names of the tables, how long the server may take, and how statements and changes are sent.
 * @throws `E_INVALID_CONFIGURATION` if an argument is wrong. The journal throws `E_JOURNAL`.
 * @experimental
 * @see https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { postgresJournal } from 'toolwright/journals/postgres'
 *
 * const executor = createExecutor({ tools: [], use: [postgresJournal('postgres://localhost/agents')] })
 * ```
 */
export function postgresJournal(pool: PostgresPool | string, options: PostgresJournalOptions = {}): PostgresJournal {
  if (typeof pool === 'string' ? !isPostgresAddress(pool) : typeof pool?.query !== 'function') {
    throw new InvalidConfigurationError(
      'postgresJournal takes a pool with a `query` method, or a connection string that begins with postgres://.',
    )
  }
  checkOptions('postgresJournal', options, {
    schema: nameInTables,
    prefix: nameInTables,
    timeout: timerOption,
    prepare: booleanOption,
    notify: booleanOption,
  })
  const { schema = 'public', prefix = 'toolwright_', timeout = 10_000, prepare = isOfPg(pool), notify = true } = options
  const table = (name: string): string => `"${schema}"."${prefix}${name}"`
  const tables: JournalTables = {
    calls: table('calls'),
    owners: table('owners'),
    cuts: table('cuts'),
    effects: table('effects'),
    take: table('take'),
    takeEach: table('take_each'),
    schema,
    prefix,
  }
  const runner = new StatementRunner(prepare)
  let connection: Promise<JournalPool> | undefined
  let preparation: Promise<void> | undefined
  let isClosed = false
  /** Whether what was asked for before it was closed is answered. */
  let hasEnded = false

  async function connected(): Promise<PostgresPool> {
    if (typeof pool !== 'string') return pool
    connection ??= connectPool(pool, timeout)
    return connection
  }

  /** Runs one statement. Retries it if the server undid it because of other statements. */
  async function ask(text: string, values?: unknown[], isFrequent = false): Promise<readonly Row[]> {
    if (hasEnded) throw closedJournal()
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows } = await within(timeout, async () => runner.run(await connected(), text, values, isFrequent))
        return rows
      } catch (error) {
        if (attempt < 5 && isUndone(error)) continue
        const { kind, isRetryable } = postgresFailure(error, pool)
        throw journalError(error, kind, isRetryable)
      }
    }
  }

  async function query(text: string, values?: unknown[], isFrequent?: boolean): Promise<readonly Row[]> {
    if (isClosed) throw closedJournal()
    const prepared = (preparation ??= prepareJournal(ask, tables))
    try {
      await prepared
    } catch (error) {
      if (preparation === prepared) preparation = undefined // the next query tries again
      throw error
    }
    return ask(text, values, isFrequent)
  }

  const statements = new PostgresStatements(query, tables, notify)
  const { channel } = statements
  const watch = new PostgresWatch({ channel, connected, changed: (since) => statements.changed(since) })
  const bus = new NotifyBus(channel, ask, connected)

  const inTables = journalOf(statements, pageLength)
  const journal: Journal = {
    ...inTables,
    ...inServerTime(inTables, () => statements.ahead()),

    ...(notify && {
      bus,
      watch(listener) {
        if (isClosed) throw closedJournal()
        return watch.add(listener)
      },
    }),
  }

  return {
    journal,
    ...records(journal),
    async close() {
      const ended = statements.ended()
      isClosed = true
      watch.close()
      bus.close()
      await ended
      hasEnded = true
      const own = await connection?.catch(() => undefined)
      connection = undefined
      await own?.end()
    },
  }
}
