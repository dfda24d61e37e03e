import { InvalidConfigurationError } from '../errors.ts'
import type { ContentBlock, ToolCall, ToolResult } from '../index.ts'
import type { TurnBudget } from '../extension.ts'
import { enclose } from './_envelope.ts'
import { isObject } from './_read.ts'
import { shortened } from './_turn-budget.ts'

/** Options of all formats. */
export interface FormatOptions {
  /** Whether a waiting call is answered by a result that says so, or left out. Default: `'show'`. */
  readonly waiting?: 'show' | 'omit'
  /**
   * Wraps the text of results in tags with a random number, `untrusted_content_…` or, for tools that are `trusted`,
   * `trusted_content_…`. Explain the tags in your prompt. Default: `false`.
   */
  readonly envelope?: boolean
  /**
   * Called with an `E_INVALID_CONFIGURATION` if `definitions` leaves out options of a tool because the API would refuse
   * them, once for each tool. Default: `console.error`.
   */
  readonly report?: (error: unknown) => void
  /**
   * Whether the examples of tools go out, in the provider's field or, if it has none, at the end of the description: those that
   * fit into 1,024 characters of it. They take tokens in every request. Default: `true`.
   */
  readonly examples?: boolean
  /**
   * How large a result a program of the model gets whole, in bytes of JSON. A larger one is an error. At most 1 MiB, and above
   * the `inlineLimit` only for a tool whose `allowedCallers` have `'program'`. Default: 1,048,576.
   */
  readonly programLimit?: number
}

/** Bytes with their media type: a picture, a sound, or an embedded resource. */
export interface Media {
  readonly mimeType: string
  /** Base64. */
  readonly data: string
  readonly uri?: string
}

/** Returns the provider's part for media, or `undefined` if its tool results cannot carry it: text then replaces it. */
export type Carry<Part> = (media: Media) => Part | undefined

/** A result with the call that it answers, if the message is given. */
export interface Answer {
  readonly result: ToolResult
  readonly call: ToolCall | undefined
  /** The index of the call in the message; -1 if it is not in it. */
  readonly place: number
  /** The whole answer, if a program made the call: the value or an error as JSON, which nothing may be added to. */
  readonly whole?: string
}

/** Returns the whole answer to a call of a program: `programText`. `limit`: bytes of JSON text. */
export type WholeOf = (result: ToolResult, words: (block: ContentBlock) => string, limit: number | undefined) => string

const recorded: ToolResult['content'] = [{ type: 'text', text: 'Recorded.' }]
const noOutput = '(no output)'

/**
 * Pairs results with their calls. The n-th result with an id answers the n-th call with that id, since models repeat ids.
 * Results and calls without an id are paired in the same way. What the model need not be told is left out: calls that wait with
 * `waiting: 'omit'`, and outputs, if there is nothing else.
 *
 * @param results All results of a turn.
 * @param options `waiting` and `programLimit`.
 * @param calls The calls of the message that is answered, in its order. Default: none, if the message is not known.
 * @param budget The most tokens of all results together. Default: no limit.
 * @param wholeOf Returns the answer to a program: `programText`. Missing if the API has no programs.
 * @returns the results to write, in the order of `results`, shortened to the budget.
 * @throws `E_INVALID_CONFIGURATION` if the budget is not a number of tokens.
 * @example
 * ```ts
 * import type { ToolCall, ToolResult } from 'toolwright'
 * import { answerId, answers, renderText } from 'toolwright/formats/kit'
 *
 * const replyTo = (calls: readonly ToolCall[], results: readonly ToolResult[]): object[] =>
 *   answers(results, {}, calls, { tokens: 8_000 }).map(({ result }) => ({
 *     answers: answerId(result),
 *     text: renderText(result, {}),
 *     failed: result.isError,
 *   }))
 * ```
 * @experimental
 */
export function answers(
  results: readonly ToolResult[],
  options: FormatOptions,
  calls: readonly ToolCall[] = [],
  budget?: TurnBudget,
  wholeOf?: WholeOf,
): Answer[] {
  requireResults(results)
  const places = new Map<ToolCall['id'], number[]>() // the last place first, because `pop` is cheap
  for (let place = calls.length - 1; place >= 0; place--) {
    const id = calls[place]?.id
    const same = places.get(id)
    if (same === undefined) places.set(id, [place])
    else same.push(place)
  }
  // The model is told of an output only if it needs an answer to another call, and so goes on.
  const isLast = results.every(isOutput) && results.length >= calls.length
  if (isLast) return []
  const all = results.map((each) => {
    const result = isOutput(each) ? { ...each, content: recorded } : each
    const place = places.get(result.id)?.pop() ?? -1
    const call = calls[place]
    if (wholeOf === undefined || call?.program === undefined) return { result, call, place }
    return { result, call, place, whole: wholeOf(each, wordsOf, options.programLimit) }
  })
  const listedAnswers = options.waiting === 'omit' ? all.filter(({ result }) => result.status !== 'waiting') : all
  if (budget === undefined) return listedAnswers
  const forModel = listedAnswers.filter(({ whole }) => whole === undefined) // a program needs all of its value
  const short = shortened(
    forModel.map(({ result }) => result),
    budget,
  )
  const byAnswer = new Map(forModel.map((answer, index) => [answer, short[index]]))
  return listedAnswers.map((answer) => ({ ...answer, result: byAnswer.get(answer) ?? answer.result }))
}

/** Whether a result is the answer that the model gave by a tool of type `output`. */
function isOutput(result: ToolResult): boolean {
  return result.status === 'ok' && 'output' in result
}

/**
 * Returns the id of an answer, for providers whose ids are strings. A call without an id gets a unique one.
 *
 * @example
 * ```ts
 * import type { ToolResult } from 'toolwright'
 * import { answerId } from 'toolwright/formats/kit'
 *
 * const headOf = (result: ToolResult): object => ({ call_id: answerId(result) })
 * ```
 * @experimental
 */
export function answerId({ id, invocationId }: ToolResult): string {
  return String(id ?? invocationId)
}

/**
 * Returns the name that the model called, which may be an alias of the tool, for providers whose answers repeat it.
 *
 * @example
 * ```ts
 * import type { ToolCall, ToolResult } from 'toolwright'
 * import { answerName, answers } from 'toolwright/formats/kit'
 *
 * const namesOf = (results: readonly ToolResult[], calls: readonly ToolCall[]): string[] =>
 *   answers(results, {}, calls).map(answerName)
 * ```
 * @experimental
 */
export function answerName({ result, call }: Answer): string {
  return call === undefined || call.name === '' ? (result.via ?? result.toolName) : call.name
}

/**
 * Returns a result as texts and as media that the provider can carry. There is at least one piece, and no text is blank.
 *
 * @param result The result of one call.
 * @param options `envelope`.
 * @param carry Returns the provider's part for media. Default: it carries none, and a note replaces media.
 * @example
 * ```ts
 * import type { ToolResult } from 'toolwright'
 * import { render } from 'toolwright/formats/kit'
 *
 * const partsOf = (result: ToolResult): (string | { picture: string })[] =>
 *   render(result, {}, ({ mimeType, data }) => (mimeType === 'image/png' ? { picture: data } : undefined))
 * ```
 * @experimental
 */
export function render<Part>(result: ToolResult, options: FormatOptions, carry?: Carry<Part>): (string | Part)[] {
  const pieces: (string | Part)[] = []
  let words: string[] = []
  const flush = (): void => {
    const body = words.join('\n')
    words = []
    if (body.trim() !== '') pieces.push(enveloped(body, result, options))
  }
  for (const block of result.content) {
    const media = mediaOf(block)
    const part = media && carry?.(media)
    if (part === undefined) words.push(wordsOf(block))
    else {
      flush()
      pieces.push(part)
    }
  }
  flush()
  return pieces.length === 0 ? [noOutput] : pieces
}

/**
 * Returns a result as one text, for providers that accept only text. A note replaces media.
 *
 * @param result The result of one call.
 * @param options `envelope`.
 * @example
 * ```ts
 * import type { ToolResult } from 'toolwright'
 * import { renderText } from 'toolwright/formats/kit'
 *
 * const bodyOf = (result: ToolResult): string => renderText(result, { envelope: true })
 * ```
 * @experimental
 */
export function renderText(result: ToolResult, options: FormatOptions): string {
  return render<never>(result, options).join('\n')
}

/**
 * Adds `Error:` to the beginning of a failed result, for providers without a flag. Other results stay as they are.
 *
 * @param pieces What `render` returned.
 * @param result The result that was rendered.
 * @example
 * ```ts
 * import type { ToolResult } from 'toolwright'
 * import { flagged, renderText } from 'toolwright/formats/kit'
 *
 * const bodyOf = (result: ToolResult): string => flagged([renderText(result, {})], result).join('\n')
 * ```
 * @experimental
 */
export function flagged<Part>(pieces: readonly (string | Part)[], result: ToolResult): (string | Part)[] {
  if (!result.isError) return [...pieces]
  const [first, ...rest] = pieces
  if (typeof first !== 'string') return ['Error', ...pieces]
  return [/^\w*Error: /.test(first) ? first : `Error: ${first}`, ...rest]
}

/**
 * Returns the block of a result that is one JSON value, for providers that take values. `undefined` with an envelope, which is
 * text.
 *
 * @param result The result of one call.
 * @param options `envelope`.
 * @example
 * ```ts
 * import type { ToolResult } from 'toolwright'
 * import { renderText, soleJson } from 'toolwright/formats/kit'
 *
 * const valueOf = (result: ToolResult): unknown => {
 *   const sole = soleJson(result, {})
 *   return sole === undefined ? renderText(result, {}) : sole.data
 * }
 * ```
 * @experimental
 */
export function soleJson(result: ToolResult, options: FormatOptions): { readonly data: unknown } | undefined {
  const [block] = result.content
  return result.content.length === 1 && block?.type === 'json' && options.envelope !== true ? block : undefined
}

/**
 * Returns a text of a result, in an envelope if the options ask for it. `render` does it; a format that writes blocks itself
 * needs it for each text.
 *
 * @param body The text.
 * @param result Whose text it is: it says whether its tool is trusted.
 * @param options `envelope`.
 * @example
 * ```ts
 * import type { ToolResult } from 'toolwright'
 * import { enveloped, wordsOf } from 'toolwright/formats/kit'
 *
 * const textsOf = (result: ToolResult): string[] =>
 *   result.content.map((block) => enveloped(wordsOf(block), result, { envelope: true }))
 * ```
 * @experimental
 */
export function enveloped(body: string, result: ToolResult, options: FormatOptions): string {
  return options.envelope === true ? enclose(body, result.artifact?.trusted === true) : body
}

/** Returns the JSON text of a block. */
export function blockJson(block: { readonly data: unknown; readonly text?: string }): string {
  return block.text ?? JSON.stringify(block.data) ?? 'null'
}

/**
 * Returns a block of a result as text. Media becomes a note that it was left out.
 *
 * @example
 * ```ts
 * import { wordsOf } from 'toolwright/formats/kit'
 *
 * const words = wordsOf({ type: 'image', mimeType: 'image/png', data: 'AAAA' }) // [image left out, …: image/png, 3 bytes]
 * ```
 * @experimental
 */
export function wordsOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'json':
      return blockJson(block)
    case 'image':
    case 'audio':
      return mediaNote(block.type, block.mimeType, block.data)
    case 'resource': {
      const { uri, mimeType, text, blob } = block.resource
      return text === undefined ? mediaNote(`resource ${uri}`, mimeType, blob) : `${uri}:\n${text}`
    }
    case 'resource_link':
      return `${block.name}: ${block.uri}${block.description === undefined ? '' : ` (${block.description})`}`
    default:
      // Handlers may return types of blocks that this version does not know.
      return JSON.stringify(block)
  }
}

function mediaOf(block: ContentBlock): Media | undefined {
  if (block.type === 'image' || block.type === 'audio') return block
  if (block.type !== 'resource' || !isObject(block.resource)) return undefined
  const { uri, blob, mimeType } = block.resource
  return blob === undefined || mimeType === undefined ? undefined : { data: blob, mimeType, uri }
}

function mediaNote(what: string, mimeType: string | undefined, data = ''): string {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  const bytes = Math.floor((data.length * 3) / 4) - padding
  const kind = mimeType === undefined ? '' : `${mimeType}, `
  return `[${what} left out, this tool result cannot carry it: ${kind}${bytes} bytes]`
}

/** Refuses what is no list of results, such as a promise of one, or a list of promises. */
export function requireResults(results: readonly ToolResult[]): void {
  if (Array.isArray(results) && results.every((result?: ToolResult) => result?.content)) return
  throw new InvalidConfigurationError('`results` takes the array that `executeToolCalls` resolves to. Await it.')
}
