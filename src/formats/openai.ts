/**
 * OpenAI's Chat Completions API, and compatible servers. This format only translates: it must not use the network, keep state,
 * or depend on the executor.
 *
 * @module
 */
import type { Format, ToolCall, ToolDefinition } from '../index.ts'
import { dialectOf, requireOptions } from './_options.ts'
import { definer } from './_definitions.ts'
import { withExamples } from './_examples.ts'
import { openaiLike } from './_dialects.ts'
import { isObject, list, read, toolCall, typeOf, type Fields } from './_read.ts'
import { answerId, answerName, answers, flagged, renderText, type FormatOptions } from './_render.ts'
import { schemasOf, type SchemaOptions } from './_schemas.ts'
import { isEach, requireOwn } from './_shape.ts'
import type { ObjectSchema } from './_types.ts'

export type { SchemaOptions } from './_schemas.ts'
export type { ObjectSchema } from './_types.ts'

/** Options of the format. */
export interface OpenAiOptions extends FormatOptions, SchemaOptions {
  /** Whose rules schemas follow: some servers that speak this API have other ones. Default: `'openai'`. */
  readonly dialect?: 'openai' | 'groq' | 'mistral' | 'xai'
  /**
   * The types of tools that the server accepts besides `function` and `custom`. OpenAI's accepts no others; other servers
   * run tools such as `builtin_function`. Default: none.
   */
  readonly toolTypes?: readonly string[]
}

/** A tool in a request. A tool with another `type` has the fields of its options instead. */
export interface OpenAiTool {
  type: 'function'
  function: { name: string; description: string; parameters?: ObjectSchema; strict?: boolean | null }
}

/** A completion, an assistant message, its `tool_calls`, or a conversation. */
export type OpenAiMessage =
  | { readonly choices: readonly { readonly message: object }[] }
  | {
      readonly role: string
      readonly content?: string | readonly object[] | null
      readonly tool_calls?: readonly object[]
    }
  | { readonly tool_calls: readonly object[] }
  | readonly object[]

/** The message that answers one call; `function` answers the former `function_call`. */
export type OpenAiToolMessage =
  { role: 'tool'; tool_call_id: string; content: string } | { role: 'function'; name: string; content: string }

/** The format of OpenAI's Chat Completions, with the types of its client. */
export type OpenAiFormat = Format<OpenAiTool, OpenAiMessage, OpenAiToolMessage[]>

const responsesOnly = ['allowed_callers', 'defer_loading', 'output_schema']

/**
 * Returns a format that translates to and from OpenAI's Chat Completions API.
 *
 * Messages: a completion, an assistant message, its `tool_calls`, or the last message of a conversation. An assistant message
 * whose content is a string counts as OpenAI's. Arguments stay the text that the model wrote. The text of a `custom` call
 * becomes `{ input: text }`. The former `function_call` is read too, and answered if `results` gets the message.
 *
 * Schemas that the API would refuse are changed ([what, and how args come back](./README.md#schemas)).
 * `providerOptions.openai` is merged into the function (`strict`, …). With `type: 'custom'`, the tool takes free text. Options that only the Responses API accepts, such as `type: 'web_search'`, are left out and
 * reported. A tool with a handler is then offered as a function; a tool that OpenAI runs is not offered. Results are text,
 * and a note replaces media. `results` returns an array with one message for each result: `messages.push(...results)`.
 *
 * @param options `strict`, `dialect`, `toolTypes`, `waiting`, `envelope`, `examples`, `programLimit` and `report`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown or wrong.
 * @example
 * ```ts
 * import { openai } from 'toolwright/formats/openai'
 *
 * const format = openai()
 * const calls = format.calls({
 *   role: 'assistant',
 *   content: null,
 *   tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } }],
 * })
 * ```
 * @see https://platform.openai.com/docs/guides/function-calling?api-mode=chat
 */
export function openai(options: OpenAiOptions = {}): OpenAiFormat {
  requireOptions('openai', options, ['strict', 'dialect', 'toolTypes'])
  const toolTypes: readonly unknown[] = ['function', 'custom', ...(options.toolTypes ?? [])]
  const optionsOf = (tool: ToolDefinition): unknown => tool.providerOptions['openai']
  const schemas = schemasOf(
    {
      provider: dialectOf('The format openai', openaiLike, options.dialect ?? 'openai'),
      optionsOf,
      replaces: ({ type = 'function', ...providerOptions }) =>
        Object.hasOwn(providerOptions, 'parameters') || (type !== 'function' && toolTypes.includes(type)),
    },
    options,
  )
  const definitions = definer<OpenAiTool>(
    {
      optionsOf,
      accept(providerOptions, isHosted) {
        const { type = isHosted ? undefined : 'function' } = providerOptions
        if (!toolTypes.includes(type)) {
          const typeText = type === undefined ? 'without a type' : `of type ${JSON.stringify(type)}`
          return {
            fault: `chat completions take no tool ${typeText}. Use the format openai-responses, or name the type in \`toolTypes\` if the server takes it`,
          }
        }
        const strange = responsesOnly.filter((name) => Object.hasOwn(providerOptions, name))
        if (strange.length === 0) return { options: providerOptions }
        const entries = Object.entries(providerOptions).filter(([name]) => !strange.includes(name))
        return {
          options: Object.fromEntries(entries),
          fault: `chat completions have no ${strange.join(', ')}; the format openai-responses has`,
        }
      },
      define({ name, description, inputSchema }, providerOptions, { strict, examples }) {
        const { type = 'function', ...rest } = providerOptions
        if (type === 'custom') return { type, custom: { name, description, ...rest, ...chatGrammar(rest) } }
        if (type !== 'function') return providerOptions
        const strictness = strict === undefined ? undefined : { strict }
        const fullDescription = Object.hasOwn(rest, 'parameters') ? description : withExamples(description, examples)
        return {
          type,
          function: { name, description: fullDescription, parameters: inputSchema, ...rest, ...strictness },
        }
      },
    },
    options,
    schemas.plansOf,
  )
  return {
    name: 'openai',
    definitions,
    report: schemas.report,

    detect(message) {
      if (isObject(read(message, 'choices', 0, 'message'))) return true
      const assistant = assistantMessage(message)
      if (read(assistant, 'role') !== 'assistant') return false
      const content = read(assistant, 'content')
      return (
        Array.isArray(read(assistant, 'tool_calls')) ||
        isObject(read(assistant, 'function_call')) ||
        typeof content === 'string' ||
        content === null
      )
    },

    calls(message, tools) {
      const calls = openAiCalls(message)
      if (calls.length === 0) {
        requireOwn(message, 'openai', isChatMessage(message), 'a completion, an assistant message or its `tool_calls`')
      }
      return schemas.lift(calls, tools)
    },

    results(results, message, budget) {
      const isFormer = read(assistantMessage(message), 'tool_calls') === undefined && isObject(formerCall(message))
      return answers(results, options, openAiCalls(message), budget).map((answer) => {
        const content = flagged([renderText(answer.result, options)], answer.result).join('\n')
        if (isFormer) return { role: 'function' as const, name: answerName(answer), content }
        return { role: 'tool' as const, tool_call_id: answerId(answer.result), content }
      })
    },
  }
}

/** Returns a grammar in the form of chat completions. The Responses API has its fields in `format` itself. */
function chatGrammar(custom: Fields): object | undefined {
  const {
    type,
    syntax,
    definition,
    grammar = { syntax, definition },
  } = isObject(custom['format']) ? custom['format'] : {}
  return type === 'grammar' ? { format: { type, grammar } } : undefined
}

function assistantMessage(message: unknown): unknown {
  if (Array.isArray(message)) {
    const isCalls = message.some((item) => isObject(read(item, 'function')) || isObject(read(item, 'custom')))
    return isCalls ? { role: 'assistant', tool_calls: message } : message.at(-1)
  }
  return read(message, 'choices', 0, 'message') ?? message
}

const roles: ReadonlySet<unknown> = new Set(['assistant', 'user', 'system', 'developer', 'tool', 'function'])

function isChatMessage(message: unknown): boolean {
  const choices = read(message, 'choices')
  if (Array.isArray(choices)) return choices.length === 0 || isObject(read(choices, 0, 'message'))
  // The content of a message is missing or `null` if the model only calls, refuses or speaks.
  return isEach(message, (item) => roles.has(read(item, 'role')) && !isObject(read(item, 'content')))
}

function formerCall(message: unknown): unknown {
  const assistant = assistantMessage(message)
  // A part of Gemini's messages may have a field with that name too, but no role.
  return read(assistant, 'role') === 'assistant' ? read(assistant, 'function_call') : undefined
}

function openAiCalls(message: unknown): ToolCall[] {
  const calls = list(read(assistantMessage(message), 'tool_calls')).map(callOfEntry)
  const former = formerCall(message)
  if (calls.length > 0 || !isObject(former)) return calls
  return [toolCall(undefined, read(former, 'name'), read(former, 'arguments'))]
}

function callOfEntry(item: unknown): ToolCall {
  const id = read(item, 'id')
  if (typeOf(item) !== 'custom')
    return toolCall(id, read(item, 'function', 'name'), read(item, 'function', 'arguments'))
  return toolCall(id, read(item, 'custom', 'name'), { input: read(item, 'custom', 'input') })
}
