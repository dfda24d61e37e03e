import { isObject } from '../_read.ts'
import type { Limits, Sums } from './dialect.ts'
import type { Schema } from './schema.ts'

/** Returns what requests of strict tools limit of a lowered schema, or the limit that it is beyond. */
export function measure(whole: Schema, limits: Limits): Sums {
  const sums = {
    properties: 0,
    'levels of nesting': 0,
    'values of enums': 0,
    'characters of names and constants': 0,
    'characters in one enum of more than 250 values': 0,
    'optional fields': 0,
  }
  let unions = 0
  visit(whole, 0)
  for (const [unit, most] of Object.entries(limits) as [keyof Limits, number][]) {
    if (sums[unit] > most) return { refused: `it has ${sums[unit]} ${unit}, and ${most} are taken` }
  }
  return { optional: sums['optional fields'], unions }

  function visit(schema: unknown, depth: number): void {
    if (!isObject(schema)) return
    const {
      properties = {},
      required = [],
      enum: values = [],
      anyOf = [],
      prefixItems = [],
      ...rest
    } = schema as Schema
    const { type, items, additionalProperties, const: constant, $defs = {} } = rest
    const names = Object.keys(properties)
    const constants = charactersOf([...values, constant])
    if (anyOf.length > 0 || Array.isArray(type)) unions += 1
    sums.properties += names.length
    sums['optional fields'] += names.length - required.length
    sums['levels of nesting'] = Math.max(sums['levels of nesting'], depth)
    sums['values of enums'] += values.length
    sums['characters of names and constants'] += constants + charactersOf([...names, ...Object.keys($defs)])
    if (values.length > 250) {
      const longest = 'characters in one enum of more than 250 values'
      sums[longest] = Math.max(sums[longest], constants)
    }
    for (const inner of [...Object.values(properties), items, additionalProperties]) visit(inner, depth + 1)
    for (const inner of [...Object.values($defs), ...anyOf, ...prefixItems]) visit(inner, depth)
  }
}

function charactersOf(all: readonly unknown[]): number {
  return all.filter((one) => typeof one === 'string').join('').length
}
