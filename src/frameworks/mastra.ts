/**
 * Mastra. This adapter makes an executor's tools those of agents and workflows, and Mastra's tools those of an executor. Mastra's
 * `createTool` is handed in: it imports nothing of Mastra.
 *
 * @module
 */
import {
  shown,
  ToolFailure,
  type Schema,
  type StandardJSONSchemaV1,
  type StandardSchemaV1,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from '../index.ts'
import { functionOption, type JsonSchemaObject } from '../extension.ts'
import { aiSdk, type AiSdkReply } from '../formats/ai-sdk.ts'
import { answerOf, offered, questionOf, type FrameworkQuestion } from './_approvals.ts'
import { checkForeign, foreignTool, type ForeignOptions } from './_foreign.ts'
import { checkConversation, frameworkOption, type ForeignFunction } from './_options.ts'
import { toolCallIdOf } from './_results.ts'
import { resultJson, Visit, type FrameworkOptions, type FrameworkResult } from './_visit.ts'

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
  suspendSchema: never
  resumeSchema: never
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
      suspendSchema: passingSchema(suspendSchema),
      resumeSchema: passingSchema(resumeSchema),
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

/** A tool of Mastra. */
export interface MastraForeignTool {
  readonly id: string
  readonly description: string
  readonly title?: string | undefined
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly requireApproval?: unknown
  readonly toModelOutput?: unknown
  readonly execute?: unknown
}

/** Options of `fromMastra`. */
export interface FromMastraOptions extends ForeignOptions {
  /** Makes the request context of a call: `(values) => new RequestContext(Object.entries(values))`. Default: none. */
  readonly requestContext?: (values: object) => object
  /** Called if a tool suspends its run, since there is none here. Its value is the result. Default: the call fails. */
  readonly onSuspend?: (payload: unknown, context: ToolContext) => unknown
}

/**
 * Makes Mastra's tools those of an executor. Their schemas validate, and their functions run. `requireApproval` becomes
 * `requiresConfirmation`, `toModelOutput` is what the model reads, and what a tool writes is progress.
 *
 * @param tools What `createTool` made.
 * @param options `tools` adds by each id what only the application knows; `requestContext` and `onSuspend`.
 * @throws `E_INVALID_INITIAL_TOOL_VALUE` if a name or a schema cannot be used.
 * @experimental
 */
export function fromMastra(tools: readonly MastraForeignTool[], options: FromMastraOptions = {}): Tool[] {
  checkForeign('fromMastra', tools, options, { requestContext: functionOption, onSuspend: functionOption })
  return tools.map((theirs) => {
    const { id: name, description, inputSchema = { type: 'object' }, requireApproval } = theirs
    const contextOf = ({ values }: ToolContext): object | undefined => options.requestContext?.(values)
    const requiresConfirmation =
      typeof requireApproval === 'function'
        ? (input: unknown, context: ToolContext) =>
            (requireApproval as ForeignFunction).call(theirs, input, { requestContext: context.values })
        : requireApproval === true
    const handler = async (input: unknown, context: ToolContext): Promise<unknown> => {
      const { signal: abortSignal, emit } = context
      let suspended: { readonly payload: unknown } | undefined
      const suspend = (payload: unknown): Promise<void> => {
        suspended = { payload }
        return Promise.resolve()
      }
      const write = (chunk: unknown): Promise<void> => Promise.resolve(emit('progress', chunk))
      const agent = { agentId: '', toolCallId: toolCallIdOf(context), messages: [], suspend }
      const own = { requestContext: contextOf(context), abortSignal, agent, suspend, writer: { write, custom: write } }
      const output = await (theirs.execute as ForeignFunction).call(theirs, input, own)
      if (suspended !== undefined) {
        if (options.onSuspend !== undefined) return options.onSuspend(suspended.payload, context)
        throw new ToolFailure(`The tool suspends its run (${JSON.stringify(suspended.payload)}), and no agent runs it.`)
      }
      const { error, message } = Object(output) as { readonly error?: unknown; readonly message?: unknown }
      if (error === true) throw new ToolFailure(String(message)) // what Mastra's own validation returns
      return mastraModelOutput(theirs, output)
    }
    const schema = checkingSchema(inputSchema as Schema)
    return foreignTool({ name, description, inputSchema: schema, requiresConfirmation, handler }, options)
  })
}

/** Returns a schema that checks args and leaves them as they came. Mastra's own function parses them: a transform runs once. */
function checkingSchema(schema: Schema): Schema {
  if (typeof schema === 'boolean' || !('~standard' in schema)) return schema
  const { '~standard': standard } = schema as StandardSchemaV1
  const read = (outcome: StandardSchemaV1.Result<unknown>, value: unknown): StandardSchemaV1.Result<unknown> =>
    outcome.issues === undefined ? { value } : outcome
  const validate = (value: unknown): ReturnType<StandardSchemaV1.Props['validate']> => {
    const outcome = standard.validate(value)
    return outcome instanceof Promise ? outcome.then((later) => read(later, value)) : read(outcome, value)
  }
  return { '~standard': { ...standard, validate } } as Schema
}

/** Returns the result with the words for the model, if the tool has its own. */
async function mastraModelOutput(theirs: MastraForeignTool, output: unknown): Promise<unknown> {
  if (typeof theirs.toModelOutput !== 'function' || output === undefined) return output
  const modelOutput: unknown = await (theirs.toModelOutput as ForeignFunction).call(theirs, output)
  const { type, value } = Object(modelOutput) as { readonly type?: unknown; readonly value?: unknown }
  if (type !== 'text') return shown([{ type: 'json', data: type === 'json' ? value : modelOutput }], output)
  return shown(String(value), output)
}
