/**
 * The AI SDK's messages and tools. This format only translates: it must not use the network, keep state, depend on the
 * executor, or import the SDK.
 *
 * @module
 */
import type { Format, ToolCall, ToolDefinition } from '../index.ts'
import { optionsError } from '../extension.ts'
import { requireOptions } from './_options.ts'
import { beyond } from './_budget.ts'
import { definer } from './_definitions.ts'
import { providerOf, type DialectName } from './_dialects.ts'
import { withExamples } from './_examples.ts'
import { callersOf, definedFields, programOf, programText } from './_program.ts'
import { list, read, toolCall, typeOf, unanswered } from './_read.ts'
import {
  answerId,
  answerName,
  answers,
  render,
  renderText,
  soleJson,
  type FormatOptions,
  type Media,
} from './_render.ts'
import { schemasOf, type SchemaOptions } from './_schemas.ts'
import { isEach, isRoleMessage, requireOwn } from './_shape.ts'
import type { JsonValue, ObjectSchema } from './_types.ts'

export type { SchemaOptions } from './_schemas.ts'
export type { JsonValue, ObjectSchema } from './_types.ts'

/** Options of the format. */
export interface AiSdkOptions extends FormatOptions, SchemaOptions {
  /** The provider behind the SDK, whose rules schemas follow. Default: none, and schemas go out as they are. */
  readonly dialect?: DialectName
  /** The SDK's major version, which determines the form of media, of provider tools and of examples. Default: `7`. */
  readonly version?: 5 | 6 | 7
}

/** A tool as a language model takes it. A tool of a provider has the fields of its options instead. */
export interface AiSdkTool {
  type: 'function'
  name: string
  description: string
  inputSchema: ObjectSchema
  inputExamples?: { input: { [name: string]: JsonValue } }[]
}

/** A result of `generateText`, its `toolCalls`, an assistant message, or a conversation. */
export type AiSdkMessage =
  | { readonly toolCalls: readonly object[] }
  | { readonly role?: string; readonly content: string | readonly object[] }
  | readonly object[]

/** A file in a result, in the form of version 7. */
export interface AiSdkFile {
  type: 'file'
  mediaType: string
  data: { type: 'data'; data: string }
  filename?: string
}

type AiSdkOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'json' | 'error-json'; value: JsonValue }
  | { type: 'content'; value: ({ type: 'text'; text: string } | AiSdkFile)[] }

/** The message that answers all calls of a message. */
export interface AiSdkReply {
  role: 'tool'
  content: { type: 'tool-result'; toolCallId: string; toolName: string; output: AiSdkOutput }[]
}

/** The format of the AI SDK, with the types of its messages. */
export type AiSdkFormat = Format<AiSdkTool, AiSdkMessage, AiSdkReply>

// All providers have `text`. Only the AI SDK's assistant messages have these.
const ownPart = /^(?:tool-(?:call|result|error|approval-request)|reasoning(?:-file)?|file|source|custom)$/

/**
 * Returns a format that translates to and from the AI SDK (versions 5 to 7; it also reads the calls of version 4).
 *
 * Messages: an assistant `ModelMessage`, `response.messages` or another conversation, a `generateText` result, or its
 * `toolCalls`. Calls that the provider executed, or that already have a result, are ignored.
 *
 * Definitions have the form of a language model's `tools` (`{ type: 'function', name, description, inputSchema }`). For
 * `generateText`, convert each to `tool({ description, inputSchema: jsonSchema(inputSchema) })` under its name, without
 * `execute`. `libraryOptions['ai-sdk']` is merged into the definition (`strict`, `providerOptions`). For a tool of type
 * `provider`, it is the definition (`{ type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} }`). For
 * version 5, its type becomes `provider-defined`. `allowedCallers` and `deferLoading` go out as `providerOptions` of those providers
 * that have them.
 *
 * @param options `strict`, `dialect`, `version`, `waiting`, `envelope`, `examples`, `programLimit` and `report`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown or wrong.
 * @example
 * ```ts
 * import { aiSdk } from 'toolwright/formats/ai-sdk'
 *
 * const format = aiSdk()
 * const calls = format.calls({
 *   role: 'assistant',
 *   content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input: {} }],
 * })
 * ```
 * @see https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message
 */
export function aiSdk(options: AiSdkOptions = {}): AiSdkFormat {
  requireOptions('ai-sdk', options, ['strict', 'dialect', 'version'])
  const { version = 7 } = options
  if (![5, 6, 7].includes(version)) throw optionsError('ai-sdk', 'takes 5, 6 or 7 as `version`')
  const carry = (media: Media): AiSdkFile => filePart(media, version) as AiSdkFile
  const optionsOf = (tool: ToolDefinition): unknown => tool.libraryOptions['ai-sdk']
  const schemas = schemasOf(
    {
      provider: options.dialect === undefined ? undefined : providerOf(options.dialect),
      optionsOf,
      beyond,
      replaces: (providerOptions) =>
        Object.hasOwn(providerOptions, 'inputSchema') || typeOf(providerOptions).startsWith('provider'),
    },
    options,
  )
  const definitions = definer<AiSdkTool>(
    {
      optionsOf,
      reach(tool) {
        const { deferLoading } = tool
        const allowedCallers = callersOf(tool, 'direct', 'code_execution_20260120')
        const byProvider = {
          anthropic: definedFields({ allowedCallers, deferLoading }),
          openai: definedFields({ deferLoading }),
        }
        return { providerOptions: definedFields(byProvider) }
      },
      accept(providerOptions, isHosted) {
        const { type, id } = providerOptions
        if (!isHosted && (type === undefined || type === 'function')) return { options: providerOptions }
        if (!/^provider(?:-defined)?$/.test(typeOf(providerOptions)) || typeof id !== 'string') {
          return { fault: 'the tool of a provider has the type "provider" and an id such as "openai.web_search"' }
        }
        return { options: { ...providerOptions, type: version === 5 ? 'provider-defined' : 'provider' } }
      },
      define({ name, description, inputSchema }, providerOptions, { strict, examples }) {
        const hasField = version !== 5 // version 5 has no field for examples
        const inputExamples = hasField ? examples.map((input) => ({ input })) : []
        return {
          type: 'function',
          name,
          description:
            hasField || Object.hasOwn(providerOptions, 'inputSchema')
              ? description
              : withExamples(description, examples),
          inputSchema,
          ...(inputExamples.length === 0 ? undefined : { inputExamples }),
          ...providerOptions,
          ...(strict === undefined ? undefined : { strict }),
        }
      },
    },
    options,
    schemas.plansOf,
  )
  return {
    name: 'ai-sdk',
    definitions,
    report: schemas.report,

    detect(message) {
      if (typeof read(message, 'finishReason') === 'string' && Array.isArray(read(message, 'toolCalls'))) return true
      const items = Array.isArray(message) ? message : [message]
      return items.some(
        (item) =>
          typeOf(item) === 'tool-call' ||
          (read(item, 'role') === 'assistant' && messageContent(item).some((part) => ownPart.test(typeOf(part)))),
      )
    },

    calls(message, tools) {
      const calls = aiSdkCalls(message)
      if (calls.length === 0) {
        requireOwn(
          message,
          'ai-sdk',
          isAiSdkMessage(message),
          'a result of `generateText`, its `toolCalls`, or messages',
        )
      }
      return schemas.lift(calls, tools)
    },

    results(results, message, budget) {
      const content = answers(results, options, aiSdkCalls(message), budget, programText).map((answer) => {
        const { result, whole } = answer
        return {
          type: 'tool-result' as const,
          toolCallId: answerId(result),
          toolName: answerName(answer),
          output: output(),
        }

        function output(): AiSdkOutput {
          if (whole !== undefined) return { type: result.isError ? 'error-text' : 'text', value: whole }
          const sole = soleJson(result, options)
          if (sole !== undefined)
            return { type: result.isError ? 'error-json' : 'json', value: (sole.data ?? null) as JsonValue }
          if (result.isError) return { type: 'error-text', value: renderText(result, options) }
          const pieces = render(result, options, carry)
          if (pieces.every((piece) => typeof piece === 'string')) return { type: 'text', value: pieces.join('\n') }
          const value = pieces.map((piece) =>
            typeof piece === 'string' ? { type: 'text' as const, text: piece } : piece,
          )
          return { type: 'content', value }
        }
      })
      return { role: 'tool', content }
    },
  }
}

function aiSdkCalls(message: unknown): ToolCall[] {
  const parts = messageParts(message)
  const callParts = parts.filter((part) => typeOf(part) === 'tool-call')
  const answered = parts.filter((part) => /^tool-(?:result|error)$/.test(typeOf(part)))
  return unanswered(callParts, answered, 'toolCallId')
    .filter((part) => read(part, 'providerExecuted') !== true)
    .map((part) =>
      toolCall(
        read(part, 'toolCallId'),
        read(part, 'toolName'),
        read(part, 'input') ?? read(part, 'args'),
        programOf(
          read(read(part, 'providerMetadata') ?? read(part, 'providerOptions'), 'anthropic', 'caller'),
          'toolId',
        ),
      ),
    )
}

function isAiSdkMessage(message: unknown): boolean {
  return (
    Array.isArray(read(message, 'toolCalls')) || isEach(message, (item) => typeOf(item) !== '' || isRoleMessage(item))
  )
}

function messageParts(message: unknown): readonly unknown[] {
  if (Array.isArray(message)) {
    return message.flatMap((item) => (read(item, 'role') === undefined ? [item] : messageContent(item)))
  }
  const parts = messageContent(message)
  // A result of `generateText`. From version 5 on, `content` has the results of executed tools too.
  if (parts.length === 0) return [...list(read(message, 'toolCalls')), ...list(read(message, 'toolResults'))]
  return parts
}

function messageContent(message: unknown): readonly unknown[] {
  return list(read(message, 'content'))
}

function filePart({ mimeType, data, uri }: Media, version: 5 | 6 | 7): object {
  if (version === 5) return { type: 'media', mediaType: mimeType, data }
  const filename = uri === undefined ? undefined : { filename: uri.split('/').at(-1) || uri }
  if (version === 7) return { type: 'file', mediaType: mimeType, data: { type: 'data', data }, ...filename }
  if (mimeType.startsWith('image/')) return { type: 'image-data', mediaType: mimeType, data }
  return { type: 'file-data', mediaType: mimeType, data, ...filename }
}
