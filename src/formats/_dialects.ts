/** The part of JSON Schema that a provider takes, as data. */
export interface Dialect {
  readonly name: string
  /** Keywords that go out as they are. All others are said in words, or left out. */
  readonly keywords: ReadonlySet<string>
  /** Values of `format` that are taken. */
  readonly formats: ReadonlySet<string>
  /** Types whose values an `enum` may have. */
  readonly enums: ReadonlySet<string>
  /** Names that a property may have. Default: any. */
  readonly names?: RegExp
  /** `all`: objects are closed and require every property. `closed`: they are closed. `open`: they may have other fields. */
  readonly objects: 'all' | 'closed' | 'open'
  /** Whether an object may be without properties. */
  readonly takesEmpty: boolean
  /** How null is allowed: in the list of types, or by `nullable: true`. */
  readonly nulls: 'type' | 'nullable'
  /** What becomes of `$ref`. Default: its target replaces it, and a cycle becomes JSON text. */
  readonly references?: 'any' | 'without cycles'
  /** Whether a schema without a type is taken. */
  readonly takesUntyped: boolean
  /** The largest `minItems` that is taken. */
  readonly minItems?: number
  readonly limits: Limits
}

/** The most that one schema may have. */
export interface Limits {
  readonly properties?: number
  readonly depth?: number
  readonly enumValues?: number
  /** Of the names of properties and definitions, and of constants. */
  readonly characters?: number
  /** The characters of an `enum` of more than 250 values. */
  readonly longEnum?: number
  readonly optional?: number
}

/** What a provider refuses even if nothing is strict. */
export interface Leniency {
  readonly name: string
  /** Keywords that the root of a schema must not have. */
  readonly refusedAtRoot: ReadonlySet<string>
  /** Names that a property of the root may have. Default: any. */
  readonly names?: RegExp
  /** Whether each array needs `items`, and the root `properties`. */
  readonly needsItems: boolean
}

/** The most that all strict tools of one request may have together. */
export interface RequestLimits {
  readonly tools: number
  readonly optional: number
  readonly unions: number
}

/** The dialects of one provider. */
export interface Provider {
  readonly name: string
  readonly usual: Dialect | Leniency
  /** Missing if the provider has no strict mode. `any`: it publishes no rules for it, so the usual schema goes out. */
  readonly strict?: Dialect | 'any'
  readonly request?: RequestLimits
}

/** A provider whose dialect the AI SDK's tools can be written in. */
export type DialectName = 'anthropic' | 'bedrock' | 'gemini' | 'gemini-openapi' | 'groq' | 'mistral' | 'openai' | 'xai'

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

const base = 'type description enum properties required items anyOf'
const bounds = 'multipleOf minimum maximum exclusiveMinimum exclusiveMaximum'
const strictFormats = 'date-time time date duration email hostname ipv4 ipv6 uuid'
const scalars = words('string integer number boolean null')
const identifier = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/
const anthropicName = /^[a-zA-Z0-9_.-]{1,64}$/

// https://developers.openai.com/api/docs/guides/structured-outputs
const openaiStrict: Dialect = {
  name: 'openai-strict',
  keywords: words(`${base} const additionalProperties pattern format ${bounds} minItems maxItems $defs $ref`),
  formats: words(strictFormats),
  enums: scalars,
  objects: 'all',
  takesEmpty: true,
  nulls: 'type',
  references: 'any',
  takesUntyped: false,
  limits: { properties: 5_000, depth: 10, enumValues: 1_000, characters: 120_000, longEnum: 15_000 },
}

// https://platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use
const anthropicStrict: Dialect = {
  name: 'anthropic-strict',
  keywords: words(`${base} const additionalProperties pattern format minItems title`),
  formats: words(`${strictFormats} uri`),
  enums: scalars,
  names: anthropicName,
  objects: 'closed',
  takesEmpty: true,
  nulls: 'type',
  takesUntyped: false,
  minItems: 1,
  // The grammar of a tool with more optional fields may be too large to be made.
  limits: { optional: 10 },
}

// https://ai.google.dev/gemini-api/docs/structured-output
const geminiJsonSchema: Dialect = {
  name: 'gemini',
  keywords: words(`${base} title format minItems maxItems minimum maximum additionalProperties prefixItems $defs $ref`),
  formats: words('date-time date time'),
  enums: words('string integer number'),
  objects: 'open',
  takesEmpty: true,
  nulls: 'type',
  references: 'without cycles',
  takesUntyped: true,
  limits: {},
}

const geminiOpenapi: Dialect = {
  name: 'gemini-openapi',
  keywords: words(
    `${base} title format default minItems maxItems minLength maxLength minProperties maxProperties pattern minimum maximum`,
  ),
  formats: words('date-time enum float double int32 int64'),
  enums: words('string'),
  names: identifier,
  objects: 'open',
  takesEmpty: false,
  nulls: 'nullable',
  takesUntyped: false,
  limits: {},
}

// https://docs.x.ai/developers/model-capabilities/text/structured-outputs
const xaiStrict: Dialect = {
  name: 'xai',
  keywords: words(`${base} const additionalProperties pattern format ${bounds}`),
  formats: words(strictFormats),
  enums: scalars,
  objects: 'closed',
  takesEmpty: true,
  nulls: 'type',
  takesUntyped: false,
  limits: {},
}

const openaiUsual: Leniency = {
  name: 'openai',
  refusedAtRoot: words('oneOf anyOf allOf enum not const $ref'),
  needsItems: true,
}

const anthropicUsual: Leniency = {
  name: 'anthropic',
  refusedAtRoot: words('oneOf anyOf allOf $ref'),
  names: anthropicName,
  needsItems: false,
}

/** The providers, by the names of their dialects. */
export const providers: Readonly<Record<DialectName, Provider>> = {
  anthropic: {
    name: 'anthropic',
    usual: anthropicUsual,
    strict: anthropicStrict,
    request: { tools: 20, optional: 24, unions: 16 },
  },
  bedrock: { name: 'bedrock', usual: anthropicUsual, strict: anthropicStrict },
  gemini: { name: 'gemini', usual: geminiJsonSchema },
  'gemini-openapi': { name: 'gemini-openapi', usual: geminiOpenapi },
  groq: { name: 'groq', usual: openaiUsual, strict: openaiStrict },
  mistral: { name: 'mistral', usual: openaiUsual, strict: 'any' },
  openai: { name: 'openai', usual: openaiUsual, strict: openaiStrict },
  xai: { name: 'xai', usual: xaiStrict, strict: xaiStrict },
}
