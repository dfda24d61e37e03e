import { sha256 } from '#sha256'
import type { Received } from '../kernel/call/parcel.ts'
import type { ToolCallRecord, ToolCallSnapshot, ToolCallState } from '../kernel/call/record.ts'
import { bounded, readText } from '../kernel/json/json-text.ts'
import { sortMembers } from './own-json.ts'

/**
 * Returns the digest that chains a settled record to the one that its owner settled before.
 *
 * It covers the whole settlement, but not the owner of the record, or the audit lines of late handlers, which come afterwards.
 *
 * `call:settled` has a digest only once its record is written. If no record has an emitted digest, that record was removed or
 * changed. A chain may have a gap without manipulation, since settlements do not wait for each other.
 *
 * @param previous The digest of the settlement before; the empty string for the first.
 * @param record The record as it was written, or as a journal returns it.
 * @example const isUnchanged = digestOf(record.journal?.previous ?? '', record) === digest // of `call:settled`
 */
export function digestOf(previous: string, record: ToolCallRecord): string {
  const { journal, updatedAt: _later, auditTrail, ...chainedFields } = record
  const { caller, principal, program, result, handle, artifact, failure, skipped } = journal ?? {}
  const end = auditTrail.findIndex(({ state }) => isSettled(state))
  const trail = end < 0 ? auditTrail : auditTrail.slice(0, end + 1)
  const text = JSON.stringify({
    ...chainedFields,
    auditTrail: trail,
    caller,
    principal,
    program,
    result,
    handle,
    artifact,
    failure,
    skipped,
  })
  return sha256(previous + JSON.stringify(readText(text), sortMembers))
}

const longestPreview = 200
const largestArgs = 16_384

/** Makes the snapshot of a record. `call` is the call itself, if it is in flight here. */
export function snapshotOf(record: ToolCallRecord, call?: Pick<Received, 'blocked'>): ToolCallSnapshot {
  const { updatedAt: _updatedAt, editedFrom: _editedFrom, input, journal, ...visibleFields } = record
  const text = JSON.stringify(input) ?? ''
  const inputPreview = text.length > longestPreview ? `${text.slice(0, longestPreview)}…` : text
  const { result, artifact, handle, finding, awaits: { prompt, expiresAt } = {} } = journal ?? {}
  const { id: invocationId, name: toolName } = record
  const args = bounded(input, largestArgs)
  const { by, gate, keys, behind } = call?.blocked ?? {}
  const blocked = by && { by, gate, keys, behind }
  const wait = { prompt, expiresAt, blocked }
  const own = { invocationId, toolName, args, ...wait, result, artifact, handle, finding, inputPreview }
  return readText(JSON.stringify({ ...visibleFields, ...own })) as ToolCallSnapshot
}

/** Which states may follow each. */
export const following: Record<ToolCallState, readonly ToolCallState[]> = {
  PENDING: ['APPROVAL_REQUIRED', 'EXECUTING', 'FAILED', 'DENIED', 'COMPLETED', 'SEALED'],
  APPROVAL_REQUIRED: ['APPROVED', 'DENIED', 'FAILED', 'SEALED'],
  APPROVED: ['EXECUTING', 'COMPLETED', 'FAILED', 'DENIED', 'SEALED'],
  EXECUTING: ['COMPLETED', 'FAILED', 'SEALED'],
  COMPLETED: [],
  FAILED: [],
  DENIED: [],
  SEALED: [],
}

/** Whether a call in this state has settled. @example const isOver = isSettled('SEALED') // true */
export function isSettled(state: ToolCallState): boolean {
  return following[state].length === 0
}
