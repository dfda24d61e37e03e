import { type CallStatus, InternalError, isToolError, statusOf, ToolDeniedError, type ToolError } from '../errors.ts'
import type { SideEffect, ToolResult } from '../call/call.ts'
import { CallResult } from '../call/call-result.ts'
import { unmarked, type ContentBlock } from '../result/content.ts'
import { modelText } from './failure.ts'
import { stageFields, maskedOutput, type Received, type Spooled, type Writable } from '../call/parcel.ts'
import { encodeResult } from '../result/encode.ts'
import { canBeDescribed, type ToolDefinition } from '../tool/definition.ts'
import type { OutcomeContext } from '../executor-context.ts'
import type { WaitKeeper } from '../recorder.ts'

/** The most characters of a schema that the error for wrong args has. */
const longestSchema = 8_192

/** Makes the result of a call that passed every stage of the pipeline. */
export function success(spooled: Spooled): ToolResult {
  const { receipt, verdict } = spooled
  const result = resultOf(spooled, 'ok', spooled.effect, receipt.content, receipt.value)
  result.artifact = receipt.artifact
  if (receipt.handle !== undefined) result.handle = receipt.handle
  if (spooled.tool.type === 'output') result.output = unmarked(maskedOutput(spooled))
  if (verdict !== null && verdict.result !== null) result.skipped = true
  return result
}

/**
 * Returns the answers that the model gave by tools of type `output`: for each tool's name its values, in the order of the
 * results. A call that failed gives none.
 *
 * @param results Of one turn, or of many.
 * @example
 * const answer = tool({ name: 'answer', description: 'Your final answer', type: 'output', inputSchema: { type: 'object' } })
 * const results = await createExecutor({ tools: [answer] }).executeToolCalls([{ name: 'answer', args: { sum: 3 } }])
 * console.log(outputsOf(results)['answer']) // [{ sum: 3 }]
 */
export function outputsOf(results: readonly ToolResult[]): Readonly<Record<string, readonly unknown[]>> {
  const outputs = Object.create(null) as Record<string, unknown[]>
  for (const result of results) {
    if (result.status === 'ok' && 'output' in result) (outputs[result.toolName] ??= []).push(result.output)
  }
  return outputs
}

/** Makes the result of a call that left the pipeline early. */
export function failure(received: Received, kernel: OutcomeContext, thrown: ToolError): ToolResult {
  const error = received.redactor?.error(thrown) ?? thrown
  const result = resultOf(received, statusOf(error), received.effect, wordsFor(received, kernel, error))
  result.error = error
  const { name: toolName, callId, invocationId } = received
  if (Object.isExtensible(error)) Object.assign(error, { toolName, callId, invocationId })
  return result
}

/** Where the outcomes of calls that waited are found. */
interface Outcomes {
  readonly waits: () => Pick<WaitKeeper, 'outcome'> | Promise<Pick<WaitKeeper, 'outcome'>>
  readonly report: (error: unknown) => void
}

/** Returns the results of a turn. Those that waited and have settled since are given as they settled. */
export async function upToDate(results: readonly ToolResult[], { waits, report }: Outcomes): Promise<ToolResult[]> {
  const settled = async (result: ToolResult): Promise<ToolResult> => {
    if (result.status !== 'waiting') return result
    try {
      const outcome = await (await waits()).outcome(result.invocationId)
      return outcome === undefined || result.id === undefined
        ? (outcome ?? result)
        : CallResult.of(outcome, { id: result.id })
    } catch (error) {
      report(error)
      return result
    }
  }
  return Promise.all(results.map(settled))
}

/** Makes the result of a failed call from any thrown value. What is no error of the package is its own fault, which is reported. */
export function failed(received: Received, kernel: OutcomeContext, cause: unknown): ToolResult {
  if (isToolError(cause)) return failure(received, kernel, cause)
  const message = 'The kernel failed while it handled the call; this is a fault of the package.'
  const error = new InternalError(message, { cause, exposed: false })
  const result = failure(received, kernel, error)
  kernel.report(error)
  return result
}

export function resultOf(
  received: Received,
  status: CallStatus,
  effect: SideEffect,
  content: readonly ContentBlock[],
  value?: unknown,
): Writable<ToolResult> {
  const { id, invocationId, callId, name: toolName, receivedAt, call } = received
  const durationMs = performance.now() - receivedAt
  const result = new CallResult({ invocationId, callId, toolName }, status, effect, content, durationMs, value)
  if (id !== undefined) result.id = id
  if (call.via !== undefined) result.via = call.via
  return result
}

function wordsFor(received: Received, kernel: OutcomeContext, error: ToolError): readonly ContentBlock[] {
  if (error instanceof ToolDeniedError && error.toolResult !== undefined) {
    try {
      return encodeResult(error.toolResult).blocks
    } catch {
      // what the policy gave cannot be shown: its words can
    }
  }
  // The package's own messages are for the model, such as a denial and its reason, or issues of args.
  const isTheirs = error.code === 'E_TOOL_DOWNSTREAM_ERROR' || error.code === 'E_INVALID_TOOL_RESULT'
  const { tool, call } = stageFields(received)
  const isExposed = !isTheirs || (tool?.exposeErrors ?? kernel.exposeErrors)
  const words: ContentBlock = { type: 'text', text: modelText(error, isExposed) }
  if (error.code !== 'E_INVALID_TOOL_ARGS' || call.via === undefined || tool === undefined) return [words]
  return [words, { type: 'text', text: schemaWords(tool) }] // the model may not have been shown the tool
}

function schemaWords(tool: ToolDefinition): string {
  const schema = canBeDescribed(tool, () => {}) ? JSON.stringify(tool.describe().inputSchema) : ''
  if (schema !== '' && schema.length <= longestSchema) return `The args of ${tool.name} fit this schema: ${schema}`
  return `The schema of ${tool.name} is not shown here: search for the tool by its name.`
}
