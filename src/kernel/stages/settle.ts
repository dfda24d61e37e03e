import type { ToolResult } from '../call.ts'
import { progressOf, type Received, type Spooled } from '../parcel.ts'
import type { SpooledArtifact } from '../artifact.ts'
import { InternalError, isToolError } from '../errors.ts'
import { announce, isWatched } from '../events.ts'
import { failure, pending, success } from '../outcome.ts'
import { Pause } from '../pause.ts'
import type { Kernel } from '../ports.ts'

/** Walks the passage and says what became of the call: the one place where what is thrown becomes a result. */
export async function settle(received: Received, kernel: Kernel, walk: () => Promise<Spooled>): Promise<ToolResult> {
  let result: ToolResult
  try {
    result = success(await walk())
  } catch (thrown) {
    result = unfinished(received, kernel, thrown)
  }
  received.deadline.end()
  if (isWatched(received, kernel)) announceOutcome(received, kernel, result)
  return result
}

function unfinished(received: Received, kernel: Kernel, thrown: unknown): ToolResult {
  try {
    if (isToolError(thrown)) return failure(received, kernel, thrown)
    if (thrown instanceof Pause) return paused(received, kernel, thrown)
    return fault(received, kernel, thrown)
  } catch (another) {
    return fault(received, kernel, another)
  }
}

function paused(received: Received, kernel: Kernel, pause: Pause): ToolResult {
  const { token, expiresAt } = kernel.hold(received, pause)
  if (isWatched(received, kernel)) {
    const { reason, prompt, meta } = pause
    announce(received, kernel, 'call:paused', { reason, token, prompt, ...(meta && { meta }), expiresAt })
  }
  return pending(received, pause, token, expiresAt)
}

function fault(received: Received, kernel: Kernel, cause: unknown): ToolResult {
  const message = 'The kernel failed while it handled the call; this is a fault of the package.'
  const error = new InternalError(message, { cause, exposed: false })
  const result = failure(received, kernel, error)
  kernel.report(error)
  return result
}

function announceOutcome(received: Received, kernel: Kernel, result: ToolResult): void {
  const { status, effect, error, artifact, durationMs } = result
  if (received.seq === 0) {
    // It failed before it had an identity: what came in is told of all the same.
    const { tool } = progressOf(received)
    announce(received, kernel, 'call:received', { args: tool?.secrets.length ? undefined : received.call.args })
  }
  announce(received, kernel, 'call:settled', {
    status,
    effect,
    ...(error && { error }),
    ...(artifact && { result: summary(artifact, kernel) }),
    durationMs,
  })
}

/** What may be told of an artifact; one of the handler's own making may break when it is asked. */
function summary(artifact: SpooledArtifact, kernel: Kernel): ReturnType<SpooledArtifact['toJSON']> {
  try {
    return artifact.toJSON()
  } catch (error) {
    kernel.report(error)
    return { kind: 'artifact', mediaType: '', byteLength: 0 }
  }
}
