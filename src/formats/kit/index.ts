/**
 * What the formats of this package are made with, for formats of other providers. It only translates: like a format, it must
 * not use the network, keep state, or depend on the executor.
 *
 * @module
 */
import { InvalidConfigurationError } from '../../errors.ts'
import { beyond } from '../_budget.ts'
import { providerOf, type DialectName, type Provider } from '../_dialects.ts'
import { lower } from '../_lower/lower.ts'
import { isObject } from '../_read.ts'
import { schemasOf as schemasFor, type SchemaOptions, type SchemaParts, type Schemas } from '../_schemas.ts'
import { requireOwn as requireOneOfOurs } from '../_shape.ts'

// Checking options
export { requireOptions } from '../_options.ts'

// Writing definitions
export { definer } from '../_definitions.ts'
export { withExamples } from '../_examples.ts'
export { callersOf } from '../_program.ts'

// Reading messages
export { isObject, list, read, text, toolCall, unanswered } from '../_read.ts'
export { programOf } from '../_program.ts'

// Writing results
export { answerId, answerName, answers, enveloped, flagged, render, renderText, soleJson, wordsOf } from '../_render.ts'
export { programText } from '../_program.ts'
export { shortened } from '../_turn-budget.ts'

export type { AcceptedOptions, DefinitionParts, Outgoing, OutgoingSchema } from '../_definitions.ts'
export type { DialectName } from '../_dialects.ts'
export type { Fields } from '../_read.ts'
export type { Answer, Carry, FormatOptions, Media, WholeOf } from '../_render.ts'
export type { SchemaOptions, SchemaParts, Schemas } from '../_schemas.ts'
export type { JsonValue, ObjectSchema } from '../_types.ts'

/** The part of JSON Schema that a provider takes. What it does not take is said in words. */
export interface DialectRules {
  /**
   * The keywords beside `type`, `description`, `enum`, `properties`, `required`, `items` and `anyOf`, which every provider
   * takes. Default: none.
   */
  readonly keywords?: readonly DialectKeyword[]
  /** The values of `format`, if `keywords` has it. Default: none. */
  readonly formats?: readonly string[]
  /** The types whose values an `enum` may have. Default: `['string']`. */
  readonly enums?: readonly ('null' | 'boolean' | 'integer' | 'number' | 'string')[]
  /** Whether the API has a mode in which the model keeps to the schema, so that `strict` goes out. Default: `false`. */
  readonly strict?: boolean
}

/** A keyword that some providers take. */
export type DialectKeyword = (typeof optionalKeywords)[number]

/** What decides how schemas go out to a provider. */
export interface DialectParts extends SchemaParts {
  /** The name of a known provider with the same rules, or the rules. Default: none, and schemas go out as they are. */
  readonly dialect?: DialectName | DialectRules | undefined
}

const usualKeywords = ['type', 'description', 'enum', 'properties', 'required', 'items', 'anyOf'] as const
const optionalKeywords = [
  'title',
  'default',
  'const',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'additionalProperties',
  'minProperties',
  'maxProperties',
] as const
const kitScalars = ['null', 'boolean', 'integer', 'number', 'string'] as const

/**
 * Returns the parts of a format that know schemas: how the schemas of tools go out, what they lose there, and the args that the
 * tools take, if the model wrote them for the schemas that went out.
 *
 * @param parts `dialect`, and what a tool's options decide.
 * @param options `strict`.
 * @throws `E_INVALID_CONFIGURATION` if there is no such dialect, or its rules name what no provider takes.
 * @example
 * ```ts
 * import type { ToolDefinition } from 'toolwright'
 * import { schemasOf } from 'toolwright/formats/kit'
 *
 * const { lift, plansOf, report } = schemasOf(
 *   {
 *     dialect: { keywords: ['minimum', 'maximum', 'format'], formats: ['date'] },
 *     optionsOf: (tool: ToolDefinition) => tool.providerOptions['acme'],
 *     replaces: (options) => Object.hasOwn(options, 'takes'),
 *   },
 *   { strict: false },
 * )
 * ```
 * @experimental
 */
export function schemasOf({ dialect, ...parts }: DialectParts, options: SchemaOptions): Schemas {
  const provider = dialect === undefined ? undefined : providerFor(dialect)
  return schemasFor({ provider, beyond, ...parts }, options)
}

function providerFor(dialect: DialectName | DialectRules): Provider {
  return typeof dialect === 'object' ? providerWith(dialect) : providerOf(dialect, 'The kit of formats')
}

/**
 * Checks a message in which a format found no call: it may be of another format.
 *
 * @param message Anything.
 * @param format The format's name.
 * @param isOwn Whether the message has the outer form that the format reads. If so, it passes.
 * @param takes What the format reads, for the error: it follows the word `Pass`.
 * @throws `E_INVALID_CONFIGURATION` if the format does not read such a message. The error says what it is, and what to do.
 * @example
 * ```ts
 * import { isObject, requireOwn } from 'toolwright/formats/kit'
 *
 * const message: unknown = { parts: [] }
 * requireOwn(message, 'acme', isObject(message) && 'parts' in message, 'a message with `parts`')
 * ```
 * @experimental
 */
export function requireOwn(message: unknown, format: string, isOwn: boolean, takes: string): void {
  // The formats of this package share forms of messages, and tell them apart. Of others, they know nothing.
  if (!isOwn) requireOneOfOurs(message, format, false, takes)
}

/** @throws `E_INVALID_CONFIGURATION` if rules name what no provider takes. */
function providerWith(rules: DialectRules): Provider {
  if (!isObject(rules))
    throw new InvalidConfigurationError('A dialect is the name of a provider, or an object of rules.')
  const stranger = Object.keys(rules).find((name) => !['keywords', 'formats', 'enums', 'strict'].includes(name))
  if (stranger !== undefined) {
    throw new InvalidConfigurationError(
      `A dialect has no rule ${JSON.stringify(stranger)}; its rules are keywords, formats, enums and strict.`,
    )
  }
  const dialect = {
    name: 'own',
    compile: lower,
    keywords: [
      ...usualKeywords,
      ...ruleNames('keywords', rules.keywords, [...optionalKeywords, ...usualKeywords]),
    ].join(' '),
    formats: ruleNames('formats', rules.formats).join(' '),
    enums: ruleNames('enums', rules.enums ?? ['string'], kitScalars).join(' '),
  }
  return { usual: dialect, ...(rules.strict === true ? { strict: dialect } : undefined) }
}

/** Returns the names of a rule. @throws `E_INVALID_CONFIGURATION` if they are no list of names that are known. */
function ruleNames(rule: string, names: unknown = [], knownNames?: readonly string[]): readonly string[] {
  const isName = (name: unknown): name is string =>
    typeof name === 'string' && /^\S+$/.test(name) && knownNames?.includes(name) !== false
  if (Array.isArray(names) && names.every(isName)) return names
  const stranger: unknown = Array.isArray(names) ? names.find((name) => !isName(name)) : names
  const valueText =
    typeof stranger === 'string' ? JSON.stringify(stranger.slice(0, 80)) : `a value of type ${typeof stranger}`
  throw new InvalidConfigurationError(
    `\`${rule}\` of a dialect is a list of ${knownNames === undefined ? 'names without spaces' : knownNames.join(', ')}; got ${valueText}.`,
  )
}
