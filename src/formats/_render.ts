import type { ContentBlock, ToolCall, ToolResult } from '../index.ts'
import { enclose } from './_envelope.ts'
import { isObject } from './_read.ts'

/** What all formats can be told about results. */
export interface FormatOptions {
  /** Whether a call that waits for somebody is answered by a result that says so, or left out. Default: `'show'`. */
  readonly pending?: 'show' | 'omit'
  /**
   * Wraps the text of results in tags with a random number, `untrusted_content_…` or, for tools that are `trusted`,
   * `trusted_content_…`. Tell the model in your own words what the tags mean. Default: `false`.
   */
  readonly envelope?: boolean
  /**
   * Hears of options of a tool that the API would refuse, and that `definitions` left out: an `E_INVALID_CONFIGURATION`,
   * once for each tool. Default: `console.error`.
   */
  readonly report?: (error: unknown) => void
}

/** Bytes with their media type: a picture, a sound, or a resource with contents. */
export interface Media {
  readonly mimeType: string
  /** Base64. */
  readonly data: string
  readonly uri?: string
}

/** What a provider makes of media that its tool results can carry, else nothing: then it is put in words. */
export type Carry<Part> = (media: Media) => Part | undefined

/** A result with the call that it answers, if the message is at hand. */
export interface Answer {
  readonly result: ToolResult
  readonly call: ToolCall | undefined
  /** Where the call stands among the calls of the message; -1 if it is not among them. */
  readonly place: number
}

const noOutput = '(no output)'

/**
 * The results to give, each beside its call. The n-th result with an id answers the n-th call with that id, since models
 * repeat ids; results and calls without an id are paired in the same way.
 */
export function answers(
  results: readonly ToolResult[],
  options: FormatOptions,
  calls: readonly ToolCall[] = [],
): Answer[] {
  const places = new Map<ToolCall['id'], number[]>() // the last place first, since the end of an array is cheap to take
  for (let place = calls.length - 1; place >= 0; place--) {
    const id = calls[place]?.id
    const same = places.get(id)
    if (same === undefined) places.set(id, [place])
    else same.push(place)
  }
  const all = results.map((result) => {
    const place = places.get(result.id)?.pop() ?? -1
    return { result, call: calls[place], place }
  })
  return options.pending === 'omit' ? all.filter(({ result }) => result.status !== 'pending') : all
}

/** The id to answer to, for providers whose ids are strings; a call without one gets an id that nothing else has. */
export function answerId({ id, invocationId }: ToolResult): string {
  return String(id ?? invocationId)
}

/** The name that the model called, which may be an alias of the tool's own. */
export function answerName({ result, call }: Answer): string {
  return call === undefined || call.name === '' ? result.toolName : call.name
}

/** A result in pieces: text, and media that the provider can carry. There is always one piece, and none is blank. */
export function render<Part>(result: ToolResult, options: FormatOptions, carry?: Carry<Part>): (string | Part)[] {
  const pieces: (string | Part)[] = []
  let words: string[] = []
  const flush = (): void => {
    const body = words.join('\n')
    words = []
    if (body.trim() !== '') pieces.push(wrap(body, result, options))
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

/** A result as one text, for providers that take nothing else. */
export function renderText(result: ToolResult, options: FormatOptions): string {
  return render<never>(result, options).join('\n')
}

/** Says of a failed result in its first words that it failed, for providers that have no flag. */
export function flagged<Part>(pieces: readonly (string | Part)[], result: ToolResult): (string | Part)[] {
  if (!result.isError) return [...pieces]
  const [first, ...rest] = pieces
  if (typeof first !== 'string') return ['Error', ...pieces]
  return [/^\w*Error: /.test(first) ? first : `Error: ${first}`, ...rest]
}

/** The value of a result that is one JSON value and nothing else; nothing where the envelope makes text of it. */
export function soleJson(result: ToolResult, options: FormatOptions): { readonly data: unknown } | undefined {
  const [block] = result.content
  return result.content.length === 1 && block?.type === 'json' && options.envelope !== true ? block : undefined
}

/** The text in its envelope, where there is to be one. */
export function wrap(body: string, result: ToolResult, options: FormatOptions): string {
  return options.envelope === true ? enclose(body, result.artifact?.trusted === true) : body
}

/** A JSON block as JSON text. */
export function jsonText(block: { readonly data: unknown; readonly text?: string }): string {
  return block.text ?? JSON.stringify(block.data) ?? 'null'
}

/** A block in words; of what cannot be said in words, that it was left out. */
export function wordsOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'json':
      return jsonText(block)
    case 'image':
    case 'audio':
      return leftOut(block.type, block.mimeType, block.data)
    case 'resource': {
      const { uri, mimeType, text, blob } = block.resource
      return text === undefined ? leftOut(`resource ${uri}`, mimeType, blob) : `${uri}:\n${text}`
    }
    case 'resource_link':
      return `${block.name}: ${block.uri}${block.description === undefined ? '' : ` (${block.description})`}`
    default:
      // Handlers may hand out blocks that are not known here yet.
      return JSON.stringify(block)
  }
}

function mediaOf(block: ContentBlock): Media | undefined {
  if (block.type === 'image' || block.type === 'audio') return block
  if (block.type !== 'resource' || !isObject(block.resource)) return undefined
  const { uri, blob, mimeType } = block.resource
  return blob === undefined || mimeType === undefined ? undefined : { data: blob, mimeType, uri }
}

function leftOut(what: string, mimeType: string | undefined, data = ''): string {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  const bytes = Math.floor((data.length * 3) / 4) - padding
  const kind = mimeType === undefined ? '' : `${mimeType}, `
  return `[${what} left out, this tool result cannot carry it: ${kind}${bytes} bytes]`
}
