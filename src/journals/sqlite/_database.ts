import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { InvalidConfigurationError, JournalError } from '../../errors.ts'
import { isForbidden } from '../../extension.ts'
import { journalError } from '../_rows.ts'
import { bound, valuesInOrder, TextCache, type StatementResult, type Statement } from '../sql/_operations.ts'
import { prepareTables, uptimeNow } from './_tables.ts'

/** How long SQLite itself waits for another process, in milliseconds. It blocks this process meanwhile. */
const stoppage = 10

const rightsAdvice =
  ' This process must be allowed to read and write the file, and to make files beside it: SQLite keeps a -wal and a -shm file there.'

const roomAdvice = ' The disk may be full: SQLite makes a -wal and a -shm file beside the file.'

/** Opens the file, and makes its tables if it is new. */
export function openedDatabase(file: string, busyTimeout: number): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    uptimeNow() // Deno may forbid it; else a call would be the first to fail
    makePrivate(file)
    database = new DatabaseSync(file, { timeout: busyTimeout })
    const mode = retryBlocking(() => database?.prepare('PRAGMA journal_mode = WAL').get(), busyTimeout)
    if (mode?.['journal_mode'] !== 'wal')
      throw new JournalError('SQLite cannot keep a write-ahead log beside the file.')
    database.exec('PRAGMA synchronous = FULL')
    database.exec('PRAGMA secure_delete = ON') // a waiting call has its args in clear, until it settles
    database.exec('BEGIN IMMEDIATE')
    prepareTables(database)
    database.exec('COMMIT')
    database.exec(`PRAGMA busy_timeout = ${stoppage}`)
    return database
  } catch (error) {
    database?.close()
    if (error instanceof InvalidConfigurationError) throw error
    const words = `${file}: ${sqliteRefusal(error).message}${openingAdvice(file, error)}`
    throw new JournalError(words, { cause: error, retryable: isBusy(error) })
  }
}

/** Says what to do about what is forbidden, and about a path at which no file can be: `ENOENT` and the like do not. */
function openingAdvice(file: string, error: unknown): string {
  if (isForbidden(error)) return ` ${String((error as { message?: unknown }).message).replace(/\.?$/, '.')}`
  try {
    if (isDirectory(file)) return ' It is a directory: give the path of a file in it.'
    const directory = dirname(file)
    if (isDirectory(directory)) return sqliteAdvice(error)
    return ` There is no directory ${directory}: make it first, or give the path of a file in one that is there.`
  } catch {
    return '' // this process may not look there
  }
}

/**
 * Returns what refuses to go on once the file was deleted, or another has its place. SQLite would write on to a lost
 * file, and the next process would run the same invocations anew.
 */
export function placeCheck(file: string): () => void {
  const opened = databaseIdentity(file)
  return () => {
    const place = databaseIdentity(file)
    if (place === opened || place === undefined || opened === undefined) return
    throw new JournalError(
      'The file of the journal was deleted or replaced while it is in use: what is written now would be lost. Put the file back, or start the process again.',
    )
  }
}

/** Returns what tells a file from another that has its path, or `undefined` if this process may not look there. */
function databaseIdentity(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? 'none' : `${found.dev} ${found.ino}`
  } catch {
    return undefined
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
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
export async function retryWhileBusy<Value>(attempt: () => Value, giveUpAt: number): Promise<Value> {
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

/** Returns what runs statements on a database. Each text is prepared once. */
export function statementRunner(database: DatabaseSync): (statement: Statement) => StatementResult {
  const prepared = new TextCache((text) => {
    const { text: written, order } = bound(text)
    return { statement: database.prepare(written), order }
  })
  return ({ text, values, isRead }) => {
    const { statement, order } = prepared.get(text)
    const parameters = valuesInOrder(values as readonly SQLInputValue[], order)
    if (isRead) return { rows: statement.all(...parameters), changes: 0 }
    return { rows: [], changes: Number(statement.run(...parameters).changes) }
  }
}

export function undo(database: DatabaseSync): void {
  if (!database.isTransaction) return
  try {
    database.exec('ROLLBACK')
  } catch {
    // SQLite has already undone it
  }
}

/** Whether an error is SQLITE_BUSY or SQLITE_LOCKED. */
function isBusy(error: unknown): boolean {
  return [5, 6].includes(resultCode(error))
}

/** Says what to do about SQLITE_READONLY and SQLITE_CANTOPEN, and about SQLITE_IOERR, which a full disk is too. */
function sqliteAdvice(error: unknown): string {
  const { code } = error as { code?: unknown }
  if (code === 'EACCES' || code === 'EROFS' || [8, 14].includes(resultCode(error))) return rightsAdvice
  return resultCode(error) === 10 ? roomAdvice : ''
}

/** Returns the code of an error of SQLite without the details in its higher bits, else 0. */
function resultCode(error: unknown): number {
  const { errcode } = error as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : 0
}

export function sqliteRefusal(error: unknown): JournalError {
  const { errstr, code, name } = error as { errstr?: unknown; code?: unknown; name?: unknown }
  const kind = [errstr, name === 'NotCapable' ? name : code].find((word) => typeof word === 'string') ?? 'unknown'
  return journalError(error, kind, isBusy(error))
}
