import { sha256 } from '#sha256'
import type { RecordChange, ToolCallRecord } from '../extension.ts'
import { factsOf, type Deleted, type RecordQuery, type Standing } from '../records/index.ts'
import { isId, recordOf, recordText, type KeyOf, type Row } from './_rows.ts'

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
  /** The fingerprint of its tool, if it waits for a worker. */
  readonly fingerprint: string | null
  /** Whether it runs beside no other call of its session: 1 or 0, if it waits for a worker or runs on one. */
  readonly alone: number | null
}

/**
 * Returns what the tables keep of a record.
 *
 * @throws `E_JOURNAL` if the record is not JSON, or a database could confuse its id with another.
 */
export function columnsOf(record: ToolCallRecord): Columns {
  const facts = factsOf(record)
  const {
    id,
    session,
    standing,
    reason = null,
    createdAt,
    expiresAt = null,
    settledAt = null,
    queue = null,
    fingerprint: tool,
    isAlone,
  } = facts
  const text = recordText(record)
  const own = { id, text, session: sessionKey(session), state: standing, waits: reason }
  const alone = isAlone === undefined ? null : Number(isAlone)
  const key = queue === null ? null : sessionKey(queue)
  const fingerprint = tool === undefined ? null : sessionKey(tool)
  return { ...own, createdAt, expiresAt, settledAt, queue: key, fingerprint, alone }
}

/** Returns what a watch tells of a row. */
export function changeOf({ state, waits }: Pick<Columns, 'state' | 'waits'>): RecordChange {
  return state === 'waiting' && waits === 'worker' ? 'queued' : state
}

const digestMark = 'sha256:'

/** The longest text that databases index as it is, in characters. */
export const longestIndexed = 200

/**
 * Returns the session as databases can index it: itself, or its digest. They limit the length of what they index, UTF-8 merges
 * lone surrogates, and Postgres has no NUL.
 */
export function sessionKey(session: string): string {
  const isPlain = session.length <= longestIndexed && session.isWellFormed() && !session.includes('\0')
  if (isPlain && !session.startsWith(digestMark)) return session
  return digestMark + sha256(JSON.stringify(session)) // JSON escapes lone surrogates
}

/** Whether a key is a digest, so that only the record has the session itself. */
export function isDigest(key: string): boolean {
  return key.startsWith(digestMark)
}

/**
 * Returns the id of a row with `id` and, if that is a digest, `record`. Nothing, if the record is damaged, so that only a digest is
 * left of its id.
 */
export function rowId(row: Row, keyOf?: KeyOf): string | undefined {
  const key = String(row['id'])
  if (keyOf === undefined || keyOf(key) === key) return key
  try {
    return recordOf(row['record'], key, keyOf).id
  } catch {
    return undefined
  }
}

/** The words of a query in SQL, since only a literal condition makes databases use the index of a state. */
const inState: Readonly<Record<Standing, string>> = {
  waiting: `state = 'waiting'`,
  running: `state = 'running'`,
  settled: `state = 'settled'`,
}

/**
 * Returns the conditions of a query in SQL. SQLite, Postgres and MySQL read them.
 *
 * @param idle The expression that gives how long an owner was silent.
 * @param values The parameters of the statement, which it appends to. `$1` is the first.
 */
export function conditionsOf(query: RecordQuery, idle: string, values: unknown[]): string {
  const { session, state, reason, owner, silentFor, expiresBefore, settledBefore, before } = query
  const conditions = ['true']
  const value = (parameter: unknown): string => `$${values.push(parameter)}`
  if (state !== undefined) conditions.push(inState[state])
  if (session !== undefined) conditions.push(`session = ${value(sessionKey(session))}`)
  if (reason !== undefined) conditions.push(inState.waiting, `waits = ${value(reason)}`)
  if (owner !== undefined) conditions.push(`calls.owner = ${value(owner)}`)
  if (expiresBefore !== undefined) conditions.push(inState.waiting, `expires_at < ${value(expiresBefore)}`)
  if (settledBefore !== undefined) conditions.push(inState.settled, `settled_at < ${value(settledBefore)}`)
  if (before !== undefined) {
    const at = value(before.createdAt)
    // The first condition says nothing more, but MySQL finds no other in an index.
    conditions.push(`created_at <= ${at}`, `(created_at, id) < (${at}, ${value(before.id)})`)
  }
  if (silentFor !== undefined) conditions.push(`${idle} >= ${value(silentFor)}`)
  return conditions.join(' AND ')
}

/** What a statement has of the rows of a session that come before one of them. */
export interface SessionRows {
  /** The condition that another row `other`, which waits in the same queue, counts. Default: always. */
  readonly counts?: string
  /** The name of the row in the statement. Default: `call`. */
  readonly call?: string
  /** The conditions that another row waits for a worker, and that one is taken, by which a database finds it in an index. */
  readonly waiting?: string
  readonly running?: string
  /** What ends the search for another row. Default: nothing. */
  readonly end?: string
}

/**
 * Returns the condition in SQL that a row, which waits for a worker, may run now by the order of its session. SQLite, Postgres and MySQL read it.
 *
 * @param calls The name of the table.
 * @param now The expression of the time.
 */
export function mayRunNow(calls: string, now: string, rows: SessionRows = {}): string {
  const { call = 'call' } = rows
  return `CASE WHEN ${call}.alone = 1 THEN ${mayRunAlone(calls, now, rows)} ELSE ${mayRunBeside(calls, now, rows)} END`
}

/** The same of a row that runs beside no other of its session. */
export function mayRunAlone(calls: string, now: string, rows: SessionRows = {}): string {
  const { others, before, running, end } = sessionRows(calls, now, rows)
  return `NOT EXISTS (${others} AND other.alone IN (0, 1) AND ${running}${end})
      AND NOT EXISTS (${others} AND ${before}${end})`
}

/** The same of a row that runs beside others. */
export function mayRunBeside(calls: string, now: string, rows: SessionRows = {}): string {
  const { others, before, running, end } = sessionRows(calls, now, rows)
  return `NOT EXISTS (${others} AND other.alone = 1 AND ${running}${end})
      AND NOT EXISTS (${others} AND other.alone = 1 AND ${before}${end})`
}

function sessionRows(
  calls: string,
  now: string,
  {
    counts = 'true',
    call = 'call',
    waiting = `other.waits = 'worker'`,
    running = `other.state = 'running'`,
    end = '',
  }: SessionRows,
): Readonly<Record<'others' | 'before' | 'running' | 'end', string>> {
  const others = `SELECT 1 FROM ${calls} AS other WHERE other.session = ${call}.session`
  const before = `${waiting} AND other.queue = ${call}.queue AND other.expires_at >= ${now} AND ${counts}
    AND (other.created_at, other.changed, other.id) < (${call}.created_at, ${call}.changed, ${call}.id)`
  return { others, before, running, end: ` ${end}` }
}

/** What a deleted row named in the store, and its place in the chain of settlements. */
export interface DeletedRow {
  readonly deleted: Deleted
  readonly digest: string | undefined
  readonly previous: string | undefined
}

/** Reads a deleted row. What is damaged named nothing. */
export function deletedRow(id: unknown, session: unknown, text: unknown, keyOf?: KeyOf): DeletedRow {
  let record: Partial<ToolCallRecord> = {}
  try {
    record = (JSON.parse(String(text)) as Partial<ToolCallRecord> | null) ?? {}
  } catch {
    // the row is gone all the same
  }
  const { stored, handle, digest, previous } = record.journal ?? {}
  const storedHandle = keepableText(stored?.handle)
  const ownHandle = keepableText(handle)
  const deleted = {
    invocationId: rowId({ id, record: text }, keyOf) ?? String(id),
    session: typeof record.session === 'string' ? record.session : String(session),
    ...(storedHandle !== undefined && { stored: storedHandle }),
    ...(ownHandle !== undefined && { handle: ownHandle }),
  }
  return { deleted, digest: keepableText(digest), previous: keepableText(previous) }
}

/** Returns text that a database can keep. */
function keepableText(value: unknown): string | undefined {
  return typeof value === 'string' && isId(value) ? value : undefined
}
