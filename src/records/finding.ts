import { findingMark } from '../kernel/call/call.ts'
import { CallResult } from '../kernel/call/call-result.ts'
import type { ToolEvent, ToolEventOf } from '../kernel/call/events.ts'
import type { ToolCallRecord } from '../kernel/call/record.ts'
import { SealedError, statusOf, type SettledStatus } from '../kernel/errors.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import { copyOf } from '../kernel/json/copy.ts'
import { modelText } from '../kernel/outcome/failure.ts'
import type { Settlement } from '../kernel/recorder.ts'
import { envelopeOf, journaledOf } from './close.ts'
import { foldEvent } from './fold.ts'
import type { Fence } from './journal.ts'
import { ownJson } from './own-json.ts'
import { settlementFields, type OpenJournaled } from './settlement.ts'
import { isLarge, storeContent } from './stored-content.ts'

/** The end of a call of which it was found out later what it did. */
export interface Conclusion extends Settlement {
  /** The events before `call:settled`. */
  readonly events: readonly ToolEvent[]
  /** The number of `call:settled`. */
  readonly seq: number
  /** When the call was settled first, in milliseconds since the epoch. Default: now. */
  readonly completedAt?: number | undefined
}

/** Begins the record that says what became of a call, and its first event. */
export function findingOf(
  about: ToolCallRecord,
  owner: string,
): { readonly pending: ToolCallRecord; readonly received: ToolEvent } {
  const { caller, principal, program } = journaledOf(about)
  const envelope = { ...envelopeOf(about), invocationId: about.id + findingMark, seq: 0 }
  const { id: reconciles, via } = about
  const of = { reconciles, ...(via !== undefined && { via }) }
  const received: ToolEvent = { ...envelope, event: 'call:received', args: copyOf(about.input), ...of }
  const journal: OpenJournaled = { caller, owner, fence: 0 }
  if (principal !== undefined) journal.principal = principal
  if (program !== undefined) journal.program = program
  const pending = foldEvent(undefined, { ...received, args: about.input })
  return { pending: { ...pending, startedAt: startOfCall(about), journal }, received }
}

/** Whether a record says what became of this very call. Its id may be used again once its record is deleted. */
export function isAbout(finding: ToolCallRecord, about: ToolCallRecord): boolean {
  return finding.startedAt === startOfCall(about)
}

/** When the handler of a call began, in milliseconds since the epoch. */
export function startOfCall({ startedAt, createdAt }: ToolCallRecord): number {
  return startedAt ?? createdAt
}

/** Makes the settlement of a call that did not happen. */
export function happenedNot({ id: invocationId, callId, name: toolName }: ToolCallRecord): Settlement {
  const error = notHappened()
  Object.assign(error, { toolName, callId, invocationId })
  const content = [{ type: 'text' as const, text: modelText(error, true) }]
  const result = new CallResult({ invocationId, callId, toolName }, statusOf(error), 'none', content, 0)
  result.error = error
  return { result, artifact: undefined }
}

/** Makes the error of a call that did not happen, although its handler had begun. */
export function notHappened(): SealedError {
  const recommendations = ['Call it again if it is still needed.']
  return new SealedError('It was found out that the call did not happen.', { recommendations, retryable: true })
}

/** Settles a record as was found out. Writes no record; large content goes to the store. */
export async function concludedRecord(
  record: ToolCallRecord,
  { owner, number }: Fence,
  { result, artifact, seq, completedAt }: Omit<Conclusion, 'events'>,
  kernel: RecordsContext,
): Promise<{ readonly settled: ToolEventOf<'call:settled'>; readonly written: ToolCallRecord }> {
  const { status, effect, error, content } = result
  const envelope = envelopeOf(record)
  const settled: ToolEventOf<'call:settled'> = {
    ...envelope,
    event: 'call:settled',
    seq,
    status: status as SettledStatus,
    effect,
    ...(error && { error }),
    ...(artifact && { result: artifact }),
    durationMs: Math.max(0, envelope.timestamp - record.createdAt),
  }
  const stored = isLarge(content) ? await storeContent(content, record.session, kernel) : { result: content }
  const { awaits: _awaits, work: _work, args: _args, hasStarted: _hasStarted, ...journaled } = journaledOf(record)
  const journal: OpenJournaled = { ...journaled, owner, fence: number, result: ownJson(stored.result) }
  settlementFields({ result, artifact, ...('stored' in stored && { stored: stored.stored }) }, journal, ownJson)
  const folded = foldEvent(record, settled)
  return { settled, written: { ...folded, ...(completedAt !== undefined && { completedAt }), journal } }
}
