import { isToolError, JournalError, parseJson, type ToolCallRecord, type ToolCallState } from '../index.ts'

/** How many records are read at a time when the unfinished ones are listed. */
export const pageLength = 100

/** How long a dead owner's sign of life is remembered, in milliseconds. */
export const beatsKept = 86_400_000

/**
 * The text of a record, which is the copy that a journal keeps.
 *
 * @throws `E_JOURNAL` where it is no JSON, or where databases could not tell its id from another.
 */
export function textOf(record: ToolCallRecord): string {
  requireId(record.id)
  try {
    return JSON.stringify(record)
  } catch (cause) {
    throw new JournalError('The record cannot be written down: it is not plain JSON.', { cause })
  }
}

/**
 * The record of an invocation, from its text: a new object each time, so that nobody shares one.
 *
 * @throws `E_JOURNAL` where the text is none of such a record.
 */
export function recordOf(text: unknown, id: unknown): ToolCallRecord {
  let cause: unknown
  try {
    const record = readText(String(text))
    if (isRecord(record, id)) return record
  } catch (error) {
    cause = error
  }
  throw new JournalError(
    `The record of invocation ${JSON.stringify(String(id).slice(0, 80))} cannot be read: what the journal kept of it is damaged. Mend its row, or delete it.`,
    { cause },
  )
}

/**
 * The record of a row in a list; nothing where it is damaged, and whoever lists is told.
 *
 * @throws `E_JOURNAL` where nobody wants to be told.
 */
export function listedRecord(
  text: unknown,
  id: unknown,
  report: ((error: unknown) => void) | undefined,
): ToolCallRecord | undefined {
  try {
    return recordOf(text, id)
  } catch (error) {
    if (report === undefined) throw error
    report(error)
    return undefined
  }
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

/** Whether a value has what every record has, so that nobody trips over what is missing. */
function isRecord(value: unknown, id: unknown): value is ToolCallRecord {
  if (!isObject(value)) return false
  const { callId, approval, auditTrail, journal, seq } = value
  return (
    value['id'] === id &&
    (callId === null || typeof callId === 'string') &&
    ['name', 'session', 'effect'].every((field) => typeof value[field] === 'string') &&
    ['createdAt', 'updatedAt'].every((field) => typeof value[field] === 'number') &&
    isState(value['state']) &&
    Number.isSafeInteger(seq) &&
    isObject(approval) &&
    Array.isArray(auditTrail) &&
    auditTrail.every((line) => isObject(line) && isState(line['state'])) &&
    (journal === undefined || isObject(journal))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** V8's own reader can give a wrong key where one has an escape in it; what only strictness refuses, it reads all the same. */
function readText(text: string): unknown {
  try {
    return parseJson(text, { limit: Infinity, depth: 1_000 })
  } catch {
    return JSON.parse(text) as unknown
  }
}

/** UTF-8 has one sign for all lone surrogates, and Postgres none for NUL: such ids would collide, or be lost. */
export function requireId(id: string): void {
  if (id.isWellFormed() && !id.includes('\0')) return
  throw new JournalError(
    `An invocation id must be well-formed text without NUL, got ${JSON.stringify(id.slice(0, 80))}.`,
  )
}

/** What a database's refusal becomes: its kind is told, not its words, which may name hosts and files. */
export function journalError(cause: unknown, kind: string, retryable: boolean): JournalError {
  if (isToolError(cause) && cause.code === 'E_JOURNAL') return cause as JournalError
  return new JournalError(`The journal could not be read or written (${kind}).`, { cause, retryable })
}

/** The refusal of a journal that has been closed. */
export function closed(): JournalError {
  return new JournalError('The journal has been closed.')
}
