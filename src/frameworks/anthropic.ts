/**
 * The tool runner of Anthropic's SDK (`client.beta.messages.toolRunner`). This adapter makes an executor's tools those of the
 * runner. The SDK's `ToolError` is handed in: it imports nothing of the SDK.
 *
 * @module
 */
import { anthropic, type AnthropicTool, type AnthropicToolResult } from '../formats/anthropic.ts'
import { checkConversation, frameworkOption } from './_options.ts'
import { Visit, type FrameworkOptions } from './_visit.ts'

export type { DialectName, FrameworkOptions } from './_visit.ts'

/** What a tool gives the runner. */
export type AnthropicContent = AnthropicToolResult['content']

/** Options of `anthropicTools`. */
export interface AnthropicToolsOptions extends Omit<FrameworkOptions, 'dialect'> {
  /** The SDK's own `ToolError`: only what is thrown is an error for the model. */
  readonly ToolError: new (content: never) => Error
}

/** What the runner tells a tool of a call. */
export interface AnthropicRunContext {
  readonly toolUse?: object
  readonly signal?: AbortSignal | null | undefined
}

/** A tool of the runner, with its definition. */
export interface AnthropicRunnableTool extends AnthropicTool {
  readonly parse: (content: unknown) => unknown
  readonly run: (input: unknown, context?: AnthropicRunContext) => Promise<AnthropicContent>
}

/**
 * Makes an executor's tools those of Anthropic's tool runner. Every call goes through the executor's pipeline, in one session. Tools
 * that Anthropic runs go out as their definitions.
 *
 * The runner knows no approval. A call that needs one waits, and the model reads that it does. `executor.calls.waiting({ session })`
 * lists it. Give its result to the model in a later message, once `decide` has run it.
 *
 * @param options The executor, the session, and the SDK's `ToolError`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, missing or wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { anthropicTools } from 'toolwright/frameworks/anthropic'
 *
 * // import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
 * class ToolError extends Error {}
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const tools = anthropicTools({ executor, session: 'chat-1', ToolError })
 * // await client.beta.messages.toolRunner({ model, max_tokens: 1_024, messages, tools })
 * ```
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
 * @experimental
 */
export function anthropicTools(options: AnthropicToolsOptions): AnthropicRunnableTool[] {
  checkConversation('anthropicTools', options, {
    ToolError: frameworkOption('the class `ToolError` of `@anthropic-ai/sdk/lib/tools/ToolError`'),
  })
  const { ToolError } = options
  const visit = new Visit(options, 'anthropic')
  const format = anthropic({ report: visit.report })
  return visit.tools.flatMap((tool): AnthropicRunnableTool[] => {
    const [definition] = format.definitions([tool])
    if (definition === undefined) return []
    if (tool.type === 'provider') return [definition as AnthropicRunnableTool]
    const { name } = tool
    return [
      {
        ...definition,
        parse: (content) => content,
        async run(input, { toolUse = {}, signal } = {}) {
          const block = { id: undefined, ...toolUse, type: 'tool_use', name, input }
          const message = { role: 'assistant', content: [block] }
          const [call = { name }] = format.calls(message, visit.tools)
          const result = await visit.run(call, { signal: signal ?? undefined })
          const replies = call.id === undefined ? [{ ...result, id: name }] : [result]
          const [reply] = format.results(replies, call.id === undefined ? undefined : message).content
          if (reply?.is_error === true) throw new ToolError(reply.content as never)
          return reply?.content ?? ''
        },
      },
    ]
  })
}
