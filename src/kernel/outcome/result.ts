import type { CallStatus, SideEffect, ToolResult } from '../call/call.ts'
import { isMarkedJson, markedValue, type ContentBlock } from '../result/content.ts'
import { InternalError, isToolError, statusOf, ToolDeniedError, ToolError, ToolFailure } from '../errors.ts'
import type { ErrorCode } from '../errors.ts'
import type { Bodies } from '../call/events.ts'
import { modelLine } from './failure.ts'
import { stageFields, type Received, type Spooled, type Writable } from '../call/parcel.ts'
import type { Pause } from '../call/pause.ts'
import type { Kernel } from '../kernel.ts'
import { encodeResult } from '../result/encode.ts'
import type { PauseRecord } from '../call/record.ts'
import { redactorOf, toldResult } from '../call/secrets.ts'

/** The outcome of a call, and what is emitted once it is written. */
export interface Outcome {
  readonly result: ToolResult
  /** What the call needs to go on, if it is paused. */
  readonly paused?: PauseRecord
  /** The body of `call:paused`. */
  readonly pause?: Bodies['call:paused']
}

/** Makes the result of a call that walked the whole passage. */
export function success(spooled: Spooled): ToolResult {
  const { receipt, verdict } = spooled
  const result = resultOf(spooled, 'ok', spooled.effect, receipt.content)
  result.artifact = receipt.artifact
  if (receipt.handle !== undefined) result.handle = receipt.handle
  if (spooled.tool.type === 'output') result.output = outputOf(toldResult(spooled.output, spooled))
  if (verdict !== null && verdict.result !== null) result.skipped = true
  return result
}

function outputOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && isMarkedJson(value) ? markedValue(value) : value
}

/**
 * Returns the answers that the model gave by tools of type `output`: for each tool's name its values, in the order of the
 * results. A call that failed gives none.
 *
 * @param results Of one turn, or of many.
 * @example
 * ```ts
 * import { createExecutor, outputsOf, tool } from 'toolwright'
 *
 * const answer = tool({ name: 'answer', description: 'Your final answer', type: 'output', inputSchema: { type: 'object' } })
 * const results = await createExecutor({ tools: [answer] }).executeToolCalls([{ name: 'answer', args: { sum: 3 } }])
 * console.log(outputsOf(results)['answer']) // [{ sum: 3 }]
 * ```
 */
export function outputsOf(results: readonly ToolResult[]): Readonly<Record<string, readonly unknown[]>> {
  const outputs = Object.create(null) as Record<string, unknown[]>
  for (const result of results) {
    if (result.status === 'ok' && 'output' in result) (outputs[result.toolName] ??= []).push(result.output)
  }
  return outputs
}

/** Messages in place of those that quote a handler or a validator, if the tool has secrets. */
const unquoted: Partial<Record<ErrorCode, string>> = {
  E_TOOL_DOWNSTREAM_ERROR:
    'The tool failed. It has secrets, so what it threw is not told: throw a ToolFailure to say what may be read.',
  E_ARTIFACT: 'An artifact could not be kept or read. The tool has secrets, so no more is told.',
  E_VALIDATOR_FAILED:
    'The validator failed. The tool has secrets, so its words are not told. The args may have been right; the same call may succeed later.',
}

/** Returns the error. If the tool has secrets, returns a copy without causes and without secret values. */
function discreet(received: Received, error: ToolError): ToolError {
  const redactor = redactorOf(stageFields(received))
  if (redactor === undefined) return error
  const { cause, code, category, retryable: isRetryable, issues, recommendations: advice } = error
  const said = cause instanceof ToolFailure ? cause : undefined
  const instead = said === undefined ? unquoted[code] : undefined
  const told = ToolError.restore({
    ...(redactor.data({ issues, recommendations: advice }) as object),
    code,
    category,
    retryable: isRetryable,
    message: instead ?? redactor.words(error.message),
  })
  const isExposed = error.exposed && !(instead !== undefined && code === 'E_TOOL_DOWNSTREAM_ERROR')
  Object.assign(told, { exposed: isExposed })
  if (said !== undefined) {
    const { message, recommendations, retryable } = said
    const words = { recommendations: recommendations.map((each) => redactor.words(each)), retryable }
    Object.defineProperty(told, 'cause', { value: new ToolFailure(redactor.words(message), words) })
  }
  if (error instanceof ToolDeniedError && error.toolResult !== undefined) {
    try {
      Object.defineProperty(told, 'toolResult', { value: redactor.result(error.toolResult) })
    } catch {
      // what the policy gave cannot be shown: its words can
    }
  }
  return told
}

/** Makes the result of a call that left the passage early. */
export function failure(received: Received, kernel: Kernel, thrown: ToolError): ToolResult {
  const error = discreet(received, thrown)
  const result = resultOf(received, statusOf(error), received.effect, wordsFor(received, kernel, error))
  result.error = error
  const { name: toolName, callId, invocationId } = received
  if (Object.isExtensible(error)) Object.assign(error, { toolName, callId, invocationId })
  return result
}

/** Makes the result of a failed call from any thrown value. What is no error of the package is its own fault, which is reported. */
export function failed(received: Received, kernel: Kernel, cause: unknown): ToolResult {
  if (isToolError(cause)) return failure(received, kernel, cause)
  const message = 'The kernel failed while it handled the call; this is a fault of the package.'
  const error = new InternalError(message, { cause, exposed: false })
  const result = failure(received, kernel, error)
  kernel.report(error)
  return result
}

/** Returns the words for the model about a call that waits. */
export function waitingWords(toolName: string, reason: Pause['reason']): string {
  if (reason === 'worker') return `${toolName} waits for a worker.`
  if (reason === 'client') return `${toolName} waits for the answer of the client.`
  return `${toolName} has not run yet: it waits for approval by a person.`
}

/** Makes a result of its content. */
export function resultOf(
  received: Received,
  status: CallStatus,
  effect: SideEffect,
  content: readonly ContentBlock[],
): Writable<ToolResult> {
  const { id, invocationId, callId, name: toolName, receivedAt } = received
  const isError = status !== 'ok' && status !== 'pending'
  const durationMs = performance.now() - receivedAt
  const told = { invocationId, callId, toolName, status, effect, isError, content, durationMs }
  const result = told as Writable<ToolResult>
  if (id !== undefined) result.id = id
  return result
}

function wordsFor(received: Received, kernel: Kernel, error: ToolError): readonly ContentBlock[] {
  if (error instanceof ToolDeniedError && error.toolResult !== undefined) {
    try {
      return encodeResult(error.toolResult).blocks
    } catch {
      // what the policy gave cannot be shown: its words can
    }
  }
  // The package's own messages are for the model, such as a denial and its reason, or issues of args.
  const isTheirs = error.code === 'E_TOOL_DOWNSTREAM_ERROR' || error.code === 'E_INVALID_TOOL_RESULT'
  const isExposed = !isTheirs || (stageFields(received).tool?.exposeErrors ?? kernel.exposeErrors)
  return [{ type: 'text', text: modelLine(error, isExposed) }]
}
