import { content, shown, ToolFailure, type ContentBlock, type Schema, type Tool, type ToolContext } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { checkForeign, foreignTool, type ForeignOptions } from './_foreign.ts'
import { toolCallIdOf } from './_results.ts'

/** A tool of LangChain. */
export interface LangchainForeignTool {
  readonly name: string
  readonly description?: string | undefined
  readonly schema?: unknown
  readonly returnDirect?: boolean | undefined
  readonly extras?: object | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- the parameters of LangChain's `invoke` are generic
  readonly invoke: (input: any, config?: any) => Promise<unknown>
}

const textInput = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } as const

/**
 * Makes LangChain's tools those of an executor. Their schemas validate, and their functions run. What a tool yields or writes is
 * progress. The content of its message is what the model reads, and its artifact is kept. A tool that interrupts its graph, or returns a
 * `Command` for it, fails with words that say so: no graph runs it.
 *
 * @param tools What LangChain's `tool` or a toolkit made.
 * @param options `tools` adds by each name what only the application knows, such as `traits` and `secrets`.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or names a tool that is not there; `E_INVALID_INITIAL_TOOL_VALUE` if a name
 * or a schema cannot be used.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fromLangchain } from 'toolwright/frameworks/langchain'
 * import { z } from 'zod'
 *
 * const weather = {
 *   name: 'weather',
 *   description: 'Returns the weather of a city',
 *   schema: z.object({ city: z.string() }),
 *   invoke: async ({ args }: { args: { city: string } }) => `21 degrees in ${args.city}`,
 * } // what `tool` of @langchain/core/tools makes
 * const tools = fromLangchain([weather], { tools: { weather: { traits: { readonly: true } } } })
 * const executor = createExecutor({ tools })
 * const { content } = await executor.execute({ name: 'weather', args: { city: 'Oslo' } })
 * console.log(content) // [ { type: 'text', text: '21 degrees in Oslo' } ]
 * ```
 * @experimental
 */
export function fromLangchain(tools: readonly LangchainForeignTool[], options: ForeignOptions = {}): Tool[] {
  checkForeign('fromLangchain', tools, options, {})
  return tools.map((theirs) => {
    const { name, description, schema, returnDirect, extras } = theirs
    // Tools that take a text have a transform of it as their schema.
    const isText =
      (schema as { readonly _def?: { readonly typeName?: unknown } } | undefined)?._def?.typeName === 'ZodEffects'
    const inputSchema = (isText || schema === undefined ? textInput : schema) as Schema
    const runnable = isText ? theirs : uncheckedTool(theirs)
    const handler = async (args: unknown, context: ToolContext) => {
      const { signal, values, emit } = context
      const id = toolCallIdOf(context)
      const tell = (chunk: unknown): void => emit('progress', chunk)
      const callbacks = [{ handleToolEvent: tell }]
      const config = { signal, configurable: values, context: values, writer: tell, callbacks }
      const running = runnable.invoke({ type: 'tool_call', id, name, args }, config)
      return langchainOutput(name, await running.catch((error: unknown) => failInterrupt(name, error)))
    }
    const langchain = { ...(returnDirect === true && { returnDirect }), ...(extras && { extras }) }
    const libraryOptions = Object.keys(langchain).length > 0 ? { libraryOptions: { langchain } } : undefined
    return foreignTool({ name, description, inputSchema, handler, ...libraryOptions }, options)
  })
}

/** Returns a tool that does not parse its args again: a transform would get what it has made. */
function uncheckedTool(theirs: LangchainForeignTool): LangchainForeignTool {
  const { _call: call } = theirs as { readonly _call?: unknown }
  if (typeof call !== 'function') return theirs
  // The tool's own function keeps its own `this`, which may have private fields.
  return Object.create(theirs, {
    schema: { value: {} },
    _call: { value: call.bind(theirs) as unknown },
  }) as typeof theirs
}

/** An interrupt finds no graph here, and its own error would only say that a checkpointer is missing. */
function failInterrupt(name: string, error: unknown): never {
  const { lc_error_code: code } = Object(error) as { readonly lc_error_code?: unknown }
  if (code !== 'MISSING_CHECKPOINTER') throw error
  throw new InvalidConfigurationError(
    `Tool ${JSON.stringify(name)} calls interrupt(), and no graph runs it here. Write \`requiresConfirmation\` in its place, or give the tool to the graph itself, beside the tools of langchainTools.`,
  )
}

function langchainOutput(name: string, message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message
  if ('lg_name' in message && message.lg_name === 'Command') {
    throw new InvalidConfigurationError(
      `Tool ${JSON.stringify(name)} returned a Command, which only its graph can follow. Give it to the graph itself, beside the tools of langchainTools.`,
    )
  }
  if (!('tool_call_id' in message)) return message
  const { content: messageContent, artifact, status } = message as Readonly<Record<string, unknown>>
  if (status === 'error')
    throw new ToolFailure(typeof messageContent === 'string' ? messageContent : JSON.stringify(messageContent))
  if (typeof messageContent === 'string' && artifact === undefined) return messageContent
  const blocks: ContentBlock[] = Array.isArray(messageContent)
    ? messageContent.map(langchainBlock)
    : [{ type: 'text', text: String(messageContent) }]
  return artifact === undefined ? content(blocks) : shown(blocks, artifact)
}

/** Returns a block of a message's part, in any of the forms that LangChain has had. */
function langchainBlock(part: Readonly<Record<string, unknown>>): ContentBlock {
  const { type, text, data, image_url: image } = part
  if (type === 'text') return { type, text: String(text) }
  const address = typeof image === 'string' ? image : (image as { readonly url?: unknown } | undefined)?.url
  const [, mediaType, bytes] = /^data:([^;,]+);base64,(.*)$/s.exec(String(address)) ?? []
  if (mediaType !== undefined && bytes !== undefined) return { type: 'image', data: bytes, mimeType: mediaType }
  const mimeType = part['mimeType'] ?? part['mime_type']
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string') {
    return { type, data, mimeType }
  }
  return { type: 'json', data: part }
}
