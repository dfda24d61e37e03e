// The words of tools, as numbers. Each tool is read once, however many lists it stands in.
import type { ToolDefinition } from '../index.ts'
import { stemsIn } from './_stems.ts'
import { deedOf, type Deed } from './_words.ts'

/** What one word is worth, by the field that has it. The name is counted first. */
const fieldWeights = { name: 3, group: 2, title: 5, summary: 4, second: 1, rest: 0.2, parameters: 0.1 } as const
const mostWordsOfTool = 512
const mostOfStart = 32
const mostParameters = 64
/** How much of a description is read, and of that of a parameter, in UTF-16 units. */
const mostTextRead = 4_096
const parameterLength = 200
/** Texts of servers that change for ever would fill a vocabulary. */
const mostWords = 100_000
const mostBeginnings = 16

/** The words of a tool. */
export interface ToolWords {
  /** For each word its number, times 4,096, and what it counts, in twentieths. They stand in the order of the fields. */
  readonly packed: Uint32Array
  /** How many of them are of what the tool says first: its name, group, title and first sentence. At most 32. */
  readonly ofStart: number
  /** What all of them count. */
  readonly length: number
  /** What its name, or the beginning of its description, says that it does. */
  readonly deed: Deed | undefined
}

/** Returns the number of a packed word. */
export function wordNumber(packed: number): number {
  return packed >>> 12
}

/** Returns what a packed word counts. */
export function wordCount(packed: number): number {
  return (packed & 4_095) / 20
}

export class Vocabulary {
  readonly #groupOf: (tool: ToolDefinition) => string | undefined
  readonly #numbers = new Map<string, number>()
  readonly #tools = new WeakMap<ToolDefinition, ToolWords>()
  #sorted: readonly string[] = []

  /** @param groupOf Returns the group of a tool, whose words count too. */
  constructor(groupOf: (tool: ToolDefinition) => string | undefined) {
    this.#groupOf = groupOf
  }

  get size(): number {
    return this.#numbers.size
  }

  get isFull(): boolean {
    return this.#numbers.size > mostWords
  }

  /** Returns the words of a tool. Its descriptions are read when it is first asked for. */
  read(tool: ToolDefinition): ToolWords {
    let words = this.#tools.get(tool)
    if (words === undefined) this.#tools.set(tool, (words = this.#wordsOf(tool)))
    return words
  }

  /** Returns the number of a word, if a tool has it. */
  numberOf(word: string): number | undefined {
    return this.#numbers.get(word)
  }

  /** Returns words that begin with a text and are longer, the first 16 in the order of letters. */
  beginningWith(text: string): readonly string[] {
    if (this.#sorted.length !== this.size) this.#sorted = [...this.#numbers.keys()].toSorted()
    let low = 0
    for (let high = this.#sorted.length; low < high;) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]! <= text) low = middle + 1
      else high = middle
    }
    const found = this.#sorted.slice(low, low + mostBeginnings)
    return found.filter((word) => word.startsWith(text))
  }

  #wordsOf(tool: ToolDefinition): ToolWords {
    const { name, title = '', description } = tool
    const [summary = '', second = '', ...rest] = sentencesOf(description)
    const texts = {
      name,
      group: this.#groupOf(tool) ?? '',
      title,
      summary,
      second,
      rest: rest.join(' '),
      parameters: parameterText(tool),
    }
    const counts = new Map<number, number>()
    let [length, ofStart] = [0, 0]
    for (const [field, weight] of Object.entries(fieldWeights) as [keyof typeof fieldWeights, number][]) {
      for (const word of stemsIn(texts[field], mostTextRead)) {
        const number = this.#numberFor(word)
        const count = counts.get(number)
        if (count === undefined && counts.size >= mostWordsOfTool) continue
        counts.set(number, (count ?? 0) + weight)
        length += weight
      }
      if (field === 'summary') ofStart = Math.min(counts.size, mostOfStart)
    }
    const packed = Uint32Array.from(
      counts,
      ([number, count]) => number * 4_096 + Math.min(4_095, Math.round(count * 20)),
    )
    const deed = [...stemsIn(name), ...stemsIn(summary).slice(0, 1)].map(deedOf).find((each) => each !== undefined)
    return { packed, ofStart, length, deed }
  }

  #numberFor(word: string): number {
    const number = this.#numbers.get(word)
    if (number !== undefined) return number
    this.#numbers.set(word, this.size)
    return this.size - 1
  }
}

/** A sentence before the first one that says nothing of what a tool does. */
const warning = /^\W*(?:deprecated|legacy|obsolete|experimental|beta|preview|closing down)\W*$/i

/** Returns the sentences of a description, beginning with the first that says what the tool does. */
function sentencesOf(description: string): string[] {
  const sentences = description.slice(0, mostTextRead).split(/(?<=[.!?])\s|\n/)
  return warning.test(sentences[0] ?? '') && sentences.length > 1 ? sentences.slice(1) : sentences
}

/**
 * Returns the names of a tool's parameters and of their members, which the body of a request has, and the descriptions of parameters.
 * A schema that cannot be made has none.
 */
function parameterText(tool: ToolDefinition): string {
  const names: string[] = []
  const descriptions: string[] = []
  try {
    for (const [name, schema] of memberSchemas(tool.describe().inputSchema)) {
      const { description, items } = (schema ?? {}) as { readonly description?: unknown; readonly items?: unknown }
      names.push(name, ...[...memberSchemas(schema), ...memberSchemas(items)].map(([member]) => member))
      if (typeof description === 'string') descriptions.push(description.slice(0, parameterLength))
    }
  } catch {
    // It is left out of the list of tools, and reported there.
  }
  return [...names, ...descriptions].join(' ')
}

/** Returns the properties of a schema, at most 64. */
function memberSchemas(schema: unknown): [string, unknown][] {
  const { properties } = (schema ?? {}) as { readonly properties?: unknown }
  return typeof properties === 'object' && properties !== null
    ? Object.entries(properties).slice(0, mostParameters)
    : []
}
