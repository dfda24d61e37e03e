/**
 * The OpenAI Agents SDK. This adapter makes an executor's tools those of agents, and the SDK's function tools those of an
 * executor. The SDK's own parts are handed in: it imports nothing of them.
 *
 * @module
 */
import type { ToolResult } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { openaiResponses, type OpenAiToolOutput } from '../formats/openai-responses.ts'
import { checkConversation, frameworkOption } from './_options.ts'
import { Visit, type PersonAnswer, type FrameworkOptions, type AnswerOfCall } from './_visit.ts'

export { fromOpenaiAgents } from './_from-openai-agents.ts'
export type { FromOpenaiAgentsOptions, OpenAiAgentsForeignTool, OpenAiGuardrail } from './_from-openai-agents.ts'
export type { ForeignOptions, ForeignToolOptions } from './_foreign.ts'
export type { DialectName, FrameworkOptions } from './_visit.ts'

/** What the SDK gives a tool of its run. */
export interface OpenAiRunContext {
  readonly context: unknown
  isToolApproved(call: { readonly toolName: string; readonly callId: string }): boolean | undefined
}

/** Options of `openaiAgentsTools`. */
export interface OpenAiAgentsToolsOptions<Made> extends FrameworkOptions {
  /** The SDK's own `tool`. */
  readonly tool: (config: never) => Made
}

/** A part of a result, as the SDK passes it on to the model. */
export type OpenAiAgentsOutput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly image: string }
  | {
      readonly type: 'file'
      readonly file: { readonly data: string; readonly mediaType: string; readonly filename: string }
    }

interface Details {
  readonly toolCall?: { readonly callId?: string }
  readonly signal?: AbortSignal
}

/** An executor's tools for agents. */
export interface OpenAiAgentsTools<Made> {
  /** For `new Agent({ tools })`. */
  readonly tools: Made[]
  /**
   * Passes on the rejections in the state of a run: the SDK answers these calls itself, and asks no tool. Call it after
   * `state.reject`, before the run goes on. Returns the results of the calls that it closed.
   */
  readonly answer: (state: OpenAiRunState) => Promise<ToolResult[]>
}

/** The state of a run that waits for approvals. */
export interface OpenAiRunState {
  getInterruptions(): readonly { readonly name?: string | undefined; readonly rawItem: object }[]
  readonly _context: OpenAiRunContext & {
    getRejectionMessage?(toolName: string, callId: string): string | undefined
  }
}

/**
 * Makes an executor's tools those of the OpenAI Agents SDK. Every call goes through the executor's pipeline, in one session.
 *
 * A call that needs approval interrupts the run, and waits in the journal. `state.approve` lets it go on, also with a state that
 * was stored as text and is read in another process. "Always approve" approves the calls after it too.
 *
 * @param options The executor, the session, and the SDK's `tool`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, missing or wrong; what the SDK's `tool` throws.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { openaiAgentsTools } from 'toolwright/frameworks/openai-agents'
 *
 * // import { Agent, tool as agentsTool } from '@openai/agents'
 * const agentsTool = (config: object): object => config
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const { tools } = openaiAgentsTools({ executor, session: 'run-1', tool: agentsTool })
 * // new Agent({ name: 'clock', tools })
 * ```
 * @see https://openai.github.io/openai-agents-js/guides/human-in-the-loop
 * @experimental
 */
export function openaiAgentsTools<Made extends object>(
  options: OpenAiAgentsToolsOptions<Made>,
): OpenAiAgentsTools<Made> {
  checkConversation('openaiAgentsTools', options, { tool: frameworkOption('the function `tool` of `@openai/agents`') })
  const visit = new Visit(options, 'openai-agents')
  const format = openaiResponses({ report: visit.report })
  const callOf = (callId: string | undefined, name: string, input: unknown): ReturnType<typeof visit.callOf> => {
    const text = typeof input === 'string' ? input : JSON.stringify(input ?? {})
    const item = { type: 'function_call', call_id: callId ?? '', name, arguments: text }
    const [call = { name }] = format.calls([item], visit.tools)
    return { ...call, id: callId }
  }
  const tools: Made[] = []
  for (const tool of visit.tools) {
    const { name } = tool
    const [definition] = format.definitions([tool])
    if (definition === undefined || definition.type !== 'function') {
      visit.report(
        new InvalidConfigurationError(
          `Tool ${JSON.stringify(name)} is run by its provider. It is not offered to the agent: use the SDK's own hosted tool.`,
        ),
      )
      continue
    }
    const agentTool = options.tool({
      name,
      description: definition.description,
      strict: definition.strict,
      parameters: { properties: {}, required: [], additionalProperties: true, ...definition.parameters },
      errorFunction: null,
      // A function would let the SDK interrupt the run for each text of the model that is no JSON.
      needsApproval:
        visit.mayAsk(tool) &&
        (async (run: OpenAiRunContext, input: unknown, callId?: string) =>
          (await visit.asks(callOf(callId, name, input), run.context)) !== undefined),
      execute: () => undefined,
    } as never)
    const invoke = async (run: OpenAiRunContext, input: string, details?: Details): Promise<unknown> => {
      const callId = details?.toolCall?.callId
      const isApproved = callId !== undefined && run.isToolApproved({ toolName: name, callId }) === true
      const answer: PersonAnswer | undefined = isApproved ? { decision: 'allow' } : undefined
      const running = { answer, isVouched: true, context: run.context, signal: details?.signal }
      const result = await visit.run(callOf(callId, name, input), running)
      const [reply] = format.results([{ ...result, id: callId ?? name }])
      return reply === undefined ? '' : agentsOutput(reply)
    }
    tools.push({ ...agentTool, name, invoke }) // the SDK writes `a-b` as `a_b`, and would know the call by that alone
  }
  return {
    tools,
    answer: (state) => {
      const answers = state.getInterruptions().flatMap(({ name, rawItem }): AnswerOfCall[] => {
        const { callId: id } = rawItem as { readonly callId?: unknown }
        if (name === undefined || typeof id !== 'string') return []
        if (state._context.isToolApproved({ toolName: name, callId: id }) !== false) return []
        const note = state._context.getRejectionMessage?.(name, id)
        return [{ id, name, answer: { decision: 'deny', ...(note !== undefined && { note }) } }]
      })
      return visit.answer(answers, state._context.context)
    },
  }
}

function agentsOutput({ output }: OpenAiToolOutput): string | OpenAiAgentsOutput[] {
  if (typeof output === 'string') return output
  return output.map((part) => {
    if (part.type === 'input_text') return { type: 'text', text: part.text }
    if (part.type === 'input_image') return { type: 'image', image: part.image_url }
    const { filename, file_data: data } = part
    return { type: 'file', file: { data: data.slice(data.indexOf(',') + 1), mediaType: 'application/pdf', filename } }
  })
}
