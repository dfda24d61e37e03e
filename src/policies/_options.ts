import { InvalidConfigurationError } from '../index.ts'

/** Refuses options that are none, and names that nobody reads: a list that is misspelt would guard nothing. */
export function requireOptions(leaf: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw wrong(leaf, 'takes an object of options')
  const stranger = Object.keys(options).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    throw wrong(leaf, `has no option ${JSON.stringify(stranger)}; its options are ${known.join(', ')}`)
  }
}

/** A copy of a list of tool names. */
export function namesOf(leaf: string, option: string, names: readonly string[] | undefined): ReadonlySet<string> {
  const list: unknown = names ?? []
  if (Array.isArray(list) && list.every((name) => typeof name === 'string')) return new Set(list)
  throw wrong(leaf, `takes an array of tool names as \`${option}\``)
}

/** One of a few words. */
export function wordOf<Word extends string>(
  leaf: string,
  option: string,
  word: Word | undefined,
  words: readonly Word[],
  otherwise?: Word,
): Word {
  const given = word ?? otherwise
  if (given !== undefined && words.includes(given)) return given
  const shown = JSON.stringify(word) ?? typeof word
  throw wrong(leaf, `takes ${words.map((each) => `"${each}"`).join(', ')} as \`${option}\`, not ${shown}`)
}

/** A whole number. */
export function wholeNumber(leaf: string, option: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw wrong(leaf, `takes a whole number of at least ${least} as \`${option}\``)
}

/** The error of a leaf that cannot be made of its options. */
export function wrong(leaf: string, message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`${leaf}\` ${message}.`)
}
