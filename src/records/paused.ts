import type { PausedCall } from '../kernel/call/pause.ts'
import type { PauseRecord, Recording, ToolCallRecord } from '../kernel/call/record.ts'
import { isSettled } from './record.ts'
import type { Fence } from './journal.ts'
import { keyOf, livingLease } from './waiting.ts'

/** Finds the paused call of a token, or of a listed call, in the record that it names. */
export async function findPaused(
  token: unknown,
  read: (
    invocationId: string,
  ) => Promise<{ readonly record: ToolCallRecord; readonly recording: Recording } | undefined>,
): Promise<PausedCall | undefined> {
  const key = keyOf(token)
  if (key === undefined) return undefined
  const { invocationId } = key
  const found = await read(invocationId)
  const paused = found?.record.journal?.awaits
  if (found === undefined || paused?.digest !== key.digest || isSettled(found.record.state)) return undefined
  return pausedCallOf(found.record, paused, found.recording)
}

/** Makes the paused call of a record. */
export function pausedCallOf(record: ToolCallRecord, paused: PauseRecord, recording: Recording): PausedCall {
  const { id: invocationId, name, session, toolCallId: id, callId, seq, journal } = record
  const { reason, digest, fingerprint, expiresAt, text, isApproved } = paused
  const lease = livingLease(paused)
  return {
    call: {
      id: paused.id ?? id,
      name,
      args: text,
      program: journal?.program,
      ...('result' in paused && { result: paused.result }),
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
    isApproved: isApproved === true,
    ...(lease && { lease }),
    seq,
    recording,
  }
}

/** Returns the record of a paused call without its token's digest, which uses the token up. */
export function usedUp(record: ToolCallRecord, { owner, number }: Fence): ToolCallRecord {
  const { awaits: _used, ...journal } = record.journal ?? { caller: 'model' as const }
  return { ...record, journal: { ...journal, owner, fence: number } }
}
