import type { ToolResult } from '../call.ts'
import { isToolError } from '../errors.ts'
import { happen, isWatched } from '../events.ts'
import { failure, fault, pending, success, type Outcome } from '../outcome.ts'
import type { Received, Spooled } from '../parcel.ts'
import { Pause } from '../pause.ts'
import type { Kernel } from '../ports.ts'
import { tell } from '../telling.ts'

/** Walks the passage and says what became of the call: the one place where what is thrown becomes a result. */
export function settle(received: Received, kernel: Kernel, walk: () => Promise<Spooled>): Promise<ToolResult> {
  const failed = (thrown: unknown): ToolResult | Promise<ToolResult> =>
    over(received, kernel, unfinished(received, kernel, thrown))
  const done = (spooled: Spooled): ToolResult | Promise<ToolResult> => {
    let outcome: Outcome
    try {
      outcome = { result: success(spooled) }
    } catch (thrown) {
      return failed(thrown)
    }
    return over(received, kernel, outcome)
  }
  return walk().then(done, failed)
}

function over(received: Received, kernel: Kernel, outcome: Outcome): ToolResult | Promise<ToolResult> {
  received.deadline.end()
  return isWatched(received, kernel) ? tell(received, kernel, outcome) : outcome.result
}

function unfinished(received: Received, kernel: Kernel, thrown: unknown): Outcome {
  try {
    if (isToolError(thrown)) return { result: failure(received, kernel, thrown) }
    if (thrown instanceof Pause) return paused(received, kernel, thrown)
    return { result: fault(received, kernel, thrown) }
  } catch (another) {
    return { result: fault(received, kernel, another) }
  }
}

function paused(received: Received, kernel: Kernel, pause: Pause): Outcome {
  const { token, awaits } = kernel.hold(received, pause)
  const { reason, prompt, meta } = pause
  const { expiresAt } = awaits
  const result = pending(received, pause, token, expiresAt)
  if (!isWatched(received, kernel)) return { result }
  // Told only once it is written down: a token that was announced can be redeemed.
  const body = { reason, token, prompt, ...(meta && { meta }), expiresAt }
  return { result, awaits, before: happen(received, kernel, 'call:paused', body) }
}
