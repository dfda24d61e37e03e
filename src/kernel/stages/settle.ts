import type { ToolResult } from '../call/call.ts'
import { isWatched } from '../call/emit.ts'
import { knownOutcome, knownResult } from '../outcome/known.ts'
import { failed, success } from '../outcome/result.ts'
import type { Received, Spooled } from '../call/parcel.ts'
import { Wait } from '../call/wait.ts'
import type { Kernel } from '../kernel.ts'
import { publishOutcome, publishWait } from '../outcome/publish.ts'
import { isThenable } from '../json/thenable.ts'

type Result = ToolResult | Promise<ToolResult>

/** Settles a call that passed every stage. */
export function settle(spooled: Spooled, kernel: Kernel): Result {
  let result: ToolResult
  try {
    result = success(spooled)
  } catch (thrown) {
    return settleEarly(spooled, kernel, thrown)
  }
  return leave(spooled, kernel, result)
}

/** Settles a call that left the pipeline early, or lets it wait. What was thrown says which. */
export function settleEarly(received: Received, kernel: Kernel, thrown: unknown): Result {
  return leave(received, kernel, () => {
    try {
      const outcome = knownOutcome(thrown)
      if (outcome !== undefined) return published(received, kernel, knownResult(received, kernel, outcome))
      const isTaken = received.resumption?.taken !== undefined
      const wait = thrown instanceof Wait ? thrown : isTaken && kernel.recorder?.queue.waitAgain(received, thrown)
      if (wait) return beginWait(received, kernel, wait)
    } catch (another) {
      return fail(received, kernel, another)
    }
    return fail(received, kernel, thrown)
  })
}

/** The one exit: frees what the call holds, publishes its end, and ends its time in flight. */
function leave(received: Received, kernel: Kernel, end: ToolResult | (() => Result)): Result {
  let result: Result
  try {
    received.order?.pass(received)
    kernel.locks.leave(received)
    received.deadline.end()
    received.shown = undefined
    result = typeof end === 'function' ? end() : published(received, kernel, end)
  } catch (thrown) {
    result = failed(received, kernel, thrown)
  }
  if (!isThenable(result)) return depart(received, kernel, result)
  return result
    .catch((thrown: unknown) => failed(received, kernel, thrown))
    .then((written) => depart(received, kernel, written))
}

function depart(received: Received, kernel: Kernel, result: ToolResult): ToolResult {
  kernel.inFlight.leave(received, result)
  if (received.entries !== undefined) kernel.gatekeeper?.leaveGates(received, kernel, result)
  return result
}

function published(received: Received, kernel: Kernel, result: ToolResult): Result {
  return isWatched(received, kernel) ? publishOutcome(received, kernel, result, kernel.recorder) : result
}

function fail(received: Received, kernel: Kernel, thrown: unknown): Result {
  return published(received, kernel, failed(received, kernel, thrown))
}

function beginWait(received: Received, kernel: Kernel, wait: Wait): Result {
  const keeper = kernel.waits()
  if (!isThenable(keeper)) return publishWait(received, kernel, keeper.begin(received, wait), keeper)
  return keeper
    .then((loaded) => publishWait(received, kernel, loaded.begin(received, wait), loaded))
    .catch((cause: unknown) => fail(received, kernel, cause))
}
