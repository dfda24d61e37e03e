import type { ContentBlock, JsonBlock } from './content.ts'
import { copyOfJson } from './copy.ts'
import { jsonText, readText } from './json-text.ts'
import { ownJson, Written } from './written.ts'

/** A block of our own making, of which the text is known for good: whoever is shown the block may change what he holds. */
class TextedBlock implements JsonBlock {
  readonly type = 'json'
  // Declared alone, since members stand in the order in which they are set.
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

const readWhenAsked: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: object): unknown {
    return readText(TextedBlock.textOf(this) ?? 'null')
  },
}

/**
 * The block that shows a JSON value. What it says is of the time at which it was made, whatever its maker still holds: a copy
 * where there is little of it, else what is read from the text when it is asked for.
 *
 * @throws `E_INVALID_TOOL_RESULT` where JSON cannot hold the value.
 */
export function jsonBlock(value: unknown): JsonBlock & { readonly text: string } {
  if (typeof value !== 'object' || value === null) return new TextedBlock(jsonText(value), value)
  const data = copyOfJson(value)
  return new TextedBlock(data === undefined ? jsonText(value) : JSON.stringify(data), data)
}

/**
 * What a record keeps of content: nothing that others hold, and of the value of a block that has its text, the text.
 *
 * @throws `E_JOURNAL` where something of it is no JSON.
 */
export function keptContent(content: readonly ContentBlock[]): readonly ContentBlock[] {
  return content.map((block) => {
    const text = TextedBlock.textOf(block)
    return text === undefined ? ownJson(block) : { type: 'json', data: new Written(text), text }
  })
}
