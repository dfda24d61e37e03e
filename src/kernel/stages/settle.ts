import type { ToolResult } from '../call/call.ts'
import { happen, isWatched } from '../call/events.ts'
import { failed, pending, success, type Outcome } from '../outcome/result.ts'
import type { Received, Spooled } from '../call/parcel.ts'
import { Pause } from '../call/pause.ts'
import type { Kernel } from '../ports.ts'
import { tell } from '../outcome/publish.ts'
import { isThenable } from '../json/thenable.ts'

/** Says what became of a call that walked the whole passage. */
export function settle(spooled: Spooled, kernel: Kernel): ToolResult | Promise<ToolResult> {
  let outcome: Outcome
  try {
    outcome = { result: success(spooled) }
  } catch (thrown) {
    return settleEarly(spooled, kernel, thrown)
  }
  return over(spooled, kernel, outcome)
}

/** Says what became of a call that left the passage early: what was thrown becomes a result. */
export function settleEarly(received: Received, kernel: Kernel, thrown: unknown): ToolResult | Promise<ToolResult> {
  let outcome: Outcome
  try {
    outcome = thrown instanceof Pause ? paused(received, kernel, thrown) : { result: failed(received, kernel, thrown) }
  } catch (another) {
    outcome = { result: failed(received, kernel, another) }
  }
  return over(received, kernel, outcome)
}

function over(received: Received, kernel: Kernel, outcome: Outcome): ToolResult | Promise<ToolResult> {
  try {
    kernel.gates.leave(received)
    received.deadline.end()
    received.shown = undefined
    const told = isWatched(received, kernel) ? tell(received, kernel, outcome) : outcome.result
    if (isThenable(told)) return written(told, received, kernel)
    kernel.leave(received)
    return told
  } catch (thrown) {
    kernel.leave(received)
    return failed(received, kernel, thrown)
  }
}

/** The result of a call whose outcome is on its way into the journal. */
async function written(told: Promise<ToolResult>, received: Received, kernel: Kernel): Promise<ToolResult> {
  try {
    return await told
  } catch (thrown) {
    return failed(received, kernel, thrown)
  } finally {
    kernel.leave(received)
  }
}

function paused(received: Received, kernel: Kernel, pause: Pause): Outcome {
  const { token, awaits } = kernel.hold(received, pause)
  const { reason, question } = pause
  const { expiresAt } = awaits
  const result = pending(received, pause, token, expiresAt)
  if (!isWatched(received, kernel)) return { result }
  // Told only once it is written down: a token that was announced can be redeemed.
  const body = { reason, token, ...question, expiresAt }
  return { result, awaits, before: happen(received, kernel, 'call:paused', body) }
}
