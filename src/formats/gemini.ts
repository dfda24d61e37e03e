/**
 * Google's Gemini API, directly or through Vertex AI. This format only translates: it must not use the network, keep state, or
 * depend on the executor.
 *
 * @module
 */
import type { Format, ToolCall, ToolDefinition } from '../index.ts'
import { requireOptions } from './_options.ts'
import { definer, requireToolList } from './_definitions.ts'
import { withExamples } from './_examples.ts'
import { geminiLike } from './_dialects.ts'
import { isObject, list, read, toolCall, typeOf, type Fields } from './_read.ts'
import { answerName, answers, render, soleJson, type Carry, type FormatOptions } from './_render.ts'
import { schemasOf } from './_schemas.ts'
import { isEach, requireOwn } from './_shape.ts'
import type { ObjectSchema } from './_types.ts'

export type { ObjectSchema } from './_types.ts'

/** Options of the format. */
export interface GeminiOptions extends FormatOptions {
  /** Whether results carry pictures and PDF documents. Models before Gemini 3 refuse them. Default: `true`. */
  readonly media?: boolean
  /** `'as it is'`: no schema changes. Default: schemas are written in the part of JSON Schema that Gemini documents. */
  readonly strict?: 'as it is'
  /** The field of a declaration that has the schema. The Live API and older endpoints take only `openapi`. Default: `'json-schema'`. */
  readonly parameters?: 'json-schema' | 'openapi'
}

/** The declaration of a function. */
export interface GeminiFunction {
  name: string
  description: string
  parametersJsonSchema: ObjectSchema
}

/** An entry of `config.tools`. A tool that Google runs has an entry of its own, with the fields of its options. */
export interface GeminiTool {
  functionDeclarations?: GeminiFunction[]
}

/** A response, the chunks of one, a content, its `parts`, or a conversation. */
export type GeminiMessage =
  | { readonly candidates?: readonly object[] | undefined; readonly promptFeedback?: object | undefined }
  | { readonly role: 'model' | 'user'; readonly parts: readonly object[] }
  | { readonly parts?: readonly object[] | undefined }
  | readonly object[]

/** A picture or a document in a result. */
export interface GeminiMedia {
  inlineData: { mimeType: string; data: string }
}

/** The content that answers all calls of a message. */
export interface GeminiReply {
  role: 'user'
  parts: {
    functionResponse: { id?: string; name: string; response: { [name: string]: unknown }; parts?: GeminiMedia[] }
  }[]
}

/** The format of Google's Gemini API, with the types of its client. */
export type GeminiFormat = Format<GeminiTool, GeminiMessage, GeminiReply>

// The fields of tools that Google runs, in camel case or snake case. A declaration must not have them.
const hostedField =
  /^(?:(?:google|enterprise_?web|exa_?ai|parallel_?ai|file)_?search\w*|google_?maps|retrieval|code_?execution|computer_?use|url_?context|mcp_?servers)$/i
const partFields = [
  'text',
  'thought',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'functionResponse',
]
const responseFields = ['candidates', 'promptFeedback', 'usageMetadata']
const mediaType = /^image\/(?:jpeg|png|webp)$|^application\/pdf$/

/**
 * Returns a format that translates to and from Google's Gemini API.
 *
 * Messages: a `GenerateContentResponse`, an array of them from streaming, a `Content`, its `parts`, or the last content of a
 * conversation. Field names may be in camel case or snake case. Calls may have no id. Results are then matched by order
 * and name, so pass the message to `results`.
 *
 * The definition has the schema as `parametersJsonSchema`, or as `parameters`, and what Gemini cannot read of it in words
 * ([how args come back](./README.md#schemas)). `providerOptions.google` (or `gemini`) is merged into the
 * declaration. For a tool of type `provider`, it is the whole entry (`{ googleSearch: {} }`). A result is `{ output }`, a
 * failed one `{ error }`. `results` returns one user content with all results.
 *
 * @param options `strict`, `parameters`, `media`, `waiting`, `envelope`, `examples`, `programLimit` and `report`.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown or wrong.
 * @example
 * ```ts
 * import { gemini } from 'toolwright/formats/gemini'
 *
 * const format = gemini()
 * const calls = format.calls({ role: 'model', parts: [{ functionCall: { name: 'now', args: {} } }] })
 * ```
 * @see https://ai.google.dev/gemini-api/docs/function-calling
 */
export function gemini(options: GeminiOptions = {}): GeminiFormat {
  requireOptions('gemini', options, ['strict', 'parameters', 'media'])
  const isOpenapi = options.parameters === 'openapi'
  const optionsOf = ({ providerOptions }: ToolDefinition): unknown =>
    providerOptions['google'] ?? providerOptions['gemini']
  const schemas = schemasOf(
    {
      provider: geminiLike[isOpenapi ? 'gemini-openapi' : 'gemini'],
      optionsOf,
      replaces: (providerOptions) =>
        Object.hasOwn(providerOptions, 'parameters') || Object.hasOwn(providerOptions, 'parametersJsonSchema'),
    },
    options,
  )
  const definitions = definer<GeminiFunction>(
    {
      optionsOf,
      accept(providerOptions, isHosted) {
        const names = Object.keys(providerOptions)
        const strange = isHosted
          ? names.filter((name) => name === 'type')
          : names.filter((name) => hostedField.test(name))
        if (strange.length > 0) return { fault: `a ${isHosted ? 'tool' : 'declaration'} has no ${strange.join(', ')}` }
        return isHosted && names.length === 0
          ? { fault: 'they name no tool, such as googleSearch' }
          : { options: providerOptions }
      },
      define({ name, description, inputSchema }, providerOptions, { examples }) {
        const hasOwn =
          Object.hasOwn(providerOptions, 'parameters') || Object.hasOwn(providerOptions, 'parametersJsonSchema')
        // As `parameters`, an object without properties is refused.
        const isEmpty = isOpenapi && Object.keys(inputSchema.properties ?? {}).length === 0
        const schema = isOpenapi ? { parameters: inputSchema } : { parametersJsonSchema: inputSchema }
        const fullDescription = hasOwn ? description : withExamples(description, examples)
        return { name, description: fullDescription, ...(hasOwn || isEmpty ? undefined : schema), ...providerOptions }
      },
    },
    options,
    schemas.plansOf,
  )
  return {
    name: 'gemini',

    detect(message) {
      const isContent = read(message, 'role') === 'model' && Array.isArray(read(message, 'parts'))
      return isContent || Array.isArray(read(message, 'candidates')) || contentParts(message).some(callIn)
    },

    definitions(tools) {
      requireToolList(tools)
      const functionDeclarations: GeminiFunction[] = []
      const others: GeminiTool[] = []
      for (const tool of tools) {
        const entries: object[] = tool.type === 'provider' ? others : functionDeclarations
        entries.push(...definitions([tool]))
      }
      return functionDeclarations.length === 0 ? others : [{ functionDeclarations }, ...others]
    },

    calls(message, tools) {
      const calls = geminiCalls(message)
      if (calls.length === 0) {
        requireOwn(message, 'gemini', isEach(message, isGeminiItem), 'a response, its chunks, a content or its `parts`')
      }
      return schemas.lift(calls, tools)
    },

    report: schemas.report,

    results(results, message, budget) {
      const parts = answers(results, options, geminiCalls(message), budget).map((answer) => {
        const { result } = answer
        const pieces = render(result, options, options.media === false ? undefined : carryGemini)
        const media = pieces.filter((piece) => typeof piece !== 'string')
        const words = pieces.filter((piece) => typeof piece === 'string').join('\n')
        const sole = soleJson(result, options)
        const output = sole === undefined ? words || '(attached)' : sole.data
        return {
          functionResponse: {
            ...(result.id === undefined ? undefined : { id: String(result.id) }),
            name: answerName(answer),
            response: result.isError ? { error: output } : { output },
            ...(media.length === 0 ? undefined : { parts: media }),
          },
        }
      })
      return { role: 'user', parts }
    },
  }
}

function geminiCalls(message: unknown): ToolCall[] {
  return contentParts(message).flatMap((part) => {
    const call = callIn(part)
    return call === undefined ? [] : [toolCall(read(call, 'id'), read(call, 'name'), read(call, 'args'))]
  })
}

function contentParts(message: unknown): readonly unknown[] {
  if (!Array.isArray(message)) {
    if (read(message, 'role') === 'user') return []
    return list(read(message, 'candidates', 0, 'content', 'parts') ?? read(message, 'parts'))
  }
  if (message.some((item) => callIn(item) !== undefined)) return message
  return message.some((item) => Array.isArray(read(item, 'candidates')))
    ? message.flatMap((item) => list(read(item, 'candidates', 0, 'content', 'parts')))
    : partsOfContent(message.at(-1))
}

function partsOfContent(content: unknown): readonly unknown[] {
  return read(content, 'role') === 'model' ? list(read(content, 'parts')) : []
}

/** Returns whether an item is a response, of which a blocked one has no candidates, a content, or a part. */
function isGeminiItem(item: unknown): boolean {
  if (Array.isArray(read(item, 'parts')) || read(item, 'role') === 'model') return true
  const names = typeOf(item) === '' ? [...responseFields, ...partFields] : responseFields
  return names.some((name) => read(item, name) !== undefined)
}

function callIn(part: unknown): Fields | undefined {
  const call = read(part, 'functionCall') ?? read(part, 'function_call')
  // A message of a chat completion may have a field with that name too.
  return isObject(call) && read(part, 'role') === undefined ? call : undefined
}

const carryGemini: Carry<GeminiMedia> = ({ mimeType, data }) =>
  mediaType.test(mimeType) ? { inlineData: { mimeType, data } } : undefined
