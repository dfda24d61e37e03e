import { publish, type ToolEvent } from '../kernel/call/events.ts'
import type { PauseRecord, ToolCallRecord } from '../kernel/call/record.ts'
import {
  ApprovalExpiredError,
  ClientToolError,
  statusOf,
  ToolCancelledError,
  type ToolError,
  ToolTimeoutError,
} from '../kernel/errors.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { modelLine } from '../kernel/outcome/failure.ts'
import { foldEvent } from './fold.ts'
import type { Found, Listed } from './journal.ts'
import type { JournalRecorder } from './recorder.ts'
import { replay } from './replay.ts'

/** For how long a silent executor counts as alive, in milliseconds. */
export const aliveFor = 30_000

/** The end of a call that no executor runs. */
export interface Closing {
  readonly event: ToolEvent
  /** The settled record, which has the content for the model. */
  readonly record: ToolCallRecord
}

/** Settles the record of a call that no executor runs. Writes nothing. */
export function closing(record: ToolCallRecord, error: ToolError, effect: ToolCallRecord['effect']): Closing {
  const { id: invocationId, callId, name: toolName, session, toolCallId, seq, createdAt } = record
  const { awaits: _over, work: _work, ...journal } = record.journal ?? { caller: 'model' as const, owner: '', fence: 0 }
  const { principal } = journal
  const timestamp = Date.now()
  Object.assign(error, { toolName, callId, invocationId })
  const event: ToolEvent = {
    event: 'call:settled',
    invocationId,
    callId,
    ...(toolCallId !== undefined && { id: toolCallId }),
    toolName,
    session,
    ...(principal !== undefined && { principal }),
    seq,
    timestamp,
    status: statusOf(error),
    effect,
    error,
    durationMs: timestamp - createdAt,
  }
  const result = [{ type: 'text' as const, text: modelLine(error, true) }]
  return { event, record: { ...foldEvent(record, event), journal: { ...journal, result, failure: error.toJSON() } } }
}

/** Takes over a call that no executor runs, and closes it. Returns `undefined` if another executor was first. */
export async function close(
  { record: before, fence }: Found,
  error: ToolError,
  effect: ToolCallRecord['effect'],
  recorder: JournalRecorder,
  kernel: Kernel,
): Promise<ToolCallRecord | undefined> {
  const taken = await recorder.takeOver(before, fence)
  if (taken === null) return undefined
  const { event, record } = closing(before, error, effect)
  const journal = { ...record.journal!, owner: taken.owner, fence: taken.number }
  const closed = await recorder.seal({ ...record, journal }, taken)
  if (closed === undefined) return undefined
  const digest = closed.journal?.digest
  publish({ ...event, ...(digest !== undefined && { digest }) }, undefined, kernel)
  if (before.journal?.awaits !== undefined) kernel.heldValues.delete(before.journal.awaits.digest)
  kernel.inFlight.tell(closed.id)
  return closed
}

/** Tells of a call that the journal dropped while it waited. The executor that wrote it last tells, and no other. */
export function tellDropped({ record: before, fence }: Found, kernel: Kernel): void {
  if (fence.owner !== kernel.owner()) return
  const error = new ToolCancelledError('The call waited, and its record was dropped: the journal was full.')
  kernel.report(error)
  const { event, record } = closing(before, error, 'none')
  publish(event, undefined, kernel)
  if (before.journal?.awaits !== undefined) kernel.heldValues.delete(before.journal.awaits.digest)
  replay(record, kernel)
    .then((result) => kernel.inFlight.tell(record.id, result))
    .catch(kernel.report)
}

/**
 * Whether a living executor has taken over a waiting call and not written it yet. Most likely it closes it: to take it over
 * again would leave a gap in the chain of that executor.
 */
export function isBeingClosed({ record, fence, idle }: Listed, owner: string): boolean {
  const isTaken = record.journal !== undefined && record.journal.owner !== fence.owner
  return isTaken && fence.owner !== owner && idle < aliveFor
}

/** Makes the error of a call that waited too long. */
export function expiry({ reason }: PauseRecord): ToolError {
  if (reason === 'worker') return new ToolTimeoutError('No worker took the call in time.', { retryable: true })
  return reason === 'approval'
    ? new ApprovalExpiredError('The request for approval was not answered in time.')
    : new ClientToolError('The client did not answer in time.')
}
