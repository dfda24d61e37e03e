// What a ranker reads in a query: its words, what else stands for them, and what it wants done.
import { stemOf, stemsIn } from './_stems.ts'
import { deedOf, isVerb, language, ofFamily, type Deed } from './_words.ts'

/** How sure it is that a word stands for a phrase. */
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
const contraction = /\b(who|what|where|when|how|it|that|there)['’]s\b/g
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
  const alike = new Map<string, Map<string, number>>()
  const text = plainQuery(query, alike)
  // A name in a query keeps its capitals: they part its words.
  const stems = [...stemsIn(text), ...(/\p{Ll}\p{Lu}/u.test(query) ? stemsIn(query, 1_024) : [])].slice(0, 32)
  const words = weighedWords(stems, text, alike)
  return { words, alike, deed: deedOfText(text, stems, words) }
}

/** Returns a query without courtesies, with plain words in place of its phrases. */
function plainQuery(query: string, alike: Map<string, Map<string, number>>): string {
  let text = query
    .slice(0, 1_024)
    .toLowerCase()
    .replace(/\bwithout\b.*$/, '')
    .trim()
  for (let end = 0; end < 3 && courtesy.test(text); end++) text = text.replace(courtesy, '')
  text = withPhrases(text.replace(contraction, '$1 is'), alike)
  for (const [phrase, word] of splitPhrases) text = text.replace(phrase, word)
  return text
}

/** Returns the words of a query, each with what it counts. */
function weighedWords(
  stems: readonly string[],
  text: string,
  alike: ReadonlyMap<string, unknown>,
): Map<string, number> {
  const { kin, verbStems, idleInQueries } = language()
  const words = new Map<string, number>()
  for (const word of stems) {
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
  return words
}

/** Returns what a query wants done, as far as that can be told. Gives its words the verb that it leaves out. */
function deedOfText(text: string, stems: readonly string[], words: Map<string, number>): Deed | undefined {
  const [first = ''] = text.split(/[^\p{L}\p{N}'-]+/u, 1)
  const isPluralFirst = plural.test(first)
  const isImperative = imperative.test(text)
  const isOpenOnes = first === 'open' && !isImperative
  if (isOpenOnes) words.delete('open')
  else if (isVerb(stemOf(first)) && !isPluralFirst) return deedOfVerb(stemOf(first))
  const isQuestion = question.test(text)
  if (isPlural(text, isPluralFirst) && !(isImperative && !isPluralFirst) && !isQuestion) {
    imply('list', words) // without a verb, a plural asks for a list
    return 'read'
  }
  if (isQuestion) {
    if (/^(?:who|(?:which|what|whose) \p{L}+[^sui'\d]s)\b/u.test(text)) imply('list', words)
    if (/^(?:is|are|does|do|did|has|have|can|am)\b/.test(text)) imply('check', words)
    return 'read'
  }
  if (isImperative && !isPluralFirst) return 'write'
  return stems.map(deedOf).find((deed) => deed !== undefined)
}

/** Returns what the verb does with which a query begins. One of more than one deed does none. */
function deedOfVerb(stem: string): Deed | undefined {
  const { ambiguousVerbs, deeds } = language()
  return ambiguousVerbs.has(stem) ? undefined : (deeds.get(stem) ?? 'write')
}

/** Whether a query is about more than one thing: by its head, or by what a participle says of them. */
function isPlural(text: string, isPluralFirst: boolean): boolean {
  const head = text.split(preposition, 1)[0]!.trim()
  return isPluralFirst || plural.test(head) || pluralAndParticiple.test(head)
}

/** Adds a verb that a query leaves out. */
function imply(verb: string, words: Map<string, number>): void {
  if (!words.has(verb)) words.set(verb, implied)
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
