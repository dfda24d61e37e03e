import { isObject } from '../_read.ts'
import type { Sums } from './dialect.ts'
import { DialectRefusal, type SchemaObject } from './schema.ts'

/** Holds a lowered schema to the limits of OpenAI: https://developers.openai.com/api/docs/guides/structured-outputs */
export function openaiLimit(root: SchemaObject): Sums {
  let properties = 0
  let levels = 0
  let values = 0
  let characters = 0
  let longest = 0
  visit(root, ({ properties: fields = {}, enum: all = [], const: constant, $defs = {} }, depth) => {
    const names = Object.keys(fields)
    const constants = charactersOf([...all, constant])
    properties += names.length
    levels = Math.max(levels, depth)
    values += all.length
    characters += constants + charactersOf([...names, ...Object.keys($defs)])
    if (all.length > 250) longest = Math.max(longest, constants)
  })
  hold(properties, 5_000, 'properties')
  hold(levels, 10, 'levels of nesting')
  hold(values, 1_000, 'values of enums')
  hold(characters, 120_000, 'characters of names and constants')
  hold(longest, 15_000, 'characters in one enum of more than 250 values')
  return {}
}

/**
 * Holds a lowered schema to the limit of Anthropic, and returns what its requests limit. The grammar of a tool with many
 * optional fields may be too large to be made.
 */
export function anthropicLimit(root: SchemaObject, mostOptional: number): Sums {
  let optional = 0
  let unions = 0
  visit(root, ({ properties = {}, required = [], anyOf, type }) => {
    optional += Object.keys(properties).length - required.length
    if (anyOf || Array.isArray(type)) unions += 1
  })
  hold(optional, mostOptional, 'optional fields')
  return { optional, unions }
}

/** Throws a Refusal if there is more of something than a provider takes. */
function hold(count: number, most: number, what: string): void {
  if (count > most) throw new DialectRefusal(`it has ${count} ${what}, and ${most} are taken`)
}

/** Calls `see` with each schema in a lowered one, whose objects and lists have no other schemas, and with its depth. */
function visit(schema: SchemaObject['items'], see: (schema: SchemaObject, depth: number) => void, depth = 0): void {
  if (!isObject(schema)) return
  see(schema, depth)
  const { properties = {}, items, anyOf = [], $defs = {} } = schema
  for (const inner of [...Object.values(properties), items]) visit(inner, see, depth + 1)
  for (const inner of [...Object.values($defs), ...anyOf]) visit(inner, see, depth)
}

function charactersOf(all: readonly unknown[]): number {
  return all.filter((one) => typeof one === 'string').join('').length
}
