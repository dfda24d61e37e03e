import { SpooledArtifact } from '../result/artifact.ts'
import { bounded } from '../json/bounded.ts'
import type { ToolResult } from '../call/call.ts'
import { InvalidToolResultError, isToolError, JournalError } from '../errors.ts'
import { announce, happen, publish, type EventEnvelope, type ToolEvent, type ToolEventOf } from '../call/events.ts'
import { readText } from '../json/json-text.ts'
import { failure, type Outcome } from './result.ts'
import { progressOf, type Received } from '../call/parcel.ts'
import type { Kernel, Ledger } from '../ports.ts'
import { isLarge, storeContent } from '../../records/stored-content.ts'
import { isThenable } from '../json/thenable.ts'

const largestDescription = 16_384

/** Writes an outcome down, tells everybody who watches, and gives the result: in this order. */
export function tell(received: Received, kernel: Kernel, outcome: Outcome): ToolResult | Promise<ToolResult> {
  if (received.seq === 0) {
    // It failed before it had an identity: what came in is told of all the same, but for what may be secret.
    const args = maySayArgs(received, kernel) ? plainArgs(received.call.args, kernel) : undefined
    announce(received, kernel, 'call:received', { args })
  }
  const { ledger } = kernel
  if (ledger?.mayLoseClaim(received, outcome) === true) return claimFirst(received, kernel, outcome, ledger)
  return end(received, kernel, outcome)
}

/** Claims the record before its outcome is chained: a claim that is lost to another executor leaves no gap in the chain. */
async function claimFirst(received: Received, kernel: Kernel, outcome: Outcome, ledger: Ledger): Promise<ToolResult> {
  try {
    await ledger.commit(received)
  } catch (cause) {
    return end(received, kernel, outcome, cause)
  }
  return end(received, kernel, outcome)
}

/** @param refusal Why the record could not be claimed. */
function end(
  received: Received,
  kernel: Kernel,
  { result, awaits, before }: Outcome,
  refusal?: unknown,
): ToolResult | Promise<ToolResult> {
  const artifact = result.artifact === undefined ? undefined : describe(result.artifact, kernel)
  const settled = happen(received, kernel, 'call:settled', summaryOf(result, artifact))
  if (refusal !== undefined) return lose(refusal)
  let digest: string | undefined | Promise<string | undefined>
  try {
    const { ledger } = kernel
    const isApart = ledger !== undefined && awaits === undefined && isLarge(result.content)
    digest = isApart
      ? storeContent(result.content, received.session, kernel).then(({ result: content, stored }) =>
          ledger.settle(received, { result: { ...result, content }, artifact, stored }),
        )
      : ledger?.settle(received, { result, artifact, awaits })
  } catch (cause) {
    return lose(cause)
  }
  return isThenable(digest) ? digest.then(keep, lose) : keep(digest)

  function keep(chained: string | undefined): ToolResult {
    if (before !== undefined) publish(before, received, kernel)
    publish(chained === undefined ? settled : ({ ...settled, digest: chained } as ToolEvent), received, kernel)
    return result
  }

  function lose(cause: unknown): ToolResult {
    const lost = unwritten(received, kernel, result, cause)
    // The token of a call that could not be kept is of no use to anybody.
    if (before !== undefined) publish({ ...before, token: undefined } as unknown as ToolEvent, received, kernel)
    publish({ ...settled, ...summaryOf(lost, artifact) }, received, kernel)
    return lost
  }
}

function summaryOf(
  { status, effect, error, durationMs }: ToolResult,
  artifact: ReturnType<SpooledArtifact['toJSON']> | undefined,
): Omit<ToolEventOf<'call:settled'>, keyof EventEnvelope | 'event'> {
  return { status, effect, ...(error && { error }), ...(artifact && { result: artifact }), durationMs }
}

/** What may be told of an artifact; one of the handler's own making may break when it is asked. */
function describe(artifact: SpooledArtifact, kernel: Kernel): ReturnType<SpooledArtifact['toJSON']> | undefined {
  try {
    const isOurs = artifact.toJSON === SpooledArtifact.prototype.toJSON && artifact.mediaType.length <= 256
    const said: unknown = isOurs ? artifact.toJSON() : bounded(artifact.toJSON(), largestDescription)
    if (typeof said === 'object' && said !== null) return said as ReturnType<SpooledArtifact['toJSON']>
    throw new InvalidToolResultError('`toJSON` of the artifact gives no object that says what it is.')
  } catch (error) {
    kernel.report(error)
    return undefined
  }
}

/**
 * Whether there are no secrets in the args, also if the call ended before its tool was looked up, or its caller may not see the
 * tool. Args for a tool that is not known may be meant for any tool.
 */
function maySayArgs(received: Received, kernel: Kernel): boolean {
  try {
    const registry = kernel.registryFor(received.session)
    const { tool = registry.resolve(received.call.name) } = progressOf(received)
    const tools = tool === undefined ? registry.list() : [tool]
    return tools.every(({ secrets }) => secrets.length === 0)
  } catch {
    return false
  }
}

/** Args that have no canonical form, as far as they are JSON: records hold nothing else. Of large ones it is the beginning. */
export function plainArgs(args: unknown, { argsLimit: limit }: Kernel): unknown {
  try {
    // Once before they are written, and once for what objects write of themselves.
    return bounded(readText(JSON.stringify(bounded(args, limit))), limit)
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
