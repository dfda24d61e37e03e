// What a ranker knows of English: words without their endings, words that mean much the same, and words that mean nothing.

/** Words of queries and descriptions that tell no tool from another. */
const idle = new Set(
  `a an the of to in on for from by with and or is are was were be been being this that these those it its i we you your our please can could
would should want wants need needs how do does did done will shall at as into what which who whom whose where when why given one some any
if there have has had me us so then than them they their about such via per just also may must might let lets s t im`.split(
    /\s+/,
  ),
)

/** What a verb does: it reads, writes or removes. A tool that does another thing than a query asks for is seldom meant. */
export type Deed = 'read' | 'write' | 'remove'

/** Verbs that authors and models use for one another, one family a line, by what they do. A verb may be in several. */
const verbs: Readonly<Record<Deed | 'other', string>> = {
  read: `
get read show view fetch retrieve display see print detail info information inspect describe
list all enumerate every browse
search find look query seek discover lookup locate
check verify validate test confirm
download export
count number total many
compare diff difference
status state progress
history timeline log
open read view`,
  write: `
create add make new open insert register generate
update edit change modify set rename adjust alter patch replace customize
update close reopen archive rename publish
sync refresh update
connect add link attach
add append
send post publish deliver submit
upload attach put
apply attach assign
write save store put create
create publish post
move transfer relocate
copy duplicate clone fork
enable activate on allow
assign give
invite invitation`,
  remove: `
delete remove drop erase destroy clear purge discard strip revoke withdraw lift
unassign remove
disconnect revoke uninstall detach
disable deactivate off`,
  other: `
run launch trigger execute dispatch invoke start
repeat echo
rerun retry redo repeat redeliver
rebuild build compile
share give grant allow permit permission access
watch follow subscribe subscription notify notification
merge combine join
stop cancel abort end terminate kill halt
pause suspend
resume unsuspend continue
hide exclude exclusion ignore
prevent block forbid disallow
reply respond answer
lock freeze
restore recover undelete
approve accept review approval
reject deny decline refuse dismiss
close resolve dismiss
block ban
convert render transform
limit restrict restriction quota cap
require mandatory
pay payment
request ask
suggest propose suggestion`,
}

/** Nouns that authors and models use for one another, one family a line. */
const nouns = `
history log revision change audit timeline version
user person people member account colleague someone
username login handle
email mail
label tag
me my mine own authenticated
belong member membership part
latest newest recent last
pending awaiting waiting
field column property
several multiple many bulk batch
item card entry row
branch ref
command script
code source
child parent
path location where
owner admin role
guest outside external
license seat subscription
allowed permitted
bug problem issue ticket
error fault failure
picture image photo
document doc page
directory folder dir
repository repo
organization org company
environment env
configuration config setting preference
metric statistic stat usage analytic
traffic visit visitor view referrer
activity event
password secret credential
comment note remark
size big large
cost billing bill spending
child nested sub
asset attachment binary
link url
identity whoami
text content
maximum limit
dependency dependent
vulnerability vulnerable`

/** Phrases of queries that are one word of a name. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bget(?:ting)? rid of\b|\btake (?:down|off|away|out)\b|\bclean up\b|\bthrow away\b/g, 'delete'],
  [/\btake\b(.{1,40}?)\b(?:off|away|out)\b/g, 'remove$1'],
  [/\b(?:turn|switch)(?:ed)? (?:back )?on\b/g, 'enable'],
  [/\b(?:turn|switch|shut)(?:ed)? off\b/g, 'disable'],
  [/\b(?:shut|spin|bring) down\b/g, 'stop'],
  [/\bspin up\b|\bboot up\b/g, 'start'],
  [/\bset(?:ting)? up\b/g, 'create'],
  [/\bfill in\b/g, 'update'],
  [/\bbring\b(.{1,40}?)\bup to date\b/g, 'update$1'],
  [/\bout of date\b/g, 'outdated'],
  [/\bundo (?:the )?(?:deletion|removal|deleting)\b/g, 'restore'],
  [/\bmake\b(.{1,40}?)\b(?:an? )?(admin|owner|member|maintainer|public|private)\b/g, 'set$1$2'],
  [/\bturn\b(.{1,40}?)\binto\b/g, 'convert$1'],
  [/\blook(?:ing)? up\b|\blook(?:ing)? for\b/g, 'search'],
  [/\blook(?:ing)? at\b/g, 'view'],
  [/\bhow (?:many|much)\b/g, 'count'],
  [/\b(?:who am i|(?:logged|signed) in(?: as)?)\b/g, 'authenticated user'],
  [/\bkick off\b/g, 'start'],
  [/\bbring back\b/g, 'restore'],
  [/\bhand(?:ed)? over\b/g, 'transfer'],
  [/\bprs\b/g, 'pull requests'],
  [/\bpr\b/g, 'pull request'],
  [/\b(show|tell|give|get|find|fetch|bring|send) (?:me|us)\b/g, '$1'],
  [/\b(of|in|on|to|from|for|at|with|into) (?:my|our)\b/g, '$1'],
  [/\bi\b/g, 'my'],
]

/** The longest word that is told from others. What is longer is no word of a language but a key. */
const longestOwnWord = 40
/** Scripts that put no space between words: each pair of characters is taken for one. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/u

/** Returns a word without the endings of English. Words that differ by an ending alone become equal; no such stem is shown. */
export function stemOf(word: string): string {
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word
  let stem = word
  if (stem.endsWith('ies') && stem.length > 4) stem = `${stem.slice(0, -3)}y`
  else if (/(?:ch|sh|x|ss|zz)es$/.test(stem)) stem = stem.slice(0, -2)
  else if (/[^su]s$/.test(stem) && !stem.endsWith('is')) stem = stem.slice(0, -1)
  if (stem === 'setting') return stem
  if (stem.length > 9 && /[^aeiou]..?ment$/.test(stem)) stem = stem.slice(0, -4)
  else if (stem.length > 5 && stem.endsWith('ied')) stem = `${stem.slice(0, -3)}y`
  else if (stem.length > 6 && stem.endsWith('ing')) stem = stem.slice(0, -3)
  else if (stem.length > 4 && stem.endsWith('ed') && !stem.endsWith('eed')) stem = stem.slice(0, -2)
  else if (stem.length > 7 && stem.endsWith('ation')) stem = stem.slice(0, -5)
  else if (stem.length > 6 && /[lt]ion$/.test(stem)) stem = stem.slice(0, -3)
  if (stem.length > 4 && stem.endsWith('e')) stem = stem.slice(0, -1)
  if (stem.length > 4 && stem.endsWith('at')) stem = stem.slice(0, -2)
  if (stem.length > 5 && stem.endsWith('is')) stem = `${stem.slice(0, -2)}iz`
  return stem.replace(/([^aeiou])\1$/, '$1')
}

/**
 * Returns the words of a text in their order, as stems, without idle ones.
 *
 * @param longest How much of the text is read, in UTF-16 units.
 */
export function stemsIn(text: string, longest = 4_096): string[] {
  const start = text.slice(0, longest)
  const isAscii = /^[\0-\x7f]*$/.test(start)
  const runs = isAscii
    ? start.replace(/(?<![A-Za-z\d])([Rr]e)[-_](?=[A-Za-z])/g, '$1').match(/[A-Z]*[a-z\d]+|[A-Z]+/g)
    : start
        .normalize('NFKC')
        .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
        .match(/[\p{L}\p{N}\p{M}]+/gu)
  const words: string[] = []
  for (const run of runs ?? []) {
    if (!isAscii && unspaced.test(run)) words.push(...pairsOf(run))
    else if (run.length <= longestOwnWord) {
      const word = wordOf(run)
      if (word !== '') words.push(word)
    }
  }
  return words
}

/** Stems by what was written. It is cleared when it is full. */
const stems = new Map<string, string>()
const mostStems = 20_000

/** Returns the stem of a word as it is written; nothing for an idle one. */
function wordOf(run: string): string {
  let word = stems.get(run)
  if (word !== undefined) return word
  const lower = run.toLowerCase()
  word = idle.has(lower) ? '' : stemOf(lower)
  if (stems.size >= mostStems) stems.clear()
  stems.set(run, word)
  return word
}

/** What a query asks for. */
export interface Asked {
  /** Its words as stems, each with what it counts. */
  readonly words: ReadonlyMap<string, number>
  /** What it wants done, as far as that can be told. */
  readonly deed: Deed | undefined
}

/** How a request may begin that says nothing of what is asked for. */
const courtesy =
  /^(?:please|kindly|hey|now|then|also|just|let me|let us|help me(?: to)?|(?:i|we) (?:want|need|would like|have|wish) (?:you )?to|i'd like to|(?:can|could|would|will) (?:you|i|we)|how (?:do|can|could|should|to)(?: (?:i|we|you))?|to)\s+/
const question = /^(?:who|what|which|where|when|how|is|are|does|do|did|can|has|have|my|our|all|whose|am)\b/
const imperative =
  /^\p{L}+ (?:(?:on|to|up|out|in) )?(?:an?|the|this|that|these|those|my|our|his|her|their|some(?:one|body)?|every|each|all|two|several|many|one|it|him|them)\b/u
const preposition =
  /\b(?:of|in|on|for|from|to|by|with|at|about|that|which|who|i|into|across|per|below|under|between|and|or|where)\b/
const plural = /[^sui'\d]s$/
/** What a verb counts that a query leaves out, and a word beside another that means much the same. */
const implied = 0.4
const repeatedWord = 0.4
const ofParticiple = 0.6

/** Reads a query: at most 1,024 UTF-16 units, and 32 words of them. */
export function readQuery(query: string): Asked {
  let text = query
    .slice(0, 1_024)
    .toLowerCase()
    .replace(/\bwithout\b.*$/, '')
    .trim()
  for (let end = 0; end < 3 && courtesy.test(text); end++) text = text.replace(courtesy, '')
  for (const [phrase, word] of phrases) text = text.replace(phrase, word)
  // A name in a query keeps its capitals: they part its words.
  const own = [...stemsIn(text), ...(/\p{Ll}\p{Lu}/u.test(query) ? stemsIn(query, 1_024) : [])].slice(0, 32)
  const words = new Map<string, number>()
  for (const word of own) {
    if (words.has(word)) continue
    const isRepeated = kinOf(word).some((other) => words.has(other))
    words.set(word, isRepeated ? repeatedWord : 1)
    // What is done again is done.
    const again = /^re(?=.{3})/.test(word) && !kin.has(word) ? word.slice(2) : ''
    if (isVerb.has(again) && !words.has(again)) words.set(again, 1)
  }
  // A participle beside another verb says how a thing is, and not what to do.
  for (const [, participle = ''] of text.matchAll(/ (\p{L}+(?:ed|ing))\b/gu)) {
    const stem = stemOf(participle)
    if (isVerb.has(stem) && words.has(stem)) words.set(stem, Math.min(words.get(stem)!, ofParticiple))
  }
  const [first = ''] = text.split(/[^\p{L}\p{N}'-]+/u, 1)
  const head = text.split(preposition, 1)[0]!.trim()
  const isOpenOnes = first === 'open' && !imperative.test(text)
  const isVerbFirst = isVerb.has(stemOf(first)) && !plural.test(first) && !isOpenOnes
  if (isOpenOnes) words.delete('open')
  if (isVerbFirst)
    return { words, deed: ambiguousVerbs.has(stemOf(first)) ? undefined : (deeds.get(stemOf(first)) ?? 'write') }
  const isImperative = imperative.test(text) && !plural.test(first)
  if (plural.test(head) && !isImperative) {
    // Without a verb, a plural asks for a list.
    if (!words.has('list')) words.set('list', implied)
    return { words, deed: 'read' }
  }
  if (question.test(text)) {
    if (/^(?:who|(?:which|what|whose) \p{L}+[^sui'\d]s)\b/u.test(text) && !words.has('list')) words.set('list', implied)
    return { words, deed: 'read' }
  }
  if (isImperative) return { words, deed: 'write' }
  return { words, deed: own.map(deedOf).find((deed) => deed !== undefined) }
}

/** Returns the stems that mean much the same as a stem, without itself. */
export function kinOf(stem: string): readonly string[] {
  return kin.get(stem) ?? []
}

/** Returns what a verb does. A stem that is no verb, or one of no clear deed, has none. */
export function deedOf(stem: string): Deed | undefined {
  return ambiguousVerbs.has(stem) ? undefined : deeds.get(stem)
}

const kin = new Map<string, string[]>()
const deeds = new Map<string, Deed>()
const isVerb = new Set<string>()
/** Verbs of more than one deed. */
const ambiguousVerbs = new Set<string>()
for (const [deed, lines] of [...Object.entries(verbs), ['', nouns] as const]) {
  for (const line of lines.trim().split('\n')) {
    const family = [...new Set(line.split(' ').map(stemOf))]
    for (const word of family) {
      kin.set(word, [...new Set([...(kin.get(word) ?? []), ...family.filter((other) => other !== word)])])
      if (deed !== '') isVerb.add(word)
      if (deed !== 'read' && deed !== 'write' && deed !== 'remove') continue
      if ((deeds.get(word) ?? deed) !== deed) ambiguousVerbs.add(word)
      deeds.set(word, deed)
    }
  }
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run)
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
