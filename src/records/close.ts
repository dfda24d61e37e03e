import type { ToolResult } from '../kernel/call/call.ts'
import { CallResult } from '../kernel/call/call-result.ts'
import { publish } from '../kernel/call/emit.ts'
import type { EventEnvelope, ToolEvent } from '../kernel/call/events.ts'
import type { Journaled, WaitRecord, ToolCallRecord } from '../kernel/call/record.ts'
import {
  ApprovalExpiredError,
  ClientToolError,
  statusOf,
  ToolCancelledError,
  type ToolError,
  ToolTimeoutError,
} from '../kernel/errors.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import { modelText } from '../kernel/outcome/failure.ts'
import { foldEvent } from './fold.ts'
import type { FoundRecord, ListedRecord } from './journal.ts'
import type { JournalRecorder } from './recorder.ts'

/** For how long a silent executor counts as alive, in milliseconds. */
export const aliveFor = 30_000

/** The end of a call that no executor runs. */
export interface Closing {
  /** `call:settled`, after `tool:end` if the tool had started. */
  readonly events: readonly [...ends: ToolEvent[], settled: ToolEvent]
  /** The settled record, which has the content for the model. */
  readonly record: ToolCallRecord
  readonly result: ToolResult
}

/** Settles the record of a call that no executor runs. Writes nothing. `keptArgs` is for its tool, if it is asked later. */
export function closingOf(
  record: ToolCallRecord,
  error: ToolError,
  effect: ToolCallRecord['effect'],
  keptArgs?: string,
): Closing {
  const { toolCallId: id, via } = record
  const { awaits: _over, work: _work, args: _args, hasStarted, ...journal } = journaledOf(record)
  const ends = hasStarted === true ? [toolEndOf(record)] : []
  const envelope = envelopeOf(record)
  const { callId, invocationId, toolName } = envelope
  Object.assign(error, { toolName, callId, invocationId })
  const [status, durationMs] = [statusOf(error), Math.max(0, envelope.timestamp - record.createdAt)]
  const seq = envelope.seq + ends.length
  const settled: ToolEvent = { ...envelope, event: 'call:settled', seq, status, effect, error, durationMs }
  const content = [{ type: 'text' as const, text: modelText(error, true) }]
  const closed = {
    ...foldEvent(record, settled),
    journal: {
      ...journal,
      ...(keptArgs !== undefined && { args: keptArgs }),
      result: content,
      failure: error.toJSON(),
    },
  }
  const result = new CallResult({ invocationId, callId, toolName }, status, effect, content, durationMs)
  Object.assign(result, { ...(id !== undefined && { id }), ...(via !== undefined && { via }), error })
  return { events: [...ends, settled], record: closed, result }
}

export function journaledOf({ journal = { caller: 'model', owner: '', fence: 0 } }: ToolCallRecord): Journaled {
  return journal
}

/** Makes the `tool:end` of a tool whose process has died. */
export function toolEndOf(record: ToolCallRecord, isError: boolean = true): ToolEvent {
  const envelope = envelopeOf(record)
  const durationMs = Math.max(0, envelope.timestamp - (record.startedAt ?? record.createdAt))
  return { ...envelope, event: 'tool:end', isError, durationMs }
}

export function envelopeOf(record: ToolCallRecord): EventEnvelope {
  const { id: invocationId, callId, name: toolName, session, toolCallId: id, seq } = record
  const { principal } = journaledOf(record)
  const eventFields = { invocationId, callId, toolName, session, seq, timestamp: Date.now() }
  return { ...eventFields, ...(id !== undefined && { id }), ...(principal !== undefined && { principal }) }
}

/** Emits the end of a call that no executor runs. */
export function publishEnd({ events }: Pick<Closing, 'events'>, kernel: RecordsContext, digest?: string): void {
  for (const event of events) {
    const isChained = event.event === 'call:settled' && digest !== undefined
    publish(isChained ? { ...event, digest } : event, undefined, kernel)
  }
}

/** Takes over a call that no executor runs, and closes it. Returns `undefined` if another was first. */
export async function close(
  { record: before, fence }: FoundRecord,
  error: ToolError,
  effect: ToolCallRecord['effect'],
  recorder: JournalRecorder,
  kernel: RecordsContext,
): Promise<ToolCallRecord | undefined> {
  const newFence = await recorder.takeOver(before, fence)
  if (newFence === null) return undefined
  const keptArgs = effect === 'unknown' ? argsToAsk(before, kernel) : undefined
  const { events, record } = closingOf(before, error, effect, keptArgs)
  const journal = { ...record.journal!, owner: newFence.owner, fence: newFence.number }
  const closed = await recorder.seal({ ...record, journal }, newFence)
  if (closed === undefined) return undefined
  if (!isLost(before, kernel)) publishEnd({ events }, kernel, closed.journal?.digest)
  if (before.journal?.awaits !== undefined) kernel.waitingValues.delete(before.journal.awaits.digest)
  kernel.inFlight.tell(closed.id)
  return closed
}

/** Whether this executor ran a call, and told an outcome that was not written. */
export function isLost({ state, journal }: ToolCallRecord, kernel: RecordsContext): boolean {
  return state === 'EXECUTING' && journal?.owner === kernel.owner() && journal.awaits === undefined
}

/** Returns the args of a call, if its tool can be asked later what became of it. */
function argsToAsk({ session, name, journal }: ToolCallRecord, { registryFor }: RecordsContext): string | undefined {
  const { args, work, awaits } = journal ?? {}
  if (args !== undefined) return args
  const text = (work ?? awaits)?.text
  return text !== undefined && registryFor(session).get(name)?.reconcile !== undefined ? text : undefined
}

/** Tells of a call that the journal dropped while it waited. Only the executor that wrote it last tells. */
export function tellDropped({ record: before, fence }: FoundRecord, kernel: RecordsContext): void {
  if (fence.owner !== kernel.owner()) return
  const error = new ToolCancelledError('The call waited, and its record was dropped: the journal was full.')
  kernel.report(error)
  const { events, record, result } = closingOf(before, error, 'none')
  publishEnd({ events }, kernel)
  if (before.journal?.awaits !== undefined) kernel.waitingValues.delete(before.journal.awaits.digest)
  kernel.inFlight.tell(record.id, result)
}

/**
 * Whether a living executor has taken over a waiting call and not written it yet. Most likely it closes it: to take it over
 * again would leave a gap in the chain of that executor.
 */
export function isBeingClosed({ record, fence, idle }: ListedRecord, owner: string): boolean {
  const isTaken = record.journal !== undefined && record.journal.owner !== fence.owner
  return isTaken && fence.owner !== owner && idle < aliveFor
}

/** Makes the error of a call that waited too long. */
export function expiry({ reason }: WaitRecord): ToolError {
  if (reason === 'worker') return new ToolTimeoutError('No worker took the call in time.', { retryable: true })
  return reason === 'approval'
    ? new ApprovalExpiredError('The request for approval was not answered in time.')
    : new ClientToolError('The client did not answer in time.')
}
