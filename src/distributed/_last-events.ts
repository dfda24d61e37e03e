import { ToolError, type CallStatus, type ToolEvent } from '../index.ts'
import type { ToolCallRecord } from '../extension.ts'
import { blockedMark } from '../records/fold.ts'

/**
 * Makes the events with which a call ended on a worker, from its settled record.
 *
 * @param first The number of the first event of the worker.
 */
export function lastEventsOf(record: ToolCallRecord, first: number): ToolEvent[] {
  const { id: invocationId, callId, name: toolName, session, toolCallId, seq, startedAt, completedAt, input } = record
  const { principal, program, failure, digest, artifact, handle } = record.journal ?? {}
  const { status = 'error', effect, durationMs = 0, updatedAt } = record
  const of = {
    invocationId,
    callId,
    ...(toolCallId !== undefined && { id: toolCallId }),
    toolName,
    session,
    ...(principal !== undefined && { principal }),
    ...(program !== undefined && { program }),
  }
  const timestamp = completedAt ?? updatedAt
  const end: ToolEvent = {
    ...of,
    event: 'call:settled',
    seq: seq - 1,
    timestamp,
    status: status as Exclude<CallStatus, 'waiting'>,
    effect,
    ...(failure && { error: ToolError.restore(failure) }),
    ...(artifact && { result: { ...artifact, ...(handle !== undefined && { handle }) } }),
    ...(digest !== undefined && { digest }),
    durationMs,
  }
  if (startedAt === undefined) return [end]
  const start: ToolEvent = {
    ...of,
    event: 'tool:start',
    seq: first + 1 + timesBlocked(record),
    timestamp: startedAt,
    input,
  }
  if (seq - 2 <= start.seq) return [start, end] // the worker died, and another executor closed the call
  const ran = { isError: status !== 'ok', durationMs: Math.max(0, timestamp - startedAt) }
  return [start, { ...of, event: 'tool:end', seq: seq - 2, timestamp, ...ran }, end]
}

/** Counts how often a call told its last worker, before it started, that it waits for other calls. */
function timesBlocked({ auditTrail }: ToolCallRecord): number {
  const place = auditTrail.findLastIndex(({ note }) => note?.startsWith('queued'))
  return auditTrail.slice(place + 1).filter(({ note }) => note?.startsWith(blockedMark)).length
}
