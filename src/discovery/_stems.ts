// What a ranker knows of English words: their endings, their irregular forms, and which of them mean nothing.

/** Words of queries and descriptions that tell no tool from another. */
const idle = new Set(
  `a an the of to in on for from by with and or am is are was were be been being this that these those it its i we you your please can could
would should want wants need needs how do does did done will shall at as into what which who whom whose where when why given one some any
if there have has had me us so then than them they their about such via per just also may must might let lets s t im`.split(
    /\s+/,
  ),
)

/** Forms that no rule makes, each after its word. */
const irregularForms = `
begin began begun
break broke broken
bring brought
build built
buy bought
catch caught
child children
choose chose chosen
come came
draw drew drawn
eat ate eaten
fall fell fallen
feel felt
fly flew flown
forget forgot forgotten
freeze froze frozen
get got gotten
give gave given
go went gone
hear heard
hide hid
hold held
keep kept
know knew known
lead led
lend lent
lose lost
make made
man men
mean meant
meet met
pay paid
person people persons
run ran
say said
see saw seen
sell sold
send sent
show shown
speak spoke spoken
spend spent
spin spun
steal stole stolen
stick stuck
take took taken
teach taught
tell told
think thought
throw threw thrown
wear wore worn
win won
woman women
write wrote written
analysis analyses
index indices indexes
matrix matrices
datum data`

const wordOfForm = new Map<string, string>()
for (const line of irregularForms.trim().split('\n')) {
  const [word = '', ...forms] = line.split(' ')
  for (const form of forms) wordOfForm.set(form, word)
}

/** The longest word that is told from others. What is longer is no word of a language but a key. */
const longestOwnWord = 40
/** Scripts that put no space between words: each pair of characters is taken for one. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/u

/** Returns a word without the endings of English. Words that differ by an ending alone become equal; no such stem is shown. */
export function stemOf(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  let stem = wordOfForm.get(word) ?? word
  if (stem.length <= 3) return stem
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

function pairsOf(run: string): string[] {
  const characters = Array.from(run)
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
