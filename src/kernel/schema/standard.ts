import type { StandardJSONSchemaV1, StandardSchemaV1, StandardTypedV1 } from '@standard-schema/spec'

export type { StandardJSONSchemaV1, StandardSchemaV1, StandardTypedV1 }

/** A fault that a validator found: a sentence, and its place in the value. */
export interface Issue {
  readonly message: string
  /** The keys from the root of the value to the place; empty for the root itself. */
  readonly path: readonly PropertyKey[]
}

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** A raw JSON Schema of draft 07, 2019-09 or 2020-12, as an object or a boolean. */
export type JsonSchema = boolean | JsonSchemaObject

interface JsonSchemas {
  readonly [name: string]: JsonSchema
}

/** The keywords of JSON Schema, for completion in editors; unknown keywords are allowed, as in the standard. */
export interface JsonSchemaObject {
  readonly $schema?: string
  readonly $id?: string
  readonly $ref?: string
  readonly $anchor?: string
  readonly $dynamicRef?: string
  readonly $dynamicAnchor?: string
  readonly $comment?: string
  readonly $defs?: JsonSchemas
  readonly definitions?: JsonSchemas
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly deprecated?: boolean
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly type?: JsonType | (string & {}) | readonly (JsonType | (string & {}))[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly contentEncoding?: string
  readonly contentMediaType?: string
  readonly contentSchema?: JsonSchema
  readonly items?: JsonSchema | readonly JsonSchema[]
  readonly prefixItems?: readonly JsonSchema[]
  readonly additionalItems?: JsonSchema
  readonly unevaluatedItems?: JsonSchema
  readonly contains?: JsonSchema
  readonly minContains?: number
  readonly maxContains?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: JsonSchemas
  readonly patternProperties?: JsonSchemas
  readonly additionalProperties?: JsonSchema | undefined
  readonly unevaluatedProperties?: JsonSchema
  readonly propertyNames?: JsonSchema
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly dependentRequired?: { readonly [name: string]: readonly string[] }
  readonly dependentSchemas?: JsonSchemas
  readonly dependencies?: { readonly [name: string]: JsonSchema | readonly string[] }
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly not?: JsonSchema
  readonly if?: JsonSchema
  readonly then?: JsonSchema
  readonly else?: JsonSchema
}

/** One thing that a provider's dialect of JSON Schema cannot express, and what the format did about it. */
export interface SchemaLoss {
  /** A JSON Pointer into the tool's own input schema. */
  readonly pointer: string
  readonly keyword: string
  readonly done:
    | 'dropped'
    | 'in words'
    | 'inlined'
    | 'widened'
    | 'closed'
    | 'nullable'
    | 'wrapped'
    | 'renamed'
    | 'as pairs'
    | 'as fields'
    | 'as text'
  /** The words, the new name, or what stands there now. */
  readonly note?: string
}

/** How one tool's input schema goes to a provider. */
export interface SchemaReport {
  readonly toolName: string
  readonly schema: 'as it is' | 'lowered' | 'strict'
  readonly losses: readonly SchemaLoss[]
  /** The reason why the schema is not strict, or could not be lowered, although that was asked for. */
  readonly refused?: string
}
