import { compiled, type Reading } from './compiler.ts'
import type { Leniency } from './dialect.ts'
import { flatten } from './merge.ts'
import { standsFor, wayOf, type Field } from './object.ts'
import {
  fieldsOf,
  freshName,
  listOf,
  namesBeside,
  plainName,
  type Lowered,
  type LoweredSchema,
  type Node,
} from './schema.ts'
import { refines } from './union.ts'
import { wrapping } from './value.ts'
import { alternativesSentence, describe, sentenceOf } from './words.ts'

/** Changes what a provider refuses even if nothing is strict. Everything else goes out as it is. Never throws. */
export function mend(original: Node, leniency: Leniency): LoweredSchema {
  return compiled(original, (reading) => {
    if (leniency.needsItems) addItems(reading)
    for (const node of reading.tuples) reading.lose(node, 'items', 'widened', 'prefixItems')
    return named(rooted(reading, leniency), leniency, reading)
  })
}

function addItems({ root, places, lose }: Reading): void {
  const add = (node: Node, keyword: string, note: string): void => {
    Object.assign(node, { [keyword]: {} })
    lose(node, keyword, 'widened', note)
  }
  for (const node of places.values()) {
    if (listOf(node['type']).includes('array') && node['items'] === undefined) add(node, 'items', 'any items')
  }
  const hasOther = Object.keys(root).some((keyword) =>
    /^(?:properties|(?:any|one|all)Of|\$ref|enum|const)$/.test(keyword),
  )
  if (root['type'] === 'object' && !hasOther) add(root, 'properties', 'no properties')
}

/** Returns a root without the keywords that are refused there. */
function rooted(reading: Reading, { refusedAtRoot }: Leniency): Lowered {
  const { places, losses, lose, made } = reading
  const { $schema, ...rest } = reading.root
  if ($schema !== undefined) lose(reading.root, '$schema', 'dropped')
  const root = made(rest, reading.root)
  const isRefused = (keyword: string): boolean => refusedAtRoot.test(keyword)
  const refused = Object.keys(root).filter(isRefused)
  if (refused.length === 0) return { schema: root }
  const references = [...places.values()].map(({ $ref }) => String($ref))
  const isMeant = refused.some((keyword) => references.some((reference) => reference.startsWith(`#/${keyword}`)))
  const before = losses.length
  const plain = isMeant ? undefined : withoutUnion(root, isRefused, reading)
  if (plain !== undefined) return { schema: plain }
  losses.length = before
  return wrapped(root, refused[0] ?? '', reading)
}

/** Returns an object that has fields of its own, with its refinements in words, or `undefined` for any other schema. */
function withoutUnion(root: Node, isRefused: (keyword: string) => boolean, reading: Reading): Node | undefined {
  const words: string[] = []
  const { node, isCycle } = flatten(root, words, reading, undefined)
  if (isCycle || node['type'] !== 'object' || node['properties'] === undefined) return undefined
  const kept = Object.entries(node).filter(([keyword, content]) => {
    const choices = listOf<Node>(content)
    const isUnion = /^(?:any|one)Of$/.test(keyword)
    if (!isRefused(keyword) || !(keyword === 'not' || (isUnion && refines(node, choices)))) return true
    reading.tell(root, keyword, words, isUnion ? alternativesSentence(keyword, choices) : sentenceOf(keyword, content))
    return false
  })
  if (kept.some(([keyword]) => isRefused(keyword))) return undefined
  const description = describe(node['description'], ...words)
  return reading.made({ ...Object.fromEntries(kept), ...(description === '' ? undefined : { description }) }, root)
}

/** Puts a schema into the one field of an object. Definitions stay at the root, so that references find them. */
function wrapped(root: Node, keyword: string, { places, lose, made }: Reading): Lowered {
  const { $defs, definitions, description, ...inner } = root
  const names = [...places.values()].flatMap(({ properties }) => Object.keys(fieldsOf(properties)))
  const key = freshName('input', new Set(names))
  lose(root, keyword, 'wrapped', key)
  for (const node of [...places.values(), inner]) {
    const { $ref } = node
    if (typeof $ref === 'string' && /^#(?!\/(?:\$defs|definitions)\/)/.test($ref)) {
      Object.assign(node, { $ref: `#/properties/${key}${$ref.slice(1)}` })
    }
  }
  const box = {
    type: 'object',
    description,
    properties: { [key]: inner },
    required: [key],
    additionalProperties: false,
    $defs,
    definitions,
  }
  const said = Object.entries(box).filter(([, content]) => content !== undefined)
  return wrapping({ schema: inner }, key, made(Object.fromEntries(said), root))
}

/** Renames the properties of the root whose names are refused. */
function named(whole: Lowered, { names }: Leniency, { lose }: Reading): Lowered {
  const properties = fieldsOf(whole.schema['properties'])
  const fresh = namesBeside(Object.keys(properties))
  const fields = Object.entries(properties).map(([from, schema]): Field => {
    if (names?.test(from) !== false) return { from, to: from, lowered: { schema } }
    const to = fresh(plainName(from))
    lose(schema, 'properties', 'renamed', to)
    const description = describe(schema['description'], standsFor(from))
    return { from, to, lowered: { schema: { ...schema, description } } }
  })
  const way = wayOf(fields)
  if (way === undefined) return whole
  const to = new Map(fields.map((field) => [field.from, field]))
  const required = listOf<string>(whole.schema['required']).map((name) => to.get(name)?.to ?? name)
  return {
    schema: {
      ...whole.schema,
      properties: Object.fromEntries(fields.map((field) => [field.to, field.lowered.schema])),
      ...(required.length === 0 ? undefined : { required }),
    },
    way,
  }
}
