/** What both majors of TypeBox share: JSON Schema with marks on it, and issues with JSON Pointers. */
import type { Issue } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'

export type Side = 'input' | 'output'

/** How a major marks its schemas. */
export interface Marks {
  /** Returns the kind of a schema, or `undefined` for an object that is not a schema. */
  readonly kindOf: (schema: object) => string | undefined
  /** Returns whether a schema decodes the values that it validates. */
  readonly decodes: (schema: object) => boolean
}

/** Keywords whose values are data. */
const data = new Set(['default', 'const', 'enum', 'examples'])
const wordless = new Set(
  (
    'AsyncIterator BigInt Call Constructor Date Function Generic Identifier Infer Iterator Promise RegExp Symbol ' +
    'Uint8Array'
  ).split(' '),
)

/** Returns whether any part of a schema satisfies `holds`. */
export function some(schema: unknown, holds: (part: object) => boolean): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return holds(schema) || Object.values(schema).some((part) => some(part, holds))
}

/**
 * Returns the JSON Schema of a TypeBox schema, without the marks.
 *
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if JSON cannot represent a value of the schema.
 */
export function show(schema: object, side: Side, target: string, marks: Marks): Record<string, unknown> {
  if (target !== 'draft-2020-12' && target !== 'draft-07') {
    throw new SchemaConversionError(`JSON Schema cannot be shown as ${target}.`)
  }
  return plain(schema, []) as Record<string, unknown>

  function plain(part: unknown, path: readonly string[]): unknown {
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return part.map((item, index) => plain(item, [...path, String(index)]))
    const kind = marks.kindOf(part)
    const refuse = (what: string): never => {
      throw new SchemaConversionError(
        `JSON Schema cannot express ${what} (at #${path.map((key) => `/${key}`).join('')})`,
      )
    }
    if (side === 'output' && marks.decodes(part)) refuse('the result of a decoded type')
    if (kind === 'Undefined' || kind === 'Void') return { not: {} }
    if (kind === 'Date' && side === 'output') return { type: 'string', format: 'date-time' }
    if (kind !== undefined && wordless.has(kind)) refuse(`Type.${kind}()`)
    if (target === 'draft-07' && 'unevaluatedProperties' in part && kind !== undefined) refuse('unevaluatedProperties')
    const isOldTuple = kind === 'Tuple' && target === 'draft-2020-12'
    const entries = Object.entries(part).flatMap(([key, value]): (readonly [string, unknown])[] => {
      if (typeof value === 'function' || value === undefined) return []
      if (kind !== undefined && data.has(key)) return [[key, structuredClone(value)]]
      const plainMember = plain(value, [...path, key])
      if (isOldTuple && key === 'items')
        return Array.isArray(value) && value.length === 0 ? [] : [['prefixItems', plainMember]]
      return [[isOldTuple && key === 'additionalItems' ? 'items' : key, plainMember]]
    })
    return Object.fromEntries(entries)
  }
}

/** Returns a copy for defaults and decoding. Unlike TypeBox 0.34's own copy, it keeps `__proto__` as a key. */
export function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)]))
}

/** Returns the keys of a JSON Pointer into a value. Array indexes are numbers. */
export function keysOf(pointer: string, value: unknown): PropertyKey[] {
  let part = value
  return pointer
    .split('/')
    .slice(1)
    .map((word) => {
      const name = word.replaceAll('~1', '/').replaceAll('~0', '~')
      const key = Array.isArray(part) && /^\d+$/.test(name) ? Number(name) : name
      part = typeof part === 'object' && part !== null ? (part as Record<PropertyKey, unknown>)[key] : undefined
      return key
    })
}

/** Returns the first issue of each path. */
export function onePerPlace(issues: readonly Issue[]): Issue[] {
  const places = new Map<string, Issue>()
  for (const issue of issues) {
    const place = JSON.stringify(issue.path)
    if (!places.has(place)) places.set(place, issue)
  }
  return [...places.values()]
}

/** Returns the issue for an error that the author's decode function threw. */
export function refusal(thrown: unknown, path: readonly PropertyKey[]): { readonly issues: readonly Issue[] } {
  return { issues: [{ message: thrown instanceof Error ? thrown.message : 'cannot be decoded', path }] }
}
