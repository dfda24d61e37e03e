// What a ranker knows of the language: which words stand for others, and what verbs do.
import { stemOf, stemsIn } from './_stems.ts'
import { nouns, verbs, type Deed } from './_words-alike.ts'
import { broader, chatter, phrasesAlike, phrasesInstead } from './_words-broader.ts'

export type { Deed } from './_words-alike.ts'

/** How sure it is that one word stands for another: of one family, and of a broader sense. */
export const ofFamily = 0.8
const ofBroader = 0.7

/** Returns the stems that may stand for a stem, without itself, each with how sure that is, from 0 to 1. */
export function kinOf(stem: string): ReadonlyMap<string, number> {
  return language().kin.get(stem) ?? noKin
}

const noKin: ReadonlyMap<string, number> = new Map()

/** Whether a stem is one of a verb, or of what is asked for as by one, such as "status". */
export function isVerb(stem: string): boolean {
  return language().verbStems.has(stem)
}

/** Returns what a verb does. A stem that is no verb, or one of no clear deed, has none. */
export function deedOf(stem: string): Deed | undefined {
  const { ambiguousVerbs, deeds } = language()
  return ambiguousVerbs.has(stem) ? undefined : deeds.get(stem)
}

interface Language {
  readonly kin: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly deeds: ReadonlyMap<string, Deed>
  readonly verbStems: ReadonlySet<string>
  /** Verbs of more than one deed. */
  readonly ambiguousVerbs: ReadonlySet<string>
  readonly sayings: ReadonlyMap<string, Saying>
  readonly longestSaying: number
  readonly idleInQueries: ReadonlySet<string>
}

/** What a phrase means: a text in its place, or stems that may stand for each of its words. */
interface Saying {
  readonly instead: string | undefined
  readonly terms: readonly string[]
}

let languageRead: Language | undefined

/** Returns what is known of the language. The lists are read when it is first asked for. */
export function language(): Language {
  return (languageRead ??= readLists())
}

function readLists(): Language {
  const kin = new Map<string, Map<string, number>>()
  const deeds = new Map<string, Deed>()
  const verbStems = new Set<string>()
  const ambiguousVerbs = new Set<string>()
  const relate = (word: string, other: string, share: number): void => {
    if (word === other) return
    const ofWord = kin.get(word) ?? new Map<string, number>()
    kin.set(word, ofWord.set(other, Math.max(share, ofWord.get(other) ?? 0)))
  }
  for (const [deed, lines] of [...Object.entries(verbs), ['', nouns] as const]) {
    for (const line of splitEntries(lines)) {
      const family = line.split(' ').map(stemOf)
      for (const word of family) {
        for (const other of family) relate(word, other, ofFamily)
        if (deed !== '') verbStems.add(word)
        if (deed !== 'read' && deed !== 'write' && deed !== 'remove') continue
        if ((deeds.get(word) ?? deed) !== deed) ambiguousVerbs.add(word)
        deeds.set(word, deed)
      }
    }
  }
  for (const entry of splitEntries(broader)) {
    const [from = '', to = ''] = entry.split(' > ')
    for (const word of from.split(' ').map(stemOf)) {
      for (const term of to.split(' ')) relate(word, stemOf(term), ofBroader)
    }
  }
  const sayings = new Map<string, Saying>()
  for (const entry of [...splitEntries(phrasesInstead), ...splitEntries(phrasesAlike)]) {
    const [said = '', meaning = ''] = entry.split(/ [=~] /)
    const saying = { instead: entry.includes(' = ') ? meaning : undefined, terms: stemsIn(meaning) }
    for (const phrase of said.split(', ')) sayings.set(phrase.split(' ').map(stemOf).join(' '), saying)
  }
  const longestSaying = Math.max(...Array.from(sayings.keys(), (saying) => saying.split(' ').length))
  const idleInQueries = new Set(chatter.trim().split(/\s+/).map(stemOf))
  return { kin, deeds, verbStems, ambiguousVerbs, sayings, longestSaying, idleInQueries }
}

function splitEntries(text: string): string[] {
  return text.trim().split(/;?\n|; /)
}
