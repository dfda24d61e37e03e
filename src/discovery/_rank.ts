// Ranks tools by the words of a query: BM25 over fields that have weights, and no package for it.
import type { ToolDefinition } from '../index.ts'
import { stemOf } from './_stems.ts'
import { wordCount, wordNumber, type ToolWords, type Vocabulary } from './_vocabulary.ts'
import { readQuery } from './_query.ts'
import { isVerb, kinOf } from './_words.ts'

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
/** How much more a verb counts: of the tools for one thing, it tells which. */
const ofVerb = 1.2
/** How sure it is that two words of a query are one of the tools, as in "work flow". */
const ofJoined = 0.9
/** What it is worth that words which stand beside each other in the query do so in a tool. */
const ofNeighbours = 0.05
/** How much of its score a tool loses if it says the same first as one that stands before it, and among how many tools. */
const ofLikeness = 0.2
const mostSpread = 40

/** A word of the tools that stands for a word of the query. */
interface Term {
  readonly number: number
  /** How close it is to the word of the query: 1 is that itself. */
  readonly share: number
  /** The share, times how much the word tells. */
  readonly worth: number
}

/** What a word of the tools stands for in a query: with what share, and for which of its words. */
interface Meaning {
  readonly share: number
  readonly at: number
}

interface Candidate extends RankedTool {
  readonly words: ToolWords
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

  /**
   * Returns the tools that have a word of the query, the best first. Equal ones stand in the order of their names. Those that say
   * much the same do not take all places.
   */
  search(query: string, limit: number): RankedTool[] {
    const { words, alike, deed } = readQuery(query)
    const joined = this.#joinedWords([...words.keys()])
    const scores = new Float64Array(this.tools.length)
    const matched = new Float64Array(this.tools.length)
    const best = new Float64Array(this.tools.length)
    const meant = new Map<number, Meaning>()
    let total = 0
    for (const [at, [word, wordWeight]] of [...words].entries()) {
      const weight = isVerb(word) ? wordWeight * ofVerb : wordWeight
      const found: number[] = []
      for (const { number, share, worth } of this.#termsOf(word, [...(alike.get(word) ?? []), ...(joined[at] ?? [])])) {
        if (share > (meant.get(number)?.share ?? 0)) meant.set(number, { share, at })
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
    const most = limit > mostSpread ? limit : mostSpread
    let ranked: Candidate[] = []
    let least = 0
    for (const [place, score] of scores.entries()) {
      if (score === 0) continue
      const ofTool = this.#read[place]!
      const ofDeed = deed === undefined || ofTool.deed === undefined || ofTool.deed === deed ? 1 : otherDeed
      const ofWords = score * ofDeed * (matched[place]! / total) ** coverage
      if (ofWords * (1 + startBonus) * (1 + ofNeighbours) < least) continue
      const final = ofWords * this.#ofStart(ofTool, meant, words.size)
      if (final < least) continue
      ranked.push({ name: this.tools[place]!.name, score: final, words: ofTool })
      // Most queries fit many tools a little.
      if (ranked.length < 2 * most + 64) continue
      ranked = ranked.toSorted(byScore).slice(0, most)
      least = ranked.at(-1)!.score
    }
    ranked = ranked.toSorted(byScore).slice(0, most)
    // Scores stay with their places: how clear the first one is depends on the best of the others, wherever that stands now.
    const names = this.#spread(ranked.slice(0, mostSpread), limit).map(({ name }) => name)
    return ranked.slice(0, limit).map(({ name, score }, place) => ({ name: names[place] ?? name, score }))
  }

  /** Returns for each word the word of the tools that it is with the one before it or after it. */
  #joinedWords(words: readonly string[]): (readonly (readonly [string, number])[])[] {
    const joined: [string, number][][] = words.map(() => [])
    for (let at = 1; at < words.length; at++) {
      const word = stemOf(`${words[at - 1]}${words[at]}`)
      if (this.#count(word) === 0) continue
      joined[at - 1]!.push([word, ofJoined])
      joined[at]!.push([word, ofJoined])
    }
    return joined
  }

  /**
   * Returns so many tools in an order in which one that is like another before it loses a part of its score. It is no other order
   * for more tools.
   */
  #spread(ranked: readonly Candidate[], limit: number): Candidate[] {
    const left = ranked.map((one) => ({ one, score: one.score, start: this.#worthsOfStart(one.words) }))
    const chosen: Candidate[] = []
    while (chosen.length < limit && left.length > 0) {
      const next = left.reduce((first, each) => (each.score > first.score ? each : first)) // of equal ones the first
      left.splice(left.indexOf(next), 1)
      chosen.push(next.one)
      for (const each of left) {
        const likeness = likenessOf(next.start, each.start)
        each.score = Math.min(each.score, each.one.score * (1 - ofLikeness * likeness ** 2))
      }
    }
    return chosen
  }

  /** Returns what stands for a word of a query: itself, its kin, and what begins with it. Kin together tell what the commonest tells. */
  #termsOf(word: string, alike: readonly (readonly [string, number])[]): Term[] {
    const shares = new Map([[word, 1]])
    for (const [term, share] of [...kinOf(word), ...alike]) shares.set(term, Math.max(share, shares.get(term) ?? 0))
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

  /**
   * By how much more a tool fits if the query means what it says first. A word counts by its fields, and by how much it tells; words
   * that stand in the order of the query count a little more.
   */
  #ofStart({ packed, ofStart }: ToolWords, meant: ReadonlyMap<number, Meaning>, ofQuery: number): number {
    let [sum, whole, neighbours] = [0, 0, 0]
    let before: Meaning | undefined
    for (let at = 0; at < ofStart; at++) {
      const number = wordNumber(packed[at]!)
      const worth = this.#rarities[number]! * wordCount(packed[at]!)
      const meaning = meant.get(number)
      whole += worth
      sum += worth * (meaning?.share ?? 0)
      if (meaning !== undefined && before?.at === meaning.at - 1) neighbours++
      before = meaning
    }
    const ofOrder = ofNeighbours * Math.min(1, neighbours / Math.max(1, ofQuery - 1))
    return whole === 0 ? 1 : (1 + (startBonus * sum) / whole) * (1 + ofOrder)
  }

  /** What the words tell that a tool says first. */
  #worthsOfStart({ packed, ofStart }: ToolWords): Map<number, number> {
    const start = [...packed.subarray(0, ofStart)]
    return new Map(
      start.map((word) => {
        const number = wordNumber(word)
        return [number, this.#rarities[number]! * wordCount(word)]
      }),
    )
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

/** Returns how much of what two tools say first is said by both, from 0 to 1. */
function likenessOf(one: ReadonlyMap<number, number>, other: ReadonlyMap<number, number>): number {
  let [shared, whole] = [0, 0]
  for (const worth of one.values()) whole += worth
  for (const [number, worth] of other) {
    const ofBoth = Math.min(worth, one.get(number) ?? 0)
    shared += ofBoth
    whole += worth - ofBoth
  }
  return whole === 0 ? 0 : shared / whole
}
