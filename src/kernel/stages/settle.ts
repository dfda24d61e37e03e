import type { ToolResult } from '../call/call.ts'
import { isWatched } from '../call/events.ts'
import { failed, type Outcome, success } from '../outcome/result.ts'
import type { Received, Spooled } from '../call/parcel.ts'
import { Pause } from '../call/pause.ts'
import type { Kernel } from '../kernel.ts'
import { publishOutcome } from '../outcome/publish.ts'
import { isThenable } from '../json/thenable.ts'
import type { PauseKeeper } from '../ports.ts'

/** Settles a call that walked the whole pipeline. */
export function settle(spooled: Spooled, kernel: Kernel): ToolResult | Promise<ToolResult> {
  let outcome: Outcome
  try {
    outcome = { result: success(spooled) }
  } catch (thrown) {
    return settleEarly(spooled, kernel, thrown)
  }
  return over(spooled, kernel, outcome)
}

/** Settles a call that left the pipeline early. What was thrown becomes the result. */
export function settleEarly(received: Received, kernel: Kernel, thrown: unknown): ToolResult | Promise<ToolResult> {
  try {
    const isTaken = received.resumption?.taken !== undefined
    const again = thrown instanceof Pause ? thrown : isTaken && kernel.recorder?.queue.pauseAgain(received, thrown)
    return again ? pause(received, kernel, again) : over(received, kernel, { result: failed(received, kernel, thrown) })
  } catch (another) {
    return over(received, kernel, { result: failed(received, kernel, another) })
  }
}

function over(
  received: Received,
  kernel: Kernel,
  outcome: Outcome,
  recorder: PauseKeeper | undefined = kernel.recorder,
): ToolResult | Promise<ToolResult> {
  try {
    kernel.gates.leave(received)
    received.deadline.end()
    received.shown = undefined
    const isTold = recorder !== undefined || isWatched(received, kernel)
    const told = isTold ? publishOutcome(received, kernel, outcome, recorder) : outcome.result
    if (isThenable(told)) return written(told, received, kernel)
    kernel.inFlight.leave(received, told)
    return told
  } catch (thrown) {
    kernel.inFlight.leave(received)
    return failed(received, kernel, thrown)
  }
}

/** Waits for the write of an outcome. */
async function written(told: Promise<ToolResult>, received: Received, kernel: Kernel): Promise<ToolResult> {
  let result: ToolResult
  try {
    result = await told
  } catch (thrown) {
    result = failed(received, kernel, thrown)
  }
  kernel.inFlight.leave(received, result)
  return result
}

/** Writes the paused call before it emits `call:paused`, so that every emitted token can be redeemed. */
function pause(received: Received, kernel: Kernel, thrown: Pause): ToolResult | Promise<ToolResult> {
  const [people, keeper] = [kernel.approvals(), kernel.pauses()]
  if (!isThenable(people) && !isThenable(keeper)) return over(received, kernel, people.hold(received, thrown), keeper)
  return received.deadline
    .outside(Promise.all([people, keeper]))
    .then(([approvals, pauses]) => over(received, kernel, approvals.hold(received, thrown), pauses))
    .catch((error: unknown) => over(received, kernel, { result: failed(received, kernel, error) }))
}
