import { InvalidToolResultError } from '../errors.ts'
import type { SpoolSource } from './store.ts'

/** Text for the model to read. */
export interface TextBlock {
  readonly type: 'text'
  readonly text: string
}

/** A JSON value; `text` is the same value as JSON text, if it is known. */
export interface JsonBlock {
  readonly type: 'json'
  readonly data: unknown
  readonly text?: string
}

/** A picture, as base64 with its media type. */
export interface ImageBlock {
  readonly type: 'image'
  readonly data: string
  readonly mimeType: string
}

/** A sound, as base64 with its media type. */
export interface AudioBlock {
  readonly type: 'audio'
  readonly data: string
  readonly mimeType: string
}

/** A resource with its contents: `text`, or `blob` as base64. */
export interface ResourceBlock {
  readonly type: 'resource'
  readonly resource: {
    readonly uri: string
    readonly mimeType?: string
    readonly text?: string
    readonly blob?: string
  }
}

/** A resource that the reader may fetch by its address. */
export interface ResourceLinkBlock {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
}

/**
 * A block of what a model is shown: one of the Model Context Protocol, or `json`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 */
export type ContentBlock = TextBlock | JsonBlock | ImageBlock | AudioBlock | ResourceBlock | ResourceLinkBlock

// Registered symbols, so that another copy of the package reads the marks. JSON cannot forge them.
const blocksMark: unique symbol = Symbol.for('toolwright.content') as never
const valueMark: unique symbol = Symbol.for('toolwright.json') as never

const mediaTypeMark: unique symbol = Symbol.for('toolwright.bytes') as never

/** A handler's result that is marked as content blocks. */
export interface MarkedContent {
  readonly [blocksMark]: readonly ContentBlock[]
}

/** A handler's result that is marked as one JSON value. */
export interface MarkedJson<Value = unknown> {
  readonly [valueMark]: Value
}

/**
 * Marks a handler's result as content blocks, of any kind and with any extra fields.
 *
 * @param blocks The blocks, in the order in which the model reads them.
 * @example const handler = () => content([{ type: 'resource_link', uri: 'file:///report.pdf', name: 'report.pdf' }])
 */
export function content(blocks: readonly ContentBlock[]): MarkedContent {
  return { [blocksMark]: blocks }
}

/**
 * Marks a handler's result as one JSON value, even if it is a string or looks like content blocks.
 *
 * @param value Any JSON value.
 * @example const handler = () => json([{ type: 'text', text: 'a row of data, not a block' }])
 */
export function json<Value>(value: Value): MarkedJson<Value> {
  return { [valueMark]: value }
}

/** A handler's result that is marked as bytes of a media type. */
export interface MarkedBytes extends AsyncIterable<string | Uint8Array> {
  readonly [mediaTypeMark]: string
}

/**
 * Marks a handler's result as bytes of a media type, which chooses the class of the artifact. What is no text and no JSON is
 * kept in the store, however small it is, so that other tools can take its handle.
 *
 * @param source Text, bytes, or a stream of bytes, which is never whole in memory.
 * @param described `mediaType`: such as `application/pdf`.
 * @example const handler = () => bytes('id,name\n1,Ada\n', { mediaType: 'text/csv' })
 */
export function bytes(source: SpoolSource, described: { readonly mediaType: string }): MarkedBytes {
  const { mediaType } = Object(described) as typeof described
  const isWhole = typeof source === 'string' || source instanceof Uint8Array
  if (typeof mediaType !== 'string' || !(isWhole || Symbol.asyncIterator in Object(source))) {
    throw new InvalidToolResultError(
      '`bytes` and `keep` take text, a Uint8Array or a stream (the `body` of a Response, the `stream()` of a Blob), and { mediaType }.',
    )
  }
  const whole = async function* () {
    if (isWhole) yield source
  }
  return { [mediaTypeMark]: mediaType, [Symbol.asyncIterator]: isWhole ? whole : () => source[Symbol.asyncIterator]() }
}

/** Returns the media type that `bytes` marked a stream with. */
export function markedMediaType(stream: object): string | undefined {
  return (stream as Partial<MarkedBytes>)[mediaTypeMark]
}

/**
 * Marks a handler's result as content for the model beside a value that is kept: `outputSchema` checks the value, and it is the
 * artifact of the result. If it is larger than the executor's `inlineLimit`, the model is told its handle.
 *
 * @param blocks What the model reads: a text, or blocks.
 * @param value Any JSON value.
 * @example const handler = () => shown('2 orders, both paid', [{ order: 1 }, { order: 2 }])
 */
export function shown<Value>(
  blocks: string | readonly ContentBlock[],
  value: Value,
): MarkedContent & MarkedJson<Value> {
  return { [blocksMark]: typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks, [valueMark]: value }
}

/** The most blocks of a result: a sparse array may have a `length` of four thousand million. */
const mostBlocks = 100_000

/** Returns the blocks of a result that `content` marked, if any. Throws `E_INVALID_TOOL_RESULT` for too many. */
export function markedBlocks(value: object): readonly ContentBlock[] | undefined {
  const blocks = (value as Partial<MarkedContent>)[blocksMark]
  if (!Array.isArray(blocks) || blocks.length <= mostBlocks) return blocks
  const message = `\`content\` takes at most ${mostBlocks.toLocaleString('en')} blocks, and got ${blocks.length.toLocaleString('en')}`
  throw new InvalidToolResultError(`${message}. Return one text, or a stream.`, { issues: [{ message, path: [] }] })
}

export function isMarkedJson(value: object): value is MarkedJson {
  return valueMark in value
}

export function markedValue(value: MarkedJson): unknown {
  return value[valueMark]
}

/** Returns a handler's result without its mark: the value that `json` or `shown` marked, the blocks that `content` marked. */
export function unmarked(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result
  return isMarkedJson(result) ? markedValue(result) : (markedBlocks(result) ?? result)
}

/** Whether an unmarked array is content: every item has exactly the fields of a text, json, image or audio block. */
export function looksLikeBlocks(value: readonly unknown[]): value is readonly ContentBlock[] {
  // `every` skips the holes of a sparse array, `Array.from` fills them.
  return value.length <= mostBlocks && isPlainBlock(value[0]) && Array.from(value).every(isPlainBlock)
}

/**
 * @param mostFields How many fields a block may have. With more it is taken for data.
 * @throws `E_INVALID_TOOL_RESULT` if a picture or a sound has its media type under the name of other libraries.
 */
export function requireMimeTypes(blocks: readonly unknown[], mostFields: number = Infinity): void {
  if (blocks.length > mostBlocks) return
  const place = blocks.findIndex((block) => hasMediaType(block) && Object.keys(block).length <= mostFields)
  if (place < 0) return
  const message = `\`mediaType\` of block ${place} is called \`mimeType\` here`
  throw new InvalidToolResultError(`${message}. Rename it, or return the value as \`json(value)\`.`, {
    issues: [{ message, path: [place, 'mediaType'] }],
  })
}

/** Throws `E_INVALID_TOOL_RESULT` for marked blocks that lack what is shown. */
export function requireBlocks(blocks: readonly unknown[]): void {
  if (!Array.isArray(blocks) || !Array.from(blocks).every(isShowable)) {
    throw new InvalidToolResultError(
      '`content` takes an array of blocks, each with a `type`: text with `text`, media with base64 as `data` and a `mimeType`.',
    )
  }
  requireMimeTypes(blocks)
}

type Block = Readonly<Record<string, unknown>>

export function isMedia(block: Block | ContentBlock): block is ImageBlock | AudioBlock {
  return block.type === 'image' || block.type === 'audio'
}

function isShowable(value: unknown): boolean {
  const block = Object(value) as Block
  const { type, text, data } = block
  return typeof (type === 'text' ? text : isMedia(block) ? data : type) === 'string'
}

function hasMediaType(value: unknown): value is object {
  const { type, data, mediaType, mimeType } = Object(value) as Block
  return isMedia({ type }) && mimeType === undefined && typeof data === 'string' && typeof mediaType === 'string'
}

function isPlainBlock(value: unknown): boolean {
  const block = Object(value) as Block
  const { type, text, mimeType } = block
  const fields = Object.keys(block).length
  if (type === 'json') return 'data' in block && fields === (typeof text === 'string' ? 3 : 2)
  if (!isShowable(block)) return false
  return isMedia(block) ? fields === 3 && typeof mimeType === 'string' : type === 'text' && fields === 2
}
