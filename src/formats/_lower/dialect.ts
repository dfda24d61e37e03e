import type { Compiler, Stack } from './compiler.ts'
import type { Lowered, LoweredSchema, Node } from './schema.ts'

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
  /** Whether objects may have fields that their schema does not name. */
  readonly isOpen: boolean
  /** Lets null leave out an optional field, if every property is required. Missing: properties may be optional. */
  readonly leaveOut?: (field: Node, lowered: Lowered, compiler: Compiler) => Lowered
  /** Whether an object may be without properties. */
  readonly takesEmpty: boolean
  /** How null is allowed: in the list of types, or by `nullable: true`. */
  readonly nulls: 'type' | 'nullable'
  /** Writes `$ref`. Missing: its target replaces it, and a cycle becomes JSON text. */
  readonly references?: (compiler: Compiler) => References
  /** Whether a schema without a type is taken. */
  readonly takesUntyped: boolean
  /** The largest `minItems` that is taken. */
  readonly minItems?: number
  /** Holds a lowered schema to the limits of the provider. Missing: there are none. */
  readonly limit?: (schema: Node) => Sums
}

/** What writes the `$ref` of one schema. */
export interface References {
  readonly refer: (node: Node, target: Node, stack: Stack) => Lowered
  readonly definitionOf: Compiler['definitionOf']
  /** The definitions that something refers to, by their names. */
  readonly definitions: () => Node
}

/** The most that one schema may have. */
export interface Limits {
  readonly properties?: number
  readonly depth?: number
  readonly enumValues?: number
  /** Of the names of properties and definitions, and of constants. */
  readonly characters?: number
  /** The characters of the longest `enum` of more than 250 values. */
  readonly longEnum?: number
  readonly optional?: number
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
