import { isObject } from '../_read.ts'
import { booleanOf, never, type Compiler, type Reading } from './compiler.ts'
import { fieldsOf, freshName, namesBeside, objectOf, same } from './schema.ts'
import type { Lowered, Node, Schema, Way } from './schema.ts'
import { closed, described, keep, lowerSome, text } from './value.ts'
import { sentenceOf } from './words.ts'

/** One property: its own name, the one that the model sees, and its schema. */
export interface Field {
  readonly from: string
  readonly to: string
  readonly lowered: Lowered
  /** Whether null leaves it out. */
  readonly isLeftOut?: boolean
}

/** Lowers a schema of objects. */
export function object(schema: Schema, words: string[], compiler: Compiler): Lowered {
  const { properties = {}, patternProperties = {} } = schema
  const { hasMaps, leaveOut } = compiler.dialect
  const isRoot = compiler.pointerOf(schema) === ''
  const required = new Set(schema.required)
  const rest = (schema['additionalProperties'] ?? schema['unevaluatedProperties']) as Schema | undefined
  const isClosed = booleanOf(rest) === false
  const patterns = Object.keys(patternProperties)
  const names = new Set([...Object.keys(properties), ...required])
  const takesAny = !isClosed && Object.keys(rest ?? {}).length === 0
  const isFree = takesAny && patterns.length === 0 && (rest !== undefined || !schema.properties)
  const isEmpty = names.size === 0 && !hasMaps
  const others = isEmpty && isFree ? undefined : othersOf()
  const closes = compiler.takes('additionalProperties') && !hasMaps
  const named = naming(names, compiler.dialect, compiler)
  let list: Lowered | undefined
  if (others && !hasMaps) {
    list = pairs(compiler.lower(others), compiler)
    compiler.lose(schema, patterns.length > 0 ? 'patternProperties' : 'additionalProperties', 'as pairs')
  }
  if (!isEmpty || !(list || isFree || (compiler.dialect.needsProperties && !isRoot))) return whole()
  keep(schema, words, compiler, 'object', true)
  return list ?? text(schema, 'properties', compiler)

  /** Returns the schema of fields that have no property, if there may be such fields. */
  function othersOf(): Schema | undefined {
    if (patterns.length === 0) return isClosed ? undefined : rest
    const said = patterns.map((pattern) => `/${pattern}/`).join(' or ')
    words.push(isClosed ? `Field names match ${said}.` : sentenceOf('patternProperties', patternProperties))
    if (hasMaps) compiler.lose(schema, 'patternProperties', 'widened', 'additionalProperties')
    if (takesAny) return compiler.made({}, schema)
    const anyOf = [...Object.values(patternProperties), ...(isClosed ? [] : [rest!])]
    return anyOf.length === 1 ? anyOf[0] : compiler.made({ anyOf }, schema)
  }

  /** Returns the schema of the properties, and of the other fields beside them. */
  function whole(): Lowered {
    const fields = [...names].flatMap((name) => fieldOf(name) ?? [])
    const needed = new Set(leaveOut ? names : required)
    const other = list && freshName('others', new Set([...names, ...fields.map(({ to }) => to)]))
    if (list && other) {
      needed.add(other)
      fields.push({ from: other, to: other, lowered: list })
    }
    const tos = fields.filter(({ from }) => needed.has(from)).map(({ to }) => to)
    if (closes && !schema.properties) compiler.lose(schema, 'properties', 'closed')
    const plain: Schema = {
      type: 'object',
      ...keep(schema, words, compiler, 'object'),
      ...((schema.properties || names.size > 0 || closes || isRoot) && {
        properties: objectOf(fields.map((field) => [field.to, field.lowered.schema])),
      }),
      ...((leaveOut || required.size > 0) && { required: tos }),
    }
    const each = hasMaps && others && compiler.lower(others)
    const isSaid = closes || (isClosed && compiler.takes('additionalProperties'))
    // What the compiler closes itself is no loss.
    if (!others && isSaid !== isClosed && rest !== never) {
      compiler.lose(schema, 'additionalProperties', isSaid ? 'closed' : 'dropped')
    }
    const additionalProperties = each ? booleanOf(others) === true || each.schema : false
    return {
      schema: { ...plain, ...((each || isSaid) && { additionalProperties }), ...(other && { required: tos }) },
      way: other ? besides(wayOf(fields), names, other) : wayOf(fields, each ? each.way : same),
    }
  }

  function fieldOf(from: string): Field | undefined {
    const own = Object.hasOwn(properties, from) ? properties[from]! : compiler.made({}, schema)
    if (required.has(from)) return named(from, own, compiler.lower(own))
    const lowered = lowerSome(own, 'properties', compiler)
    return lowered && { ...named(from, own, leaveOut?.(own, lowered, compiler) ?? lowered), isLeftOut: !!leaveOut }
  }
}

/** Returns a function that gives a property a name that the provider takes. The description tells its own. */
export function naming(
  taken: Iterable<string>,
  dialect: { readonly names?: RegExp },
  compiler: Reading,
): (from: string, own: Schema, lowered: Lowered) => Field {
  const fresh = namesBeside(taken)
  return (from, own, lowered) => {
    if (!dialect.names || dialect.names.test(from)) return { from, to: from, lowered }
    const plain = from.replaceAll(/[^a-zA-Z0-9_]/gu, '_').slice(0, 56)
    const to = fresh(/^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`)
    compiler.lose(own, 'properties', 'renamed', to)
    return {
      from,
      to,
      lowered: described(lowered, lowered.schema['description'], `Stands for ${JSON.stringify(from)}.`),
    }
  }
}

/** Returns the way of fields, and of those that have no schema of their own. */
export function wayOf(fields: readonly Field[], rest: Way = same): Way {
  const isSame = fields.every(({ from, to, lowered, isLeftOut }) => from === to && lowered.way === same && !isLeftOut)
  if (isSame && rest === same) return same
  const byTo = new Map(fields.map((field) => [field.to, field]))
  const byFrom = new Map(fields.map((field) => [field.from, field]))
  return (value, scope) => {
    if (!isObject(value)) return value
    const { isUp } = scope
    const made = new Map<string, unknown>()
    for (const [key, item] of Object.entries(value)) {
      // A value of the tool's own shape has the names of its own.
      const field = (isUp ? byTo.get(key) : undefined) ?? byFrom.get(key)
      if (field === undefined) {
        made.set(key, rest(item, scope))
        continue
      }
      const name = isUp ? field.from : field.to
      if (name !== key && Object.hasOwn(value, name)) made.set(key, item)
      else if (!isUp || !field.isLeftOut || item !== null) made.set(name, field.lowered.way(item, scope))
    }
    if (!isUp) for (const { to, isLeftOut } of fields) if (isLeftOut && !made.has(to)) made.set(to, null)
    return objectOf(made)
  }
}

/** Moves the fields that no property has into one field, and back. */
function besides(way: Way, names: ReadonlySet<string>, to: string): Way {
  return (value, scope) => {
    if (!isObject(value)) return value
    if (!scope.isUp) {
      const { own = [], others = [] } = Object.groupBy(Object.entries(value), ([key]) =>
        names.has(key) ? 'own' : 'others',
      )
      return way({ ...objectOf(own), [to]: objectOf(others) }, scope)
    }
    const lifted = way(value, scope) as Node
    const { [to]: others, ...own } = lifted
    // What is no list of pairs is a field of the tool's own.
    const isList = Array.isArray(value[to]) && isObject(others)
    return isList && Object.keys(others).every((key) => !Object.hasOwn(own, key)) ? { ...own, ...others } : lifted
  }
}

/** Returns a list of pairs, in place of a map. A key that comes twice leaves the list as it is. */
function pairs({ schema, way }: Lowered, compiler: Compiler): Lowered {
  return {
    schema: { type: 'array', items: closed({ key: { type: 'string' }, value: schema }, compiler) },
    way(value, scope) {
      if (!scope.isUp) {
        if (!isObject(value)) return value
        return Object.entries(value).map(([key, item]) => ({ key, value: way(item, scope) }))
      }
      if (!Array.isArray(value)) return value
      const made = new Map<string, unknown>()
      for (const item of value) {
        const { key, value: content, ...strange } = fieldsOf(item)
        const isPair = typeof key === 'string' && content !== undefined && Object.keys(strange).length === 0
        if (!isPair || made.has(key)) return value
        made.set(key, way(content, scope))
      }
      return objectOf(made)
    },
  }
}
