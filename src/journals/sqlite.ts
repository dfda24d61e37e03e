/**
 * Keeps the records of calls in one SQLite file, for the processes of one machine. It decides nothing about calls, and does
 * not change records. Its SQL has no input.
 *
 * @module
 */
import { closeSync, openSync } from 'node:fs'
import { resolve as absolute } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { InvalidConfigurationError, JournalError, type Extension } from '../index.ts'
import { isSettled, records, type Journal } from '../records/index.ts'
import { closed, journalError, listedRows, recordOf, requireId, textOf } from './_rows.ts'
import { prepareTables, silence, uptimeNow } from './sqlite/_tables.ts'

/** How long SQLite itself waits for another process, in milliseconds. It blocks this process meanwhile. */
const stoppage = 10

type Row = Record<string, unknown>

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
  const statements = {
    claim: database.prepare('INSERT INTO calls VALUES (?, ?, 0, 0, ?, ?, ?) ON CONFLICT (id) DO NOTHING'),
    write: database.prepare(
      `UPDATE calls SET version = version + 1, settled = ?, record = ?, updated_at = ?
      WHERE id = ? AND owner = ? AND held_since <= ?`,
    ),
    read: database.prepare('SELECT record, owner, version FROM calls WHERE id = ?'),
    takeOver: database.prepare(
      `UPDATE calls SET owner = ?, held_since = version + 1, version = version + 1, updated_at = ?
      WHERE id = ? AND owner = ? AND version = ? AND settled = 0`,
    ),
    list: database.prepare(
      `SELECT id, record, settled, calls.owner, version, max(updated_at, coalesce(beat_at, 0)) AS seen_at, beat_uptime
      FROM calls LEFT JOIN owners ON owners.owner = calls.owner WHERE settled <= ?`,
    ),
    beat: database.prepare(
      `INSERT INTO owners VALUES (?, ?, ?)
      ON CONFLICT (owner) DO UPDATE SET beat_at = excluded.beat_at, beat_uptime = excluded.beat_uptime`,
    ),
  }
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
      const text = textOf(record)
      const settled = Number(isSettled(record.state))
      const changed = await change(() => statements.claim.run(record.id, owner, settled, text, Date.now()).changes)
      return changed === 1 ? { owner, number: 0 } : null
    },

    async write(record, { owner, number }) {
      const text = textOf(record)
      const { id } = record
      const settled = Number(isSettled(record.state))
      return (await change(() => statements.write.run(settled, text, Date.now(), id, owner, number).changes)) === 1
    },

    async read(invocationId) {
      requireOpen()
      requireId(invocationId)
      const row = await reading(() => statements.read.get(invocationId))
      return row === undefined ? null : { record: recordOf(row['record'], invocationId), fence: fenceOf(row) }
    },

    async takeOver(invocationId, fence, owner) {
      requireId(invocationId)
      const { owner: former, number } = fence
      const changed = await change(
        () => statements.takeOver.run(owner, Date.now(), invocationId, former, number).changes,
      )
      return changed === 1 ? { owner, number: number + 1 } : null
    },

    async *list(query, report) {
      const hasSettled = (query.state ?? 'settled') === 'settled'
      const rows = await reading(() => statements.list.all(Number(hasSettled)))
      const time = Date.now()
      const up = uptimeNow()
      const all = rows.map((row) => ({
        id: row['id'],
        text: row['record'],
        isSettled: row['settled'] === 1,
        fence: fenceOf(row),
        idle: silence(row, time, up),
      }))
      yield* listedRows(all, query, report)
    },

    async beat(owner) {
      await change(() => statements.beat.run(owner, Date.now(), uptimeNow()))
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
      await writing
      if (database.isOpen) database.close()
    },
  }
}

/** Opens the file, and makes its tables if it is new. */
function opened(file: string, busyTimeout: number): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    makePrivate(file)
    database = new DatabaseSync(file, { timeout: busyTimeout })
    const mode = retryBlocking(() => database?.prepare('PRAGMA journal_mode = WAL').get(), busyTimeout)
    if (mode?.['journal_mode'] !== 'wal')
      throw new JournalError('SQLite cannot keep a write-ahead log beside the file.')
    database.exec('PRAGMA synchronous = FULL')
    database.exec('BEGIN IMMEDIATE')
    prepareTables(database)
    database.exec('COMMIT')
    database.exec(`PRAGMA busy_timeout = ${stoppage}`)
    return database
  } catch (error) {
    database?.close()
    if (error instanceof InvalidConfigurationError) throw error
    throw new JournalError(`${file}: ${refusal(error).message}`, { cause: error, retryable: isBusy(error) })
  }
}

/** Makes a file that only its owner may read. Never opens an existing file, since closing it would drop SQLite's locks. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
  }
}

/** Retries while another process holds the lock. Does not block this process. */
async function retryWhileBusy<Value>(attempt: () => Value, giveUpAt: number): Promise<Value> {
  for (let pause = 1; ; pause = Math.min(pause * 2, 32)) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error
    }
    await setTimeout(pause * (0.5 + Math.random()))
  }
}

/** The same, but blocking, for construction. SQLite itself does not always wait while a file changes its mode. */
function retryBlocking<Value>(attempt: () => Value, busyTimeout: number): Value {
  const giveUpAt = performance.now() + busyTimeout
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  }
}

function undo(database: DatabaseSync): void {
  if (!database.isTransaction) return
  try {
    database.exec('ROLLBACK')
  } catch {
    // SQLite has already undone it
  }
}

function fenceOf(row: Row): { owner: string; number: number } {
  return { owner: String(row['owner']), number: Number(row['version']) }
}

/** Whether an error is SQLITE_BUSY or SQLITE_LOCKED. SQLite adds details in the higher bits. */
function isBusy(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown }
  return typeof errcode === 'number' && ((errcode & 0xff) === 5 || (errcode & 0xff) === 6)
}

function refusal(error: unknown): JournalError {
  const { errstr, code } = error as { errstr?: unknown; code?: unknown }
  const kind = [errstr, code].find((word) => typeof word === 'string') ?? 'unknown'
  return journalError(error, kind, isBusy(error))
}
