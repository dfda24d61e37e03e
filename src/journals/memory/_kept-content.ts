import type { ContentBlock } from '../../index.ts'
import { keptText, ownJson, readText } from '../../records/settlement.ts'

export function blockLength(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length
  return (block.type === 'json' ? block.text : JSON.stringify(block))?.length ?? 0
}

/** Stores a value as JSON text: immutable and compact. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return readText(this.text)
  }
}

/** Content in few objects: the text of a single text block, the JSON of a single JSON block, or blocks. */
export type KeptContent = string | JsonText | readonly ContentBlock[]

/** Returns a private copy of content. A block that keeps its JSON text is kept as the text. */
export function keptContent(content: readonly ContentBlock[]): KeptContent {
  const [only] = content
  if (content.length !== 1 || only === undefined) return content.map(keptBlock)
  const json = keptText(only)
  if (json !== undefined) return new JsonText(json)
  const { type, text } = only as { readonly type: string; readonly text?: unknown }
  return type === 'text' && typeof text === 'string' && Object.keys(only).length === 2 ? text : [ownJson(only)]
}

function keptBlock(block: ContentBlock): ContentBlock {
  const text = keptText(block)
  return text === undefined ? ownJson(block) : textBlockOf(new JsonText(text))
}

function textBlockOf(data: JsonText): ContentBlock {
  return { type: 'json', data, text: data.text }
}

export function blocksOf(content: KeptContent | undefined): readonly ContentBlock[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content instanceof JsonText ? [textBlockOf(content)] : content
}
