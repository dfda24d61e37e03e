import { isNever, type SchemaSource } from './compiler.ts'
import { isAnnotation, joinedMembers, keywordOf } from './keywords.ts'
import { jsonOf, NoValue, type SchemaObject } from './schema.ts'
import { sentenceOf } from './words.ts'

/**
 * Merges `allOf`, and the target of a `$ref`, with the keywords beside it. The result takes all that the schema takes.
 * `undefined`: a schema contains itself, so that no end of merging is in sight.
 *
 * @param words Gets what cannot be merged.
 * @param open The schemas around it. The given one and the merged ones are added.
 */
export function flatten(
  base: SchemaObject,
  words: string[],
  reading: SchemaSource,
  open: SchemaObject[],
): SchemaObject | undefined {
  const start = open.push(base) - 1
  let isCycle = false
  const flat = flattened(base)
  return isCycle ? undefined : flat

  function flattened(schema: SchemaObject): SchemaObject {
    reading.count()
    const { $ref, allOf = [], ...rest } = schema
    let target = reading.placed(rest, schema)
    if ($ref !== undefined) target = add(target, reading.resolve($ref), schema, '$ref')
    for (const part of allOf) target = add(target, part, schema, 'allOf')
    return target
  }

  function add(target: SchemaObject, part: SchemaObject, place: SchemaObject, keyword: string): SchemaObject {
    if (isNever(part)) throw new NoValue()
    const index = open.lastIndexOf(part)
    if (index >= 0) {
      // One that is merged already says the same again.
      isCycle ||= index < start
      return target
    }
    if (keyword === '$ref') open.push(part)
    reading.lose(place, keyword, 'inlined')
    const merged = joinedMembers<unknown>(target, flattened(part), (one, other, name) => {
      if (isAnnotation(name) || jsonOf(one) === jsonOf(other)) return one
      const rule = keywordOf(name)?.merge
      if (rule) return rule(one as never, other as never, both)
      reading.tell(place, name, words, sentenceOf(name, other))
      return one
    })
    return reading.placed(merged, place)
  }

  function both(one: SchemaObject, other: SchemaObject): SchemaObject {
    return [one, other].find(isNever) ?? reading.placed({ allOf: [one, other] }, one)
  }
}
