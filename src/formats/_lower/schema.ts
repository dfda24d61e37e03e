import type { SchemaLoss } from '../../extension.ts'

/** One JSON Schema as an object. */
export type Node = Readonly<Record<string, unknown>>

/** Schemas by names. They may be hostile: only own ones are read. */
export type NamedSchemas = Readonly<Record<string, SchemaObject>>

/** One JSON Schema whose keywords have the form that the standard gives them. */
export interface SchemaObject {
  readonly [keyword: string]: unknown
  readonly type?: TypeName | readonly TypeName[]
  readonly enum?: readonly unknown[]
  readonly $ref?: string
  readonly anyOf?: readonly SchemaObject[]
  readonly oneOf?: readonly SchemaObject[]
  readonly allOf?: readonly SchemaObject[]
  readonly $defs?: NamedSchemas
  readonly properties?: NamedSchemas
  readonly patternProperties?: NamedSchemas
  readonly required?: readonly string[]
  readonly prefixItems?: readonly SchemaObject[]
  readonly items?: SchemaObject
  readonly minItems?: number
  readonly maxItems?: number
}

export type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** Translates a value between the tool's own shape and the lowered one. What does not look right is returned as it is. */
export type Way = (value: unknown, scope: TranslationScope) => unknown

/** What one translation may use. */
export interface TranslationScope {
  /** Whether it goes from the lowered shape to the tool's own. */
  readonly isUp: boolean
  /** The steps left. They bound the work that a hostile value can cause. */
  readonly steps: { left: number }
  /** Returns whether a value may be one of a lowered schema. Without it, only the shape decides. */
  readonly accepts?: ((schema: Node, value: unknown) => boolean) | undefined
}

/** A schema that a provider takes, and the way between it and the tool's own. */
export interface Lowered {
  readonly schema: SchemaObject
  readonly way: Way
}

/** The way of a schema whose values are the same on both sides. */
export const same: Way = (value) => value

/** A whole input schema for one dialect. */
export interface LoweredSchema extends Lowered {
  readonly losses: readonly SchemaLoss[]
  /** The reason why the dialect does not take it. `schema` is then the original. */
  readonly refused?: string
  /** The numbers of optional fields and of unions, if requests of strict tools are limited. */
  readonly optional?: number
  readonly unions?: number
}

/** Thrown by the compiler: this dialect cannot take the schema. */
export class DialectRefusal extends Error {}

/** Thrown by the compiler: no value fits this part of the schema. A union goes on without it. */
export class NoValue extends DialectRefusal {
  override readonly message = 'no value fits it'
}

/** Returns the JSON type of a value; `integer` for a whole number. */
export function typeName(value: unknown): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : (typeof value as TypeName)
}

/** Returns whether one of several types is that of a value. */
export function hasType(types: readonly TypeName[], type: TypeName): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

/** Returns a value as JSON. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value)
}

/** Returns each of several JSON values once. */
export function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [jsonOf(value), value])).values()]
}

/** Returns an array as it is, any other value in a list of its own, and a missing one as an empty list. */
export function listOf<Item>(value: Item | readonly Item[] | undefined): readonly Item[] {
  return Array.isArray(value) ? value : value ? [value as Item] : []
}

/** Returns whether a list of words has one. */
export function hasWord(words: string, word: unknown): boolean {
  return words.split(' ').includes(word as string)
}

/** Returns an object of entries. A name such as `__proto__` becomes its own. */
export function objectOf<Value>(entries: Iterable<readonly [string, Value]>): Readonly<Record<string, Value>> {
  return Object.fromEntries(entries)
}

/** Returns one key as a part of a JSON Pointer. */
export function pointerPart(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns a name that is not taken: the name, with as many `_` as it needs. */
export function freshName(name: string, usedNames: ReadonlySet<string>): string {
  return usedNames.has(name) ? freshName(`${name}_`, usedNames) : name
}

/** Returns a function that gives each name once. It counts those that are alike, since a hostile schema has many. */
export function namesBeside(usedNames: Iterable<string> = []): (name: string) => string {
  const counts = new Map([...usedNames].map((name) => [name, 1]))
  return (name) => {
    let count = counts.get(name) ?? 0
    let fresh = name
    while (counts.has(fresh)) fresh = `${name}_${(count += 1)}`
    counts.set(name, count).set(fresh, 1)
    return fresh
  }
}
