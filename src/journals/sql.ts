/**
 * Makes a journal of any SQL database: its author writes what is particular to the database, and the rest is here. It decides
 * nothing about calls, and does not change records. Its SQL has no input except the checked prefix of its tables.
 *
 * @module
 */
import type { Extension } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { checkOptions, timerOption } from '../extension.ts'
import { records, type Journal } from '../records/index.ts'
import { sessionKey } from './_columns.ts'
import { nameInTables } from './_options.ts'
import { closedJournal, journalError } from './_rows.ts'
import { ServerClock } from './_server-clock.ts'
import { within } from './_within.ts'
import { Changes, groupLength } from './sql/_changes.ts'
import type { SqlDatabase, SqlDialect } from './sql/_database.ts'
import { journalOf, rowsOf } from './sql/_journal.ts'
import { changing, reading, type Operation } from './sql/_operations.ts'
import { SqlStatements, type SqlWords } from './sql/_statements.ts'
import { namesOf, prepareSqlTables, createTableStatements } from './sql/_tables.ts'
import { Transactions } from './sql/_transactions.ts'
import { SqlWatch } from './sql/_watch.ts'

export type { SqlConnection, SqlDatabase, SqlDialect, SqlRow, SqlValue } from './sql/_database.ts'

/** How a journal uses a database. */
export interface SqlJournalOptions {
  /** The prefix of the table names: lower-case letters, digits and underscores. Default: `toolwright_`. */
  readonly prefix?: string
  /** How long the database may take over a read or a change, other processes included, in milliseconds. Default: 10,000. */
  readonly timeout?: number
  /** How often a watch asks for changes of other processes, in milliseconds. Default: 1,000. */
  readonly pollInterval?: number
}

/** A journal of an SQL database, for `use`. */
export interface SqlJournal extends Extension {
  readonly journal: Journal
  /** Closes the journal after unfinished writes, and then the database. The executor calls it when it closes. */
  readonly close: () => Promise<void>
}

const defaultPrefix = 'toolwright_'

/**
 * Makes a journal of an SQL database that its author describes.
 *
 * The tables are made on first use. Those who write do so one after another, whatever the database: each transaction first changes one row,
 * which locks it. Simultaneous changes of a process share a transaction. Only the server's clock counts for the silence of owners. A
 * watch asks for changes each second, and at once if the database has a bus.
 *
 * Test it with `describeJournal` of `toolwright/conformance/journals`.
 *
 * @param database Runs statements and transactions, and has the words of its dialect.
 * @param options How it is used.
 * @returns The extension for `use`, with the journal.
 * @throws `E_INVALID_CONFIGURATION` if an argument is wrong. The journal throws `E_JOURNAL`.
 * @experimental
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite'
 * import { createExecutor } from 'toolwright'
 * import { sqlJournal, type SqlConnection } from 'toolwright/journals/sql'
 *
 * const file = new DatabaseSync(':memory:')
 * const connection: SqlConnection = {
 *   read: (text, values) => file.prepare(text).all(...values),
 *   change: (text, values) => Number(file.prepare(text).run(...values).changes),
 * }
 * const journal = sqlJournal({
 *   ...connection,
 *   async transaction(run) {
 *     file.exec('BEGIN IMMEDIATE')
 *     try {
 *       const value = await run(connection)
 *       file.exec('COMMIT')
 *       return value
 *     } catch (error) {
 *       file.exec('ROLLBACK')
 *       throw error
 *     }
 *   },
 *   dialect: { types: { key: 'TEXT', text: 'TEXT', number: 'REAL' }, now: `1000 * unixepoch('subsec')` },
 *   close: () => file.close(),
 * })
 * const executor = createExecutor({ tools: [], use: [journal] })
 * ```
 */
export function sqlJournal(database: SqlDatabase, options: SqlJournalOptions = {}): SqlJournal {
  requireDatabase(database)
  checkOptions('sqlJournal', options, { prefix: nameInTables, timeout: timerOption, pollInterval: timerOption })
  const { prefix = defaultPrefix, timeout = 10_000, pollInterval: interval = 1_000 } = options
  const { dialect, bus } = database
  const names = namesOf(prefix)
  const topic = `changes:${prefix}`
  const clock = new ServerClock()
  let preparation: Promise<void> | undefined
  let isClosed = false

  const transactions = new Transactions(database, names, () => {
    watch.look()
    bus?.publish(topic, '')
  })

  const words: SqlWords = {
    ...names,
    keyOf: sessionKey,
    skipExisting: dialect.skipExisting ?? '',
    now: () => dialect.now,
    next: (values) => `$${values.push(transactions.next())}`,

    idle(values) {
      const seenAt = 'CASE WHEN beat_at > updated_at THEN beat_at ELSE updated_at END'
      const former = clock.former()
      if (former === undefined) return `(${dialect.now} - ${seenAt})`
      // Since then the server's clock has gone on by more than the own clock: it was set ahead.
      const ahead = `${dialect.now} - $${values.push(former.server + former.ago)}`
      return `(${dialect.now} - ${seenAt} - CASE WHEN ${ahead} > 1000 THEN ${ahead} ELSE 0 END)`
    },

    *beat(owner) {
      const { owners } = names
      const now = yield reading(`SELECT ${dialect.now} AS at_now`, [])
      clock.remember(Number(now.rows[0]?.['at_now']))
      const { changes } = yield changing(`UPDATE ${owners} SET beat_at = ${dialect.now} WHERE owner = $1`, [owner])
      if (changes > 0) return
      const { rows } = yield reading(`SELECT owner FROM ${owners} WHERE owner = $1`, [owner]) // some count no row that stays as it was
      if (rows.length === 0)
        yield changing(`INSERT INTO ${owners} (owner, beat_at) VALUES ($1, ${dialect.now})`, [owner])
    },
  }

  async function prepared(): Promise<void> {
    if (isClosed) throw closedJournal()
    const own = (preparation ??= within(timeout, () => prepareSqlTables(database, names, performance.now() + timeout)))
    try {
      await own
    } catch (error) {
      if (preparation === own) preparation = undefined // the next call tries again
      throw refusal(error)
    }
    if (isClosed) throw closedJournal()
  }

  function refusal(error: unknown): Error {
    const { code } = (error ?? {}) as { code?: unknown }
    return journalError(error, typeof code === 'string' ? code : 'unknown', database.isRetryable?.(error) === true)
  }

  async function read<Value>(operation: () => Operation<Value>): Promise<Value> {
    await prepared()
    try {
      return await transactions.read(operation, performance.now() + timeout)
    } catch (error) {
      throw refusal(error)
    }
  }

  const statements = new SqlStatements(words)
  const changes = new Changes({
    patience: timeout,
    refusal,
    gather: () => Promise.resolve(), // changes that are made before the event loop goes on join
    commit: (operations, giveUpAt) => transactions.commit(operations, giveUpAt),
  })
  const watch = new SqlWatch({
    interval,
    keyOf: sessionKey,
    async lastChange() {
      const { state } = names
      return read(function* () {
        const { rows } = yield reading(`SELECT value FROM ${state} WHERE name = 'changes'`, [])
        return Number(rows[0]?.['value'])
      })
    },
    changed: (after) => read(() => statements.changed('$1', [after])),
    subscribe: (listener) => bus?.subscribe(topic, listener) ?? (() => {}),
  })
  const rows = rowsOf(
    statements,
    {
      read,
      async change(operation) {
        await prepared()
        return changes.make(operation)
      },
    },
    sessionKey,
  )
  const journal: Journal = {
    ...journalOf(rows, groupLength),
    ...(bus && { bus }),
    watch(listener) {
      if (isClosed) throw closedJournal()
      return watch.add(listener)
    },
  }

  return {
    journal,
    ...records(journal),
    async close() {
      if (isClosed) return
      isClosed = true
      watch.close()
      await preparation?.catch(() => {})
      await changes.ended()
      await database.close?.()
    },
  }
}

/**
 * Returns the statements that make the tables of a journal, for a database whose tables are made by hand. Each leaves alone what is
 * there. The journal makes them itself if its user may.
 *
 * @param dialect The words of the database.
 * @param options `prefix`: the prefix of the table names. Default: `toolwright_`.
 * @throws `E_INVALID_CONFIGURATION` if an argument is wrong.
 * @experimental
 * @example
 * ```ts
 * import { tableStatements } from 'toolwright/journals/sql'
 *
 * const types = { key: 'VARCHAR(200)', text: 'LONGTEXT', number: 'DOUBLE' }
 * const now = 'UNIX_TIMESTAMP(SYSDATE(3)) * 1000'
 * console.log(tableStatements({ types, now, hasInlineIndexes: true }).join(';\n'))
 * ```
 */
export function tableStatements(dialect: SqlDialect, options: Pick<SqlJournalOptions, 'prefix'> = {}): string[] {
  requireDialect(dialect)
  checkOptions('tableStatements', options, { prefix: nameInTables })
  return createTableStatements(namesOf(options.prefix ?? defaultPrefix), dialect)
}

function requireDatabase(database: SqlDatabase): void {
  const lacking = (['read', 'change', 'transaction'] as const).find((name) => typeof database?.[name] !== 'function')
  if (lacking !== undefined) {
    throw new InvalidConfigurationError(
      `sqlJournal takes a database with the methods read, change and transaction: it lacks \`${lacking}\`.`,
    )
  }
  requireDialect(database.dialect)
}

function requireDialect(dialect: SqlDialect): void {
  const { key, text, number } = dialect?.types ?? {}
  for (const [name, word] of Object.entries({ key, text, number, now: dialect?.now })) {
    if (typeof word === 'string' && word !== '') continue
    const place = name === 'now' ? 'dialect.now' : `dialect.types.${name}`
    throw new InvalidConfigurationError(`\`${place}\` must be words of SQL, got ${JSON.stringify(word)}.`)
  }
}
