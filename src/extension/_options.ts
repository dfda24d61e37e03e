import { InvalidConfigurationError } from '../errors.ts'
import { longestTimer } from '../kernel/call/deadline.ts'
import { escapeDeceptive } from '../kernel/json/deceptive.ts'
import { requireKnown } from '../kernel/call/options.ts'
import { isObject } from '../kernel/schema/json-schema.ts'

/** What an option takes. */
export interface OptionCheck {
  /** What it takes, in words that follow "takes", such as `'a whole number of at least 1'`. */
  readonly expected: string
  /** Whether a value is that. It is not asked for `undefined`, which leaves the default. */
  readonly accepts: (value: unknown) => boolean
  /** Whether the option has to be there. Default: `false`. */
  readonly isRequired?: boolean
  /** Whether the value is kept out of the message of the error. Default: `false`. */
  readonly isSecret?: boolean
}

/** One check for each option, so that none is forgotten. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck }

/** How many characters of a wrong value an error shows. */
const shownLength = 60

/**
 * Checks the options of an extension, so that a misspelt or wrong one never passes in silence.
 *
 * @param owner The name of the function that takes the options, for the error.
 * @param options The options as they came. Not `undefined`: give the parameter a default of `{}`.
 * @param checks One check for each option. An option that is `undefined` passes, unless its check is `required`.
 * @throws `E_INVALID_CONFIGURATION` if they are no object, or one of them is unknown, missing or wrong.
 * @example
 * ```ts
 * import { checkOptions, functionOption, integerFrom, oneOf, required } from 'toolwright/extension'
 *
 * interface QuotaOptions {
 *   readonly calls: number
 *   readonly per?: 'session' | 'tool'
 *   readonly report?: (error: unknown) => void
 * }
 *
 * function quota(options: QuotaOptions): void {
 *   checkOptions('quota', options, {
 *     calls: required(integerFrom(1)),
 *     per: oneOf('session', 'tool'),
 *     report: functionOption,
 *   })
 * }
 *
 * quota({ calls: 3, per: 'session' })
 * ```
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  checks: OptionChecks<NoInfer<Options>>,
): void {
  if (!isObject(options)) throw optionsError(owner, `takes an object of options, not ${describedValue(options)}`)
  requireKnown(owner, options, Object.keys(checks).join(', '))
  for (const [name, check] of Object.entries<OptionCheck>(checks)) {
    const value: unknown = options[name as keyof Options]
    if (value === undefined ? !check.isRequired : check.accepts(value)) continue
    if (value === undefined) throw optionsError(owner, `needs \`${name}\`: ${check.expected}`)
    const suffix = check.isSecret ? '' : `, not ${describedValue(value)}`
    throw optionsError(owner, `takes ${check.expected} as \`${name}\`${suffix}`)
  }
}

/**
 * Makes the error for options that are wrong in a way that no single check sees.
 *
 * @param owner The name of the function that takes the options.
 * @param words What is wrong, as a predicate without its full stop: `'takes at most `limit` as `keep`'`.
 * @example
 * ```ts
 * import { optionsError } from 'toolwright/extension'
 *
 * console.log(optionsError('quota', 'takes `calls` or `units`, and not both').message)
 * ```
 */
export function optionsError(owner: string, words: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`${owner}\` ${words}.`)
}

/**
 * Makes a check of an option that has to be there: without it, `checkOptions` throws.
 *
 * @param check What the option takes.
 * @example
 * ```ts
 * import { checkOptions, required, stringOption } from 'toolwright/extension'
 *
 * function weather(options: { readonly key: string }): void {
 *   checkOptions('weather', options, { key: { ...required(stringOption), isSecret: true } })
 * }
 *
 * weather({ key: 'w-7' }) // weather({}) throws: `weather` needs `key`: a string.
 * ```
 */
export function required(check: OptionCheck): OptionCheck {
  return { ...check, isRequired: true }
}

/**
 * Makes a check of an option that takes a whole number.
 *
 * @param least The least that it may be.
 * @param most The most that it may be. Default: the largest safe integer.
 * @example
 * ```ts
 * import { checkOptions, integerFrom } from 'toolwright/extension'
 *
 * function pages(options: { readonly size?: number } = {}): void {
 *   checkOptions('pages', options, { size: integerFrom(1, 100) })
 * }
 *
 * pages({ size: 50 }) // 500 throws: `pages` takes a whole number of at least 1, and at most 100 as `size`, not 500.
 * ```
 */
export function integerFrom(least: number, most: number = Number.MAX_SAFE_INTEGER): OptionCheck {
  return {
    expected: `a whole number of at least ${numberText(least)}${most === Number.MAX_SAFE_INTEGER ? '' : `, and at most ${numberText(most)}`}`,
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  }
}

/**
 * Makes a check of an option that takes a number, fractions and `Infinity` too but not `NaN`.
 *
 * @param least The least that it may be.
 * @example
 * ```ts
 * import { checkOptions, numberFrom } from 'toolwright/extension'
 *
 * function budget(options: { readonly dollars?: number } = {}): void {
 *   checkOptions('budget', options, { dollars: numberFrom(0) })
 * }
 *
 * budget({ dollars: 0.5 }) // -1 throws: `budget` takes a number of at least 0 as `dollars`, not -1.
 * ```
 */
export function numberFrom(least: number): OptionCheck {
  return {
    expected: `a number of at least ${numberText(least)}`,
    accepts: (value) => typeof value === 'number' && value >= least,
  }
}

/**
 * The check of an option that takes milliseconds which a timer can wait: above 0, and at most 2,147,483,647. A longer wait would
 * end at once.
 *
 * @example
 * ```ts
 * import { checkOptions, timerOption } from 'toolwright/extension'
 *
 * function poll(options: { readonly interval?: number } = {}): void {
 *   checkOptions('poll', options, { interval: timerOption })
 * }
 *
 * poll({ interval: 5_000 }) // 0 and 2 ** 31 throw
 * ```
 */
export const timerOption: OptionCheck = {
  expected: `a number of milliseconds above 0, and at most ${numberText(longestTimer)}`,
  accepts: (value) => typeof value === 'number' && value > 0 && value <= longestTimer,
}

/**
 * Makes a check of an option that takes one of some words.
 *
 * @param choices The words.
 * @example
 * ```ts
 * import { checkOptions, oneOf } from 'toolwright/extension'
 *
 * function audit(options: { readonly level?: 'all' | 'failures' } = {}): void {
 *   checkOptions('audit', options, { level: oneOf('all', 'failures') })
 * }
 *
 * audit({ level: 'failures' }) // 'some' throws: `audit` takes "all" or "failures" as `level`, not "some".
 * ```
 */
export function oneOf(...choices: readonly string[]): OptionCheck {
  return {
    expected: choices.map((choice) => JSON.stringify(choice)).join(' or '),
    accepts: (value) => choices.includes(value as string),
  }
}

/**
 * The check of an option that takes a function.
 *
 * @example
 * ```ts
 * import { checkOptions, functionOption } from 'toolwright/extension'
 *
 * function audit(options: { readonly report?: (error: unknown) => void } = {}): void {
 *   checkOptions('audit', options, { report: functionOption })
 * }
 *
 * audit({ report: console.error }) // 'stderr' throws: `audit` takes a function as `report`, not "stderr".
 * ```
 */
export const functionOption: OptionCheck = { expected: 'a function', accepts: (value) => typeof value === 'function' }

/**
 * The check of an option that takes `true` or `false`.
 *
 * @example
 * ```ts
 * import { booleanOption, checkOptions } from 'toolwright/extension'
 *
 * function search(options: { readonly isFuzzy?: boolean } = {}): void {
 *   checkOptions('search', options, { isFuzzy: booleanOption })
 * }
 *
 * search({ isFuzzy: true }) // 1 throws: `search` takes true or false as `isFuzzy`, not 1.
 * ```
 */
export const booleanOption: OptionCheck = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' }

/**
 * The check of an option that takes a string, the empty one too.
 *
 * @example
 * ```ts
 * import { checkOptions, stringOption } from 'toolwright/extension'
 *
 * function search(options: { readonly language?: string } = {}): void {
 *   checkOptions('search', options, { language: stringOption })
 * }
 *
 * search({ language: 'en' }) // 7 throws: `search` takes a string as `language`, not 7.
 * ```
 */
export const stringOption: OptionCheck = { expected: 'a string', accepts: (value) => typeof value === 'string' }

/** Returns a number with commas. `toLocaleString` loads the words of all languages first, which takes as long as to load the kernel. */
function numberText(number: number): string {
  return String(number).replace(/(?<!\..*)\B(?=(\d{3})+$)/g, ',')
}

/** Describes a value that came instead. Nothing of it is called, so that it can do no harm. */
function describedValue(value: unknown): string {
  if (typeof value === 'string') {
    const text = JSON.stringify(
      value.length > shownLength ? `${value.slice(0, shownLength - 1).toWellFormed()}…` : value,
    )
    return escapeDeceptive(text)
  }
  if (Array.isArray(value)) return describedList(value)
  if (typeof value === 'object') return value === null ? 'null' : 'an object'
  const isPlain = value === undefined || typeof value === 'number' || typeof value === 'boolean'
  return isPlain ? String(value) : `a ${typeof value}`
}

/** Describes a list by its texts and numbers, since one of them may be the only thing that is wrong. */
function describedList(list: readonly unknown[]): string {
  try {
    const isPlain = (item: unknown): boolean => typeof item === 'string' || typeof item === 'number'
    const text = list.length > 0 && list.length <= shownLength && list.every(isPlain) ? JSON.stringify(list) : ''
    return text === '' || text.length > shownLength ? 'an array' : escapeDeceptive(text)
  } catch {
    return 'an array' // a proxy whose traps throw
  }
}
