import { isObject } from '../_read.ts'
import type { Limits, Sums } from './dialect.ts'
import { listOf, type Node } from './schema.ts'

/** What the limits are counted in. */
const units: Readonly<Record<keyof Limits, string>> = {
  properties: 'properties',
  depth: 'levels of nesting',
  enumValues: 'values of enums',
  characters: 'characters of names and constants',
  longEnum: 'characters in one enum of more than 250 values',
  optional: 'optional fields',
}

/** Returns what requests of strict tools limit of a lowered schema, or the limit that it is beyond. */
export function measure(schema: Node, limits: Limits): Sums {
  const sums = { properties: 0, depth: 0, enumValues: 0, characters: 0, longEnum: 0, optional: 0 }
  let unions = 0
  visit(schema, 0)
  for (const [name, most] of Object.entries(limits) as [keyof Limits, number][]) {
    if (sums[name] > most) return { refused: `it has ${sums[name]} ${units[name]}, and ${most} are taken` }
  }
  return { optional: sums.optional, unions }

  function visit(node: unknown, depth: number): void {
    if (!isObject(node)) return
    sums.depth = Math.max(sums.depth, depth)
    if (node['anyOf'] !== undefined || Array.isArray(node['type'])) unions += 1
    const values = listOf(node['enum'])
    const size = [...values, node['const']].filter((value) => typeof value === 'string').join('').length
    sums.enumValues += values.length
    sums.characters += size
    if (values.length > 250) sums.longEnum = Math.max(sums.longEnum, size)
    const required = new Set(listOf(node['required']))
    for (const keyword of ['properties', '$defs']) {
      const isProperty = keyword === 'properties'
      for (const [name, field] of Object.entries(node[keyword] ?? {})) {
        sums.characters += name.length
        if (isProperty) sums.properties += 1
        if (isProperty && !required.has(name)) sums.optional += 1
        visit(field, isProperty ? depth + 1 : depth)
      }
    }
    for (const inner of [node['items'], node['additionalProperties']]) visit(inner, depth + 1)
    for (const inner of [node['anyOf'], node['prefixItems']].flatMap(listOf)) visit(inner, depth)
  }
}
