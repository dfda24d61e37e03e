import { MemoryReader, type ArtifactClass, type ArtifactOption, type SpooledArtifact } from './artifact.ts'
import { BinaryArtifact, chosenClass, JsonArtifact, TextArtifact } from './kinds.ts'
import { isMarkedJson, isMedia, looksLikeBlocks, markedBlocks, markedValue } from './content.ts'
import { requireBlocks, requireMimeTypes, type ContentBlock, type JsonBlock } from './content.ts'
import { InvalidToolResultError, isToolError } from '../errors.ts'
import { copyOfJson, defineMember, isArrayBuffer } from '../json/copy.ts'
import { readResult, readText, textOf } from '../json/json-text.ts'
import { utf8Length } from '../json/text.ts'

/** The largest picture or sound that is shown as it is, in bytes. */
const mediaLimit = 5_242_880

/** A result before it is kept: its bytes, which the handler may still own, the class that reads them, and its blocks. */
export interface EncodedResult {
  readonly source: string | Uint8Array
  readonly Class: ArtifactClass
  readonly mediaType?: string | undefined
  readonly blocks: readonly ContentBlock[]
  /** The blocks say something else than the source, as `shown` marks it. */
  readonly isApart?: true
}

/** Encodes text, a JSON value, bytes or content blocks. Throws `E_INVALID_TOOL_RESULT` if something would be lost. */
export function encodeResult(value: unknown): EncodedResult {
  try {
    switch (typeof value) {
      case 'undefined':
        return encodeText('')
      case 'string':
      case 'number':
      case 'boolean':
        return encodeText(String(value))
      case 'object':
        return value === null ? encodeText('null') : encodeObject(value)
      default:
        return encodeJson(value) // refuses it with the reason
    }
  } catch (cause) {
    if (isToolError(cause)) throw cause
    throw new InvalidToolResultError('The result cannot be read: it throws when it is looked at.', { cause })
  }
}

function encodeObject(value: object): EncodedResult {
  if (isMarkedJson(value)) {
    const encoded = encodeJson(markedValue(value))
    const apart = markedBlocks(value)
    return apart === undefined ? encoded : { ...encoded, blocks: encodeBlocks(apart).blocks, isApart: true }
  }
  const bytes = isArrayBuffer(value) ? new DataView(value) : value // throws if the value only says that it is a buffer
  if (ArrayBuffer.isView(bytes)) {
    return encodeBytes(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }
  const isArray = Array.isArray(value)
  if (isArray && typeof value[0]?.type === 'string') requireMimeTypes(value, 3)
  const blocks = isArray && looksLikeBlocks(value) ? value : markedBlocks(value)
  return blocks === undefined ? encodeJson(value) : encodeBlocks(blocks)
}

/** Encodes a complete result for the model, or as JSON for its program. */
export function encodeFor({ program, tool }: KeepOptions, value: unknown): EncodedResult {
  const encoded = encodeResult(value)
  if (program !== undefined) return shownAsJson(encoded, value)
  const [only, other] = encoded.blocks
  // A server's client shows one text apart only if the checked value does no more than wrap it. Kept as text, it has lines.
  const isWrapped = encoded.isApart === true && tool.type === 'mcp' && only?.type === 'text' && other === undefined
  return isWrapped ? encodeText(only.text) : encoded
}

/** Shows a result as one JSON block of the whole, as a program reads it. Bytes have none. */
function shownAsJson(encoded: EncodedResult, value: unknown): EncodedResult {
  const { source, Class } = encoded
  if (typeof source !== 'string') return encoded
  if (Class === JsonArtifact) return { source, Class, blocks: [new TextedBlock(source, undefined)] }
  const isPlain = value === null || typeof value === 'boolean' || Number.isFinite(value)
  return { ...encoded, blocks: [jsonBlock(isPlain ? value : value === undefined ? null : source)] }
}

function encodeText(text: string): EncodedResult {
  return { source: text, Class: TextArtifact, blocks: [{ type: 'text', text: text === '' ? '(no output)' : text }] }
}

function encodeJson(value: unknown): EncodedResult {
  const block = jsonBlock(value)
  return { source: block.text, Class: JsonArtifact, blocks: [block] }
}

function encodeBytes(bytes: Uint8Array): EncodedResult {
  const text = `(${bytes.byteLength.toLocaleString('en')} bytes, not shown)`
  return { source: bytes, Class: BinaryArtifact, blocks: [{ type: 'text', text }] }
}

function encodeBlocks(blocks: readonly ContentBlock[]): EncodedResult {
  requireBlocks(blocks)
  const [only] = blocks
  if (blocks.length === 1 && only !== undefined) {
    if (only.type === 'json') return encodeJson(only.data)
    if (isMedia(only)) {
      return { source: base64Bytes(only.data), Class: BinaryArtifact, mediaType: only.mimeType, blocks }
    }
  }
  const texts = blocks.map((block) => (block.type === 'text' ? block.text : undefined))
  if (texts.length > 0 && !texts.includes(undefined)) return { ...encodeText(texts.join('\n')), blocks }
  return { ...encodeJson(blocks), blocks }
}

function base64Bytes(data: string): Uint8Array {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
  } catch (cause) {
    throw new InvalidToolResultError('The data of an image or audio block is not base64.', { cause })
  }
}

/** What the result of a call holds of the handler's result. */
export interface Receipt {
  readonly content: readonly ContentBlock[]
  readonly artifact: SpooledArtifact
  readonly handle: string | undefined
  /** The result without its mark, if it is small, and neither a stream nor an artifact. */
  readonly value?: unknown
}

/** Whether a result fits into the result object and is shown as it is. */
export function isSmall({ source, blocks, isApart }: EncodedResult, inlineLimit: number): boolean {
  if (isApart === true && byteLength(String(source), inlineLimit) > inlineLimit) return false
  let shownBytes = 0
  let media = 0
  for (const block of blocks) {
    if (isMedia(block)) {
      if (!isShownAsMedia(block)) return false
      media++
    } else shownBytes += byteLength(wordsOfBlock(block), inlineLimit)
  }
  if (shownBytes > inlineLimit) return false
  return typeof source === 'string' || media > 0 || source.byteLength <= inlineLimit
}

/** Whether a block is a picture or a sound that is small enough to be shown as it is. */
export function isShownAsMedia(block: ContentBlock): boolean {
  return isMedia(block) && block.data.length * 0.75 <= mediaLimit
}

function wordsOfBlock(block: ContentBlock): string {
  return (block.type === 'text' || block.type === 'json' ? block.text : undefined) ?? JSON.stringify(block)
}

/** Returns the length of a text in bytes of UTF-8, exact only if it decides whether the text is above the limit. */
function byteLength(text: string, limit: number): number {
  const { length } = text
  return length * 3 <= limit || length > limit ? length : utf8Length(text)
}

/** The parts of a call that decide how its result is kept. */
interface KeepOptions {
  readonly program: object | undefined
  readonly tool: {
    readonly type: string
    readonly artifact?: ArtifactOption
    readonly trusted: boolean
    readonly inlineLimit?: number
    readonly allowedCallers?: readonly string[]
  }
}

/** The most bytes of a result that a program gets, if its tool lists programs as callers, and of an output. */
const programLimit = 1_048_576

/** Returns how many bytes of a result are shown whole. @param usual The limit of the executor. */
export function shownLimit({ program, tool }: KeepOptions, usual: number): number {
  const { inlineLimit = usual, allowedCallers, type } = tool
  const isWhole = type === 'output' || (program !== undefined && allowedCallers?.includes('program') === true)
  return isWhole ? Math.max(inlineLimit, programLimit) : inlineLimit
}

/** Keeps a small result in the result object. */
export function keepSmall(
  { source, blocks, mediaType, Class }: EncodedResult,
  { tool }: KeepOptions,
  value?: unknown,
): Receipt {
  // The handler may reuse its bytes, so they are copied, as a store does.
  const reader = new MemoryReader(typeof source === 'string' ? source : source.slice())
  const artifact = new (chosenClass(tool.artifact, Class))({ reader, mediaType, trusted: tool.trusted })
  return { content: blocks, artifact, handle: undefined, value }
}

/** A block that keeps its text in a private field, since a reader may change the public ones. */
class TextedBlock implements JsonBlock {
  readonly type = 'json'
  // Only declared: the constructor sets the members in the order of their enumeration.
  declare readonly data: unknown
  declare readonly text: string
  readonly #text: string

  constructor(text: string, data: unknown) {
    if (data === undefined) Object.defineProperty(this, 'data', readWhenAsked)
    else this.data = data
    this.text = text
    this.#text = text
  }

  static textOf(block: object): string | undefined {
    return #text in block ? block.#text : undefined
  }
}

const readWhenAsked: PropertyDescriptor & ThisType<object> = {
  enumerable: true,
  configurable: true,
  get() {
    const data = readText(TextedBlock.textOf(this) ?? 'null')
    defineMember(this, 'data', data)
    return data
  },
  set(data) {
    defineMember(this, 'data', data)
  },
}

/** The most values that are copied at once: of larger values mostly only the text is read. */
const fewValues = 32

/**
 * Makes a block that keeps the present state of a JSON value. A small value is copied; of a large one the text is parsed when
 * `data` is first read. Throws `E_INVALID_TOOL_RESULT` if JSON cannot hold the value.
 */
export function jsonBlock(value: unknown): JsonBlock & { readonly text: string } {
  const { value: plain, values } = readResult(value)
  if (typeof plain !== 'object' || plain === null) return new TextedBlock(textOf(plain), plain)
  const data = values <= fewValues ? copyOfJson(plain) : undefined
  return new TextedBlock(textOf(data ?? plain), data)
}

/** Returns the JSON text of a block that keeps it, if it does. */
export function keptText(block: ContentBlock): string | undefined {
  return TextedBlock.textOf(block)
}
