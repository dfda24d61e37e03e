import { booleanOf, type Reading } from './compiler.ts'
import { isAnnotation, joined, keywordOf } from './keywords.ts'
import { NoValue, type Schema } from './schema.ts'
import { sentenceOf } from './words.ts'

/** A schema without `allOf` and `$ref`. */
interface Flat {
  readonly flat: Schema
  /** Whether a schema contains itself, so that no end of merging is in sight. */
  readonly isCycle: boolean
}

/**
 * Merges `allOf`, and the target of a `$ref`, with the keywords beside it. The result takes all that the schema takes.
 *
 * @param words Gets what cannot be merged.
 * @param open The schemas around it. The given one and the merged ones are added.
 */
export function flatten(given: Schema, words: string[], reading: Reading, open: Schema[] = []): Flat {
  const start = open.push(given) - 1
  let isCycle = false
  const flat = flattened(given)
  return { flat, isCycle }

  function flattened(schema: Schema): Schema {
    reading.count()
    const { $ref, allOf = [], ...rest } = schema
    if ($ref === undefined && schema.allOf === undefined) return schema
    let whole: Schema = reading.made(rest, schema)
    if ($ref !== undefined) whole = add(whole, reading.resolve($ref), schema, '$ref')
    for (const part of allOf) whole = add(whole, part, schema, 'allOf')
    return whole
  }

  function add(whole: Schema, part: Schema, place: Schema, keyword: string): Schema {
    if (booleanOf(part) === false) throw new NoValue()
    const index = open.lastIndexOf(part)
    if (index >= start) return whole // it says again what is merged already
    if (index >= 0) {
      isCycle = true
      return whole
    }
    if (keyword === '$ref') open.push(part)
    reading.lose(place, keyword, 'inlined')
    const merged = joined<unknown>(whole, flattened(part), (one, other, name) => merge(one, other, name, place))
    return reading.made(merged, place)
  }

  function merge(one: unknown, other: unknown, keyword: string, place: Schema): unknown {
    if (isAnnotation(keyword) || JSON.stringify(one) === JSON.stringify(other)) return one
    const rule = keywordOf(keyword)?.merge
    if (rule) return rule(one as never, other as never, both)
    reading.tell(place, keyword, words, sentenceOf(keyword, other))
    return one
  }

  function both(one: Schema, other: Schema): Schema {
    if (booleanOf(one) === false) return one
    return booleanOf(other) === false ? other : reading.made({ allOf: [one, other] }, one)
  }
}
