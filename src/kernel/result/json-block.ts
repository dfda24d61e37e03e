import type { ContentBlock, JsonBlock } from './content.ts'
import { copyOfJson, define } from '../json/copy.ts'
import { readResult, readText, textOf } from '../json/json-text.ts'
import { ownJson, Written } from '../json/written.ts'

/** A block that keeps its text in a private field, since a reader may change the public ones. */
class TextedBlock implements JsonBlock {
  readonly type = 'json'
  // Only declared: the constructor sets the members in the order in which they are to be enumerated.
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

/** The most values that are copied at once: of larger values mostly only the text is read. */
const fewValues = 32

/**
 * Makes a block that keeps the present state of a JSON value. A small value is copied; of a large one the text is parsed when
 * `data` is first read.
 *
 * @throws `E_INVALID_TOOL_RESULT` if JSON cannot hold the value.
 */
export function jsonBlock(value: unknown): JsonBlock & { readonly text: string } {
  const { value: plain, values } = readResult(value)
  if (typeof plain !== 'object' || plain === null) return new TextedBlock(textOf(plain), plain)
  const data = values <= fewValues ? copyOfJson(plain) : undefined
  return new TextedBlock(textOf(data ?? plain), data)
}

/**
 * Returns a private copy of content for a record. A block that knows its JSON text is kept as the text.
 *
 * @throws `E_JOURNAL` if a block is not JSON.
 */
export function keptContent(content: readonly ContentBlock[]): readonly ContentBlock[] {
  return content.map((block) => {
    const text = TextedBlock.textOf(block)
    return text === undefined ? ownJson(block) : { type: 'json', data: new Written(text), text }
  })
}
