// What a ranker reads in a query: its words, what else stands for them, and what it wants done.
import { stemOf, stemsIn } from './_stems.ts'
import { nouns, verbs, type Deed } from './_words-alike.ts'
import { broader, chatter, phrasesAlike, phrasesInstead } from './_words-broader.ts'

export type { Deed } from './_words-alike.ts'

/** How sure it is that one word stands for another: of one family, of a broader sense, and in a phrase. */
const ofFamily = 0.8
const ofBroader = 0.7
const ofPhrase = 0.9

/** Phrases of queries that have other words in their midst. */
const splitPhrases: readonly (readonly [RegExp, string])[] = [
  [/\btake\b(.{1,40}?)\b(?:off|away|out|back|down)\b/g, 'remove$1'],
  [/\bbring\b(.{1,40}?)\bup to date\b/g, 'update$1'],
  [/\bmake\b(.{1,40}?)\b(?:an? )?(admin|owner|member|maintainer)\b/g, 'set$1$2'],
  [/\bmake\b(.{1,40}?)\b(?:public|private|visible|hidden)\b/g, 'update$1visibility'],
  [/\b(?:not|no|n't|never)\b(.{1,60}?)\bany ?(?:more|longer)\b/g, 'remove$1'],
  [/\b(?:do(?:es)?(?: not|n't)|need not) (?:have|need) to\b/g, 'remove'],
  [/\bv?\d+(?:\.\d+)+\b/g, 'version'],
  [/\bturn\b(.{1,40}?)\binto\b/g, 'convert$1'],
  [/\b(?:turn|switch)\b(.{1,40}?)\bon\b/g, 'enable$1'],
  [/\b(?:turn|switch|shut)\b(.{1,40}?)\boff\b/g, 'disable$1'],
  [/\b(?:stop|keep|prevent|block)\b(.{1,40}?)\bfrom\b/g, 'block$1'],
  [/\b(?:throw|kick|clear|wipe|tear|cut|shut)\b(.{1,40}?)\b(?:away|out|off|down)\b/g, 'remove$1'],
  [/\b(?:get|bring|put|win|give)\b(.{1,40}?)\bback\b/g, 'restore$1'],
  [/\b(?:hand)\b(.{1,40}?)\bover\b/g, 'transfer$1'],
  [/\bput\b(.{1,40}?)\bin charge of\b/g, 'assign$1'],
  [/\blet\b(.{1,40}?)\bknow\b/g, 'notify$1'],
  [/\b(?:run|start|do|build|execute|launch|trigger)\b(.{1,40}?)\b(?:again|once more|one more time)\b/g, 'rerun$1'],
  [/\b(?:send|deliver|fire)\b(.{1,40}?)\bagain\b/g, 'redeliver$1'],
  [/\bopen\b(.{1,40}?)\bagain\b/g, 'reopen$1'],
  [/\bhow (?:many|much)\b(.{1,40}?)\b(?:may|can|could|allowed)\b/g, 'limit$1'],
  [/\bwhat (?:is|are|was|were|did|does|has|have)\b(.{1,30}?)\b(?:doing|do|done|up to)\b/g, 'activity event$1'],
  [
    /\b\w[\w-]*\.(?:txt|md|json|csv|ya?ml|xml|html|pdf|docx?|xlsx?|png|jpe?g|gif|svg|zip|log|[jt]sx?|py|rb|go|rs|java)\b/g,
    '$& file',
  ],
  [/\b(?:start|begin|keep|continue|try) (\p{L}+ing)\b/gu, '$1'],
  [/\bstop (\p{L}+ing)\b/gu, 'disable $1'],
  [/\b(?:do not|don't|never) (?:let|allow)\b/g, 'block'],
  [/\bshould(?:n't| not| no longer)\b/g, 'remove'],
  [/\b(show|find) (?:me|us)\b/g, '$1'],
  [/\b(?:tell|give|get|fetch|bring|send) (?:me|us)\b/g, 'get'],
  [/^let\b/g, 'allow'],
  [/^open (?=(?:the|this|that|my|our|one|some\w*|his|her|their|\p{L}+'s)\b)/gu, 'view '],
  [/\b(of|in|on|to|from|for|at|with|into) (?:my|our)\b/g, '$1'],
  [/\b(?:some|any|every)(?:body)\b/g, 'someone'],
  [/\bi\b/g, 'my'],
]

/** What a query asks for. */
export interface Asked {
  /** Its words as stems, each with what it counts. */
  readonly words: ReadonlyMap<string, number>
  /** For a word of a phrase the stems that stand for it there, with how sure that is. */
  readonly alike: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** What it wants done, as far as that can be told. */
  readonly deed: Deed | undefined
}

/** How a request may begin that says nothing of what is asked for. */
const courtesy =
  /^(?:please|kindly|hey|now|then|also|just|let me|let us|help me(?: to)?|(?:i|we) (?:want|need|would like|have|wish) (?:you )?to|i'd like to|(?:can|could|would|will) (?:you|i|we)|how (?:do|can|could|should|to)(?: (?:i|we|you))?|to)\s+/
/** What stands for two words, as in "what's". The sign may be that of printers. */
const shortened = /\b(who|what|where|when|how|it|that|there)['’]s\b/g
const question = /^(?:who|what|which|where|when|how|is|are|does|do|did|can|has|have|my|our|all|whose|am)\b/
const imperative =
  /^\p{L}+ (?:(?:on|to|up|out|in) )?(?:an?|the|this|that|these|those|my|our|his|her|their|some(?:one|body)?|every|each|all|two|several|many|one|it|him|them)\b/u
const preposition =
  /\b(?:of|in|on|for|from|to|by|with|at|about|that|which|who|i|into|across|per|below|under|between|and|or|where)\b/
const plural = /[^sui'\d]s$/
/** Things of which a participle says how they are, as in "orders waiting". */
const pluralAndParticiple = /[^sui'\d]s \p{L}+(?:ing|ed|en)\b/u
/** What a verb counts that a query leaves out, and a word beside another that means much the same. */
const implied = 0.25
const repeatedWord = 0.4
const ofParticiple = 0.6
const ofChatter = 0.4
const ofSelf = 0.7
const ofIdiom = 0.9
const ofWho = 0.4

/** Reads a query: at most 1,024 UTF-16 units, and 32 words of them. */
export function readQuery(query: string): Asked {
  const { kin, verbStems, deeds, ambiguousVerbs, idleInQueries } = language()
  let text = query
    .slice(0, 1_024)
    .toLowerCase()
    .replace(/\bwithout\b.*$/, '')
    .trim()
  for (let end = 0; end < 3 && courtesy.test(text); end++) text = text.replace(courtesy, '')
  text = text.replace(shortened, '$1 is')
  const alike = new Map<string, Map<string, number>>()
  text = withPhrases(text, alike)
  for (const [phrase, word] of splitPhrases) text = text.replace(phrase, word)
  // A name in a query keeps its capitals: they part its words.
  const own = [...stemsIn(text), ...(/\p{Ll}\p{Lu}/u.test(query) ? stemsIn(query, 1_024) : [])].slice(0, 32)
  const words = new Map<string, number>()
  for (const word of own) {
    if (words.has(word)) continue
    const isRepeated = [...(kin.get(word) ?? [])].some(([other, share]) => share === ofFamily && words.has(other))
    words.set(word, isRepeated ? repeatedWord : idleInQueries.has(word) ? ofChatter : word === 'my' ? ofSelf : 1)
    // What is done again is done.
    const again = /^re(?=.{3})/.test(word) && !kin.has(word) ? word.slice(2) : ''
    if (verbStems.has(again) && !words.has(again)) words.set(again, 1)
    // What is undone is removed.
    const undone = /^un(?=.{3})/.test(word) && !kin.has(word) ? word.slice(2) : ''
    if (kin.has(undone) && !words.has(undone)) words.set(undone, 1).set('remov', 1)
  }
  // It is idle in what tools say, and asks for persons.
  if (/\bwho\b/.test(text)) words.set('who', ofWho)
  for (const idiom of alike.keys()) if (idiom.includes(' ')) words.set(idiom, ofIdiom)
  // A participle beside another verb says how a thing is, and not what to do.
  for (const [, participle = ''] of text.matchAll(/ (\p{L}+(?:ed|ing))\b/gu)) {
    const stem = stemOf(participle)
    if (verbStems.has(stem) && words.has(stem)) words.set(stem, Math.min(words.get(stem)!, ofParticiple))
  }
  const [first = ''] = text.split(/[^\p{L}\p{N}'-]+/u, 1)
  const head = text.split(preposition, 1)[0]!.trim()
  const isOpenOnes = first === 'open' && !imperative.test(text)
  const isVerbFirst = verbStems.has(stemOf(first)) && !plural.test(first) && !isOpenOnes
  if (isOpenOnes) words.delete('open')
  if (isVerbFirst) {
    const deed = ambiguousVerbs.has(stemOf(first)) ? undefined : (deeds.get(stemOf(first)) ?? 'write')
    return { words, alike, deed }
  }
  const isImperative = imperative.test(text) && !plural.test(first)
  if (
    (plural.test(head) || pluralAndParticiple.test(head) || plural.test(first)) &&
    !isImperative &&
    !question.test(text)
  ) {
    // Without a verb, a plural asks for a list.
    if (!words.has('list')) words.set('list', implied)
    return { words, alike, deed: 'read' }
  }
  if (question.test(text)) {
    if (/^(?:who|(?:which|what|whose) \p{L}+[^sui'\d]s)\b/u.test(text) && !words.has('list')) words.set('list', implied)
    if (/^(?:is|are|does|do|did|has|have|can|am)\b/.test(text) && !words.has('check')) words.set('check', implied)
    return { words, alike, deed: 'read' }
  }
  if (isImperative) return { words, alike, deed: 'write' }
  return { words, alike, deed: own.map(deedOf).find((deed) => deed !== undefined) }
}

/** Puts what a phrase means in its place, or adds it to what its words may mean. The longest phrase goes first. */
function withPhrases(text: string, alike: Map<string, Map<string, number>>): string {
  const { sayings, longestSaying } = language()
  // Words stand at even places, what parts them at odd ones.
  const parts = text.split(/([^\p{L}\p{N}']+)/u)
  const stems = parts.map((part, at) => (at % 2 === 0 ? stemOf(part) : part))
  for (let at = 0; at < parts.length; at += 2) {
    for (let count = longestSaying; count > 1; count--) {
      const end = at + 2 * count - 1
      if (end > parts.length) continue
      const key = stems.slice(at, end).filter((_, place) => place % 2 === 0)
      const saying = sayings.get(key.join(' '))
      if (saying === undefined) continue
      if (saying.instead !== undefined) {
        parts[at] = saying.instead
        parts.fill('', at + 1, end)
      } else {
        // Words that say nothing by themselves are one word together.
        const telling = key.filter((word) => stemsIn(word).length > 0)
        for (const word of telling.length > 0 ? telling : [key.join(' ')]) {
          const terms = alike.get(word) ?? new Map<string, number>()
          for (const term of saying.terms) terms.set(term, ofPhrase)
          alike.set(word, terms)
        }
      }
      at = end - 1
      break
    }
  }
  return parts.join('')
}

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
function language(): Language {
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
