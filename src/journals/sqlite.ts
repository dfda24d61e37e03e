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
import { records, type Deleted, type Journal } from '../records/index.ts'
import { columnsOf, sessionKey } from './_columns.ts'
import { closed, fenceOf, foundRows, isId, listPages, recordOf, requireId } from './_rows.ts'
import { opened, refusal, retryWhileBusy, undo } from './sqlite/_database.ts'
import { Statements } from './sqlite/_statements.ts'
import { Watch } from './sqlite/_watch.ts'

/** The most changes of one transaction. More would block the process for too long. */
const groupLength = 200

/** A change, and the promise of its caller. */
interface Change {
  readonly apply: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly giveUpAt: number
}

/** An SQLite journal, for `use`. */
export interface SqliteJournal extends Extension {
  readonly journal: Journal
  /** Closes the journal after pending writes. The executor calls it when it closes. */
  readonly close: () => Promise<void>
}

/**
 * Keeps the records of calls in an SQLite file. Several processes of one machine may share it.
 *
 * A write is on the disk once the journal has answered. Simultaneous changes share a transaction. Only the owner of the file
 * can read it (0600). It holds nothing else, and must be on a local disk. While it is in use, SQLite keeps a `-wal` and a
 * `-shm` file beside it. The journal measures the silence of owners by the wall clock and the machine's uptime, so that a
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
    throw new InvalidConfigurationError('sqliteJournal takes the path of a file, as in sqliteJournal("./calls.db").')
  }
  const { busyTimeout = 5_000 } = options
  if (typeof busyTimeout !== 'number' || !(busyTimeout >= 0)) {
    throw new InvalidConfigurationError(`\`busyTimeout\` must be a number of at least 0, got ${String(busyTimeout)}.`)
  }
  const database = opened(absolute(file), busyTimeout)
  const statements = new Statements(database)
  const watch = new Watch(statements)
  const waiting: Change[] = []
  let writing: Promise<void> | undefined
  let isClosed = false

  function requireOpen(): void {
    if (isClosed) throw closed()
  }

  /** Makes a change durable, together with simultaneous ones. */
  function change<Value>(apply: () => Value): Promise<Value> {
    requireOpen()
    return new Promise((resolve, reject) => {
      const giveUpAt = performance.now() + busyTimeout
      waiting.push({ apply, resolve: resolve as (value: unknown) => void, reject, giveUpAt })
      writing ??= writeAll()
    })
  }

  async function writeAll(): Promise<void> {
    do {
      await setImmediate() // changes that arrive meanwhile join
      await commit(waiting.splice(0, groupLength))
    } while (waiting.length > 0)
    writing = undefined
  }

  /** Commits changes in one transaction. If that fails, commits each alone, so that one bad change affects no other. */
  async function commit(changes: readonly Change[]): Promise<void> {
    try {
      await retryWhileBusy(() => database.exec('BEGIN IMMEDIATE'), Math.max(...changes.map(({ giveUpAt }) => giveUpAt)))
      const values = changes.map(({ apply }) => apply())
      database.exec('COMMIT')
      changes.forEach(({ resolve }, index) => resolve(values[index]))
      watch.look()
    } catch (error) {
      undo(database)
      const [only, ...others] = changes
      if (others.length === 0) return only?.reject(refusal(error))
      for (const single of changes) await commit([single])
    }
  }

  const journal: Journal = {
    isDurable: true,

    async claim(record, owner) {
      const columns = columnsOf(record)
      return (await change(() => statements.claim(columns, owner))) ? { owner, number: 0 } : null
    },

    async write(record, fence) {
      const columns = columnsOf(record)
      return change(() => statements.write(columns, fence))
    },

    async read(invocationId) {
      requireOpen()
      requireId(invocationId)
      const row = await reading(() => statements.read(invocationId))
      return row === undefined ? null : { record: recordOf(row['record'], invocationId), fence: fenceOf(row) }
    },

    async takeOver(invocationId, fence, owner) {
      requireId(invocationId)
      const isTaken = await change(() => statements.takeOver(invocationId, fence, owner))
      return isTaken ? { owner, number: fence.number + 1 } : null
    },

    // In pages: a read that stays open would keep SQLite from emptying its write-ahead log.
    list: (query, report) => listPages((page, limit) => reading(() => statements.list(page, limit)), query, report),

    take: async (wanted, owner) => foundRows(await change(() => statements.take(wanted, owner))),

    async unsent(wanted) {
      const names = new Map(wanted.queues.map((queue) => [sessionKey(queue), queue]))
      const rows = await change(() => statements.unsent(wanted))
      return rows.map(({ id, queue }) => ({ invocationId: String(id), queue: names.get(String(queue)) ?? '' }))
    },

    free: (ids) => reading(() => statements.free(ids.filter(isId))),

    depth: (queue, atMost) => reading(() => statements.depth(queue, atMost)),

    settledOf: async (ids) => foundRows(await reading(() => statements.settledOf(ids.filter(isId)))),

    beat: (owner) => change(() => statements.beat(owner)),

    async requestCancel(invocationId) {
      requireId(invocationId)
      return change(() => statements.requestCancel(invocationId))
    },

    async delete({ settledBefore, limit }) {
      const deleted: Deleted[] = []
      while (deleted.length < limit) {
        const most = Math.min(limit - deleted.length, groupLength)
        const rows = await change(() => statements.delete(settledBefore, most))
        deleted.push(...rows.map((row) => row.deleted))
        if (rows.length < most) break
      }
      return deleted
    },

    cuts: () => reading(() => statements.cuts()),

    watch(listener) {
      requireOpen()
      return watch.add(listener)
    },
  }

  async function reading<Value>(read: () => Value): Promise<Value> {
    try {
      return await retryWhileBusy(() => (requireOpen(), read()), performance.now() + busyTimeout)
    } catch (error) {
      throw refusal(error)
    }
  }

  return {
    journal,
    ...records(journal),
    async close() {
      isClosed = true
      watch.close()
      await writing
      if (database.isOpen) database.close()
    },
  }
}
