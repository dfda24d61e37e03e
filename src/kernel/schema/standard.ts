import type { StandardJSONSchemaV1, StandardSchemaV1, StandardTypedV1 } from '@standard-schema/spec'

export type { StandardJSONSchemaV1, StandardSchemaV1, StandardTypedV1 }

/** A fault that a validator found: a sentence, and its place in the value. */
export interface Issue {
  readonly message: string
  /** The keys from the root of the value to the place; empty for the root itself. */
  readonly path: readonly PropertyKey[]
}

/** The types of JSON Schema. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** A raw JSON Schema of draft 07, 2019-09 or 2020-12, as an object or a boolean. */
export type JsonSchema = boolean | JsonSchemaObject

type Keywords<Name extends string, Value> = { readonly [Keyword in Name]?: Value }
type Texts = '$schema' | '$id' | '$ref' | '$anchor' | '$dynamicRef' | '$dynamicAnchor' | '$comment' | 'title'
type MoreTexts = 'description' | 'pattern' | 'format' | 'contentEncoding' | 'contentMediaType'
type Limits = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf' | 'minLength' | 'maxLength'
type Counts = 'minContains' | 'maxContains' | 'minItems' | 'maxItems' | 'minProperties' | 'maxProperties'
type Flags = 'deprecated' | 'readOnly' | 'writeOnly' | 'uniqueItems'
type Parts = 'contains' | 'additionalItems' | 'unevaluatedItems' | 'unevaluatedProperties' | 'propertyNames'
type Conditions = 'contentSchema' | 'not' | 'if' | 'then' | 'else'
type SchemaLists = 'prefixItems' | 'allOf' | 'anyOf' | 'oneOf'
type SchemaMaps = '$defs' | 'definitions' | 'properties' | 'patternProperties' | 'dependentSchemas'

/** The keywords of JSON Schema, for completion in editors; unknown keywords are allowed, as in the standard. */
export interface JsonSchemaObject
  extends
    Keywords<Texts | MoreTexts, string>,
    Keywords<Limits | Counts, number>,
    Keywords<Flags, boolean>,
    Keywords<Parts | Conditions, JsonSchema>,
    Keywords<SchemaLists, readonly JsonSchema[]>,
    Keywords<SchemaMaps, { readonly [name: string]: JsonSchema }> {
  readonly type?: JsonType | (string & {}) | readonly (JsonType | (string & {}))[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: JsonSchema | readonly JsonSchema[]
  readonly additionalProperties?: JsonSchema | undefined
  readonly required?: readonly string[]
  readonly dependentRequired?: { readonly [name: string]: readonly string[] }
  readonly dependencies?: { readonly [name: string]: JsonSchema | readonly string[] }
}
