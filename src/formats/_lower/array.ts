import { isObject } from '../_read.ts'
import { never, type Compiler, type Stack } from './compiler.ts'
import { object } from './object.ts'
import { listOf, through, type Lowered, type Node, type Way } from './schema.ts'
import { keep } from './value.ts'

/** Lowers a schema of arrays. */
export function array(node: Node, stack: Stack, words: string[], compiler: Compiler): Lowered {
  const { dialect, lose, takes, booleanOf } = compiler
  const prefix = listOf<Node>(node['prefixItems'])
  const rest = node['items'] as Node | undefined
  const isClosed = booleanOf(rest) === false
  const most = Number(node['maxItems'] ?? Infinity)
  if (prefix.length > 0 && !takes('prefixItems')) return tuple()
  const schema: Record<string, unknown> = { type: 'array', ...keep(node, 'array', words, compiler) }
  const first = prefix.map((item) => compiler.lower(item, stack))
  if (first.length > 0) schema['prefixItems'] = first.map((item) => item.schema)
  let each: Lowered | undefined
  if (isClosed) {
    lose(node, 'items', 'widened', `maxItems: ${prefix.length}`)
    if (takes('maxItems')) schema['maxItems'] = Math.min(most, prefix.length)
    else words.push(prefix.length === 0 ? 'No items.' : `At most ${prefix.length} items.`)
  }
  if (!isClosed || prefix.length === 0) {
    if (rest === undefined) lose(node, 'items', 'widened', 'any items')
    each = compiler.lower(rest === undefined || isClosed ? compiler.made({}, node) : rest, stack)
    schema['items'] = booleanOf(rest) === true && dialect.takesUntyped ? true : each.schema
  }
  if ([each, ...first].every((item) => item?.way === undefined)) return { schema }
  const way: Way = (value, isUp, scope) =>
    Array.isArray(value)
      ? value.map((item: unknown, index) => through((first[index] ?? each)?.way, item, isUp, scope))
      : value
  return { schema, way }

  /** A tuple as an object: `item1`, `item2`, and a list of the rest. */
  function tuple(): Lowered {
    lose(node, 'prefixItems', 'as fields')
    const { minItems = 0, maxItems = Infinity, ...others } = node
    const isSaid = Number(minItems) <= prefix.length && (maxItems === prefix.length || maxItems === Infinity)
    keep(isSaid ? compiler.made(others, node) : node, 'array', words, compiler, true)
    const names = prefix.map((_, index) => `item${index + 1}`)
    const isOpen = !isClosed && most > prefix.length
    const list = compiler.made({ type: 'array', ...(rest === undefined ? undefined : { items: rest }) }, node)
    const fields = {
      type: 'object',
      properties: {
        ...Object.fromEntries(names.map((name, index) => [name, prefix[index]])),
        ...(isOpen ? { rest: list } : undefined),
      },
      required: names.slice(0, Number(minItems)),
      additionalProperties: never,
    }
    const { schema: shape, way: inner } = object(compiler.made(fields, node), stack, words, compiler)
    return {
      schema: shape,
      way(value, isUp, scope) {
        if (!isUp) {
          if (!Array.isArray(value)) return value
          const own = names.slice(0, value.length).map((name, index) => [name, value[index] as unknown] as const)
          const more = isOpen || value.length > names.length ? { rest: value.slice(names.length) } : undefined
          return through(inner, { ...Object.fromEntries(own), ...more }, isUp, scope)
        }
        const lifted = through(inner, value, isUp, scope)
        if (!isObject(lifted)) return value
        const { rest: more = [], ...own } = lifted
        const count = Object.keys(own).length
        const given = names.slice(0, count)
        // Only what has no gap, and nothing else in it, is a tuple.
        const isWhole = Array.isArray(more) && given.every((name) => Object.hasOwn(own, name))
        if (!isWhole || count > names.length || (count < names.length && more.length > 0)) return value
        return [...given.map((name) => own[name]), ...(more as readonly unknown[])]
      },
    }
  }
}
