import type { ResumableCall } from '../kernel/call/wait.ts'
import type { WaitRecord, Recording, ToolCallRecord } from '../kernel/call/record.ts'
import { isSettled } from './record.ts'
import type { Fence } from './journal.ts'
import { waitKeyOf, livingLease } from './waiting.ts'

/** Finds the waiting call of a token, or of a listed call, in the record that it names. */
export async function findResumable(
  token: unknown,
  read: (
    invocationId: string,
  ) => Promise<{ readonly record: ToolCallRecord; readonly recording: Recording } | undefined>,
): Promise<ResumableCall | undefined> {
  const key = waitKeyOf(token)
  if (key === undefined) return undefined
  const { invocationId } = key
  const found = await read(invocationId)
  const wait = found?.record.journal?.awaits
  if (found === undefined || wait?.digest !== key.digest || isSettled(found.record.state)) return undefined
  return resumableCallOf(found.record, wait, found.recording)
}

/** Makes the waiting call of a record. */
export function resumableCallOf(record: ToolCallRecord, wait: WaitRecord, recording: Recording): ResumableCall {
  const { id: invocationId, name, session, toolCallId: id, callId, seq, journal, via, parent } = record
  const { reason, digest, fingerprint, expiresAt, text, isApproved } = wait
  const lease = livingLease(wait)
  return {
    call: {
      id: wait.id ?? id,
      name,
      args: text,
      program: journal?.program,
      ...(via !== undefined && { via }),
      ...('result' in wait && { result: wait.result }),
    },
    callId,
    invocationId,
    session,
    principal: journal?.principal,
    caller: journal?.caller ?? 'model',
    reason,
    digest,
    fingerprint,
    expiresAt,
    parent,
    isApproved: isApproved === true,
    ...(lease && { lease }),
    seq,
    recording,
  }
}

/** Returns the record of a waiting call without its token's digest, which uses the token up. */
export function usedUp(record: ToolCallRecord, { owner, number }: Fence): ToolCallRecord {
  const { awaits: _used, ...journal } = record.journal ?? { caller: 'model' as const }
  return { ...record, journal: { ...journal, owner, fence: number } }
}
