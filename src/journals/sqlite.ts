/**
 * Keeps the records of calls in one SQLite file, for the processes of one machine. It decides nothing about calls, and does
 * not change records. Its SQL has no input.
 *
 * @module
 */
import { resolve as absolute } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Extension } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { checkOptions, numberFrom } from '../extension.ts'
import { records, type Journal } from '../records/index.ts'
import { closedJournal } from './_rows.ts'
import { Changes, groupLength } from './sql/_changes.ts'
import { journalOf, rowsOf } from './sql/_journal.ts'
import { runAtOnce } from './sql/_operations.ts'
import { SqlStatements } from './sql/_statements.ts'
import { statementRunner, openedDatabase, placeCheck, sqliteRefusal, retryWhileBusy, undo } from './sqlite/_database.ts'
import { SqliteWatch } from './sqlite/_watch.ts'
import { sqliteWords } from './sqlite/_words.ts'

/** An SQLite journal, for `use`. */
export interface SqliteJournal extends Extension {
  readonly journal: Journal
  /** Closes the journal after unfinished writes. The executor calls it when it closes. */
  readonly close: () => Promise<void>
}

/**
 * Keeps the records of calls in an SQLite file. Several processes of one machine may share it.
 *
 * A write is on the disk once the journal has answered. Simultaneous changes share a transaction. Only the owner of the file
 * can read it (0600). It holds nothing else, and must be on a local disk. While it is in use, SQLite keeps a `-wal` and a
 * `-shm` file beside it. If it is deleted or replaced meanwhile, writes are refused. The journal measures the silence of owners by the wall clock and the machine's uptime, so that a
 * step of the wall clock makes no living owner look dead, and no dead one alive.
 *
 * @param file The path. The file is made if it is missing; its directory must exist.
 * @param options `busyTimeout`: how long to wait for other processes, in milliseconds. Default: 5,000.
 * @throws `E_INVALID_CONFIGURATION` if `file` is not a path, or not a file of such a journal; `E_JOURNAL` if it cannot be
 * opened. The journal throws `E_JOURNAL`.
 * @experimental
 * @see https://sqlite.org/wal.html
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { sqliteJournal } from 'toolwright/journals/sqlite'
 *
 * const executor = createExecutor({ tools: [], use: [sqliteJournal('./calls.db')] })
 * ```
 */
export function sqliteJournal(file: string, options: { readonly busyTimeout?: number } = {}): SqliteJournal {
  if (typeof file !== 'string' || file === '' || file === ':memory:' || file.includes('\0')) {
    throw new InvalidConfigurationError(
      'sqliteJournal takes the path of a file, as in sqliteJournal("./calls.db"). Records in memory are those of `memoryJournal`.',
    )
  }
  checkOptions('sqliteJournal', options, { busyTimeout: numberFrom(0) })
  const { busyTimeout = 5_000 } = options
  const database = openedDatabase(absolute(file), busyTimeout)
  const requirePlace = placeCheck(absolute(file))
  const answer = statementRunner(database)
  const statements = new SqlStatements(sqliteWords)
  const watch = new SqliteWatch(statements, answer)
  let isClosed = false

  function requireOpen(): void {
    if (isClosed) throw closedJournal()
  }

  const changes = new Changes({
    patience: busyTimeout,
    gather: setImmediate,
    refusal: sqliteRefusal,
    async commit(operations, giveUpAt) {
      try {
        requirePlace()
        await retryWhileBusy(() => database.exec('BEGIN IMMEDIATE'), giveUpAt)
        const values = operations.map((operation) => runAtOnce(operation(), answer))
        database.exec('COMMIT')
        watch.look()
        return { values }
      } catch (error) {
        undo(database)
        return { error, isUndone: true }
      }
    },
  })

  const rows = rowsOf(statements, {
    change(operation) {
      requireOpen()
      return changes.make(operation)
    },
    async read(operation) {
      try {
        return await retryWhileBusy(() => {
          requireOpen()
          return runAtOnce(operation(), answer)
        }, performance.now() + busyTimeout)
      } catch (error) {
        throw sqliteRefusal(error)
      }
    },
  })

  const journal: Journal = {
    ...journalOf(rows, groupLength),

    watch(listener) {
      requireOpen()
      return watch.add(listener)
    },
  }

  return {
    journal,
    ...records(journal),
    async close() {
      isClosed = true
      watch.close()
      await changes.ended()
      if (database.isOpen) database.close()
    },
  }
}
