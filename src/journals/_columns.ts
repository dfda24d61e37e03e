import { sha256 } from '#sha256'
import type { ToolCallRecord } from '../index.ts'
import { factsOf, type Deleted, type RecordQuery, type Standing } from '../records/index.ts'
import { textOf } from './_rows.ts'

/** What the tables of a database keep of a record: its text, and the columns by which it is listed. */
export interface Columns {
  readonly id: string
  readonly text: string
  readonly session: string
  readonly state: Standing
  readonly waits: string | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly settledAt: number | null
  readonly queue: string | null
}

/**
 * Returns what the tables keep of a record.
 *
 * @throws `E_JOURNAL` if the record is not JSON, or a database could confuse its id with another.
 */
export function columnsOf(record: ToolCallRecord): Columns {
  const facts = factsOf(record)
  const { id, session, standing, reason = null, createdAt, expiresAt = null, settledAt = null, queue = null } = facts
  const text = textOf(record)
  const own = { id, text, session: sessionKey(session), state: standing, waits: reason }
  return { ...own, createdAt, expiresAt, settledAt, queue: queue === null ? null : sessionKey(queue) }
}

const digestMark = 'sha256:'

/**
 * Returns the session as databases can index it: itself, or its digest. They limit the length of what they index, UTF-8 merges
 * lone surrogates, and Postgres has no NUL.
 */
export function sessionKey(session: string): string {
  const isPlain = session.length <= 200 && session.isWellFormed() && !session.includes('\0')
  if (isPlain && !session.startsWith(digestMark)) return session
  return digestMark + sha256(JSON.stringify(session)) // JSON escapes lone surrogates
}

/** Whether a key is a digest, so that only the record has the session itself. */
export function isDigest(key: string): boolean {
  return key.startsWith(digestMark)
}

/** The words of a query in SQL, since only a literal condition makes databases use the index of a state. */
const inState: Readonly<Record<Standing, string>> = {
  waiting: `state = 'waiting'`,
  running: `state = 'running'`,
  settled: `state = 'settled'`,
}

/**
 * Returns the conditions of a query in SQL. SQLite and Postgres both read them.
 *
 * @param idle The expression that gives how long an owner was silent.
 * @param values The parameters of the statement, which it appends to. `$1` is the first.
 */
export function conditionsOf(query: RecordQuery, idle: string, values: unknown[]): string {
  const { session, state, reason, owner, silentFor, expiresBefore, settledBefore, before } = query
  const conditions = ['true']
  const value = (given: unknown): string => `$${values.push(given)}`
  if (state !== undefined) conditions.push(inState[state])
  if (session !== undefined) conditions.push(`session = ${value(sessionKey(session))}`)
  if (reason !== undefined) conditions.push(inState.waiting, `waits = ${value(reason)}`)
  if (owner !== undefined) conditions.push(`calls.owner = ${value(owner)}`)
  if (expiresBefore !== undefined) conditions.push(inState.waiting, `expires_at < ${value(expiresBefore)}`)
  if (settledBefore !== undefined) conditions.push(inState.settled, `settled_at < ${value(settledBefore)}`)
  if (before !== undefined) conditions.push(`(created_at, id) < (${value(before.createdAt)}, ${value(before.id)})`)
  if (silentFor !== undefined) conditions.push(`${idle} >= ${value(silentFor)}`)
  return conditions.join(' AND ')
}

/** What a deleted row named in the store, and its place in the chain of settlements. */
export interface DeletedRow {
  readonly deleted: Deleted
  readonly digest: string | undefined
  readonly previous: string | undefined
}

/** Reads a deleted row. What is damaged named nothing. */
export function deletedRow(id: unknown, session: unknown, text: unknown): DeletedRow {
  let record: Partial<ToolCallRecord> = {}
  try {
    record = (JSON.parse(String(text)) as Partial<ToolCallRecord> | null) ?? {}
  } catch {
    // the row is gone all the same
  }
  const { stored, handle, digest, previous } = record.journal ?? {}
  const deleted = {
    invocationId: String(id),
    session: typeof record.session === 'string' ? record.session : String(session),
    ...(stored && { stored: stored.handle }),
    ...(handle !== undefined && { handle }),
  }
  return { deleted, digest, previous }
}
