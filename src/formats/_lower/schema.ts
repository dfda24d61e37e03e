import type { SchemaLoss } from '../../index.ts'
import { isObject } from '../_read.ts'

/** One JSON Schema as an object. What is in it may be hostile: only own properties are read. */
export type Node = Readonly<Record<string, unknown>>

/** Translates a value between the tool's own shape and the lowered one. */
export type Way = (value: unknown, scope: Scope) => unknown

/** What one translation may use. */
export interface Scope {
  /** The steps left. They bound the work that a hostile value can cause. */
  steps: number
  /** Returns whether a value may be one of a lowered schema. Without it, only the shape decides. */
  readonly accepts?: ((schema: Node, value: unknown) => boolean) | undefined
}

/** A schema that a provider takes, and the ways between it and the tool's own. Without ways, the values are the same. */
export interface Lowered {
  readonly schema: Node
  /** From the lowered shape to the tool's own. It returns a value that does not look lowered as it is. */
  readonly up?: Way | undefined
  /** From the tool's own shape to the lowered one. */
  readonly down?: Way | undefined
}

/** A whole input schema for one dialect. */
export interface LoweredSchema extends Lowered {
  readonly losses: readonly SchemaLoss[]
  /** The reason why the dialect does not take it. `schema` is then the original. */
  readonly refused?: string
  /** The numbers of optional fields and of unions, which requests of strict tools limit. */
  readonly optional: number
  readonly unions: number
}

/** Thrown by the compiler: this dialect cannot take the schema. */
export class Refusal extends Error {}

/** Thrown by the compiler: no value fits this part of the schema. A union goes on without it. */
export class NoValue extends Refusal {}

export type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** Returns the JSON type of a value; `integer` for a whole number. */
export function typeName(value: unknown): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'string' || typeof value === 'boolean' ? (typeof value as 'string' | 'boolean') : 'object'
}

/** Returns whether a value is of a type. */
export function isOf(type: unknown, value: unknown): boolean {
  const name = typeName(value)
  return type === name || (type === 'number' && name === 'integer')
}

/** Returns a keyword that is an array as it is, any other value in a list of its own, and a missing one as an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

/** Returns an object of schemas as it is, and an empty one for anything else. */
export function fieldsOf(value: unknown): Node {
  return isObject(value) ? value : {}
}

/** Returns a string as it is, and the empty string for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Makes an object, in which `__proto__` is a field like any other. */
export function objectOf(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries)
}

/** Returns whether two JSON values are equal, with members in the same order. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Returns one key as a part of a JSON Pointer. */
export function pointerPart(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns the value at a JSON Pointer, with a leading `#` or not, or `undefined`. */
export function valueAt(root: unknown, pointer: string): unknown {
  let found = root
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Node)[key]
  }
  return found
}

/** Returns a name that is not taken: the name, with as many `_` as it needs. */
export function freshName(name: string, taken: ReadonlySet<string>): string {
  let fresh = name
  while (taken.has(fresh)) fresh += '_'
  return fresh
}
