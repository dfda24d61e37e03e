import { SpooledArtifact } from '../result/artifact.ts'
import { type SettledStatus, InvalidToolResultError, isToolError, JournalError } from '../errors.ts'
import type { ToolResult } from '../call/call.ts'
import { CallResult } from '../call/call-result.ts'
import { countEvent, emit, eventOf, publish } from '../call/emit.ts'
import type { Bodies, ToolEvent } from '../call/events.ts'
import { bounded, readText } from '../json/json-text.ts'
import { failure } from './result.ts'
import { stageFields, type Received } from '../call/parcel.ts'
import type { BeginningWait, Recorder, Settlement, WaitKeeper } from '../recorder.ts'
import { isThenable } from '../json/thenable.ts'
import type { OutcomeContext } from '../executor-context.ts'

type Description = Settlement['artifact']
const largestDescription = 16_384

/**
 * Writes the result of a call, then emits `call:settled`, then returns the result.
 *
 * @param recorder Writes the result; `null` to write nothing.
 */
export function publishOutcome(
  received: Received,
  kernel: OutcomeContext,
  result: ToolResult,
  recorder: Pick<Recorder, 'settle'> | null | undefined,
): ToolResult | Promise<ToolResult> {
  emitUnidentified(received, kernel)
  const artifact = result.artifact === undefined ? undefined : describeArtifact(result.artifact, kernel)
  const settled = eventOf(received, kernel, 'call:settled', summaryOf(result, artifact))
  let digest: string | undefined | Promise<string | undefined>
  try {
    digest = recorder?.settle(received, settled, { result, artifact })
  } catch (cause) {
    return publishLoss(received, kernel, result, settled, artifact, cause)
  }
  if (!isThenable(digest)) return publishSettled(received, kernel, result, settled, digest)
  return digest.then(
    (later) => publishSettled(received, kernel, result, settled, later),
    (cause: unknown) => publishLoss(received, kernel, result, settled, artifact, cause),
  )
}

function publishSettled(
  received: Received,
  kernel: OutcomeContext,
  result: ToolResult,
  settled: ToolEvent,
  digest: string | undefined,
): ToolResult {
  countEvent(settled, received, kernel)
  publish(digest === undefined ? settled : ({ ...settled, digest } as ToolEvent), received, kernel, result)
  return result
}

function publishLoss(
  received: Received,
  kernel: OutcomeContext,
  result: ToolResult,
  settled: ToolEvent,
  artifact: Description,
  cause: unknown,
): ToolResult {
  const lost = unwrittenResult(received, kernel, result, cause)
  publish({ ...settled, ...summaryOf(lost, artifact) }, received, kernel, lost)
  return lost
}

/**
 * Writes a call that begins to wait, then emits `call:waiting`, so that every emitted token can be redeemed. If the write
 * fails, the token redeems nothing: the call settles with that error.
 */
export function publishWait(
  received: Received,
  kernel: OutcomeContext,
  beginning: BeginningWait,
  keeper: WaitKeeper,
): ToolResult | Promise<ToolResult> {
  emitUnidentified(received, kernel)
  const event = eventOf(received, kernel, 'call:waiting', beginning.body)
  let written: void | Promise<void>
  try {
    written = keeper.wait(received, event, beginning)
  } catch (cause) {
    return lose(cause)
  }
  return isThenable(written) ? written.then(keep, lose) : keep()

  function keep(): ToolResult {
    countEvent(event, received, kernel)
    publish(event, received, kernel)
    return beginning.result
  }

  function lose(cause: unknown): ToolResult {
    const lost = unwrittenResult(received, kernel, beginning.result, cause)
    publish(eventOf(received, kernel, 'call:settled', summaryOf(lost, undefined)), received, kernel, lost)
    return lost
  }
}

/** Emits `call:received` of a call that failed before it had an identity. Its args are left out if they may hold secrets. */
function emitUnidentified(received: Received, kernel: OutcomeContext): void {
  if (received.seq > 0) return
  const args = maySayArgs(received, kernel) ? plainArgs(received.call.args, kernel) : undefined
  emit(received, kernel, 'call:received', { args })
}

function summaryOf({ status, effect, error, durationMs }: ToolResult, artifact: Description): Bodies['call:settled'] {
  const own = status as SettledStatus
  if (error === undefined) {
    return artifact === undefined
      ? { status: own, effect, durationMs }
      : { status: own, effect, result: artifact, durationMs }
  }
  return { status: own, effect, error, ...(artifact && { result: artifact }), durationMs }
}

/** Returns the description of an artifact. A handler's own artifact class may throw, which is reported. */
export function describeArtifact(artifact: SpooledArtifact, kernel: OutcomeContext): Description {
  try {
    const isOurs = artifact.toJSON === SpooledArtifact.prototype.toJSON && artifact.mediaType.length <= 256
    const artifactJson: unknown = isOurs ? artifact.toJSON() : bounded(artifact.toJSON(), largestDescription)
    if (typeof artifactJson === 'object' && artifactJson !== null) return artifactJson as Description
    throw new InvalidToolResultError('`toJSON` of the artifact gives no object that says what it is.')
  } catch (error) {
    kernel.report(error)
    return undefined
  }
}

/**
 * Whether args have no secrets. The call may have ended before its tool was resolved. If the tool is unknown, no tool may have
 * secrets: the args may be meant for any.
 */
function maySayArgs(received: Received, kernel: OutcomeContext): boolean {
  try {
    const registry = kernel.registryFor(received.session)
    const { tool = registry.resolve(received.call.name) } = stageFields(received)
    // The args of a bridge that names no tool may be meant for any.
    const tools = tool === undefined || tool.type === 'bridge' ? registry.list() : [tool]
    return tools.every(({ secrets }) => secrets.length === 0)
  } catch {
    return false
  }
}

/** Returns args without a canonical form as plain JSON, which is all that records hold. Large args are cut. */
export function plainArgs(args: unknown, { argsLimit: limit }: OutcomeContext): unknown {
  try {
    // The first cut bounds the work, the second bounds what `toJSON` returns.
    return bounded(readText(JSON.stringify(bounded(args, limit))), limit)
  } catch {
    return undefined
  }
}

/** Returns the result of a call whose outcome could not be written. It keeps the artifact, since the tool has run. */
function unwrittenResult(received: Received, kernel: OutcomeContext, result: ToolResult, cause: unknown): ToolResult {
  const { artifact, handle } = result
  const isJournals = !isToolError(cause) || cause.code === 'E_JOURNAL'
  const error = isJournals ? lossOf(received, cause) : cause
  return CallResult.of(failure(received, kernel, error), { ...(artifact && { artifact }), ...(handle && { handle }) })
}

function lossOf({ effect }: Received, cause: unknown): JournalError {
  const words = `outcome could not be written down.${isToolError(cause) ? ` ${cause.message}` : ''}`
  if (effect === 'none') return new JournalError(`The call's ${words}`, { cause, retryable: true })
  const recommendations = ['Find out what the tool has done before you call it again.']
  return new JournalError(`The tool has run, and its ${words}`, { cause, recommendations })
}
