import { compiledSchema } from './_lower/compiler.ts'
import { dialectOf } from './_options.ts'
import type { Dialect, Leniency } from './_lower/dialect.ts'
import { arrayOrTuple, boundedInteger, integerOrNull, objectOrMap, untyped } from './_lower/gemini.ts'
import { addItems, rooted } from './_lower/lenient.ts'
import { anthropicLimit, openaiLimit } from './_lower/limits.ts'
import { lower } from './_lower/lower.ts'
import { naming, renamed, type Naming } from './_lower/names.ts'
import { references } from './_lower/references.ts'
import { leaveOut } from './_lower/value.ts'

// Each is data, and names the functions that only some need: a bundle has those of its own providers.

/** The most that all strict tools of one request may have together, by the words for what is counted. */
export interface RequestLimits {
  readonly 'strict tools': number
  readonly 'optional fields in strict tools': number
  readonly 'unions in strict tools': number
}

/** The dialects of one provider. */
export interface Provider {
  readonly usual: Dialect | Leniency
  /** Missing if the provider has no strict mode. `any`: it publishes no rules for it, so the usual schema goes out. */
  readonly strict?: Dialect | 'any'
  /** Missing if a request may have any number of strict tools. */
  readonly request?: RequestLimits
}

/** A provider whose dialect the AI SDK's tools can be written in. */
export type DialectName = 'anthropic' | 'bedrock' | 'gemini' | 'gemini-openapi' | 'groq' | 'mistral' | 'openai' | 'xai'

const base = 'type description enum properties required items anyOf'
const strict = `${base} const additionalProperties pattern format`
const strictWithBounds = `${strict} multipleOf minimum maximum exclusiveMinimum exclusiveMaximum`
const strictFormats = 'date-time time date duration email hostname ipv4 ipv6 uuid'
const scalars = 'null boolean integer number string'
const anthropicNaming: Naming = (names, reading) => naming(/^[a-zA-Z0-9_.-]{1,64}$/, names, reading)

// https://developers.openai.com/api/docs/guides/structured-outputs
const openaiStrict: Dialect = {
  name: 'openai-strict',
  compile: lower,
  keywords: `${strictWithBounds} minItems maxItems $defs $ref`,
  formats: strictFormats,
  enums: scalars,
  leaveOut,
  references: (compiler) => references(compiler, true),
  limit: openaiLimit,
}

// https://platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use
const anthropicStrict: Dialect = {
  name: 'anthropic-strict',
  compile: lower,
  keywords: `${strict} minItems title`,
  formats: `${strictFormats} uri`,
  enums: scalars,
  naming: anthropicNaming,
  minItems: 1,
  limit: (schema) => anthropicLimit(schema, 10),
}

// https://ai.google.dev/gemini-api/docs/structured-output
const geminiJsonSchema: Dialect = {
  name: 'gemini',
  compile: lower,
  keywords: `${base} title format minItems maxItems minimum maximum additionalProperties prefixItems $defs $ref`,
  formats: 'date-time date time',
  enums: 'string integer number',
  object: objectOrMap,
  array: arrayOrTuple,
  untyped,
  scalar: boundedInteger,
  references: (compiler) => references(compiler, false),
}

const geminiOpenapi: Dialect = {
  name: 'gemini-openapi',
  compile: lower,
  keywords: `${base} title format default minItems maxItems minLength maxLength minProperties maxProperties pattern minimum maximum`,
  formats: 'date-time enum float double int32 int64',
  enums: 'string',
  naming: (names, reading) => naming(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, names, reading),
  nullable: (schema) => ({ ...schema, nullable: true }),
  scalar: integerOrNull,
}

// https://docs.x.ai/developers/model-capabilities/text/structured-outputs
const xaiStrict: Dialect = {
  name: 'xai',
  compile: lower,
  keywords: strictWithBounds,
  formats: strictFormats,
  enums: scalars,
}

const openaiUsual: Leniency = {
  name: 'openai',
  compile: (original) =>
    compiledSchema(original, (reading) => {
      addItems(reading)
      return rooted(reading, 'not oneOf anyOf allOf enum const $ref')
    }),
}

const anthropicUsual: Leniency = {
  name: 'anthropic',
  compile: (original) =>
    compiledSchema(original, (reading) => {
      const root = rooted(reading, 'oneOf anyOf allOf $ref')
      return renamed(root, anthropicNaming, reading)
    }),
}

export const anthropicProvider: Provider = {
  usual: anthropicUsual,
  strict: anthropicStrict,
  request: { 'strict tools': 20, 'optional fields in strict tools': 24, 'unions in strict tools': 16 },
}

/** Returns the dialects of Anthropic with another number of optional fields that a strict tool may have. */
export function anthropicWith(optional: number): Provider {
  return { ...anthropicProvider, strict: { ...anthropicStrict, limit: (schema) => anthropicLimit(schema, optional) } }
}

export const openaiProvider: Provider = { usual: openaiUsual, strict: openaiStrict }

/** Those that speak the API of OpenAI. */
export const openaiLike: Readonly<Record<'openai' | 'groq' | 'mistral' | 'xai', Provider>> = {
  openai: openaiProvider,
  groq: openaiProvider,
  mistral: { usual: openaiUsual, strict: 'any' },
  xai: { usual: xaiStrict, strict: xaiStrict },
}

export const geminiLike: Readonly<Record<'gemini' | 'gemini-openapi', Provider>> = {
  gemini: { usual: geminiJsonSchema },
  'gemini-openapi': { usual: geminiOpenapi },
}

/** Returns the provider of a name. @throws `E_INVALID_CONFIGURATION` if there is none. */
export function providerOf(name: DialectName, owner = 'The format ai-sdk'): Provider {
  const others = { anthropic: anthropicProvider, bedrock: { usual: anthropicUsual, strict: anthropicStrict } }
  return dialectOf(owner, { ...openaiLike, ...geminiLike, ...others }, name)
}
