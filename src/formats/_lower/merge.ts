import { isOn, type Reading, type Stack } from './compiler.ts'
import { isSame, listOf, NoValue, type Node } from './schema.ts'
import { sentenceOf } from './words.ts'

/** Keywords that constrain nothing. */
export const annotation: RegExp =
  /^(?:\$schema|\$id|\$comment|\$anchor|\$defs|definitions|title|description|default|examples|deprecated|readOnly|writeOnly|nullable)$/

/** A schema without `allOf` and `$ref`. */
interface Flat {
  readonly node: Node
  /** With the schemas that were merged. */
  readonly stack: Stack
  /** Whether a schema contains itself, so that no end of merging is in sight. */
  readonly isCycle: boolean
}

/**
 * Merges `allOf`, and the target of a `$ref`, with the keywords beside it. The result takes all that the schema takes.
 *
 * @param words Gets what cannot be merged.
 */
export function flatten(given: Node, words: string[], reading: Reading, outer: Stack | undefined): Flat {
  const merged: Node[] = []
  let isCycle = false
  const node = flat(given)
  let stack: Stack = { node: given, outer }
  for (const part of merged) stack = { node: part, outer: stack }
  return { node, stack, isCycle }

  function flat(one: Node): Node {
    reading.count()
    const { $ref, allOf, ...rest } = one
    if ($ref === undefined && allOf === undefined) return one
    let whole: Node = reading.made(rest, one)
    if ($ref !== undefined) whole = add(whole, reading.resolve($ref), one, '$ref')
    for (const part of listOf(allOf)) whole = add(whole, part as Node, one, 'allOf')
    return whole
  }

  function add(whole: Node, part: Node, place: Node, keyword: string): Node {
    if (reading.booleanOf(part) === false) throw new NoValue()
    if (part === given || merged.includes(part)) return whole // it says again what is merged already
    if (isOn(outer, part)) {
      isCycle = true
      return whole
    }
    if (keyword === '$ref') merged.push(part)
    reading.lose(place, keyword, 'inlined')
    return merge(whole, flat(part), place)
  }

  function merge(one: Node, other: Node, place: Node): Node {
    const both = joined(one, other, (known, value, keyword) =>
      annotation.test(keyword) || isSame(known, value) ? known : mergeValues(keyword, known, value, place),
    )
    return reading.made(both, place)
  }

  function mergeValues(keyword: string, a: unknown, b: unknown, place: Node): unknown {
    const [some, others] = [listOf(a), listOf(b)]
    if (/^(?:properties|patternProperties)$/.test(keyword)) return joined(a as Node, b as Node, mergeSchemas)
    if (/^(?:items|(?:additional|unevaluated)Properties|propertyNames)$/.test(keyword)) return mergeSchemas(a, b)
    if (keyword === 'prefixItems') return Object.values(joined(some as never, others as never, mergeSchemas))
    if (keyword === 'required') return [...new Set([...some, ...others])]
    if (keyword === 'enum') {
      const known = new Set(others.map((item) => JSON.stringify(item)))
      return some.filter((item) => known.has(JSON.stringify(item)))
    }
    if (keyword === 'const') throw new NoValue()
    if (keyword === 'type') return mergeTypes(some, others)
    if (keyword === 'uniqueItems') return true
    if (/^(?:minimum|exclusiveMinimum|min(?:Length|Items|Properties))$/.test(keyword))
      return Math.max(Number(a), Number(b))
    if (/^(?:maximum|exclusiveMaximum|max(?:Length|Items|Properties))$/.test(keyword))
      return Math.min(Number(a), Number(b))
    reading.tell(place, keyword, words, sentenceOf(keyword, b))
    return a
  }

  function mergeSchemas(one: unknown, other: unknown): unknown {
    if (reading.booleanOf(one as Node) === false) return one
    return reading.booleanOf(other as Node) === false ? other : reading.made({ allOf: [one, other] }, one as Node)
  }
}

/** Returns the members of both. `merge` decides what stands under a key of both. */
function joined(one: Node, other: Node, merge: (a: unknown, b: unknown, key: string) => unknown): Node {
  const both = new Map(Object.entries(one))
  for (const [key, value] of Object.entries(other)) {
    both.set(key, both.has(key) ? merge(both.get(key), value, key) : value)
  }
  return Object.fromEntries(both)
}

function mergeTypes(one: readonly unknown[], other: readonly unknown[]): unknown {
  const takes = (types: readonly unknown[], type: unknown): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  const both = [...new Set([...one, ...other])].filter((type) => takes(one, type) && takes(other, type))
  if (both.length === 0) throw new NoValue()
  return both.length === 1 ? both[0] : both
}
