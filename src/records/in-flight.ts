import { stageFields, type Received } from '../kernel/call/parcel.ts'
import type { ToolCallAuditEntry, ToolCallRecord } from '../kernel/call/record.ts'
import { ApprovalInvalidError, ToolCancelledError } from '../kernel/errors.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import { readText } from '../kernel/json/json-text.ts'

/** Cancels a call in flight. Returns `undefined` if it is not in flight, or waits. */
export async function cancelInFlight(
  invocationId: string,
  reason: string,
  { inFlight }: RecordsContext,
): Promise<'cancelled' | 'not found' | undefined> {
  const call = inFlight.get(invocationId)
  if (call === undefined) return undefined
  call.deadline.cancel(new ToolCancelledError(reason))
  const result = await inFlight.left(invocationId)
  if (result === undefined || result.status === 'waiting') return undefined
  return result.status === 'cancelled' ? 'cancelled' : 'not found'
}

/** Makes the error for a call that was not listed in this process. */
export function unlisted(): ApprovalInvalidError {
  return new ApprovalInvalidError('This is no call that `waiting` listed in this process. List the calls again.')
}

/** Makes a record of a call in flight, which no journal has. Its args are left out until it is known which are secret. */
export function recordInFlight(call: Received): ToolCallRecord {
  const { invocationId, callId, name, session, id, receivedAt, startedAt, attempts, effect, seq, parent } = call
  const { identity, redactor } = stageFields(call)
  const line = (state: ToolCallRecord['state'], time: number): ToolCallAuditEntry => ({
    state,
    timestamp: Math.round(performance.timeOrigin + time), // the same at each look
  })
  const auditTrail = [line('PENDING', receivedAt)]
  if (attempts > 0) auditTrail.push(line('EXECUTING', startedAt ?? receivedAt)) // an unwatched call keeps no time
  const [{ timestamp: createdAt }, { state, timestamp: updatedAt }] = [auditTrail[0]!, auditTrail.at(-1)!]
  const input = redactor === undefined ? identity && readText(identity.text) : redactor.args()
  const record = { id: invocationId, callId, name, session, input, state, approval: { required: false }, effect }
  const others = { ...(id !== undefined && { toolCallId: id }), ...(parent && { parent: parent.invocationId }) }
  return { ...record, ...others, createdAt, updatedAt, auditTrail, seq }
}
