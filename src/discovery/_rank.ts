// Ranks tools by the words of a query: BM25 over fields that have weights, and no package for it.
import type { ToolDefinition } from '../index.ts'
import { wordCount, wordNumber, type ToolWords, type Vocabulary } from './_vocabulary.ts'
import { kinOf, readQuery } from './_words.ts'

/** A tool that a ranker found. The larger the score, the better it fits: only scores of one answer are compared. */
export interface RankedTool {
  readonly name: string
  readonly score: number
}

/** How soon more of one word counts no more, and how much a long text counts less. */
const saturation = 0.8
const lengthShare = 0.35
/** How close words are that together tell only what the commonest of them tells, and one that begins as the query's. */
const closeKin = 0.75
const ofBeginning = 1
/** What it is worth that the query means all that a tool says first. */
const startBonus = 1.2
/** What is left of the score of a tool that does another thing than the query asks for. */
const otherDeed = 0.75
/** The power of the share of the query's words that a tool has, by which its score is multiplied. */
const coverage = 0.25

/** A word of the tools that stands for a word of the query. */
interface Term {
  readonly number: number
  /** How close it is to the word of the query: 1 is that itself. */
  readonly share: number
  /** The share, times how much the word tells. */
  readonly worth: number
}

/** The index of one list of tools. */
export class ToolIndex {
  readonly tools: readonly ToolDefinition[]
  readonly #vocabulary: Vocabulary
  readonly #read: readonly ToolWords[]
  /** For the number of a word where its tools begin in the two arrays below; one more at the end. */
  readonly #starts: Uint32Array
  readonly #places: Uint32Array
  readonly #values: Float32Array
  /** How much each word tells. */
  readonly #rarities: Float32Array

  constructor(tools: readonly ToolDefinition[], vocabulary: Vocabulary) {
    this.tools = [...tools] // the caller may change its array
    this.#vocabulary = vocabulary
    this.#read = tools.map((tool) => vocabulary.read(tool))
    const mean = this.#read.reduce((sum, { length }) => sum + length, 0) / Math.max(1, tools.length)
    // Counted two places on: once the arrays are filled, each start stands where it belongs.
    const starts = new Uint32Array(vocabulary.size + 2)
    for (const { packed } of this.#read) for (const word of packed) starts[wordNumber(word) + 2]!++
    for (let at = 2; at < starts.length; at++) starts[at]! += starts[at - 1]!
    const total = starts.at(-1)!
    this.#places = new Uint32Array(total)
    this.#values = new Float32Array(total)
    for (const [place, { packed, length }] of this.#read.entries()) {
      const bound = saturation * (1 - lengthShare + (lengthShare * length) / mean)
      for (const word of packed) {
        const [slot, count] = [starts[wordNumber(word) + 1]!++, wordCount(word)]
        this.#places[slot] = place
        this.#values[slot] = (count * (saturation + 1)) / (count + bound)
      }
    }
    this.#starts = starts
    this.#rarities = Float32Array.from({ length: starts.length - 1 }, (_, number) =>
      this.#rarity(starts[number + 1]! - starts[number]!),
    )
  }

  /** Returns the tools that have a word of the query, the best first. Equal ones stand in the order of their names. */
  search(query: string, limit: number): RankedTool[] {
    const { words, alike, deed } = readQuery(query)
    const scores = new Float64Array(this.tools.length)
    const matched = new Float64Array(this.tools.length)
    const best = new Float64Array(this.tools.length)
    const meant = new Map<number, number>()
    let total = 0
    for (const [word, weight] of words) {
      const found: number[] = []
      for (const { number, share, worth } of this.#termsOf(word, alike.get(word))) {
        meant.set(number, Math.max(meant.get(number) ?? 0, share))
        for (let slot = this.#starts[number]!; slot < this.#starts[number + 1]!; slot++) {
          const place = this.#places[slot]!
          if (best[place] === 0) found.push(place)
          best[place] = Math.max(best[place]!, weight * worth * this.#values[slot]!)
        }
      }
      if (found.length > 0) total += weight
      for (const place of found) {
        scores[place]! += best[place]! // a word counts once, by whichever term stands for it best
        matched[place]! += weight
        best[place] = 0
      }
    }
    let ranked: RankedTool[] = []
    for (const [place, score] of scores.entries()) {
      if (score === 0) continue
      const tool = this.#read[place]!
      const ofDeed = deed === undefined || tool.deed === undefined || tool.deed === deed ? 1 : otherDeed
      const ofWords = (matched[place]! / total) ** coverage
      const final = score * (1 + startBonus * this.#meantShare(tool, meant)) * ofDeed * ofWords
      ranked.push({ name: this.tools[place]!.name, score: final })
      // Most queries fit many tools a little.
      if (ranked.length >= 2 * limit + 64) ranked = ranked.toSorted(byScore).slice(0, limit)
    }
    return ranked.toSorted(byScore).slice(0, limit)
  }

  /** Returns what stands for a word of a query: itself, its kin, and what begins with it. Kin together tell what the commonest tells. */
  #termsOf(word: string, alike: ReadonlyMap<string, number> | undefined): Term[] {
    const shares = new Map([[word, 1]])
    for (const [term, share] of [...kinOf(word), ...(alike ?? [])])
      shares.set(term, Math.max(share, shares.get(term) ?? 0))
    let commonest = 0
    for (const [term, share] of shares) if (share >= closeKin) commonest = Math.max(commonest, this.#count(term))
    const beginnings = word.length < 4 ? [] : this.#vocabulary.beginningWith(word)
    for (const each of beginnings) if (!shares.has(each)) shares.set(each, ofBeginning)
    return [...shares].flatMap(([term, share]) => {
      const count = this.#count(term)
      const number = this.#vocabulary.numberOf(term)
      if (count === 0 || number === undefined) return []
      return { number, share, worth: share * this.#rarity(Math.max(count, commonest)) }
    })
  }

  /** The share of what a tool says first that a query means. A word counts by its fields, and by how much it tells. */
  #meantShare({ packed, ofStart }: ToolWords, meant: ReadonlyMap<number, number>): number {
    let [sum, whole] = [0, 0]
    for (let at = 0; at < ofStart; at++) {
      const number = wordNumber(packed[at]!)
      const worth = this.#rarities[number]! * wordCount(packed[at]!)
      whole += worth
      sum += worth * (meant.get(number) ?? 0)
    }
    return whole === 0 ? 0 : sum / whole
  }

  /** How many tools have a word. */
  #count(word: string): number {
    const number = this.#vocabulary.numberOf(word)
    if (number === undefined || number + 1 >= this.#starts.length) return 0
    return this.#starts[number + 1]! - this.#starts[number]!
  }

  /** How much a word tells that so many tools have: the fewer, the more. The root, since a rare word is often beside the point. */
  #rarity(count: number): number {
    return Math.sqrt(Math.log(1 + (this.tools.length - count + 0.5) / (count + 0.5)))
  }
}

/** Puts the better one first, and equal ones in the order of their names. */
export function byScore(one: RankedTool, other: RankedTool): number {
  return other.score - one.score || (one.name < other.name ? -1 : 1)
}
