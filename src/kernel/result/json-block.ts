import type { ContentBlock, JsonBlock } from './content.ts'
import { copyOfJson, define } from '../json/copy.ts'
import { readResult, readText, textOf } from '../json/json-text.ts'
import { ownJson, Written } from '../json/written.ts'

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

const readWhenAsked: PropertyDescriptor & ThisType<object> = {
  enumerable: true,
  configurable: true,
  get() {
    const data = readText(TextedBlock.textOf(this) ?? 'null')
    define(this, 'data', data)
    return data
  },
  set(data) {
    define(this, 'data', data)
  },
}

/** Values of which a copy is made at once: where there are more, the text is mostly all that is asked for. */
const fewValues = 32

/**
 * The block that shows a JSON value as it was when the block was made, whatever its maker still holds: by a copy if it has few
 * values, else by the text, which is read when the value is first asked for.
 *
 * @throws `E_INVALID_TOOL_RESULT` where JSON cannot hold the value.
 */
export function jsonBlock(value: unknown): JsonBlock & { readonly text: string } {
  const { value: plain, values } = readResult(value)
  if (typeof plain !== 'object' || plain === null) return new TextedBlock(textOf(plain), plain)
  const data = values <= fewValues ? copyOfJson(plain) : undefined
  return new TextedBlock(textOf(data ?? plain), data)
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
