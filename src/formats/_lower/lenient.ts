import { compiled, type Reading } from './compiler.ts'
import type { Leniency } from './dialect.ts'
import { flatten } from './merge.ts'
import { naming, wayOf } from './object.ts'
import { freshName, listOf, objectOf, same } from './schema.ts'
import type { Lowered, LoweredSchema, Node, Schema, TypeName } from './schema.ts'
import { refines } from './union.ts'
import { described, wrapped } from './value.ts'
import { alternativesSentence, sentenceOf } from './words.ts'

/** Changes what a provider refuses even if nothing is strict. Everything else goes out as it is. Never throws. */
export function mend(original: Node, leniency: Leniency): LoweredSchema {
  return compiled(original, (reading) => {
    if (leniency.needsItems) addItems(reading)
    return renamed(rooted(reading, leniency), leniency, reading)
  })
}

function addItems(reading: Reading): void {
  const add = (schema: Schema, keyword: string, note: string): void => {
    Object.assign(schema, { [keyword]: {} })
    reading.lose(schema, keyword, 'widened', note)
  }
  for (const schema of reading.places.values()) {
    if (listOf<TypeName>(schema.type).includes('array') && schema.items === undefined) add(schema, 'items', 'any items')
  }
  const { root } = reading
  const hasOther = Object.keys(root).some((keyword) =>
    /^(?:properties|(?:any|one|all)Of|\$ref|enum|const)$/.test(keyword),
  )
  if (root.type === 'object' && !hasOther) add(root, 'properties', 'no properties')
}

/** Returns a root without the keywords that are refused there. */
function rooted(reading: Reading, { refusedAtRoot }: Leniency): Lowered {
  const { $schema, ...rest } = reading.root
  if ($schema !== undefined) reading.lose(reading.root, '$schema', 'dropped')
  const root = reading.made(rest, reading.root)
  const refused = Object.keys(root).find((keyword) => refusedAtRoot.test(keyword))
  if (refused === undefined) return { schema: root, way: same }
  const before = reading.losses.length
  const schema = withoutUnion(root, refusedAtRoot, reading)
  if (schema) return { schema, way: same }
  reading.losses.length = before
  return underInput(root, refused, reading)
}

/** Returns an object that has fields of its own, with its refinements in words, or `undefined` for any other schema. */
function withoutUnion(root: Schema, refusedAtRoot: RegExp, reading: Reading): Schema | undefined {
  const words: string[] = []
  const isMeant = [...reading.places.values()].some(({ $ref = '' }) => refusedAtRoot.test($ref.split('/')[1] ?? ''))
  if (isMeant) return undefined
  const { flat, isCycle } = flatten(root, words, reading)
  if (isCycle || flat.type !== 'object' || !flat.properties) return undefined
  const kept = Object.entries(flat).filter(([keyword, content]) => {
    const isUnion = /^(?:any|one)Of$/.test(keyword)
    const choices = content as readonly Schema[]
    if (!refusedAtRoot.test(keyword) || !(isUnion ? refines(flat, choices) : keyword === 'not')) return true
    reading.tell(root, keyword, words, isUnion ? alternativesSentence(keyword, choices) : sentenceOf(keyword, content))
    return false
  })
  if (kept.some(([keyword]) => refusedAtRoot.test(keyword))) return undefined
  return described({ schema: reading.made(objectOf(kept), root), way: same }, flat['description'], ...words).schema
}

/** Puts a schema into the one field of an object. Definitions stay at the root, so that references find them. */
function underInput(root: Schema, keyword: string, reading: Reading): Lowered {
  const { $defs, definitions, description, ...inner } = root
  const names = [...reading.places.values()].flatMap(({ properties = {} }) => Object.keys(properties))
  const key = freshName('input', new Set(names))
  reading.lose(root, keyword, 'wrapped', key)
  for (const schema of [...reading.places.values(), inner]) {
    const { $ref } = schema
    if ($ref !== undefined && /^#(?!\/(?:\$defs|definitions)\/)/.test($ref)) {
      Object.assign(schema, { $ref: `#/properties/${key}${$ref.slice(1)}` })
    }
  }
  const { schema, way } = wrapped({ schema: inner, way: same }, key, { takes: () => true })
  const { type, ...box } = schema
  const all = Object.entries({ type, description, ...box, $defs, definitions })
  return { schema: reading.made(objectOf(all.filter(([, content]) => content !== undefined)), root), way }
}

/** Renames the properties of the root whose names are refused. */
function renamed(whole: Lowered, leniency: Leniency, reading: Reading): Lowered {
  const { properties = {}, required = [] } = whole.schema
  const named = naming(Object.keys(properties), leniency, reading)
  const fields = Object.entries(properties).map(([from, schema]) => named(from, schema, { schema, way: same }))
  const way = wayOf(fields)
  if (way === same) return whole
  const byFrom = new Map(fields.map((field) => [field.from, field.to]))
  return {
    schema: {
      ...whole.schema,
      properties: objectOf(fields.map((field) => [field.to, field.lowered.schema])),
      ...(required.length > 0 && { required: required.map((name) => byFrom.get(name) ?? name) }),
    },
    way,
  }
}
