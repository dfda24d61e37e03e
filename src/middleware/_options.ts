import { InvalidConfigurationError } from '../errors.ts'

/** Throws if options are no object, or on an unknown option, since a misspelt option would have no effect. */
export function requireOptions(leaf: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw wrong(leaf, 'takes an object of options')
  const stranger = Object.keys(options).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    throw wrong(leaf, `has no option ${JSON.stringify(stranger)}; its options are ${known.join(', ')}`)
  }
}

/** @throws `E_INVALID_CONFIGURATION` if `value` is not a number of at least `least`. */
export function numberOf(leaf: string, option: string, value: number, least: number): number {
  if (typeof value === 'number' && value >= least) return value
  throw wrong(leaf, `takes a number of at least ${least} as \`${option}\``)
}

/** @throws `E_INVALID_CONFIGURATION` if `value` is not a whole number of at least `least`. */
export function wholeNumber(leaf: string, option: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw wrong(leaf, `takes a whole number of at least ${least} as \`${option}\``)
}

/** Makes the error of a leaf whose options are invalid. */
export function wrong(leaf: string, message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`${leaf}\` ${message}.`)
}
