import { parseJson } from '../index.ts'
import { InvalidConfigurationError, JournalError, isToolError } from '../errors.ts'
import type { ToolCallRecord, ToolCallState } from '../extension.ts'
import type { Fence, FoundRecord, ListedRecord, RecordQuery } from '../records/index.ts'

/** How many cuts of chains are kept. An executor leaves one, if all its records are deleted. */
export const cutsKept = 100_000

/** The most calls of a queue that are counted, and the most rows of any other answer. */
export const mostCounted = 1_000_000

/** How many records the first page of a list has, and the most of the later ones. */
export const pageLength = 100
const longestPage = 1_000
/** About how many characters a page of more records than the first has at most. */
const charactersOfPage = 4_194_304

/** How long the last sign of life of an owner is kept, in milliseconds. */
export const beatsKept = 86_400_000

/**
 * Returns the text of a record, which the journal keeps.
 *
 * @throws `E_JOURNAL` if the record is not JSON, or a database could confuse its id with another.
 */
export function recordText(record: ToolCallRecord): string {
  requireId(record.id)
  try {
    return JSON.stringify(record)
  } catch (cause) {
    throw new JournalError('The record cannot be written down: it is not plain JSON.', { cause })
  }
}

/** Returns what a table keeps of an id: the id itself, if its columns hold ids of any length. */
export type KeyOf = (id: string) => string

const itself: KeyOf = (id) => id

/**
 * Returns the record of an invocation from its text, as a new object each time.
 *
 * @param id The id, or its key.
 * @throws `E_JOURNAL` if the text is not a record of this invocation.
 */
export function recordOf(text: unknown, id: unknown, keyOf: KeyOf = itself): ToolCallRecord {
  let cause: unknown
  try {
    const record = parseRecordText(String(text))
    if (isRecord(record) && keyOf(record.id) === id) return inPresentWords(record)
  } catch (error) {
    cause = error
  }
  throw new JournalError(
    `The record of invocation ${JSON.stringify(String(id).slice(0, 80))} cannot be read: what the journal kept of it is damaged. Mend its row, or delete it.`,
    { cause },
  )
}

/** Reads the status `pending`, which releases up to 0.1.0 wrote, as `waiting`. */
function inPresentWords(record: ToolCallRecord): ToolCallRecord {
  return (record.status as string | undefined) === 'pending' ? { ...record, status: 'waiting' } : record
}

/**
 * Returns the record of a row in a list. If it is damaged, reports that and returns `undefined`.
 *
 * @throws `E_JOURNAL` if it is damaged and there is no `report`.
 */
export function listedRecord(
  text: unknown,
  id: unknown,
  report: ((error: unknown) => void) | undefined,
  keyOf?: KeyOf,
): ToolCallRecord | undefined {
  try {
    return recordOf(text, id, keyOf)
  } catch (error) {
    if (report === undefined) throw error
    report(error)
    return undefined
  }
}

/** A row of a database: `id`, `record`, `owner` and `version`; in a list `created_at` and `idle` too. */
export type Row = Readonly<Record<string, unknown>>

/** Returns the fence of a row. */
export function fenceOf(row: Row): Fence {
  return { owner: String(row['owner']), number: Number(row['version']) }
}

/** Lists records in pages. A page has the rows of a query, whose `before` has the key of an id, newest first. */
export async function* listPages(
  page: (query: RecordQuery, limit: number) => Promise<readonly Row[]>,
  query: RecordQuery,
  report: ((error: unknown) => void) | undefined,
  keyOf: KeyOf = itself,
): AsyncGenerator<ListedRecord, void, undefined> {
  requireState(query)
  let { before, limit: left = Infinity } = query
  let length = pageLength
  if (before !== undefined) before = { createdAt: before.createdAt, id: keyOf(before.id) }
  while (left > 0) {
    const most = Math.min(left, length)
    const rows = await page({ ...query, before }, most)
    for (const row of rows) {
      const record = listedRecord(row['record'], row['id'], report, keyOf)
      if (record !== undefined) yield { record, fence: fenceOf(row), idle: Math.max(0, Number(row['idle'])) }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < most) return
    before = { createdAt: Number(last['created_at']), id: String(last['id']) }
    left -= rows.length
    length = nextLength(length, rows)
  }
}

/** Returns how many records the next page has: a database may look at all that is left of the list for each. */
function nextLength(length: number, rows: readonly Row[]): number {
  const characters = rows.reduce((sum, row) => sum + String(row['record']).length, 1)
  const fitting = Math.floor((charactersOfPage * rows.length) / characters)
  return Math.max(pageLength, Math.min(2 * length, longestPage, fitting))
}

/** Refuses a query with a state that does not exist: it would list everything. */
export function requireState({ state }: RecordQuery): void {
  if (state === undefined || ['waiting', 'running', 'settled'].includes(state)) return
  throw new InvalidConfigurationError(
    `\`state\` must be waiting, running or settled, got ${JSON.stringify(String(state).slice(0, 80))}.`,
  )
}

/** Returns the records of rows with their fences. Leaves damaged ones out. */
export function foundRows(rows: readonly Row[], keyOf?: KeyOf): FoundRecord[] {
  return rows.flatMap((row) => {
    const record = listedRecord(row['record'], row['id'], () => {}, keyOf)
    return record === undefined ? [] : [{ record, fence: fenceOf(row) }]
  })
}

const states: Readonly<Record<ToolCallState, true>> = {
  PENDING: true,
  APPROVAL_REQUIRED: true,
  APPROVED: true,
  EXECUTING: true,
  COMPLETED: true,
  FAILED: true,
  DENIED: true,
  SEALED: true,
}

function isState(value: unknown): boolean {
  return typeof value === 'string' && Object.hasOwn(states, value)
}

/** Whether a value has the fields that every record has. */
function isRecord(value: unknown): value is ToolCallRecord {
  if (!isFields(value)) return false
  const { callId, approval, auditTrail, journal, seq } = value
  return (
    typeof value['id'] === 'string' &&
    (callId === null || typeof callId === 'string') &&
    ['name', 'session', 'effect'].every((field) => typeof value[field] === 'string') &&
    ['createdAt', 'updatedAt'].every((field) => typeof value[field] === 'number') &&
    isState(value['state']) &&
    Number.isSafeInteger(seq) &&
    isFields(approval) &&
    Array.isArray(auditTrail) &&
    auditTrail.every((line) => isFields(line) && isState(line['state'])) &&
    (journal === undefined || (isFields(journal) && isJournaled(journal)))
  )
}

/** Whether the journal's part of a record has the waits and digests that others read. */
function isJournaled({ awaits, work, args, digest, previous }: Record<string, unknown>): boolean {
  return (
    [awaits, work].every((pause) => pause === undefined || isWait(pause)) && [args, digest, previous].every(isTextIfAny)
  )
}

/** Whether a value has what a waiting call needs to go on. */
function isWait(value: unknown): boolean {
  if (!isFields(value)) return false
  const { reason, expiresAt, prompt, lease, work } = value
  return (
    ['approval', 'client', 'worker'].includes(reason as string) &&
    ['digest', 'fingerprint', 'text'].every((field) => typeof value[field] === 'string') &&
    typeof expiresAt === 'number' &&
    isTextIfAny(prompt) &&
    (lease === undefined || isLease(lease)) &&
    (work === undefined ? reason !== 'worker' : isWork(work))
  )
}

function isLease(value: unknown): boolean {
  if (!isFields(value)) return false
  const { holder, since, until } = value
  return typeof holder === 'string' && typeof since === 'number' && typeof until === 'number'
}

function isWork(value: unknown): boolean {
  return isFields(value) && typeof value['queue'] === 'string' && Number.isSafeInteger(value['attempts'])
}

function isTextIfAny(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds each key of JSON that has an escape, and some other strings with one: a key follows a brace or a comma. */
const escapedKey = /[{,]\s*"[^"\\]*\\/

/** Reads keys with escapes by the package's parser, since V8 can return a wrong one. `JSON.parse` reads what is too lax. */
function parseRecordText(text: string): unknown {
  if (!escapedKey.test(text)) return JSON.parse(text) as unknown
  try {
    return parseJson(text, { limit: Infinity, depth: 1_000 })
  } catch {
    return JSON.parse(text) as unknown
  }
}

/** Refuses ids that would collide or be lost: UTF-8 merges lone surrogates, and Postgres has no NUL. */
export function requireId(id: string): void {
  if (isId(id)) return
  throw new JournalError(
    `An invocation id must be well-formed text without NUL, got ${JSON.stringify(id.slice(0, 80))}.`,
  )
}

/** Returns whether a record may have this id. */
export function isId(id: string): boolean {
  return id.isWellFormed() && !id.includes('\0')
}

/** Wraps an error of a database. It has the kind but not the message, which may name hosts and files. */
export function journalError(cause: unknown, kind: string, retryable: boolean): JournalError {
  if (isToolError(cause) && cause.code === 'E_JOURNAL') return cause as JournalError
  return new JournalError(`The journal could not be read or written (${kind}).`, { cause, retryable })
}

/** Makes the error of a closed journal. */
export function closedJournal(): JournalError {
  return new JournalError('The journal has been closed.')
}
