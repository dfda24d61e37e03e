import { ToolFailure, type ContentBlock, type Tool, type ToolContext } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { functionOption, reporterOf } from '../extension.ts'
import { isObject } from '../formats/_read.ts'
import { bytesBase64 } from './_base64.ts'
import { contentOfParts, fileBlock } from './_content.ts'
import { checkForeign, foreignTool, type ForeignOptions } from './_foreign.ts'
import { frameworkOption, type ForeignFunction } from './_options.ts'
import { toolCallIdOf } from './_results.ts'

/** A tool of the SDK. Only function tools can be run. */
export interface OpenAiAgentsForeignTool {
  readonly type: string
  readonly name?: string
  readonly description?: string
  readonly parameters?: unknown
  readonly invoke?: unknown
  readonly needsApproval?: unknown
  readonly isEnabled?: unknown
  readonly timeoutMs?: number | undefined
  readonly inputGuardrails?: readonly OpenAiGuardrail[] | undefined
  readonly outputGuardrails?: readonly OpenAiGuardrail[] | undefined
}

/** A guardrail of a tool. */
export interface OpenAiGuardrail {
  readonly name: string
  /** `never`, since the SDK's types of the data depend on the context of the run. */
  readonly run: (data: never) => Promise<{ readonly behavior: { readonly type: string; readonly message?: string } }>
}

/** Options of `fromOpenaiAgents`. */
export interface FromOpenaiAgentsOptions extends ForeignOptions {
  /** The SDK's own `RunContext`. The values of a call are its context. */
  readonly RunContext: new (context: never) => object
  /** Takes what cannot be run here. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/**
 * Makes function tools of the OpenAI Agents SDK those of an executor. Their schemas validate, and their functions run. Make the
 * tools with `errorFunction: null`: otherwise what they throw is a text, and no error.
 *
 * `timeoutMs` becomes `timeout`, and the guardrails of a tool run before and after it. A tool whose `isEnabled` says no is offered, and
 * fails. No agent runs them: what they get as their `agent` is empty.
 *
 * @param tools What the SDK's `tool` made. Hosted tools are left out and reported.
 * @param options The SDK's `RunContext`; `tools` adds what only the application knows.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or names a tool that is not there; `E_INVALID_INITIAL_TOOL_VALUE` if a name
 * or a schema cannot be used.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fromOpenaiAgents } from 'toolwright/frameworks/openai-agents'
 * import { z } from 'zod'
 *
 * // import { RunContext, tool } from '@openai/agents'
 * class RunContext {}
 * const weather = {
 *   type: 'function',
 *   name: 'weather',
 *   description: 'Returns the weather of a city',
 *   parameters: z.object({ city: z.string() }),
 *   invoke: async (_run: RunContext, args: string) => `21 degrees in ${JSON.parse(args).city}`,
 * } // what `tool` makes
 * const executor = createExecutor({ tools: fromOpenaiAgents([weather], { RunContext }) })
 * const { content } = await executor.execute({ name: 'weather', args: { city: 'Oslo' } })
 * console.log(content) // [ { type: 'text', text: '21 degrees in Oslo' } ]
 * ```
 * @experimental
 */
export function fromOpenaiAgents(tools: readonly OpenAiAgentsForeignTool[], options: FromOpenaiAgentsOptions): Tool[] {
  checkForeign('fromOpenaiAgents', tools, options, {
    RunContext: frameworkOption('the class `RunContext` of `@openai/agents`'),
    report: functionOption,
  })
  const { RunContext } = options
  const report = reporterOf(options.report)
  return tools.flatMap((theirs) => {
    const { type, name = '', description, parameters, timeoutMs } = theirs
    const { invoke, needsApproval, isEnabled, inputGuardrails = [], outputGuardrails = [] } = theirs
    if (type !== 'function' || typeof invoke !== 'function') {
      report(new InvalidConfigurationError(`Tool ${JSON.stringify(name || type)} of the agent is run by its provider.`))
      return []
    }
    const callOf = (input: unknown, context: ToolContext): { callId: string; arguments: string } => {
      return { callId: toolCallIdOf(context), arguments: JSON.stringify(input ?? {}) }
    }
    const handler = async (input: unknown, context: ToolContext): Promise<unknown> => {
      const toolCall = { type: 'function_call', name, status: 'completed', ...callOf(input, context) }
      const run = new RunContext(context.values as never)
      const agent = {}
      if (
        typeof isEnabled === 'function' &&
        (await (isEnabled as ForeignFunction).call(theirs, run, agent)) === false
      ) {
        throw new ToolFailure(`Tool ${JSON.stringify(name)} is not enabled.`, { effect: 'none' })
      }
      const refusal = await objection(inputGuardrails, { context: run, agent, toolCall })
      if (refusal !== undefined) throw new ToolFailure(refusal, { effect: 'none' })
      const details = { toolCall, signal: context.signal }
      const output = await (invoke as ForeignFunction).call(theirs, run, toolCall.arguments, details)
      return (await objection(outputGuardrails, { context: run, agent, toolCall, output })) ?? agentsResult(output)
    }
    const requiresConfirmation = (input: unknown, context: ToolContext): unknown => {
      const run = new RunContext(context.values as never)
      return (needsApproval as ForeignFunction).call(theirs, run, input, callOf(input, context).callId)
    }
    const asks = typeof needsApproval === 'function' ? { requiresConfirmation } : {}
    const timed = timeoutMs === undefined ? {} : { timeout: timeoutMs }
    return [foreignTool({ name, description, inputSchema: parameters ?? {}, ...asks, ...timed, handler }, options)]
  })
}

/** Returns what the first guardrail that refuses says in place of the output. @throws `ToolFailure` if one ends the run. */
async function objection(guardrails: readonly OpenAiGuardrail[], data: object): Promise<string | undefined> {
  for (const guardrail of guardrails) {
    const { behavior } = await guardrail.run(data as never)
    if (behavior.type === 'rejectContent') return behavior.message ?? ''
    if (behavior.type !== 'allow') {
      throw new ToolFailure(`The guardrail ${JSON.stringify(guardrail.name)} stopped the call.`)
    }
  }
  return undefined
}

/** Returns parts of text, pictures and files as content. Everything else is a plain result. */
function agentsResult(returned: unknown): unknown {
  const parts: readonly unknown[] = Array.isArray(returned) ? returned : [returned]
  return contentOfParts(parts, agentsBlock) ?? returned
}

function agentsBlock(part: unknown): ContentBlock | undefined {
  if (!isObject(part)) return undefined
  const { type, text, image, file } = part
  if (type === 'text' && typeof text === 'string') return { type, text }
  const media = type === 'image' ? ownBytes(image, 'image/png') : type === 'file' ? ownBytes(file) : undefined
  if (media === undefined) return undefined
  if (type === 'image') return { type, ...media }
  const { filename } = file as { readonly filename?: unknown }
  return fileBlock(filename, media.mimeType, media.data)
}

/** Returns the bytes that a part has itself, and not by an address or an id of the provider. */
function ownBytes(
  source: unknown,
  plainType?: string,
): { readonly mimeType: string; readonly data: string } | undefined {
  const { data, mediaType = plainType } = isObject(source) ? source : { data: source }
  if (data instanceof Uint8Array) {
    return typeof mediaType === 'string' ? { mimeType: mediaType, data: bytesBase64(data) } : undefined
  }
  if (typeof data !== 'string') return undefined
  const [, addressType, bytes] = /^data:([^;,]+);base64,(.*)$/s.exec(data) ?? []
  if (addressType !== undefined && bytes !== undefined) return { mimeType: addressType, data: bytes }
  return isObject(source) && typeof mediaType === 'string' ? { mimeType: mediaType, data } : undefined
}
