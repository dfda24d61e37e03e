import { inclusive } from './_lower/bounds.ts'
import type { Dialect, Leniency } from './_lower/dialect.ts'
import { leaveOut } from './_lower/leave-out.ts'
import { mend } from './_lower/lenient.ts'
import { measure } from './_lower/limits.ts'
import { lower } from './_lower/lower.ts'
import { references } from './_lower/references.ts'

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
const bounds = 'multipleOf minimum maximum exclusiveMinimum exclusiveMaximum'
const strictFormats = 'date-time time date duration email hostname ipv4 ipv6 uuid'
const scalars = 'string integer number boolean null'
const anthropicName = /^[a-zA-Z0-9_.-]{1,64}$/

// https://developers.openai.com/api/docs/guides/structured-outputs
const openaiStrict: Dialect = {
  name: 'openai-strict',
  compile: lower,
  keywords: `${base} const additionalProperties pattern format ${bounds} minItems maxItems $defs $ref`,
  formats: strictFormats,
  enums: scalars,
  leaveOut,
  references: (compiler) => references(compiler, true),
  limit: (schema) =>
    measure(schema, {
      properties: 5_000,
      'levels of nesting': 10,
      'values of enums': 1_000,
      'characters of names and constants': 120_000,
      'characters in one enum of more than 250 values': 15_000,
    }),
}

// https://platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use
const anthropicStrict: Dialect = {
  name: 'anthropic-strict',
  compile: lower,
  keywords: `${base} const additionalProperties pattern format minItems title`,
  formats: `${strictFormats} uri`,
  enums: scalars,
  names: anthropicName,
  minItems: 1,
  // The grammar of a tool with more optional fields may be too large to be made.
  limit: (schema) => measure(schema, { 'optional fields': 10 }),
}

// https://ai.google.dev/gemini-api/docs/structured-output
const geminiJsonSchema: Dialect = {
  name: 'gemini',
  compile: lower,
  keywords: `${base} title format minItems maxItems minimum maximum additionalProperties prefixItems $defs $ref`,
  formats: 'date-time date time',
  enums: 'string integer number',
  hasMaps: true,
  takesUntyped: true,
  bound: inclusive,
  references: (compiler) => references(compiler, false),
}

const geminiOpenapi: Dialect = {
  name: 'gemini-openapi',
  compile: lower,
  keywords: `${base} title format default minItems maxItems minLength maxLength minProperties maxProperties pattern minimum maximum`,
  formats: 'date-time enum float double int32 int64',
  enums: 'string',
  names: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
  needsProperties: true,
  hasNullable: true,
  bound: inclusive,
}

// https://docs.x.ai/developers/model-capabilities/text/structured-outputs
const xaiStrict: Dialect = {
  name: 'xai',
  compile: lower,
  keywords: `${base} const additionalProperties pattern format ${bounds}`,
  formats: strictFormats,
  enums: scalars,
}

const openaiUsual: Leniency = {
  name: 'openai',
  compile: mend,
  refusedAtRoot: /^(?:oneOf|anyOf|allOf|enum|not|const|\$ref)$/,
  needsItems: true,
}

const anthropicUsual: Leniency = {
  name: 'anthropic',
  compile: mend,
  refusedAtRoot: /^(?:oneOf|anyOf|allOf|\$ref)$/,
  names: anthropicName,
  needsItems: false,
}

export const anthropicProvider: Provider = {
  usual: anthropicUsual,
  strict: anthropicStrict,
  request: { 'strict tools': 20, 'optional fields in strict tools': 24, 'unions in strict tools': 16 },
}

/** Returns the dialects of Anthropic with another number of optional fields that a strict tool may have. */
export function anthropicWith(optional: number): Provider {
  return {
    ...anthropicProvider,
    strict: { ...anthropicStrict, limit: (schema) => measure(schema, { 'optional fields': optional }) },
  }
}

export const openaiProvider: Provider = { usual: openaiUsual, strict: openaiStrict }

/** Those that speak the API of OpenAI. */
export const openaiLike: Readonly<Record<'openai' | 'groq' | 'mistral' | 'xai', Provider>> = {
  openai: openaiProvider,
  groq: { usual: openaiUsual, strict: openaiStrict },
  mistral: { usual: openaiUsual, strict: 'any' },
  xai: { usual: xaiStrict, strict: xaiStrict },
}

export const geminiLike: Readonly<Record<'gemini' | 'gemini-openapi', Provider>> = {
  gemini: { usual: geminiJsonSchema },
  'gemini-openapi': { usual: geminiOpenapi },
}

/** Returns the provider of a name. */
export function providerOf(name: DialectName): Provider {
  const others = { anthropic: anthropicProvider, bedrock: { usual: anthropicUsual, strict: anthropicStrict } }
  return { ...openaiLike, ...geminiLike, ...others }[name]
}
