import { ApprovalInvalidError } from '../kernel/errors.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Cancels a call in flight. Returns `undefined` if it is not in flight, or has paused. */
export async function cancelInFlight(
  invocationId: string,
  reason: string,
  { inFlight }: Kernel,
): Promise<'cancelled' | 'not found' | undefined> {
  const call = inFlight.get(invocationId)
  if (call === undefined) return undefined
  call.deadline.cancel(reason)
  const result = await inFlight.left(invocationId)
  if (result === undefined || result.status === 'pending') return undefined
  return result.status === 'cancelled' ? 'cancelled' : 'not found'
}

/** Makes the error for a call that was not listed in this process. */
export function unlisted(): ApprovalInvalidError {
  return new ApprovalInvalidError('This is no call that `waiting` listed in this process. List the calls again.')
}
