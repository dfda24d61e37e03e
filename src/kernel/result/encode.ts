import { type ArtifactClass } from './artifact.ts'
import { BinaryArtifact, chosenClass, JsonArtifact, TextArtifact } from './kinds.ts'
import { isMarkedJson, looksLikeBlocks, markedBlocks, markedValue } from './content.ts'
import type { AudioBlock, ContentBlock, ImageBlock } from './content.ts'
import { InvalidToolResultError, isToolError } from '../errors.ts'
import { jsonBlock } from './json-block.ts'
import { MemoryReader } from './memory-reader.ts'
import type { Checked, Receipt } from '../call/parcel.ts'
import { utf8Length } from '../json/text.ts'

/** The most that one picture or sound may have to be shown as it is, in bytes. */
const mediaLimit = 5_242_880

/** What a result is before it is kept: its bytes, which may still be somebody else's, the class that reads them, and the blocks that show it where it is small. */
export interface Product {
  readonly source: string | Uint8Array
  readonly Class: ArtifactClass
  readonly mediaType?: string | undefined
  readonly blocks: readonly ContentBlock[]
}

/**
 * Reads a result that is all there: text, a JSON value, bytes or content blocks.
 *
 * @throws `E_INVALID_TOOL_RESULT` where it cannot be kept without loss.
 */
export function productOf(value: unknown): Product {
  try {
    return productOfAny(value)
  } catch (cause) {
    if (isToolError(cause)) throw cause
    throw new InvalidToolResultError('The result cannot be read: it throws when it is looked at.', { cause })
  }
}

function productOfAny(value: unknown): Product {
  switch (typeof value) {
    case 'undefined':
      return textProduct('')
    case 'string':
      return textProduct(value)
    case 'number':
    case 'boolean':
      return textProduct(String(value))
    case 'object':
      return value === null ? textProduct('null') : productOfObject(value)
    default:
      return jsonProduct(value) // which refuses it, and says why
  }
}

function productOfObject(value: object): Product {
  if (isMarkedJson(value)) return jsonProduct(markedValue(value))
  if (value instanceof ArrayBuffer) return binaryProduct(new Uint8Array(value))
  if (ArrayBuffer.isView(value)) {
    return binaryProduct(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  }
  const blocks = Array.isArray(value) && looksLikeBlocks(value) ? value : markedBlocks(value)
  return blocks === undefined ? jsonProduct(value) : blocksProduct(blocks)
}

function textProduct(text: string): Product {
  return { source: text, Class: TextArtifact, blocks: [{ type: 'text', text: text === '' ? '(no output)' : text }] }
}

function jsonProduct(value: unknown): Product {
  const block = jsonBlock(value)
  return { source: block.text, Class: JsonArtifact, blocks: [block] }
}

function binaryProduct(bytes: Uint8Array): Product {
  const text = `(${bytes.byteLength.toLocaleString('en')} bytes, not shown)`
  return { source: bytes, Class: BinaryArtifact, blocks: [{ type: 'text', text }] }
}

function blocksProduct(blocks: readonly ContentBlock[]): Product {
  if (
    !Array.isArray(blocks) ||
    !Array.from(blocks).every((block: unknown) => typeof (block as ContentBlock | null)?.type === 'string')
  ) {
    throw new InvalidToolResultError('`content` takes an array of blocks, each an object with a `type`.')
  }
  const [only] = blocks
  if (blocks.length === 1 && only !== undefined) {
    if (only.type === 'json') return jsonProduct(only.data)
    if (only.type === 'image' || only.type === 'audio') {
      return { source: base64Bytes(only.data), Class: BinaryArtifact, mediaType: only.mimeType, blocks }
    }
  }
  const texts = blocks.map((block) => (block.type === 'text' ? block.text : undefined))
  if (texts.length > 0 && !texts.includes(undefined)) return { ...textProduct(texts.join('\n')), blocks }
  return { ...jsonProduct(blocks), blocks }
}

function base64Bytes(data: string): Uint8Array {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
  } catch (cause) {
    throw new InvalidToolResultError('The data of an image or audio block is not base64.', { cause })
  }
}

/** Whether a result may live in the result object and be shown as it is. */
export function isSmall({ source, blocks }: Product, inlineLimit: number): boolean {
  let shown = 0
  let media = 0
  for (const block of blocks) {
    if (isMedia(block)) {
      if (!isShownAsMedia(block)) return false
      media++
    } else shown += byteLength(wordsOfBlock(block), inlineLimit)
  }
  if (shown > inlineLimit) return false
  return typeof source === 'string' || media > 0 || source.byteLength <= inlineLimit
}

/** Whether a block is a picture or a sound that is small enough to be shown as it is. */
export function isShownAsMedia(block: ContentBlock): boolean {
  return isMedia(block) && block.data.length * 0.75 <= mediaLimit
}

function isMedia(block: ContentBlock): block is ImageBlock | AudioBlock {
  return block.type === 'image' || block.type === 'audio'
}

function wordsOfBlock(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  return block.type === 'json' && block.text !== undefined ? block.text : JSON.stringify(block)
}

/** The length of a text in bytes of UTF-8, exact only where it matters whether it is above the limit. */
function byteLength(text: string, limit: number): number {
  return text.length * 3 <= limit || text.length > limit ? text.length : utf8Length(text)
}

/** Keeps a small result in the result object. */
export function keepSmall({ source, blocks, mediaType, Class }: Product, { tool }: Checked): Receipt {
  // Bytes that the handler may go on using are copied, as a store would copy them.
  const reader = new MemoryReader(typeof source === 'string' ? source : source.slice())
  const artifact = new (chosenClass(tool.artifact, Class))({ reader, mediaType, trusted: tool.trusted })
  return { content: blocks, artifact, handle: undefined }
}
