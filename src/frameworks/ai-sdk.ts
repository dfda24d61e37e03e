/**
 * The AI SDK (versions 6 and 7). This adapter makes an executor's tools those of `generateText`, `streamText` and agents, and the
 * SDK's tools those of an executor. It imports nothing of the SDK, and knows no model.
 *
 * @module
 */
import type { ToolDefinition, ToolResult } from '../index.ts'
import { aiSdk } from '../formats/ai-sdk.ts'
import { answerIn, objectsOf, answersIn } from './_ai-sdk-messages.ts'
import { checkAiSdkOptions, requireTools } from './_ai-sdk-options.ts'
import { Outputs } from './_ai-sdk-outputs.ts'
import type {
  AiSdkApproval,
  AiSdkErrorMode,
  AiSdkExecution,
  AiSdkHostTool,
  AiSdkHostTools,
  AiSdkNamedTools,
  AiSdkOutputMode,
  AiSdkOutputOptions,
  AiSdkToolsOptions,
} from './_ai-sdk-types.ts'
import { Visit, type ApprovalQuestion, type FrameworkResult } from './_visit.ts'

export { fromAiSdk } from './_from-ai-sdk.ts'
export type { AiSdkForeignTool } from './_from-ai-sdk.ts'
export type {
  AiSdkApproval,
  AiSdkApprovalOptions,
  AiSdkErrorMode,
  AiSdkExecution,
  AiSdkFailure,
  AiSdkHostTool,
  AiSdkHostTools,
  AiSdkModelOutput,
  AiSdkNamedTools,
  AiSdkOutputMode,
  AiSdkOutputOptions,
  AiSdkProgress,
  AiSdkToolOutput,
  AiSdkToolsOptions,
} from './_ai-sdk-types.ts'
export type { ForeignOptions, ForeignToolOptions } from './_foreign.ts'
export type { DialectName, FrameworkOptions, FrameworkResult } from './_visit.ts'

/** An executor's tools for the SDK. */
export interface AiSdkTools<
  Tools extends AiSdkNamedTools | undefined = undefined,
  Output extends AiSdkOutputMode = 'envelope',
  Errors extends AiSdkErrorMode = 'output-available',
> {
  /** For `tools` of `generateText`, `streamText`, `ToolLoopAgent` and `convertToModelMessages`. */
  readonly tools: AiSdkHostTools<Tools, Output, Errors>
  /**
   * For `toolApproval`, of version 7, by the names of the tools: add those of your own tools. Without it, a call that needs
   * approval is answered with words that say so.
   */
  readonly toolApproval: { [Name in Tools extends AiSdkNamedTools ? keyof Tools : string]: AiSdkApproval }
  /**
   * The results of the calls that ran, by the SDK's ids of the calls: the newest 256. Empty if neither `output` nor `errors` is
   * set, since each output then is the result.
   */
  readonly results: ReadonlyMap<string, FrameworkResult>
  /**
   * Passes on the denials and the clients' answers in the messages of a request, which the SDK gives to no tool. Call it before
   * `generateText` or `streamText`. Returns the results of the calls that it closed.
   */
  readonly answer: (messages: readonly unknown[]) => Promise<ToolResult[]>
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
 * @param options The executor, the session, the SDK's version, and in which form a front end gets outputs and errors.
 * @throws `E_TOOL_NOT_FOUND` if the executor does not offer one of `tools`; `E_INVALID_CONFIGURATION` if it has another definition of
 * it, its key is not its name, or an option is wrong.
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
export function aiSdkTools<
  Tools extends AiSdkNamedTools | undefined = undefined,
  Output extends AiSdkOutputMode = 'envelope',
  Errors extends AiSdkErrorMode = 'output-available',
>(options: AiSdkToolsOptions<Tools, Output, Errors>): AiSdkTools<Tools, Output, Errors> {
  checkAiSdkOptions(options)
  const { version = 7, dialect, report } = options
  const outputMode: AiSdkOutputMode = options.output ?? 'envelope'
  const errorMode: AiSdkErrorMode = options.errors ?? 'output-available'
  const visit = new Visit(options, 'ai-sdk')
  const format = aiSdk({ version, ...(dialect && { dialect }), ...(report && { report }) })
  const outputs = new Outputs(visit, format, outputMode, errorMode)
  const byName = new Map<string, ToolDefinition>()
  const tools = new Map<string, AiSdkHostTool>()
  const toolApproval = new Map<string, AiSdkApproval>()
  for (const tool of visit.tools) {
    const [definition] = format.definitions([tool])
    if (definition === undefined) continue
    byName.set(tool.name, tool)
    if (tool.type !== 'provider') {
      toolApproval.set(tool.name, async (input, execution) => {
        const question = await asks(tool.name, input, execution, execution.toolContext)
        return question && { type: 'user-approval', ...(question.prompt !== undefined && { reason: question.prompt }) }
      })
    }
    tools.set(tool.name, hosted(tool, definition) as unknown as AiSdkHostTool)
  }
  requireTools(options.tools, byName)

  const asks = async (
    name: string,
    input: unknown,
    { toolCallId, messages }: Pick<AiSdkExecution, 'toolCallId' | 'messages'>,
    context: unknown,
  ): Promise<Partial<ApprovalQuestion> | undefined> => {
    // The SDK asks again when the answer has come. It must get the same, and nothing more is held.
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
    const context = (execution: AiSdkExecution): unknown => execution.context ?? execution.experimental_context
    const isClients = tool.type === 'client' && tool.requiresResponse
    return {
      ...(tool.title !== undefined && { title: tool.title }),
      ...rest,
      inputSchema: schemaOf(inputSchema),
      toModelOutput: (result: AiSdkOutputOptions) =>
        outputMode === 'value' && !isClients
          ? outputs.ofValue(name, result)
          : outputs.ofEnvelope(result.toolCallId, result.output),
      ...(version === 6 && {
        needsApproval: async (input: unknown, execution: AiSdkExecution) =>
          (await asks(name, input, execution, context(execution))) !== undefined,
      }),
      ...(isClients
        ? {
            outputSchema: schemaOf({}),
            async onInputAvailable({ input, ...execution }: AiSdkExecution & { readonly input: unknown }) {
              const running = { context: context(execution), signal: execution.abortSignal }
              await visit.run(visit.callOf(execution.toolCallId, name, input), running)
            },
          }
        : {
            async *execute(input: unknown, execution: AiSdkExecution): AsyncGenerator<unknown, void, undefined> {
              const { toolCallId, messages, abortSignal: signal } = execution
              const running = { answer: answerIn(messages, toolCallId), context: context(execution), signal }
              const events = visit.stream(visit.callOf(toolCallId, name, input), running)
              let step = await events.next()
              for (; step.done !== true; step = await events.next()) {
                yield { status: 'running', progress: { type: step.value.type, data: step.value.data } }
              }
              yield await outputs.outputOf(toolCallId, step.value)
            },
          }),
    }
  }

  return {
    tools: Object.fromEntries(tools) as unknown as AiSdkHostTools<Tools, Output, Errors>,
    toolApproval: Object.fromEntries(toolApproval) as AiSdkTools<Tools>['toolApproval'],
    results: outputs.results,
    answer: (messages) => visit.answer(answersIn(messages, (name) => byName.get(name)?.type === 'client')),
    async record(step) {
      const parts = objectsOf((step as { readonly content?: unknown }).content)
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
