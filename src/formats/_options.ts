import { InvalidConfigurationError } from '../errors.ts'
import { checkOptions, type OptionCheck } from '../extension.ts'

/** The options that all formats have. */
const commonOptions = ['waiting', 'envelope', 'examples', 'programLimit', 'report']

/** Takes every value: what a format does with it is its own. */
const anything: OptionCheck = { expected: 'any value', accepts: () => true }

/**
 * Checks the names of a format's options.
 *
 * @param format The format's name, for the error.
 * @param options The options of the program.
 * @param own The names beside those that all formats have (`waiting`, `envelope`, `examples`, `programLimit`, `report`). Default: none.
 * @throws `E_INVALID_CONFIGURATION` if the options of a format are no object, or one of them is unknown.
 * @example
 * ```ts
 * import { requireOptions } from 'toolwright/formats/kit'
 *
 * requireOptions('acme', { envelope: true, region: 'eu' }, ['region'])
 * ```
 * @experimental
 */
export function requireOptions(format: string, options: object, own: readonly string[] = []): void {
  checkOptions(format, options, Object.fromEntries([...own, ...commonOptions].map((name) => [name, anything])))
}

/** Returns the dialect of a name. `owner`: who has the dialects, for the error. @throws `E_INVALID_CONFIGURATION` if there is none. */
export function dialectOf<Dialect>(owner: string, dialects: Readonly<Record<string, Dialect>>, name: string): Dialect {
  const dialect = Object.hasOwn(dialects, name) ? dialects[name] : undefined
  if (dialect !== undefined) return dialect
  const names = Object.keys(dialects).join(', ')
  throw new InvalidConfigurationError(
    `${owner} has no dialect ${JSON.stringify(String(name))}; its dialects are ${names}.`,
  )
}
