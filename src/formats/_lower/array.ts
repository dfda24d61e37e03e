import { isObject } from '../_read.ts'
import { isNever, never, type Compiler } from './compiler.ts'
import { lowerObject } from './object.ts'
import { objectOf, same, type Lowered, type SchemaObject } from './schema.ts'
import { keptKeywords } from './value.ts'

/** Lowers a schema of arrays for a dialect that has no tuples. */
export function array(schema: SchemaObject, words: string[], compiler: Compiler): Lowered {
  const { prefixItems = [], items } = schema
  if (prefixItems.length > 0) return lowerTuple(schema, words, compiler)
  const isEmpty = isNever(items)
  const keywords = keptKeywords(schema, words, compiler, 'array')
  if (isEmpty) {
    compiler.lose(schema, 'items', 'widened', 'maxItems: 0')
    if (!compiler.takes('maxItems')) words.push('No items.')
  }
  if (!items) compiler.lose(schema, 'items', 'widened', 'any items')
  const each = compiler.lower(items && !isEmpty ? items : compiler.placed({}, schema))
  return {
    schema: {
      type: 'array',
      ...keywords,
      ...(isEmpty && compiler.takes('maxItems') && { maxItems: 0 }),
      items: each.schema,
    },
    way:
      each.way === same
        ? same
        : (value, scope) => (Array.isArray(value) ? value.map((item) => each.way(item, scope)) : value),
  }
}

/** Lowers a tuple to an object: `item1`, `item2`, and a list of the rest. */
function lowerTuple(schema: SchemaObject, words: string[], compiler: Compiler): Lowered {
  const { prefixItems = [], items, minItems = 0, maxItems = Infinity, ...others } = schema
  compiler.lose(schema, 'prefixItems', 'as fields')
  const size = prefixItems.length
  const isSaid = minItems <= size && (maxItems === size || maxItems === Infinity)
  keptKeywords(isSaid ? compiler.placed(others, schema) : schema, words, compiler, 'array', true)
  const names = prefixItems.map((_, index) => `item${index + 1}`)
  const isOpen = !isNever(items) && maxItems > size
  const rest = compiler.placed({ type: 'array', ...(items && { items }) }, schema)
  const named = <Item>(all: readonly Item[]): Readonly<Record<string, Item>> =>
    objectOf(all.map((item, index) => [names[index]!, item]))
  const fields = {
    type: 'object' as const,
    properties: { ...named(prefixItems), ...(isOpen && { rest }) },
    required: names.slice(0, minItems),
    additionalProperties: never,
  }
  const { schema: shape, way } = lowerObject(compiler.placed(fields, schema), words, compiler)
  return {
    schema: shape,
    way(value, scope) {
      if (!scope.isUp) {
        if (!Array.isArray(value)) return value
        const more = (isOpen || value.length > size) && { rest: value.slice(size) }
        return way({ ...named<unknown>(value.slice(0, size)), ...more }, scope)
      }
      const lifted = way(value, scope)
      if (!isObject(lifted)) return value
      const { rest: more = [], ...own } = lifted
      const count = Object.keys(own).length
      const itemNames = names.slice(0, count)
      // Only what has no gap, and nothing else in it, is a tuple.
      const isWhole = Array.isArray(more) && itemNames.every((name) => Object.hasOwn(own, name))
      if (!isWhole || count > size || (count < size && more.length > 0)) return value
      return [...itemNames.map((name) => own[name]), ...(more as readonly unknown[])]
    },
  }
}
