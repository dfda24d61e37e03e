import { isObject } from '../_read.ts'
import { booleanOf, never, type Compiler } from './compiler.ts'
import { object } from './object.ts'
import { objectOf, same, type Lowered, type Schema } from './schema.ts'
import { keep } from './value.ts'

/** Lowers a schema of arrays. */
export function array(schema: Schema, words: string[], compiler: Compiler): Lowered {
  const { prefixItems = [], items, minItems = 0, maxItems = Infinity, ...others } = schema as Arrays
  const isClosed = booleanOf(items) === false
  if (prefixItems.length > 0 && !compiler.takes('prefixItems')) return tuple()
  const kept = keep(schema, words, compiler, 'array')
  const first = prefixItems.map((item) => compiler.lower(item))
  if (isClosed) {
    compiler.lose(schema, 'items', 'widened', `maxItems: ${first.length}`)
    if (!compiler.takes('maxItems')) words.push(first.length === 0 ? 'No items.' : `At most ${first.length} items.`)
  }
  const hasRest = !isClosed || first.length === 0
  if (hasRest && items === undefined) compiler.lose(schema, 'items', 'widened', 'any items')
  const each = hasRest ? compiler.lower(items === undefined || isClosed ? compiler.made({}, schema) : items) : undefined
  const isPlain = [...first, each].every((item) => item === undefined || item.way === same)
  return {
    schema: {
      type: 'array',
      ...kept,
      ...(first.length > 0 && { prefixItems: first.map((item) => item.schema) }),
      ...(isClosed && compiler.takes('maxItems') && { maxItems: Math.min(maxItems, first.length) }),
      ...(each && { items: booleanOf(items) === true && compiler.dialect.takesUntyped ? true : each.schema }),
    },
    way: isPlain
      ? same
      : (value, scope) =>
          Array.isArray(value) ? value.map((item, index) => ((first[index] ?? each)?.way ?? same)(item, scope)) : value,
  }

  /** A tuple as an object: `item1`, `item2`, and a list of the rest. */
  function tuple(): Lowered {
    compiler.lose(schema, 'prefixItems', 'as fields')
    const size = prefixItems.length
    const isSaid = minItems <= size && (maxItems === size || maxItems === Infinity)
    keep(isSaid ? compiler.made(others, schema) : schema, words, compiler, 'array', true)
    const names = prefixItems.map((_, index) => `item${index + 1}`)
    const isOpen = !isClosed && maxItems > size
    const rest = compiler.made({ type: 'array', ...(items && { items }) }, schema)
    const fields = {
      type: 'object' as const,
      properties: { ...objectOf(prefixItems.map((item, index) => [names[index]!, item])), ...(isOpen && { rest }) },
      required: names.slice(0, minItems),
      additionalProperties: never,
    }
    const { schema: shape, way } = object(compiler.made(fields, schema), words, compiler)
    return {
      schema: shape,
      way(value, scope) {
        if (!scope.isUp) {
          if (!Array.isArray(value)) return value
          const more = (isOpen || value.length > size) && { rest: value.slice(size) }
          const own = value.slice(0, size).map((item, index) => [names[index]!, item] as const)
          return way({ ...objectOf<unknown>(own), ...more }, scope)
        }
        const lifted = way(value, scope)
        if (!isObject(lifted)) return value
        const { rest: more = [], ...own } = lifted
        const count = Object.keys(own).length
        const given = names.slice(0, count)
        // Only what has no gap, and nothing else in it, is a tuple.
        const isWhole = Array.isArray(more) && given.every((name) => Object.hasOwn(own, name))
        if (!isWhole || count > size || (count < size && more.length > 0)) return value
        return [...given.map((name) => own[name]), ...(more as readonly unknown[])]
      },
    }
  }
}

/** The keywords of arrays. */
type Arrays = Schema & { readonly minItems?: number; readonly maxItems?: number; readonly items?: Schema }
