import { isObject } from '../_read.ts'
import type { Limits } from '../_dialects.ts'
import { listOf, type Node } from './schema.ts'

/** What of a lowered schema providers count. */
export interface Measure {
  readonly properties: number
  readonly depth: number
  readonly enumValues: number
  readonly characters: number
  /** The characters of the longest `enum` of more than 250 values. */
  readonly longEnum: number
  readonly optional: number
  /** Of `anyOf`, and lists of types. */
  readonly unions: number
}

/** Measures a lowered schema. */
export function measure(schema: Node): Measure {
  const sums = { properties: 0, depth: 0, enumValues: 0, characters: 0, longEnum: 0, optional: 0, unions: 0 }
  visit(schema, 0)
  return sums

  function visit(node: unknown, depth: number): void {
    if (!isObject(node)) return
    sums.depth = Math.max(sums.depth, depth)
    if (node['anyOf'] !== undefined || Array.isArray(node['type'])) sums.unions += 1
    const values = listOf(node['enum'])
    const size = [...values, node['const']].reduce<number>(
      (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
      0,
    )
    sums.enumValues += values.length
    sums.characters += size
    if (values.length > 250) sums.longEnum = Math.max(sums.longEnum, size)
    const required = new Set(listOf(node['required']))
    for (const keyword of ['properties', '$defs']) {
      const isProperty = keyword === 'properties'
      const fields = node[keyword]
      for (const [name, field] of Object.entries(isObject(fields) ? fields : {})) {
        sums.characters += name.length
        if (isProperty) sums.properties += 1
        if (isProperty && !required.has(name)) sums.optional += 1
        visit(field, isProperty ? depth + 1 : depth)
      }
    }
    for (const inner of [node['items'], node['additionalProperties']]) visit(inner, depth + 1)
    for (const inner of [...listOf(node['anyOf']), ...listOf(node['prefixItems'])]) visit(inner, depth)
  }
}

const names: Readonly<Record<keyof Limits, string>> = {
  properties: 'properties',
  depth: 'levels of nesting',
  enumValues: 'values of enums',
  characters: 'characters of names and constants',
  longEnum: 'characters in one enum of more than 250 values',
  optional: 'optional fields',
}

/** Returns the limit that a schema is beyond, as a sentence without its end, or `undefined`. */
export function beyond(sums: Measure, limits: Limits): string | undefined {
  for (const [name, most] of Object.entries(limits) as [keyof Limits, number][]) {
    if (sums[name] > most) return `it has ${sums[name]} ${names[name]}, and ${most} are taken`
  }
  return undefined
}
