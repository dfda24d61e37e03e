/**
 * Mastra. This adapter makes an executor's tools those of agents and workflows, and Mastra's tools those of an executor. Mastra's
 * `createTool` is handed in: it imports nothing of Mastra.
 *
 * @module
 */
import type { StandardJSONSchemaV1, StandardSchemaV1, ToolDefinition } from '../index.ts'
import type { JsonSchemaObject } from '../extension.ts'
import { aiSdk, type AiSdkReply } from '../formats/ai-sdk.ts'
import { answerOf, offered, questionOf, type FrameworkQuestion } from './_approvals.ts'
import { checkConversation, frameworkOption } from './_options.ts'
import { resultJson, Visit, type FrameworkOptions, type FrameworkResult } from './_visit.ts'

export { fromMastra } from './_from-mastra.ts'
export type { FromMastraOptions, MastraForeignTool } from './_from-mastra.ts'
export type { FrameworkQuestion } from './_approvals.ts'
export type { ForeignOptions, ForeignToolOptions } from './_foreign.ts'
export type { DialectName, FrameworkOptions, FrameworkResult } from './_visit.ts'

/** Options of `mastraTools`. */
export interface MastraToolsOptions<Made> extends FrameworkOptions {
  /** Of `@mastra/core/tools`. */
  readonly createTool: (config: MastraToolConfig) => Made
}

/** What Mastra makes a tool of. */
export interface MastraToolConfig {
  id: string
  description: string
  inputSchema: never
  outputSchema: never
  /** Mastra runs the calls of a turn one after the other if a tool has one. Only tools that may ask a person have one. */
  suspendSchema?: never
  resumeSchema?: never
  toModelOutput: (output: unknown) => AiSdkReply['content'][number]['output']
  /** What Mastra gives the args of a call and its context. */
  execute: never
}

/** What a tool suspends its run with, and gets back when the run goes on. */
export type MastraSuspension = FrameworkQuestion & { readonly invocationId: string }

/** The part of Mastra's context that concerns an agent or a workflow. */
interface MastraScope {
  readonly toolCallId?: string
  readonly suspend?: ((payload: MastraSuspension) => Promise<unknown>) | undefined
  readonly resumeData?: unknown
  readonly suspendPayload?: unknown
}

interface Context extends MastraScope {
  readonly agent?: MastraScope
  readonly workflow?: MastraScope
  readonly requestContext?: { entries?(): Iterable<readonly [string, unknown]> }
  readonly abortSignal?: AbortSignal
  readonly writer?: { custom?(chunk: object): Promise<void> }
}

const suspendSchema = {
  type: 'object',
  properties: { prompt: { type: 'string' }, toolCallId: { type: 'string' } },
} as const
const resumeSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, note: { type: 'string' } },
  required: ['approved'],
} as const

/**
 * Makes an executor's tools those of Mastra, by their names. Every call goes through the executor's pipeline, in one session. The values
 * of a call are the entries of the `requestContext`.
 *
 * A call that needs approval suspends the run, and waits in the journal. `agent.resumeStream({ approved: true }, { runId, toolCallId })`
 * lets it go on, also in another process with the same storage. Any other data denies. In a workflow, each run of a step is a
 * call of its own.
 *
 * @param options The executor, the session, and Mastra's `createTool`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, missing or wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { mastraTools } from 'toolwright/frameworks/mastra'
 *
 * // import { createTool } from '@mastra/core/tools'
 * const createTool = (config: object): object => config
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const tools = mastraTools({ executor, session: 'thread-1', createTool })
 * // new Agent({ id: 'clock', name: 'clock', instructions: '…', model, tools })
 * ```
 * @see https://mastra.ai/docs/agents/agent-approval
 * @experimental
 */
export function mastraTools<Made>(options: MastraToolsOptions<Made>): { [name: string]: Made } {
  checkConversation('mastraTools', options, {
    createTool: frameworkOption('the function `createTool` of `@mastra/core/tools`'),
  })
  const { createTool, report } = options
  const visit = new Visit(options, 'mastra')
  const format = aiSdk({ ...(report && { report }) })

  async function execute(name: string, input: unknown, context: Context = {}): Promise<FrameworkResult | undefined> {
    const scope = context.agent ?? context.workflow ?? context
    const suspended = context.suspendPayload ?? scope.suspendPayload
    const { toolCallId: before } = Object(suspended) as { readonly toolCallId?: unknown }
    // A workflow has no id of a call, and may run the same step again: each run is a call of its own, until it goes on.
    const id = scope.toolCallId ?? (typeof before === 'string' ? before : crypto.randomUUID())
    const call = visit.callOf(id, name, input)
    const values = Object.fromEntries(context.requestContext?.entries?.() ?? [])
    const resumeData = context.resumeData ?? scope.resumeData
    const suspend = context.suspend ?? scope.suspend
    const question = suspend === undefined && resumeData === undefined ? undefined : await visit.asks(call, values)
    if (question !== undefined && resumeData === undefined) {
      await suspend?.({ ...questionOf(id, name, question), invocationId: visit.invocationOf(id, name) ?? '' })
      return undefined
    }
    const answer = resumeData === undefined ? undefined : answerOf(resumeData)
    const events = visit.stream(call, { answer, context: values, signal: context.abortSignal })
    let step = await events.next()
    for (; step.done !== true; step = await events.next()) {
      const { type, data } = step.value
      await context.writer?.custom?.({
        type: 'data-tool-progress',
        data: { toolCallId: id, toolName: name, type, data },
      })
    }
    return resultJson(step.value)
  }

  function mastraTool(tool: ToolDefinition): Made {
    const { name } = tool
    return createTool({
      id: name,
      description: tool.describe().description,
      inputSchema: passingSchema(visit.schemaOf(tool)),
      outputSchema: passingSchema({ type: 'object' }), // steps of workflows have to have one
      ...(visit.mayAsk(tool) && {
        suspendSchema: passingSchema(suspendSchema),
        resumeSchema: passingSchema(resumeSchema),
      }),
      toModelOutput: (output) => {
        const [part] = format.results([{ ...(output as FrameworkResult), id: name } as never]).content
        return part?.output ?? { type: 'text', value: '' }
      },
      execute: ((input: unknown, context?: Context) => execute(name, input, context)) as never,
    })
  }

  return Object.fromEntries(offered(visit).map((tool) => [tool.name, mastraTool(tool)]))
}

/** Makes a Standard Schema that takes everything: the executor validates. */
function passingSchema(schema: JsonSchemaObject): never {
  const convert = (): Record<string, unknown> => schema as Record<string, unknown>
  const standard: StandardSchemaV1.Props & StandardJSONSchemaV1.Props = {
    version: 1,
    vendor: 'toolwright',
    validate: (value) => ({ value }),
    jsonSchema: { input: convert, output: convert },
  }
  return { '~standard': standard } as never
}
