import type { Compiler } from './compiler.ts'
import type { Lowered, LoweredSchema, Node, Schema, Schemas } from './schema.ts'

/** The part of JSON Schema that a provider takes: data, and the functions that write what only some dialects have. */
export interface Dialect {
  readonly name: string
  readonly compile: (schema: Node, dialect: Dialect) => LoweredSchema
  /** Keywords that go out as they are. All others are said in words, or left out. */
  readonly keywords: string
  /** Values of `format` that are taken. */
  readonly formats: string
  /** Types whose values an `enum` may have. */
  readonly enums: string
  /** Names that a property may have. Default: any. */
  readonly names?: RegExp
  /** Whether `additionalProperties` may have a schema. If not, objects are closed as far as the dialect can say so. */
  readonly hasMaps?: true
  /** Whether an object must have properties. */
  readonly needsProperties?: true
  /** Whether null is allowed by `nullable: true`, and not in the list of types. */
  readonly hasNullable?: true
  /** Whether a schema without a type is taken. */
  readonly takesUntyped?: true
  /** The largest `minItems` that is taken. */
  readonly minItems?: number
  /** Lets null leave out an optional field, if every property is required. Missing: properties may be optional. */
  readonly leaveOut?: (field: Schema, lowered: Lowered, compiler: Compiler) => Lowered
  /** Gives an integer inclusive bounds, if there are no exclusive ones. */
  readonly bound?: (schema: Schema, compiler: Compiler) => Schema
  /** Writes `$ref`. Missing: its target replaces it, and a cycle becomes JSON text. */
  readonly references?: (compiler: Compiler) => References
  /** Holds a lowered schema to the limits of the provider. Missing: there are none. */
  readonly limit?: (schema: Schema) => Sums
}

/** What writes the `$ref` of one schema. */
export interface References {
  readonly refer: (schema: Schema, target: Schema) => Lowered
  readonly definitionOf: Compiler['definitionOf']
  /** The definitions that something refers to, by their names. */
  readonly definitions: () => Schemas
}

/** The most that one schema may have, by the words for what is counted. */
export interface Limits {
  readonly properties?: number
  readonly 'levels of nesting'?: number
  readonly 'values of enums'?: number
  readonly 'characters of names and constants'?: number
  readonly 'characters in one enum of more than 250 values'?: number
  readonly 'optional fields'?: number
}

/** What requests of strict tools limit, or the reason why a schema is beyond a limit. */
export interface Sums {
  readonly refused?: string
  readonly optional?: number
  /** Of `anyOf`, and lists of types. */
  readonly unions?: number
}

/** What a provider refuses even if nothing is strict. */
export interface Leniency {
  readonly name: string
  readonly compile: (schema: Node, dialect: Leniency) => LoweredSchema
  /** Keywords that the root of a schema must not have. */
  readonly refusedAtRoot: RegExp
  /** Names that a property of the root may have. Default: any. */
  readonly names?: RegExp
  /** Whether each array needs `items`, and the root `properties`. */
  readonly needsItems: boolean
}
