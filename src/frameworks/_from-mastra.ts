import { ToolFailure, type Schema, type StandardSchemaV1, type Tool, type ToolContext } from '../index.ts'
import { functionOption } from '../extension.ts'
import { modelResult } from './_ai-sdk-blocks.ts'
import { checkForeign, foreignTool, type ForeignOptions } from './_foreign.ts'
import type { ForeignFunction } from './_options.ts'
import { toolCallIdOf } from './_results.ts'

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
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or names a tool that is not there; `E_INVALID_INITIAL_TOOL_VALUE` if a name
 * or a schema cannot be used.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fromMastra } from 'toolwright/frameworks/mastra'
 * import { z } from 'zod'
 *
 * const weather = {
 *   id: 'weather',
 *   description: 'Returns the weather of a city',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }: { city: string }) => `21 degrees in ${city}`,
 * } // what `createTool` of @mastra/core/tools makes
 * const tools = fromMastra([weather], { tools: { weather: { traits: { readonly: true } } } })
 * const executor = createExecutor({ tools })
 * const { content } = await executor.execute({ name: 'weather', args: { city: 'Oslo' } })
 * console.log(content) // [ { type: 'text', text: '21 degrees in Oslo' } ]
 * ```
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
      const { error, message, validationErrors } = Object(output) as Readonly<Record<string, unknown>>
      // What Mastra's own validation returns. A tool may have an `error` of its own.
      if (error === true && validationErrors !== undefined) throw new ToolFailure(String(message))
      return mastraModelOutput(theirs, output)
    }
    const schema = checkingSchema(inputSchema as Schema)
    return foreignTool({ name, description, inputSchema: schema, requiresConfirmation, handler }, options)
  })
}

/** Returns a schema that checks args and leaves them as they came. Mastra's own function parses them: a transform runs once. */
function checkingSchema(schema: Schema): Schema {
  if (Object(schema) !== schema || !('~standard' in (schema as object))) return schema // the tool refuses what is no schema
  const { '~standard': standard } = schema as StandardSchemaV1
  const read = (outcome: StandardSchemaV1.Result<unknown>, value: unknown): StandardSchemaV1.Result<unknown> =>
    outcome.issues === undefined ? { value } : outcome
  const validate = (value: unknown): ReturnType<StandardSchemaV1.Props['validate']> => {
    const outcome = standard.validate(value)
    return outcome instanceof Promise ? outcome.then((later) => read(later, value)) : read(outcome, value)
  }
  return { '~standard': { ...standard, validate } } as Schema
}

/** Returns the result with what the tool shows the model, if it has words or pictures of its own. */
async function mastraModelOutput(theirs: MastraForeignTool, output: unknown): Promise<unknown> {
  if (typeof theirs.toModelOutput !== 'function' || output === undefined) return output
  const modelOutput: unknown = await (theirs.toModelOutput as ForeignFunction).call(theirs, output)
  return modelResult(modelOutput, output)
}
