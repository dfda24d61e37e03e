import type { SpooledArtifact } from './artifact.ts'
import type { ToolResult } from './call.ts'
import { isToolError, JournalError } from './errors.ts'
import { announce, happen, publish, type EventEnvelope, type ToolEvent } from './events.ts'
import { readText } from './json-text.ts'
import { failure, type Outcome } from './outcome.ts'
import { progressOf, type Received } from './parcel.ts'
import type { Kernel } from './ports.ts'

/** Writes an outcome down, tells everybody who watches, and gives the result: in this order. */
export async function tell(received: Received, kernel: Kernel, outcome: Outcome): Promise<ToolResult> {
  const { before, awaits } = outcome
  let { result } = outcome
  if (received.seq === 0) {
    // It failed before it had an identity: what came in is told of all the same, but for what may be secret.
    const secrets = progressOf(received).tool?.secrets ?? []
    announce(received, kernel, 'call:received', { args: secrets.length > 0 ? undefined : plain(received.call.args) })
  }
  let settled: ToolEvent = happen(received, kernel, 'call:settled', summaryOf(result, kernel))
  if (kernel.ledger !== undefined) {
    try {
      const digest = await kernel.ledger.settle(received, result, awaits)
      if (digest !== undefined) settled = { ...settled, digest } as ToolEvent
    } catch (cause) {
      result = unwritten(received, kernel, result, cause)
      settled = { ...settled, ...summaryOf(result, kernel) }
    }
  }
  // The token of a call that could not be kept is of no use to anybody.
  if (before !== undefined) {
    publish(
      result.status === 'pending' ? before : ({ ...before, token: undefined } as unknown as ToolEvent),
      received,
      kernel,
    )
  }
  publish(settled, received, kernel)
  return result
}

function summaryOf(
  result: ToolResult,
  kernel: Kernel,
): Omit<Extract<ToolEvent, { event: 'call:settled' }>, keyof EventEnvelope | 'event'> {
  const { status, effect, error, artifact, durationMs } = result
  const shown = artifact === undefined ? undefined : describe(artifact, kernel)
  return { status, effect, ...(error && { error }), ...(shown && { result: shown }), durationMs }
}

/** What may be told of an artifact; one of the handler's own making may break when it is asked. */
function describe(artifact: SpooledArtifact, kernel: Kernel): ReturnType<SpooledArtifact['toJSON']> | undefined {
  try {
    return artifact.toJSON()
  } catch (error) {
    kernel.report(error)
    return undefined
  }
}

/** Args that have no canonical form, as far as they are JSON: records hold nothing else. */
function plain(args: unknown): unknown {
  try {
    return readText(JSON.stringify(args))
  } catch {
    return undefined
  }
}

/** The result of a call whose outcome could not be written down: what it did has happened, and what it gave is kept. */
function unwritten(received: Received, kernel: Kernel, result: ToolResult, cause: unknown): ToolResult {
  const { artifact, handle } = result
  const error = isToolError(cause) && cause.code !== 'E_JOURNAL' ? cause : lossOf(received, cause)
  return { ...failure(received, kernel, error), ...(artifact && { artifact }), ...(handle && { handle }) }
}

function lossOf({ effect }: Received, cause: unknown): JournalError {
  const words = isToolError(cause) ? ` ${cause.message}` : ''
  if (effect === 'none') {
    return new JournalError(`The outcome of the call could not be written down.${words}`, { cause, retryable: true })
  }
  return new JournalError(`The tool has run, and its outcome could not be written down.${words}`, {
    cause,
    recommendations: ['Find out what the tool has done before you call it again.'],
  })
}
