import type { SchemaLoss } from '../../index.ts'
import { isObject } from '../_read.ts'

/** One JSON Schema as an object. What is in it may be hostile: only own properties are read. */
export type Node = Readonly<Record<string, unknown>>

/**
 * Translates a value between the tool's own shape and the lowered one.
 *
 * @param isUp Whether it goes from the lowered shape to the tool's own. A value that does not look lowered is returned as it is.
 */
export type Way = (value: unknown, isUp: boolean, scope: Scope) => unknown

/** What one translation may use. */
export interface Scope {
  /** The steps left. They bound the work that a hostile value can cause. */
  steps: number
  /** Returns whether a value may be one of a lowered schema. Without it, only the shape decides. */
  readonly accepts?: ((schema: Node, value: unknown) => boolean) | undefined
}

/** A schema that a provider takes, and the way between it and the tool's own. Without a way, the values are the same. */
export interface Lowered {
  readonly schema: Node
  readonly way?: Way | undefined
}

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
export class Refusal extends Error {}

/** Thrown by the compiler: no value fits this part of the schema. A union goes on without it. */
export class NoValue extends Refusal {
  constructor() {
    super('no value fits it')
  }
}

export type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** Translates a value, if there is a way for it. */
export function through(way: Way | undefined, value: unknown, isUp: boolean, scope: Scope): unknown {
  return way === undefined ? value : way(value, isUp, scope)
}

/** Returns the JSON type of a value; `integer` for a whole number. */
export function typeName(value: unknown): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : (typeof value as TypeName)
}

/** Returns whether a value is of a type. */
export function isOf(type: unknown, value: unknown): boolean {
  return type === typeName(value) || (type === 'number' && typeof value === type)
}

/** Returns a keyword that is an array as it is, any other value in a list of its own, and a missing one as an empty list. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the survey has checked what its items are
export function listOf<Item = unknown>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value as Item]
}

/** Returns an object of schemas as it is, and an empty one for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, Node>> {
  return isObject(value) ? (value as Readonly<Record<string, Node>>) : {}
}

/** Returns whether two JSON values are equal, with members in the same order. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Returns one key as a part of a JSON Pointer. */
export function pointerPart(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Returns whether a JSON Pointer leads to a value. */
export function leads(root: unknown, pointer: string): boolean {
  let found = root
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return false
    found = (found as Node)[key]
  }
  return true
}

/** Returns a name that is not taken: the name, with as many `_` as it needs. */
export function freshName(name: string, taken: ReadonlySet<string>): string {
  let fresh = name
  while (taken.has(fresh)) fresh += '_'
  return fresh
}

/** Returns a name of letters, digits and `_`. */
export function plainName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_]/gu, '_').slice(0, 56)
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`
}

/** Returns a function that gives each name once. It counts those that are alike, since a hostile schema has many. */
export function namesBeside(given: Iterable<string>): (name: string) => string {
  const counts = new Map<string, number>()
  for (const name of given) counts.set(name, 1)
  return (name) => {
    let count = counts.get(name) ?? 0
    let fresh = name
    while (counts.has(fresh)) fresh = `${name}_${(count += 1)}`
    counts.set(name, count).set(fresh, 1)
    return fresh
  }
}
