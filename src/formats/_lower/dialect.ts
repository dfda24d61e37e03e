import type { Compiler } from './compiler.ts'
import type { Naming } from './names.ts'
import type { Lowered, LoweredSchema, Node, SchemaObject, TypeName } from './schema.ts'

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
  /** Renames fields whose names are refused. Missing: all names are taken. */
  readonly naming?: Naming
  /** Lowers schemas of objects, if there are maps. Missing: objects are closed as far as the dialect can say so. */
  readonly object?: Lowering
  /** Lowers schemas of arrays, if there are tuples. */
  readonly array?: Lowering
  /** Lets a lowered schema take null, if null is no type. */
  readonly nullable?: (schema: SchemaObject) => SchemaObject
  /** Lowers a schema without a type. Missing: none is taken, and JSON text stands for the value. */
  readonly untyped?: Lowering
  /** The largest `minItems` that is taken. */
  readonly minItems?: number
  /** Lets null leave out an optional field, if every property is required. Missing: properties may be optional. */
  readonly leaveOut?: (field: SchemaObject, lowered: Lowered, compiler: Compiler) => Lowered
  /** Returns the lowered schema of a scalar type that needs more than its keywords. */
  readonly scalar?: (...args: [...Parameters<Lowering>, type: TypeName]) => SchemaObject | undefined
  /** Returns what writes a `$ref` to its target. Missing: the target replaces it, and a cycle becomes JSON text. */
  readonly references?: (compiler: Compiler) => (schema: SchemaObject, target: SchemaObject) => Lowered
  /** Throws a Refusal if a lowered schema is beyond a limit of the provider. Missing: there are none. */
  readonly limit?: (schema: SchemaObject) => Sums
}

/** Lowers a schema of one type. `words` gets what the description must say. */
type Lowering = (schema: SchemaObject, words: string[], compiler: Compiler) => Lowered

/** What requests of strict tools limit. */
export interface Sums {
  readonly optional?: number
  /** Of `anyOf`, and lists of types. */
  readonly unions?: number
}

/** What a provider refuses even if nothing is strict. */
export type Leniency = Pick<Dialect, 'name'> & { readonly compile: (schema: Node) => LoweredSchema }
