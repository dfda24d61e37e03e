/**
 * OpenAI's Responses API. This format only translates: it must not use the network, keep state, or depend on the executor.
 *
 * @module
 */
import type { Format, ToolCall, ToolDefinition } from '../index.ts'
import { requireOptions } from './_options.ts'
import { definer, acceptTyped } from './_definitions.ts'
import { withExamples } from './_examples.ts'
import { openaiProvider } from './_dialects.ts'
import { callersOf, programOf, programText } from './_program.ts'
import { isObject, list, read, text, toolCall, typeOf, unanswered, type Fields } from './_read.ts'
import { answerId, answers, flagged, render, type Carry, type FormatOptions } from './_render.ts'
import { schemasOf, type SchemaOptions } from './_schemas.ts'
import { isEach, isRoleMessage, requireOwn } from './_shape.ts'
import type { ObjectSchema } from './_types.ts'

export type { SchemaOptions } from './_schemas.ts'
export type { ObjectSchema } from './_types.ts'

/** Options of the format. */
export interface OpenAiResponsesOptions extends FormatOptions, SchemaOptions {}

const ownItem = /^\w+_call(?:_output)?$|^mcp_\w+$|^tool_search_\w+$/
/** A tool in a request. A tool with another `type` has the fields of its options instead. */
export interface OpenAiResponsesTool {
  type: 'function'
  name: string
  description: string
  parameters: ObjectSchema
  strict: boolean
}

/** A response, its `output`, one call, or the items of a conversation. */
export type OpenAiResponsesMessage =
  { readonly output: readonly object[] } | { readonly type: string; readonly call_id: string } | readonly object[]

type OpenAiCaller = { type: 'direct' } | { type: 'program'; caller_id: string }
type OpenAiMedia =
  | { type: 'input_image'; detail: 'auto'; image_url: string }
  | { type: 'input_file'; filename: string; file_data: string }

/** The item that answers one call. */
export interface OpenAiToolOutput {
  type: 'function_call_output' | 'custom_tool_call_output'
  call_id: string
  output: string | ({ type: 'input_text'; text: string } | OpenAiMedia)[]
  caller?: OpenAiCaller
}

/** The format of OpenAI's Responses API, with the types of its client. */
export type OpenAiResponsesFormat = Format<OpenAiResponsesTool, OpenAiResponsesMessage, OpenAiToolOutput[]>

const readableImage = /^image\/(?:jpeg|png|gif|webp)$/

/**
 * Returns a format that translates to and from OpenAI's Responses API.
 *
 * Messages: a response, its `output`, one item, or the items of a conversation, in which answered calls are ignored.
 * Arguments stay the text that the model wrote. The text of a `custom_tool_call` becomes `{ input: text }`. Only calls of
 * functions and custom tools are read. Calls of OpenAI's tools are ignored, including those that the application must answer
 * (`shell_call`, `computer_call`, …).
 *
 * Schemas that the API would refuse are changed ([what, and how args come back](./README.md#schemas)).
 * `providerOptions.openai` is merged into the definition. `strict` is `false` unless the options set it, because otherwise
 * the API rewrites the schema and requires every property. Pass the message to `results`, so that custom calls get their own
 * type of answer, and answers to a program's calls name their `caller`. Those are JSON text without a note. `results` returns an
 * array of items.
 *
 * @param options `strict`, `waiting`, `envelope`, `examples`, `programLimit` and `report`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown or wrong.
 * @example
 * ```ts
 * import { openaiResponses } from 'toolwright/formats/openai-responses'
 *
 * const format = openaiResponses()
 * const calls = format.calls([{ type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{}' }])
 * ```
 * @see https://platform.openai.com/docs/guides/function-calling?api-mode=responses
 */
export function openaiResponses(options: OpenAiResponsesOptions = {}): OpenAiResponsesFormat {
  requireOptions('openai-responses', options, ['strict'])
  const optionsOf = (tool: ToolDefinition): unknown => tool.providerOptions['openai']
  const schemas = schemasOf(
    {
      provider: openaiProvider,
      optionsOf,
      replaces: ({ type = 'function', ...providerOptions }) =>
        type !== 'function' || Object.hasOwn(providerOptions, 'parameters'),
    },
    options,
  )
  const definitions = definer<OpenAiResponsesTool>(
    {
      optionsOf,
      reach: (tool) => ({
        allowed_callers: callersOf(tool, 'direct', 'programmatic'),
        defer_loading: tool.deferLoading,
      }),
      accept: acceptTyped,
      define({ name, description, inputSchema }, providerOptions, { strict, examples }) {
        const { type = 'function' } = providerOptions
        if (type === 'custom') return { name, description, ...providerOptions, ...responsesGrammar(providerOptions) }
        if (type !== 'function') return providerOptions
        const fullDescription = Object.hasOwn(providerOptions, 'parameters')
          ? description
          : withExamples(description, examples)
        return {
          type,
          name,
          description: fullDescription,
          parameters: inputSchema,
          strict: false,
          ...providerOptions,
          ...(strict !== undefined && { strict }),
        }
      },
    },
    options,
    schemas.plansOf,
  )
  return {
    name: 'openai-responses',
    definitions,
    report: schemas.report,

    detect(message) {
      return read(message, 'object') === 'response' || responseItems(message).some(isResponsesItem)
    },

    calls(message, tools) {
      const calls = openCalls(message)
      if (calls.length === 0)
        requireOwn(
          message,
          'openai-responses',
          isResponse(message),
          'a response, its `output` or the items of a conversation',
        )
      return schemas.lift(calls.map(callOfItem), tools)
    },

    results(results, message, budget) {
      const callItems = openCalls(message)
      return answers(results, options, callItems.map(callOfItem), budget, programText).map(
        ({ result, place, whole }) => {
          const item = callItems[place]
          const caller = read(item, 'caller')
          const pieces = whole === undefined ? flagged(render(result, options, carryOpenAi), result) : [whole]
          const type = typeOf(item) === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output'
          return {
            type,
            call_id: answerId(result),
            output: pieces.every((piece) => typeof piece === 'string')
              ? pieces.join('\n')
              : pieces.map((piece) =>
                  typeof piece === 'string' ? { type: 'input_text' as const, text: piece } : piece,
                ),
            ...(isObject(caller) && { caller: { ...caller } as unknown as OpenAiCaller }),
          }
        },
      )
    },
  }
}

/** Returns a grammar in the form of the Responses API. Chat completions have its fields in `format.grammar`. */
function responsesGrammar({ format }: Fields): object | undefined {
  const grammar = read(format, 'grammar')
  return isObject(grammar) ? { format: { type: 'grammar', ...grammar } } : undefined
}

function responseItems(message: unknown): readonly unknown[] {
  if (Array.isArray(message)) return message
  const output = read(message, 'output')
  return Array.isArray(output) ? output : [message]
}

function isResponsesItem(item: unknown): boolean {
  const type = typeOf(item)
  if (type !== 'message') return ownItem.test(type)
  return list(read(item, 'content')).some((part) => /^(?:output_text|refusal)$/.test(typeOf(part)))
}

function isResponse(message: unknown): boolean {
  if (Array.isArray(read(message, 'output'))) return true
  return read(message, 'object') === 'response' || isEach(message, (item) => typeOf(item) !== '' || isRoleMessage(item))
}

function openCalls(message: unknown): readonly unknown[] {
  const items = responseItems(message)
  const callItems = items.filter((item) => /^(?:function|custom_tool)_call$/.test(typeOf(item)))
  const answered = items.filter((item) => /^(?:function|custom_tool)_call_output$/.test(typeOf(item)))
  return unanswered(callItems, answered, 'call_id')
}

function callOfItem(item: unknown): ToolCall {
  const args = typeOf(item) === 'function_call' ? read(item, 'arguments') : { input: read(item, 'input') }
  return toolCall(read(item, 'call_id'), read(item, 'name'), args, programOf(read(item, 'caller'), 'caller_id'))
}

const carryOpenAi: Carry<OpenAiMedia> = ({ mimeType, data, uri }) => {
  const url = `data:${mimeType};base64,${data}`
  if (readableImage.test(mimeType)) return { type: 'input_image', detail: 'auto', image_url: url }
  if (mimeType !== 'application/pdf') return undefined
  return { type: 'input_file', filename: text(uri).split('/').at(-1) || 'document.pdf', file_data: url }
}
