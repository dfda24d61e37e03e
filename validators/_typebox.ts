/** What both majors of TypeBox have in common: JSON Schema with marks on it, and issues with JSON Pointers. */
import { SchemaConversionError, type Issue } from '../src/index.ts'

export type Side = 'input' | 'output'

/** How a major marks its schemas. */
export interface Marks {
  /** The kind of a schema; nothing for objects that are no schema. */
  readonly kindOf: (schema: object) => string | undefined
  /** Whether it decodes what it validates. */
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

/** Whether anything in a schema is so. */
export function some(schema: unknown, holds: (part: object) => boolean): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return holds(schema) || Object.values(schema).some((part) => some(part, holds))
}

/**
 * The JSON Schema in a TypeBox schema, without its marks.
 *
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) where JSON cannot hold what it asks for.
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
        `JSON Schema has no words for ${what} (at #${path.map((key) => `/${key}`).join('')})`,
      )
    }
    if (side === 'output' && marks.decodes(part)) refuse('what a decoded type becomes')
    if (kind === 'Undefined' || kind === 'Void') return { not: {} }
    if (kind === 'Date' && side === 'output') return { type: 'string', format: 'date-time' }
    if (kind !== undefined && wordless.has(kind)) refuse(`Type.${kind}()`)
    if (target === 'draft-07' && 'unevaluatedProperties' in part && kind !== undefined) refuse('unevaluatedProperties')
    const isOldTuple = kind === 'Tuple' && target === 'draft-2020-12'
    const entries = Object.entries(part).flatMap(([key, value]): (readonly [string, unknown])[] => {
      if (typeof value === 'function' || value === undefined) return []
      if (kind !== undefined && data.has(key)) return [[key, structuredClone(value)]]
      const said = plain(value, [...path, key])
      if (isOldTuple && key === 'items')
        return Array.isArray(value) && value.length === 0 ? [] : [['prefixItems', said]]
      return [[isOldTuple && key === 'additionalItems' ? 'items' : key, said]]
    })
    return Object.fromEntries(entries)
  }
}

/** A copy to fill and decode in; `__proto__` stays a key in it, as TypeBox 0.34's own copy does not let it. */
export function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)]))
}

/** The keys of a JSON Pointer into a value; places in arrays are numbers. */
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

/** One issue for each place, the first that was found there. */
export function onePerPlace(issues: readonly Issue[]): Issue[] {
  const places = new Map<string, Issue>()
  for (const issue of issues) {
    const place = JSON.stringify(issue.path)
    if (!places.has(place)) places.set(place, issue)
  }
  return [...places.values()]
}

/** The refusal of a value by the author's decode. */
export function refusal(thrown: unknown, path: readonly PropertyKey[]): { readonly issues: readonly Issue[] } {
  return { issues: [{ message: thrown instanceof Error ? thrown.message : 'cannot be decoded', path }] }
}
