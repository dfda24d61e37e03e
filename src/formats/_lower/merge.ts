import { isOn, type Reading, type Stack } from './compiler.ts'
import { fieldsOf, isSame, listOf, NoValue, objectOf, type Node } from './schema.ts'
import { sentenceOf } from './words.ts'

/** Keywords that constrain nothing. */
export const annotations: ReadonlySet<string> = new Set(
  (
    '$schema $id $comment $anchor $defs definitions title description default examples deprecated readOnly writeOnly ' +
    'nullable'
  ).split(' '),
)

/** A schema without `allOf` and `$ref`. */
interface Flat {
  readonly node: Node
  /** What could not be merged. */
  readonly words: readonly string[]
  /** With the schemas that were merged. */
  readonly stack: Stack
  /** Whether a schema contains itself, so that no end of merging is in sight. */
  readonly isCycle: boolean
}

/** Merges `allOf`, and the target of a `$ref`, with the keywords beside it. The result takes all that the schema takes. */
export function flatten(given: Node, reading: Reading, outer: Stack | undefined): Flat {
  const words: string[] = []
  const merged: Node[] = []
  let isCycle = false
  const node = flat(given)
  let stack: Stack = { node: given, outer }
  for (const part of merged) stack = { node: part, outer: stack }
  return { node, words, stack, isCycle }

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
    if (reading.booleanOf(part) === false) throw new NoValue('no value fits it')
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
    const both = new Map<string, unknown>(Object.entries(one))
    for (const [keyword, value] of Object.entries(other)) {
      const known = both.get(keyword)
      if (known === undefined) both.set(keyword, value)
      else if (!annotations.has(keyword) && !isSame(known, value)) both.set(keyword, mergeValues(keyword, known, value))
    }
    return reading.made(objectOf(both), place)

    function mergeValues(keyword: string, a: unknown, b: unknown): unknown {
      switch (keyword) {
        case 'properties':
        case 'patternProperties':
          return mergeFields(fieldsOf(a), fieldsOf(b))
        case 'items':
        case 'additionalProperties':
        case 'unevaluatedProperties':
        case 'propertyNames':
          return mergeSchemas(a as Node, b as Node)
        case 'prefixItems': {
          const [longer, shorter] = [listOf(a), listOf(b)].toSorted((x, y) => y.length - x.length) as [Node[], Node[]]
          return longer.map((item, index) => {
            const twin = shorter[index]
            return twin === undefined ? item : mergeSchemas(item, twin)
          })
        }
        case 'required':
          return [...new Set([...listOf(a), ...listOf(b)])]
        case 'enum':
          return listOf(a).filter((item) => listOf(b).some((twin) => isSame(item, twin)))
        case 'const':
          throw new NoValue('no value fits it')
        case 'type':
          return mergeTypes(listOf(a), listOf(b))
        case 'uniqueItems':
          return true
        case 'minimum':
        case 'exclusiveMinimum':
        case 'minLength':
        case 'minItems':
        case 'minProperties':
          return Math.max(a as number, b as number)
        case 'maximum':
        case 'exclusiveMaximum':
        case 'maxLength':
        case 'maxItems':
        case 'maxProperties':
          return Math.min(a as number, b as number)
        default: {
          const sentence = sentenceOf(keyword, b)
          words.push(sentence)
          reading.lose(place, keyword, sentence === '' ? 'dropped' : 'in words', sentence)
          return a
        }
      }
    }
  }

  function mergeSchemas(one: Node, other: Node): Node {
    return reading.booleanOf(one) === false
      ? one
      : reading.booleanOf(other) === false
        ? other
        : reading.made({ allOf: [one, other] }, one)
  }

  function mergeFields(one: Node, other: Node): Node {
    const both = new Map<string, unknown>(Object.entries(one))
    for (const [name, schema] of Object.entries(other)) {
      const known = both.get(name)
      both.set(name, known === undefined ? schema : mergeSchemas(known as Node, schema as Node))
    }
    return objectOf(both)
  }
}

function mergeTypes(one: readonly unknown[], other: readonly unknown[]): unknown {
  const takes = (types: readonly unknown[], type: unknown): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  const both = [...new Set([...one, ...other])].filter((type) => takes(one, type) && takes(other, type))
  if (both.length === 0) throw new NoValue('no value fits it')
  return both.length === 1 ? both[0] : both
}
