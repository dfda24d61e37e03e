/**
 * Anthropic's Messages API. This format only translates: it must not use the network, keep state, or depend on the executor.
 *
 * @module
 */
import type { Format, ToolCall, ToolDefinition } from '../index.ts'
import { requireOptions } from './_options.ts'
import { beyond } from './_budget.ts'
import { definer, acceptTyped } from './_definitions.ts'
import { anthropicProvider, anthropicWith } from './_dialects.ts'
import { isObject, list, read, text, toolCall, typeOf, type Fields } from './_read.ts'
import { callersOf, programOf, programText } from './_program.ts'
import { answerId, answers, render, type Carry, type FormatOptions } from './_render.ts'
import { schemasOf, type SchemaOptions } from './_schemas.ts'
import { isEach, isRoleMessage, requireOwn } from './_shape.ts'
import type { ObjectSchema } from './_types.ts'

export type { SchemaOptions } from './_schemas.ts'
export type { ObjectSchema } from './_types.ts'

/** Options of the format. */
export interface AnthropicOptions extends FormatOptions, SchemaOptions {
  /**
   * The most optional fields that a strict tool may have. The API refuses a tool if it cannot make its grammar. Default: 10.
   */
  readonly optionalLimit?: number
}

// All providers have `text`. Only Anthropic's messages have these.
const ownBlock =
  /^(?:\w+_)?(?:tool_use|tool_result)$|^(?:redacted_)?thinking$|^(?:compaction|fallback|container_upload)$/
const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const
type ImageType = (typeof imageTypes)[number]

/** A tool in a request. A tool that Anthropic runs has the fields of its options instead. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: ObjectSchema
  input_examples?: { [name: string]: unknown }[]
}

/** A response, a message, the `content` of either, or a conversation. */
export type AnthropicMessage =
  { readonly role: string; readonly content: string | readonly object[] } | readonly object[]

/** A picture in a result. */
export interface AnthropicImage {
  type: 'image'
  source: { type: 'base64'; media_type: ImageType; data: string }
}

/** A document in a result. */
export interface AnthropicDocument {
  type: 'document'
  source: { type: 'base64'; media_type: 'application/pdf'; data: string }
  title?: string
}

/** The result of one call. */
export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: string | ({ type: 'text'; text: string } | AnthropicImage | AnthropicDocument)[]
  is_error?: true
  toolset_name?: string
}

/** The message that answers all calls of a message. */
export interface AnthropicReply {
  role: 'user'
  content: AnthropicToolResult[]
}

/** The format of Anthropic's Messages API, with the types of its client. */
export type AnthropicFormat = Format<AnthropicTool, AnthropicMessage, AnthropicReply>

/**
 * Returns a format that translates to and from Anthropic's Messages API.
 *
 * Messages: a response, an assistant message, the `content` of either, or the last message of a conversation. An assistant
 * message that has only text blocks counts as Anthropic's. Calls that the provider runs itself (`server_tool_use`,
 * `mcp_tool_use`) are ignored.
 *
 * Schemas that the API would refuse are changed ([what, and how args come back](./README.md#schemas)).
 * `providerOptions.anthropic` is merged into the definition (`strict`, `cache_control`, …). With a `type` of Anthropic's tools
 * (`bash_20250124`), it replaces description and schema. A failed result is text only, because the API demands it. Pictures
 * other than JPEG, PNG, GIF and WebP become text. `results` returns one user message with all results.
 *
 * A call of a program (`caller: { type: 'code_execution_…' }`) has `program`, and its result is JSON text without a note.
 * `allowedCallers: ['program']` goes out as `code_execution_20260120`; `providerOptions.anthropic.allowed_callers` replaces it.
 *
 * @param options `strict`, `optionalLimit`, `waiting`, `envelope`, `examples`, `programLimit` and `report`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown or wrong.
 * @example
 * ```ts
 * import { anthropic } from 'toolwright/formats/anthropic'
 *
 * const format = anthropic()
 * const calls = format.calls({ role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'now', input: {} }] })
 * ```
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
 */
export function anthropic(options: AnthropicOptions = {}): AnthropicFormat {
  requireOptions('anthropic', options, ['strict', 'optionalLimit'])
  const { optionalLimit } = options
  const optionsOf = (tool: ToolDefinition): unknown => tool.providerOptions['anthropic']
  const schemas = schemasOf(
    {
      provider: optionalLimit === undefined ? anthropicProvider : anthropicWith(optionalLimit),
      optionsOf,
      beyond,
      replaces: (providerOptions) => !isCustom(providerOptions) || Object.hasOwn(providerOptions, 'input_schema'),
    },
    options,
  )
  const definitions = definer<AnthropicTool>(
    {
      optionsOf,
      reach: (tool) => ({
        allowed_callers: callersOf(tool, 'direct', 'code_execution_20260120'),
        defer_loading: tool.deferLoading,
      }),
      accept: acceptTyped,
      define({ name, description, inputSchema }, providerOptions, { strict, examples }) {
        if (!isCustom(providerOptions)) return { name, ...providerOptions }
        return {
          name,
          description,
          input_schema: inputSchema,
          ...(examples.length === 0 ? undefined : { input_examples: examples }),
          ...providerOptions,
          ...(strict === undefined ? undefined : { strict }),
        }
      },
    },
    options,
    schemas.plansOf,
  )
  return {
    name: 'anthropic',
    definitions,
    report: schemas.report,

    detect(message) {
      const assistant = assistantContent(message)
      if (read(assistant, 'role') !== 'assistant' || Array.isArray(read(assistant, 'tool_calls'))) return false
      const content = read(assistant, 'content')
      if (!Array.isArray(content)) return false
      if (content.length === 0) return read(assistant, 'type') === 'message'
      return content.some((block) => ownBlock.test(typeOf(block))) || content.every((block) => typeOf(block) === 'text')
    },

    calls(message, tools) {
      const uses = toolUses(message)
      if (uses.length === 0)
        requireOwn(
          message,
          'anthropic',
          isAnthropicMessage(message),
          'a response, an assistant message or its `content`',
        )
      return schemas.lift(uses.map(callOfBlock), tools)
    },

    results(results, message, budget) {
      const uses = toolUses(message)
      const content = answers(results, options, uses.map(callOfBlock), budget, programText).map(
        ({ result, place, whole }) => {
          const pieces =
            whole === undefined ? render(result, options, result.isError ? undefined : carryAnthropic) : [whole]
          const [first] = pieces
          const toolset = read(uses[place], 'toolset_name')
          return {
            type: 'tool_result' as const,
            tool_use_id: answerId(result),
            content:
              pieces.length === 1 && typeof first === 'string'
                ? first
                : pieces.map((piece) => (typeof piece === 'string' ? { type: 'text' as const, text: piece } : piece)),
            ...(result.isError ? { is_error: true as const } : undefined),
            ...(typeof toolset === 'string' ? { toolset_name: toolset } : undefined),
          }
        },
      )
      return { role: 'user', content }
    },
  }
}

function isCustom({ type = 'custom' }: Fields): boolean {
  return type === 'custom'
}

function assistantContent(message: unknown): unknown {
  if (!Array.isArray(message)) return message
  const isContent = message.some((block) => typeOf(block) === 'tool_use')
  return isContent ? { role: 'assistant', content: message } : message.at(-1)
}

function toolUses(message: unknown): readonly unknown[] {
  return list(read(assistantContent(message), 'content')).filter(
    (block) => isObject(block) && typeOf(block) === 'tool_use',
  )
}

function isImageType(mimeType: string): mimeType is ImageType {
  return imageTypes.some((type) => type === mimeType)
}

function isAnthropicMessage(message: unknown): boolean {
  return (
    isRoleMessage(message) ||
    (Array.isArray(message) && isEach(message, (item) => typeOf(item) !== '' || isRoleMessage(item)))
  )
}

function callOfBlock(block: unknown): ToolCall {
  return toolCall(
    read(block, 'id'),
    read(block, 'name'),
    read(block, 'input'),
    programOf(read(block, 'caller'), 'tool_id'),
  )
}

const carryAnthropic: Carry<AnthropicImage | AnthropicDocument> = ({ mimeType, data, uri }) => {
  if (isImageType(mimeType)) return { type: 'image', source: { type: 'base64', media_type: mimeType, data } }
  if (mimeType !== 'application/pdf') return undefined
  const source = { type: 'base64', media_type: mimeType, data } as const
  return { type: 'document', source, ...(text(uri) === '' ? undefined : { title: text(uri).slice(-255) }) }
}
