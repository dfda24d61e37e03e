import { isObject } from '../_read.ts'
import { never, type Compiler, type Stack } from './compiler.ts'
import { object, through } from './object.ts'
import { listOf, objectOf, type Lowered, type Node, type Way } from './schema.ts'
import { keep } from './value.ts'

/** Lowers a schema of arrays. */
export function array(node: Node, stack: Stack, words: string[], compiler: Compiler): Lowered {
  const { dialect, lose, booleanOf } = compiler
  const prefix = listOf(node['prefixItems']) as Node[]
  const rest = node['items'] as Node | undefined
  const isClosed = rest !== undefined && booleanOf(rest) === false
  if (prefix.length > 0 && !dialect.keywords.has('prefixItems')) return tuple(prefix, rest, isClosed)
  const schema: Record<string, unknown> = { type: 'array', ...keep(node, 'array', words, compiler) }
  const first = prefix.map((item) => compiler.lower(item, stack))
  if (first.length > 0) schema['prefixItems'] = first.map((item) => item.schema)
  let each: Lowered | undefined
  if (isClosed) {
    lose(node, 'items', 'widened', `maxItems: ${prefix.length}`)
    if (dialect.keywords.has('maxItems')) schema['maxItems'] = Math.min(most(node), prefix.length)
    else words.push(prefix.length === 0 ? 'No items.' : `At most ${prefix.length} items.`)
  }
  if (!isClosed || prefix.length === 0) {
    if (rest === undefined) lose(node, 'items', 'widened', 'any items')
    each = compiler.lower(rest === undefined || isClosed ? compiler.made({}, node) : rest, stack)
    schema['items'] = rest !== undefined && booleanOf(rest) === true && dialect.takesUntyped ? true : each.schema
  }
  const way = (side: 'up' | 'down'): Way | undefined => {
    if (each?.[side] === undefined && first.every((item) => item[side] === undefined)) return undefined
    return (value, scope) => {
      if (!Array.isArray(value)) return value
      return value.map((item: unknown, index) => through((first[index] ?? each)?.[side], item, scope))
    }
  }
  return { schema, up: way('up'), down: way('down') }

  /** A tuple as an object: `item1`, `item2`, and a list of the rest. */
  function tuple(items: readonly Node[], others: Node | undefined, hasNoRest: boolean): Lowered {
    lose(node, 'prefixItems', 'as fields')
    const { minItems = 0, maxItems = Infinity, ...rest_ } = node
    const isSaid = Number(minItems) <= items.length && (maxItems === items.length || maxItems === Infinity)
    keep(isSaid ? compiler.made(rest_, node) : node, 'array', words, compiler, true)
    const names = items.map((_, index) => `item${index + 1}`)
    const isOpen = !hasNoRest && most(node) > items.length
    const list = compiler.made({ type: 'array', ...(others === undefined ? undefined : { items: others }) }, node)
    const made = {
      type: 'object',
      properties: objectOf([
        ...names.map((name, index): [string, unknown] => [name, items[index]]),
        ...(isOpen ? [['rest', list] as const] : []),
      ]),
      required: names.slice(0, Number(node['minItems'] ?? 0)),
      additionalProperties: never,
    }
    const body = object(compiler.made(made, node), stack, words, compiler)
    return {
      schema: body.schema,
      up(value, scope) {
        const fields = through(body.up, value, scope)
        if (!isObject(fields)) return value
        const { rest: more = [], ...own } = fields
        const given = names.findIndex((name) => !Object.hasOwn(own, name))
        const count = given < 0 ? names.length : given
        // Only what has no gap, and nothing else in it, is a tuple.
        const isWhole = Object.keys(own).length === count && Array.isArray(more)
        if (!isWhole || (count < names.length && (more as readonly unknown[]).length > 0)) return value
        return [...names.slice(0, count).map((name) => own[name]), ...(more as readonly unknown[])]
      },
      down(value, scope) {
        if (!Array.isArray(value)) return value
        const fields = [
          ...names.slice(0, value.length).map((name, index) => [name, value[index] as unknown] as const),
          ...(isOpen || value.length > names.length ? [['rest', value.slice(names.length)] as const] : []),
        ]
        return through(body.down, objectOf(fields), scope)
      },
    }
  }
}

function most(node: Node): number {
  return typeof node['maxItems'] === 'number' ? node['maxItems'] : Infinity
}
