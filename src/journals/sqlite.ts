/**
 * The records of calls in one SQLite file, for the processes of one machine. This leaf keeps records and hands them out: it
 * decides about no call, changes nothing in a record, and makes no SQL of what it is given.
 *
 * @module
 */
import { closeSync, openSync } from 'node:fs'
import { resolve as absolute } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { InvalidConfigurationError, isSettled, JournalError, type Extension, type Journal } from '../index.ts'
import { closed, journalError, listedRecord, pageLength, recordOf, requireId, textOf } from './_rows.ts'
import { prepareTables, silence, uptimeNow } from './sqlite/_tables.ts'

/** How long SQLite itself waits for another process, in milliseconds: it stops this one while it does. */
const stoppage = 10

type Row = Record<string, unknown>

/** How many changes are made durable together: few enough for the process to go on soon. */
const groupLength = 200

/** One change, and whoever waits for it. */
interface Change {
  readonly apply: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly giveUpAt: number
}

/** An SQLite journal, for `use`. */
export interface SqliteJournal extends Extension {
  readonly journal: Journal
  /** Lets go of what it holds, once what it was given is written; the executor does so when it closes. */
  readonly close: () => Promise<void>
}

/**
 * Keeps the records of calls in an SQLite file, so that they outlive the process. Several processes of one machine may share
 * it.
 *
 * What the journal has answered is on the disk. Changes that are asked for at the same time go there together. The file is
 * readable by its owner alone (0600), holds nothing else, and has to lie on a local disk; while it is in use, SQLite keeps a
 * `-wal` and a `-shm` file beside it. How long an owner has been silent is told by the wall clock and by the machine's uptime,
 * so that a step of the wall clock makes no living owner look dead, and no dead one alive.
 *
 * @param file Its path; made where there is none, in a directory that exists.
 * @param options `busyTimeout`: how long to wait for other processes, in milliseconds. Default: 5,000.
 * @throws `E_INVALID_CONFIGURATION` where `file` is not a path, or is not a file of such a journal; `E_JOURNAL` where it
 * cannot be opened. The journal throws `E_JOURNAL`.
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
    unfinished: database.prepare(
      `SELECT id, record, calls.owner, version, max(updated_at, coalesce(beat_at, 0)) AS seen_at, beat_uptime
      FROM calls LEFT JOIN owners ON owners.owner = calls.owner
      WHERE settled = 0 AND (? IS NULL OR id > ?) ORDER BY id LIMIT ${pageLength}`,
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

  /** Makes a change durable, together with those that are asked for at the same time. */
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
      await setImmediate() // whatever is asked for meanwhile goes along
      await commit(waiting.splice(0, groupLength))
    } while (waiting.length > 0)
    writing = undefined
  }

  /** All of them in one transaction; where it fails, each in its own, so that one that cannot be kept harms no other. */
  async function commit(changes: readonly Change[]): Promise<void> {
    try {
      await patiently(() => database.exec('BEGIN IMMEDIATE'), Math.max(...changes.map(({ giveUpAt }) => giveUpAt)))
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

    async *unfinished(report) {
      // In pages, so that no read stays open, and keeps the log from being folded in, while somebody acts on a record.
      for (let last: string | null = null; ;) {
        const after: string | null = last
        const rows: Row[] = await reading(() => statements.unfinished.all(after, after))
        const time = Date.now() // the caller may take long over each record, and the owners beat meanwhile
        const up = uptimeNow()
        for (const row of rows) {
          const record = listedRecord(row['record'], row['id'], report)
          if (record !== undefined) yield { record, fence: fenceOf(row), idle: silence(row, time, up) }
        }
        if (rows.length < pageLength) return
        last = String(rows.at(-1)?.['id'])
      }
    },

    async beat(owner) {
      await change(() => statements.beat.run(owner, Date.now(), uptimeNow()))
    },
  }

  async function reading<Value>(read: () => Value): Promise<Value> {
    try {
      return await patiently(() => (requireOpen(), read()), performance.now() + busyTimeout)
    } catch (error) {
      throw refusal(error)
    }
  }

  return {
    journal,
    async close() {
      isClosed = true
      await writing
      if (database.isOpen) database.close()
    },
  }
}

/** Opens the file, and makes its tables where it is new. */
function opened(file: string, busyTimeout: number): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    makePrivate(file)
    database = new DatabaseSync(file, { timeout: busyTimeout })
    const mode = eagerly(() => database?.prepare('PRAGMA journal_mode = WAL').get(), busyTimeout)
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

/** Makes a file that only its owner may read; one that is there is never opened here, since closing it would drop SQLite's locks. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
  }
}

/** Tries again while another process is in the way, and lets this one go on meanwhile. */
async function patiently<Value>(attempt: () => Value, giveUpAt: number): Promise<Value> {
  for (let pause = 1; ; pause = Math.min(pause * 2, 32)) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error
    }
    await setTimeout(pause * (0.5 + Math.random()))
  }
}

/** The same at construction, where nothing else goes on: SQLite does not always wait while a file changes its mode. */
function eagerly<Value>(attempt: () => Value, patience: number): Value {
  const giveUpAt = performance.now() + patience
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
    // SQLite has undone it by itself
  }
}

function fenceOf(row: Row): { owner: string; number: number } {
  return { owner: String(row['owner']), number: Number(row['version']) }
}

/** SQLITE_BUSY and SQLITE_LOCKED, with whatever detail SQLite adds in the higher bits. */
function isBusy(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown }
  return typeof errcode === 'number' && ((errcode & 0xff) === 5 || (errcode & 0xff) === 6)
}

function refusal(error: unknown): JournalError {
  const { errstr, code } = error as { errstr?: unknown; code?: unknown }
  const kind = [errstr, code].find((word) => typeof word === 'string') ?? 'unknown'
  return journalError(error, kind, isBusy(error))
}
