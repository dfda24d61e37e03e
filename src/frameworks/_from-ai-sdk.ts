import type { Schema, StandardJSONSchemaV1, StandardSchemaV1, Tool, ToolContext } from '../index.ts'
import { InvalidConfigurationError, InvalidInitialToolValueError } from '../errors.ts'
import type { JsonSchemaObject } from '../extension.ts'
import { modelResult } from './_ai-sdk-blocks.ts'
import { checkForeign, foreignTool, type ForeignOptions } from './_foreign.ts'
import type { ForeignFunction } from './_options.ts'
import { toolCallIdOf } from './_results.ts'

/** A tool of the SDK, as `tool`, `dynamicTool`, a provider or an MCP client makes it. */
export interface AiSdkForeignTool {
  readonly type?: string | undefined
  readonly description?: unknown
  readonly title?: string | undefined
  readonly inputSchema?: unknown
  readonly inputExamples?: readonly { readonly input: unknown }[] | undefined
  readonly contextSchema?: unknown
  readonly providerOptions?: object | undefined
  readonly strict?: boolean | undefined
  readonly needsApproval?: unknown
  readonly execute?: unknown
  readonly onInputAvailable?: unknown
  readonly toModelOutput?: unknown
  readonly id?: string | undefined
  readonly args?: unknown
}

/**
 * Makes the AI SDK's tools those of an executor. Their schemas validate, and their functions run.
 *
 * A generator's earlier values are progress, its last is the result. `toModelOutput` is what the model reads, and what the
 * tool gave is kept. `needsApproval` becomes `requiresConfirmation`. A tool without `execute` is of type `client`, and one of a
 * provider of type `provider`. The values of a call are the tool's context, as its `contextSchema` returns them.
 *
 * @param tools By their names.
 * @param options `tools` adds by each name what only the application knows, such as `traits` and `secrets`.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or names a tool that is not there; `E_INVALID_INITIAL_TOOL_VALUE` if a name
 * or a schema cannot be used, or a description is a function and `options` has none.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fromAiSdk } from 'toolwright/frameworks/ai-sdk'
 *
 * const greet = { description: 'Greets', inputSchema: { jsonSchema: { type: 'object' } }, execute: () => 'Hello!' }
 * const executor = createExecutor({ tools: await fromAiSdk({ greet }) })
 * ```
 * @experimental
 */
export async function fromAiSdk(
  tools: { readonly [name: string]: AiSdkForeignTool },
  options: ForeignOptions = {},
): Promise<Tool[]> {
  checkForeign('fromAiSdk', tools, options, {}, true)
  return Promise.all(Object.entries(tools).map(([name, theirs]) => aiSdkTool(name, theirs, options)))
}

async function aiSdkTool(name: string, theirs: AiSdkForeignTool, options: ForeignOptions): Promise<Tool> {
  const { type, title, description, inputExamples, needsApproval, execute, id, args } = theirs
  const { providerOptions, strict } = theirs
  const isProviders = type === 'provider' || type === 'provider-defined'
  const run = typeof execute === 'function' ? (execute as ForeignFunction) : undefined
  if (typeof description === 'function' && options.tools?.[name]?.description === undefined) {
    throw new InvalidInitialToolValueError(
      `The description of the AI SDK's tool ${JSON.stringify(name)} is a function. Give its words in \`tools\` of fromAiSdk: { ${JSON.stringify(name)}: { description: '…' } }.`,
    )
  }
  const definition = { ...(providerOptions && { providerOptions }), ...(strict !== undefined && { strict }) }
  const shared = {
    name,
    title,
    description: typeof description === 'string' ? description : undefined,
    inputSchema: await standardSchemaOf(theirs.inputSchema),
    examples: inputExamples?.map(({ input }) => input),
    ...(Object.keys(definition).length > 0 && { libraryOptions: { 'ai-sdk': definition } }),
  }
  if (isProviders && run === undefined) {
    const libraryOptions = { 'ai-sdk': { type: 'provider', id, name, args } }
    return foreignTool({ ...shared, type: 'provider', libraryOptions }, options)
  }
  const asks = typeof needsApproval === 'function' ? (needsApproval as ForeignFunction) : undefined
  const requiresConfirmation =
    asks === undefined
      ? needsApproval === true
      : async (input: unknown, context: ToolContext) =>
          asks.call(theirs, input, await executionOf(name, theirs, context))
  if (run === undefined) {
    return foreignTool({ ...shared, requiresConfirmation, type: 'client', requiresResponse: true }, options)
  }
  const handler = (input: unknown, context: ToolContext): unknown => handle(name, theirs, run, input, context)
  return foreignTool({ ...shared, requiresConfirmation, handler }, options)
}

/** Returns what the SDK tells a tool of its call. There is no conversation behind it. */
async function executionOf(name: string, theirs: AiSdkForeignTool, context: ToolContext): Promise<object> {
  const values = await toolContextOf(name, theirs.contextSchema, context.values)
  return {
    toolCallId: toolCallIdOf(context),
    messages: [],
    abortSignal: context.signal,
    context: values,
    experimental_context: values,
  }
}

/** Returns the values of a call as the tool's own schema of its context has them. */
async function toolContextOf(name: string, contextSchema: unknown, values: unknown): Promise<unknown> {
  if (contextSchema === undefined) return values
  const schema = await standardSchemaOf(contextSchema)
  if (typeof schema === 'boolean' || !('~standard' in schema)) return values // the SDK checks no JSON Schema alone either
  const outcome = await (schema as StandardSchemaV1)['~standard'].validate(values)
  if (outcome.issues === undefined) return outcome.value
  const words = outcome.issues.map(({ message, path = [] }) => `${path.map(keyOf).join('.')}: ${message}`).join('; ')
  throw new InvalidConfigurationError(
    `The values of the call do not fit the \`contextSchema\` of ${JSON.stringify(name)}: ${words}. Give them as \`values\` of aiSdkTools or of the call.`,
  )
}

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof segment === 'object' ? segment.key : segment)
}

async function* handle(
  name: string,
  theirs: AiSdkForeignTool,
  run: ForeignFunction,
  input: unknown,
  context: ToolContext,
): AsyncGenerator<unknown, unknown, undefined> {
  const execution = await executionOf(name, theirs, context)
  if (typeof theirs.onInputAvailable === 'function') {
    await (theirs.onInputAvailable as ForeignFunction).call(theirs, { input, ...execution })
  }
  const result = run.call(theirs, input, execution)
  if (!isIterable(result)) return aiSdkModelOutput(theirs, input, await result, context)
  let last: unknown
  let isFirst = true
  for await (const part of result) {
    if (!isFirst) yield last
    last = part
    isFirst = false
  }
  return aiSdkModelOutput(theirs, input, last, context)
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Returns the result with the words for the model, if the tool has its own. */
async function aiSdkModelOutput(
  theirs: AiSdkForeignTool,
  input: unknown,
  output: unknown,
  context: ToolContext,
): Promise<unknown> {
  if (typeof theirs.toModelOutput !== 'function') return output
  const toolCallId = toolCallIdOf(context)
  const modelOutput: unknown = await (theirs.toModelOutput as ForeignFunction).call(theirs, {
    toolCallId,
    input,
    output,
  })
  return modelResult(modelOutput, output)
}

/** Returns the schema of the SDK as one of this package. One of the SDK with a validator of its own is validated by it. */
async function standardSchemaOf(source: unknown): Promise<Schema> {
  const isLazy = typeof source === 'function' && !('~standard' in source)
  const schema: unknown = isLazy ? (source as ForeignFunction)() : source
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return { type: 'object' }
  if ('~standard' in schema) return schema as Schema
  const jsonSchema = (await (schema as { readonly jsonSchema?: unknown }).jsonSchema) as JsonSchemaObject | undefined
  if (jsonSchema === undefined) return schema
  const { validate } = schema as { readonly validate?: unknown }
  return typeof validate === 'function' ? validatedBy(validate as ForeignFunction, jsonSchema) : jsonSchema
}

function validatedBy(check: ForeignFunction, jsonSchema: JsonSchemaObject): Schema {
  const read = (outcome: unknown): StandardSchemaV1.Result<unknown> => {
    const { success, value, error } = (outcome ?? {}) as Readonly<Record<string, unknown>>
    if (success === true) return { value }
    return { issues: [{ message: error instanceof Error ? error.message : 'the args do not fit' }] }
  }
  const convert = (): Record<string, unknown> => ({ ...jsonSchema })
  const standard: StandardSchemaV1.Props & StandardJSONSchemaV1.Props = {
    version: 1,
    vendor: 'ai-sdk',
    validate: async (value) => read(await check(value)),
    jsonSchema: { input: convert, output: convert },
  }
  return { '~standard': standard }
}
