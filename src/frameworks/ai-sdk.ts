/**
 * The AI SDK (versions 6 and 7). This leaf makes an executor's tools those of `generateText`, `streamText` and agents, and the
 * SDK's tools those of an executor. It imports nothing of the SDK, and knows no model.
 *
 * @module
 */
import type { ToolDefinition, ToolResult } from '../index.ts'
import { aiSdk, type AiSdkReply } from '../formats/ai-sdk.ts'
import { answerIn, isObject, listOf, unheardIn } from './_ai-sdk-messages.ts'
import { jsonOf, Visit, type Asked, type FrameworkOptions, type FrameworkResult } from './_visit.ts'

export { fromAiSdk } from './_from-ai-sdk.ts'
export type { AiSdkForeignTool } from './_from-ai-sdk.ts'
export type { ForeignOptions, ForeignToolOptions } from './_foreign.ts'
export type { DialectName, FrameworkOptions, FrameworkResult } from './_visit.ts'

/** Options of `aiSdkTools`. */
export interface AiSdkToolsOptions extends FrameworkOptions {
  /** The SDK's major version. With 6, each tool has `needsApproval`. Default: 7. */
  readonly version?: 6 | 7
}

/** The output of a call: its progress while it runs, then the JSON of its result. */
export type AiSdkToolOutput =
  FrameworkResult | { readonly status: 'running'; readonly progress: { readonly type: string; readonly data: unknown } }

/** What a model is told of an output. Content may also have files, in the form of the SDK's version. */
export type AiSdkModelOutput =
  | Exclude<AiSdkReply['content'][number]['output'], { type: 'content' }>
  | { type: 'content'; value: { type: 'text'; text: string }[] }

/** What the SDK tells a tool of a call. */
export interface AiSdkExecution {
  readonly toolCallId: string
  readonly messages: readonly unknown[]
  readonly abortSignal?: AbortSignal | undefined
  /** Of version 7. */
  readonly context?: unknown
  /** Of version 6. */
  readonly experimental_context?: unknown
}

/** A tool of the SDK. */
export interface AiSdkHostTool {
  readonly description: string
  /** Of a type of the SDK. */
  readonly inputSchema: never
  readonly execute: (input: unknown, options: AiSdkExecution) => AsyncGenerator<AiSdkToolOutput, void, undefined>
  readonly toModelOutput: (given: { readonly toolCallId: string; readonly output: unknown }) => AiSdkModelOutput
}

/** What the SDK tells of a call that it asks about. */
export interface AiSdkApprovalOptions {
  readonly toolCallId: string
  readonly messages: readonly unknown[]
  readonly toolContext?: unknown
}

/** Says whether a person has to approve a call of one tool. */
export type AiSdkApproval = (
  input: unknown,
  options: AiSdkApprovalOptions,
) => Promise<{ readonly type: 'user-approval'; readonly reason?: string } | undefined>

/** An executor's tools for the SDK. */
export interface AiSdkTools {
  /** For `tools` of `generateText`, `streamText`, `ToolLoopAgent` and `convertToModelMessages`. */
  readonly tools: { [name: string]: AiSdkHostTool }
  /**
   * For `toolApproval`, of version 7, by the names of the tools: add those of your own tools. Without it, a call that needs
   * approval is answered with words that say so.
   */
  readonly toolApproval: { [name: string]: AiSdkApproval }
  /**
   * Passes on the denials and the clients' answers in the messages of a request, which the SDK gives to no tool. Call it before
   * `generateText` or `streamText`. Returns the results of the calls that it closed.
   */
  readonly hear: (messages: readonly unknown[]) => Promise<ToolResult[]>
  /** Records what the provider ran in a step, for tools of type `provider`. Give it to `onStepEnd`. */
  readonly record: (step: object) => Promise<ToolResult[]>
}

const schemaMark = Symbol.for('vercel.ai.schema')

/**
 * Makes an executor's tools those of the AI SDK. Every call goes through the executor's pipeline, in one session.
 *
 * The SDK asks `toolApproval` before it runs a tool. A call that needs approval then waits in the journal, and goes on in any
 * process when the approval comes back in the messages of a later request. What a client sends is not believed: an approval
 * of what was not asked runs nothing.
 *
 * @param options The executor, the session, and the SDK's version.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const { tools, toolApproval } = aiSdkTools({ executor, session: 'chat-1' })
 * // await generateText({ model, tools, toolApproval, prompt: 'What time is it?' })
 * ```
 * @see https://ai-sdk.dev/docs/ai-sdk-core/tools-and-tool-calling
 * @experimental
 */
export function aiSdkTools(options: AiSdkToolsOptions): AiSdkTools {
  const { version = 7, dialect, report } = options
  const visit = new Visit(options, 'ai-sdk')
  const format = aiSdk({ version, ...(dialect && { dialect }), ...(report && { report }) })
  const byName = new Map<string, ToolDefinition>()
  const tools = new Map<string, AiSdkHostTool>()
  const toolApproval = new Map<string, AiSdkApproval>()
  for (const tool of visit.tools) {
    const [definition] = format.definitions([tool])
    if (definition === undefined) continue
    byName.set(tool.name, tool)
    if (tool.type !== 'provider') {
      toolApproval.set(tool.name, async (input, given) => {
        const asked = await asks(tool.name, input, given, given.toolContext)
        return asked && { type: 'user-approval', ...(asked.prompt !== undefined && { reason: asked.prompt }) }
      })
    }
    tools.set(tool.name, hosted(tool, definition) as unknown as AiSdkHostTool)
  }

  const asks = async (
    name: string,
    input: unknown,
    { toolCallId, messages }: Pick<AiSdkExecution, 'toolCallId' | 'messages'>,
    context: unknown,
  ): Promise<Partial<Asked> | undefined> => {
    // The SDK asks again when the answer has come. It must hear the same, and nothing more is held.
    if (answerIn(messages, toolCallId) !== undefined) return {}
    return visit.asks(visit.callOf(toolCallId, name, input), context)
  }

  function hosted(tool: ToolDefinition, definition: object): object {
    const { name } = tool
    const { type: _type, name: _name, inputSchema, ...rest } = definition as Record<string, unknown>
    if (tool.type === 'provider') {
      const schema = schemaOf({ type: 'object', additionalProperties: true })
      return {
        type: 'provider',
        isProviderExecuted: true,
        args: {},
        ...rest,
        inputSchema: schema,
        outputSchema: schema,
      }
    }
    const context = (given: AiSdkExecution): unknown => given.context ?? given.experimental_context
    const isClients = tool.type === 'client' && tool.requiresResponse
    return {
      ...rest,
      inputSchema: schemaOf(inputSchema),
      toModelOutput: ({ toolCallId, output }: { readonly toolCallId: string; readonly output: unknown }) =>
        modelOutput(toolCallId, output),
      ...(version === 6 && {
        needsApproval: async (input: unknown, given: AiSdkExecution) =>
          (await asks(name, input, given, context(given))) !== undefined,
      }),
      ...(isClients
        ? {
            outputSchema: schemaOf({}),
            async onInputAvailable({ input, ...given }: AiSdkExecution & { readonly input: unknown }) {
              const running = { context: context(given), signal: given.abortSignal }
              await visit.run(visit.callOf(given.toolCallId, name, input), running)
            },
          }
        : {
            async *execute(input: unknown, given: AiSdkExecution): AsyncGenerator<AiSdkToolOutput, void, undefined> {
              const { toolCallId, messages, abortSignal: signal } = given
              const running = { answer: answerIn(messages, toolCallId), context: context(given), signal }
              const events = visit.stream(visit.callOf(toolCallId, name, input), running)
              let step = await events.next()
              for (; step.done !== true; step = await events.next()) {
                yield { status: 'running', progress: { type: step.value.type, data: step.value.data } }
              }
              yield jsonOf(step.value)
            },
          }),
    }
  }

  /** Renders stored results, which may come from a client, so nothing is taken for granted. */
  function modelOutput(toolCallId: string, output: unknown): AiSdkModelOutput {
    if (isObject(output) && Array.isArray(output['content']) && typeof output['status'] === 'string') {
      try {
        const [part] = format.results([{ ...output, id: toolCallId } as unknown as ToolResult]).content
        if (part !== undefined) return part.output as AiSdkModelOutput
      } catch {
        // it is no result of ours: it goes on as it is
      }
    }
    if (typeof output === 'string') return { type: 'text', value: output }
    return { type: 'json', value: JSON.parse(JSON.stringify(output ?? null)) as never }
  }

  return {
    tools: Object.fromEntries(tools),
    toolApproval: Object.fromEntries(toolApproval),
    hear: (messages) => visit.hear(unheardIn(messages, (name) => byName.get(name)?.type === 'client')),
    async record(step) {
      const parts = listOf((step as { readonly content?: unknown }).content)
      const results: ToolResult[] = []
      for (const part of parts) {
        const { type, providerExecuted, toolCallId, toolName, input, output } = part
        const isOurs = typeof toolName === 'string' && byName.get(toolName)?.type === 'provider'
        if (type !== 'tool-result' || providerExecuted !== true || !isOurs) continue
        results.push(await visit.run({ id: String(toolCallId), name: toolName, args: input ?? {}, result: output }))
      }
      return results
    },
  }
}

/** Makes a schema of the SDK that validates nothing: the executor does. */
function schemaOf(jsonSchema: unknown): object {
  return { [schemaMark]: true, _type: undefined, validate: undefined, jsonSchema }
}
