import { sha256 } from '#sha256'
import type { Caller, CallStatus, SideEffect } from '../kernel/call/call.ts'
import type { ContentBlock } from '../kernel/result/content.ts'
import type { ToolError } from '../kernel/errors.ts'
import { readText } from '../kernel/json/json-text.ts'
import type { Approval } from '../kernel/call/parcel.ts'
import type { Pausing } from '../kernel/call/pause.ts'

/** Where a call stands. */
export type ToolCallState =
  'PENDING' | 'APPROVAL_REQUIRED' | 'APPROVED' | 'EXECUTING' | 'COMPLETED' | 'FAILED' | 'DENIED' | 'SEALED'

/** One line of a record's audit trail. */
export interface ToolCallAuditEntry {
  readonly state: ToolCallState
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly note?: string
}

/** What became of a request for approval, as the record keeps it. */
export interface ToolCallApproval extends Partial<Approval> {
  readonly required: boolean
  /** What the person was asked, in words. */
  readonly prompt?: string
  /** Why a policy wanted it asked. */
  readonly why?: string
  /** Milliseconds since the epoch. */
  readonly decidedAt?: number
  readonly meta?: Readonly<Record<string, unknown>>
}

/** What a paused call needs to go on, kept until it settles. */
export interface Awaited {
  readonly reason: Pausing['reason']
  /** SHA-256 of the token. */
  readonly digest: string
  /** The hash of the tool's definition when it was asked for. */
  readonly fingerprint: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** The canonical text of the args: unmasked, since the call goes on from it. */
  readonly text: string
  /** What the provider gave, where it ran the tool itself. */
  readonly result?: unknown
  /** The provider's id of the call, if `toolCallId` has only its beginning. */
  readonly id?: string
  /** Whether a person had approved of the call before. */
  readonly isApproved?: true
}

/** The record of one invocation, as plain JSON: all of it but what only a journal gives is a fold over its events. */
export interface ToolCallRecord {
  /** The `invocationId`. */
  readonly id: string
  readonly callId: string | null
  readonly name: string
  readonly session: string
  /** The provider's id of the call; of one above 1,024 characters its beginning and its SHA-256. */
  readonly toolCallId?: string | number
  /** The callId of the call whose args somebody edited into these. */
  readonly editedFrom?: string
  /** The args, with secrets masked. */
  readonly input: unknown
  readonly state: ToolCallState
  readonly approval: ToolCallApproval
  readonly status?: CallStatus
  readonly effect: SideEffect
  readonly error?: string
  readonly isError?: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly startedAt?: number
  readonly completedAt?: number
  /** From receipt to settlement, in milliseconds of a monotonic clock; of its last leg, where the call was paused. */
  readonly durationMs?: number
  readonly auditTrail: readonly ToolCallAuditEntry[]
  /** The number of the next event. */
  readonly seq: number
  /** What only a journal's record has. */
  readonly journal?: Journaled
}

/** A record that is still being made: nobody but its maker holds it. What its fields refer to is replaced, and never changed. */
export type OpenRecord = { -readonly [Field in keyof ToolCallRecord]: ToolCallRecord[Field] }

/** What the kernel adds to a record when it writes it down. */
export interface Journaled {
  readonly caller: Caller
  readonly principal?: string
  /** The executor that wrote it last, and the number of the fence by which it did. */
  readonly owner: string
  readonly fence: number
  readonly awaits?: Awaited
  /** What the model was shown, for a replay; of more than 64 KiB its kind and size. */
  readonly result?: readonly ContentBlock[]
  /** Under which the store keeps what the model was shown, as JSON text with this SHA-256, if `result` does not. */
  readonly stored?: { readonly handle: string; readonly sha256: string }
  readonly handle?: string
  readonly artifact?: { readonly kind: string; readonly mediaType: string; readonly byteLength: number }
  readonly failure?: ReturnType<ToolError['toJSON']>
  readonly skipped?: true
  /** SHA-256 of `previous` and the settled record. */
  readonly digest?: string
  /**
   * The digest of the owner's settlement before. Where no record has it, either that settlement was lost, and its digest never
   * told in `call:settled`, or somebody removed or changed what was told.
   */
  readonly previous?: string
}

/**
 * The digest that chains a settled record to the one that its owner settled before.
 *
 * It covers all that the settlement said. Who holds the record is not part of it, and neither is what a handler did too
 * late, which is added to the audit trail afterwards.
 *
 * Settlements do not wait for each other. One of several that are on their way together may be lost (its record was taken
 * over, the journal failed, the process died) with the next one chained to it already: the chain has a gap there that nobody
 * made, which the executor reports where it lives. A digest is told in `call:settled` only once its record is kept: one that
 * was told, and that no record has, is of a record that was removed or changed. Where a journal failed and kept a settlement
 * all the same, two name the same `previous`.
 *
 * @param previous The digest of that one; the empty string for the first.
 * @param record As it was written, or read back from a journal.
 */
export function digestOf(previous: string, record: ToolCallRecord): string {
  const { journal, updatedAt: _later, auditTrail, ...told } = record
  const { caller, principal, result, handle, artifact, failure, skipped } = journal ?? {}
  const end = auditTrail.findIndex(({ state }) => isSettled(state))
  const trail = end < 0 ? auditTrail : auditTrail.slice(0, end + 1)
  const text = JSON.stringify({
    ...told,
    auditTrail: trail,
    caller,
    principal,
    result,
    handle,
    artifact,
    failure,
    skipped,
  })
  return sha256(previous + JSON.stringify(readText(text), inOrder))
}

/** Writes members in the order of their names. Unlike canonical JSON it takes whatever a record can hold. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

const longestPreview = 200

/** A copy of a record for views: the input is cut, and nothing of it is shared. */
export interface ToolCallSnapshot extends Pick<
  ToolCallRecord,
  'id' | 'name' | 'state' | 'approval' | 'error' | 'isError' | 'durationMs' | 'startedAt' | 'completedAt' | 'auditTrail'
> {
  readonly result?: readonly ContentBlock[]
  /** The first 200 characters of the input as JSON. */
  readonly inputPreview: string
}

/** Makes the snapshot of a record. */
export function snapshotOf(record: ToolCallRecord): ToolCallSnapshot {
  const { id, name, state, approval, error, isError, durationMs, startedAt, completedAt, auditTrail, input } = record
  const text = JSON.stringify(input) ?? ''
  const inputPreview = text.length > longestPreview ? `${text.slice(0, longestPreview)}…` : text
  const result = record.journal?.result
  const view = {
    id,
    name,
    state,
    approval,
    error,
    isError,
    durationMs,
    startedAt,
    completedAt,
    auditTrail,
    result,
    inputPreview,
  }
  return readText(JSON.stringify(view)) as ToolCallSnapshot
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

/** Whether a call in this state is over. */
export function isSettled(state: ToolCallState): boolean {
  return following[state].length === 0
}
