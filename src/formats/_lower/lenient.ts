import type { SchemaSource } from './compiler.ts'
import { flatten } from './merge.ts'
import { freshName, hasWord, listOf, objectOf, same, type Lowered, type SchemaObject, type TypeName } from './schema.ts'
import { refines } from './union.ts'
import { described, wrapped } from './value.ts'
import { alternativesSentence, sentenceOf } from './words.ts'

// Changes what a provider refuses even if nothing is strict. Everything else goes out as it is.

/** Gives each array `items`, and the root `properties`. */
export function addItems({ root, places, lose }: SchemaSource): void {
  const arrays = [...places.values()].filter(({ type, items }) => !items && listOf<TypeName>(type).includes('array'))
  for (const schema of arrays) add(schema, 'items', 'any items')
  const schemaKeywords = 'properties oneOf anyOf allOf enum const $ref'
  const isEmpty = root.type === 'object' && !Object.keys(root).some((keyword) => hasWord(schemaKeywords, keyword))
  if (isEmpty) add(root, 'properties', 'no properties')

  function add(schema: SchemaObject, keyword: string, note: string): void {
    Object.assign(schema, { [keyword]: {} })
    lose(schema, keyword, 'widened', note)
  }
}

/** Returns a root without the keywords that are refused there. */
export function rooted(reading: SchemaSource, refused: string): Lowered {
  const { $schema, ...rest } = reading.root
  if ($schema !== undefined) reading.lose(reading.root, '$schema', 'dropped')
  const root = reading.placed(rest, reading.root)
  const keyword = Object.keys(root).find((name) => hasWord(refused, name))
  if (keyword === undefined) return { schema: root, way: same }
  const before = reading.losses.length
  const lowered = withoutUnion(root, refused, reading)
  if (lowered) return lowered
  reading.losses.length = before
  return underInput(root, keyword, reading)
}

/** Returns an object that has fields of its own, with its refinements in words, or `undefined` for any other schema. */
function withoutUnion(root: SchemaObject, refused: string, reading: SchemaSource): Lowered | undefined {
  const words: string[] = []
  const isMeant = [...reading.places.values()].some(({ $ref = '' }) => hasWord(refused, $ref.split('/')[1]))
  if (isMeant) return undefined
  const flat = flatten(root, words, reading, [])
  if (flat?.type !== 'object' || !flat.properties) return undefined
  const fields = new Map(Object.entries(flat))
  for (const [keyword, content] of fields) {
    if (!hasWord(refused, keyword)) continue
    const isUnion = keyword.endsWith('Of')
    if (isUnion ? !refines(flat, content as readonly SchemaObject[]) : keyword !== 'not') return undefined
    reading.tell(root, keyword, words, (isUnion ? alternativesSentence : sentenceOf)(keyword, content as never))
    fields.delete(keyword)
  }
  return described({ schema: reading.placed(objectOf(fields), root), way: same }, flat['description'], ...words)
}

/** Puts a schema into the one field of an object. Definitions stay at the root, so that references find them. */
function underInput(root: SchemaObject, keyword: string, reading: SchemaSource): Lowered {
  const { $defs, definitions, description, ...inner } = root
  const all = [...reading.places.values(), inner]
  const key = freshName('input', new Set(all.flatMap(({ properties = {} }) => Object.keys(properties))))
  reading.lose(root, keyword, 'wrapped', key)
  for (const schema of all) {
    const { $ref } = schema
    if ($ref !== undefined && /^#(?!\/(?:\$defs|definitions)\/)/.test($ref)) {
      Object.assign(schema, { $ref: `#/properties/${key}${$ref.slice(1)}` })
    }
  }
  const wrapper = wrapped({ schema: inner, way: same }, key, { takes: () => true })
  const { type, ...box } = wrapper.schema
  // JSON leaves out what is undefined.
  return {
    schema: reading.placed({ type, description, ...box, $defs, definitions } as SchemaObject, root),
    way: wrapper.way,
  }
}
