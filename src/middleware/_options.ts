import { InvalidConfigurationError } from '../index.ts'

/** Refuses options that are none. */
export function requireOptions(leaf: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw wrong(leaf, 'takes an object of options')
  const stranger = Object.keys(options).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    throw wrong(leaf, `has no option ${JSON.stringify(stranger)}; its options are ${known.join(', ')}`)
  }
}

/** A number that is at least so much. */
export function numberOf(leaf: string, option: string, value: number, least: number): number {
  if (typeof value === 'number' && value >= least) return value
  throw wrong(leaf, `takes a number of at least ${least} as \`${option}\``)
}

/** A whole number that is at least so much. */
export function wholeNumber(leaf: string, option: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw wrong(leaf, `takes a whole number of at least ${least} as \`${option}\``)
}

/** The error of a leaf that cannot be made of its options. */
export function wrong(leaf: string, message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`${leaf}\` ${message}.`)
}
