import { IllegalTransitionError } from '../kernel/errors.ts'
import type { ToolEvent, ToolEventOf } from '../kernel/call/events.ts'
import type { ToolCallAuditEntry, ToolCallRecord, ToolCallState } from '../kernel/call/record.ts'
import { shortened } from '../kernel/json/shortened.ts'
import { following } from './record.ts'

/** With it begins the line of an audit trail that says what a call waits for before it starts. */
export const blockedMark = 'blocked: '

/** A record that only its maker holds. The values of its fields are replaced, never changed. */
export type OpenRecord = { -readonly [Field in keyof ToolCallRecord]: ToolCallRecord[Field] }

/**
 * Folds one event of an invocation into its record.
 *
 * @param record The record after the events before; `undefined` for the first event.
 * @throws `E_ILLEGAL_TRANSITION` if the events are not those of one invocation in order.
 * @example const after = events.reduce(foldEvent, undefined as ToolCallRecord | undefined)
 */
export function foldEvent(record: ToolCallRecord | undefined, event: ToolEvent): ToolCallRecord {
  const open = record === undefined ? begun(event) : { ...record }
  fold(open, event)
  return open
}

/** Makes the record of an invocation from its first event. */
export function begun({ invocationId, callId, toolName, session, id, seq, timestamp }: ToolEvent): OpenRecord {
  const record: OpenRecord = {
    id: invocationId,
    callId,
    name: toolName,
    session,
    input: undefined,
    state: 'PENDING',
    approval: { required: false },
    effect: 'none',
    createdAt: timestamp,
    updatedAt: timestamp,
    auditTrail: [{ state: 'PENDING', timestamp }],
    seq: seq + 1,
  }
  if (id !== undefined) record.toolCallId = id
  return record
}

/** Folds an event into a record, in place. */
export function fold(record: OpenRecord, event: ToolEvent): void {
  const { timestamp } = event
  switch (event.event) {
    case 'call:received':
      record.input = event.args
      if (event.via !== undefined) record.via = event.via
      if (event.parent !== undefined) record.parent = event.parent
      if (event.reconciles !== undefined) foldFinding(record, event.reconciles)
      break
    case 'call:repaired':
      record.input = event.args
      record.repairedFrom = event.from
      record.repairs = event.steps
      remark(record, timestamp, repairedWords(event))
      break
    case 'call:blocked':
      remark(record, timestamp, blockedWords(event))
      break
    case 'call:waiting':
      foldWaiting(record, event)
      break
    case 'call:resumed':
      resume(record, event)
      break
    case 'tool:start':
      foldStart(record, timestamp)
      if (event.effectKey !== undefined) record.effectKey = event.effectKey
      break
    case 'tool:progress':
    case 'tool:end':
      break
    case 'call:settled':
      if (event.effectKey !== undefined) record.effectKey = event.effectKey
      foldSettled(record, event)
  }
  record.seq = event.seq + 1
  record.callId = event.callId ?? record.callId
  record.name = event.toolName
}

/** Moves a record to another state, with a line in its audit trail. @throws `E_ILLEGAL_TRANSITION` if it cannot follow. */
export function advance(record: OpenRecord, state: ToolCallState, timestamp: number, note?: string): void {
  if (!following[record.state].includes(state)) {
    throw new IllegalTransitionError(`Invocation ${record.id} cannot go from ${record.state} to ${state}.`)
  }
  record.state = state
  remark(record, timestamp, note)
}

/** Adds a line to a record's audit trail. */
export function remark(record: OpenRecord, timestamp: number, note?: string): void {
  const { state, auditTrail: before } = record
  record.updatedAt = timestamp
  // oxlint-disable-next-line unicorn/no-new-array -- of its exact length: a trail that grew takes three times the memory
  const trail = new Array<ToolCallAuditEntry>(before.length + 1)
  for (let index = 0; index < before.length; index++) trail[index] = before[index]!
  trail[before.length] = note === undefined ? { state, timestamp } : { state, timestamp, note }
  record.auditTrail = trail
}

function foldFinding(record: OpenRecord, reconciles: string): void {
  record.reconciles = reconciles
  record.effect = 'unknown' // until it is found out
}

/** Says in a line of the audit trail what a call waits for before it starts. */
function blockedWords({ by, gate = by, behind }: ToolEventOf<'call:blocked'>): string {
  return `${blockedMark}${gate}${behind === undefined ? '' : `, behind ${behind}`}`
}

/** Says in a line of the audit trail how the args were repaired, and where. */
function repairedWords({ steps }: ToolEventOf<'call:repaired'>): string {
  const words = steps.map(({ step, path }) => (path.length === 0 ? step : `${step} at ${path.join('.')}`))
  return shortened(`repaired: ${words.join(', ')}`, 256)
}

function foldWaiting(record: OpenRecord, event: ToolEventOf<'call:waiting'>): void {
  const { reason, prompt, why, meta, repaired, timestamp, inProcess } = event
  if (repaired !== undefined) record.repairs ??= repaired // without a journal, it is the first event of the record
  if (inProcess === undefined) record.status = 'waiting'
  if (reason === 'client') record.effect = 'unknown' // from now on the client may do its work
  if (reason === 'client') return foldStart(record, timestamp)
  if (reason === 'worker') return remark(record, timestamp, 'queued')
  advance(record, 'APPROVAL_REQUIRED', timestamp)
  record.approval = { required: true, prompt, ...(why !== undefined && { why }), ...(meta && { meta }) }
}

function resume(record: OpenRecord, event: ToolEventOf<'call:resumed'>): void {
  const { decision, decidedBy, note, always, args, editedFrom, timestamp } = event
  if (record.state !== 'APPROVAL_REQUIRED') return remark(record, timestamp, note) // a client's answer is no approval
  record.approval = { ...record.approval, decision, decidedBy, note, always, decidedAt: timestamp }
  if (editedFrom !== undefined) {
    record.editedFrom = editedFrom
    record.input = args
  }
  if (decision === 'deny') remark(record, timestamp, note)
  else advance(record, 'APPROVED', timestamp, note)
}

function foldStart(record: OpenRecord, timestamp: number): void {
  if (record.state === 'EXECUTING') return
  advance(record, 'EXECUTING', timestamp)
  record.startedAt ??= timestamp
}

function foldSettled(record: OpenRecord, event: ToolEventOf<'call:settled'>): void {
  const { status, effect, error, durationMs, timestamp } = event
  advance(record, stateAfter(record.state, event), timestamp, error?.code)
  record.isError = status !== 'ok'
  record.durationMs = durationMs
  record.completedAt = timestamp
  if (error !== undefined) record.error = `${error.name}: ${error.message}`
  record.status = status
  record.effect = effect
}

function stateAfter(state: ToolCallState, event: ToolEventOf<'call:settled'>): ToolCallState {
  if (event.error?.code === 'E_SEALED') return 'SEALED'
  if (event.status === 'ok') return 'COMPLETED'
  return event.status === 'denied' && state !== 'EXECUTING' ? 'DENIED' : 'FAILED'
}
