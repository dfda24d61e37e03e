import type { EventTargets } from '../executor-context.ts'
import { eventOf, isWatched, publish, recordEvent } from './emit.ts'
import type { Blocker } from './blocker.ts'
import type { Received } from './parcel.ts'

/** Waits for other calls before a call starts. Tells what the call waits for, and stops its clock meanwhile. */
export async function untilFree<Value>(
  call: Received,
  targets: EventTargets,
  blocker: Blocker,
  wait: Promise<Value>,
): Promise<Value> {
  const event = eventOf(call, targets, 'call:blocked', blocker)
  if (isWatched(call, targets)) {
    recordEvent(event, call, targets)
    publish(event, call, targets)
  }
  call.blocked = event as typeof call.blocked
  try {
    return await call.deadline.outside(wait)
  } finally {
    call.blocked = undefined
  }
}
