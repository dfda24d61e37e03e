import { isObject } from '../_read.ts'
import { booleanOf, never, type Compiler, type Reading } from './compiler.ts'
import { fieldsOf, freshName, NoValue, namesBeside, objectOf, same } from './schema.ts'
import type { Lowered, Node, Schema, Way } from './schema.ts'
import { closed, described, keep, text } from './value.ts'
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
  const takesAny = rest !== undefined && !isClosed && Object.keys(rest).length === 0
  const isFree = patterns.length === 0 && (takesAny || (rest === undefined && schema.properties === undefined))
  const named = naming(names, compiler.dialect, compiler)
  const isEmpty = names.size === 0 && !hasMaps
  const others = isEmpty && isFree ? undefined : othersOf()
  const closes = compiler.takes('additionalProperties') && !hasMaps
  let list: Lowered | undefined
  if (others !== undefined && !hasMaps) {
    list = pairs(compiler.lower(others), compiler)
    compiler.lose(schema, patterns.length > 0 ? 'patternProperties' : 'additionalProperties', 'as pairs')
  }
  const hasOwn = list === undefined && !isFree && (!compiler.dialect.needsProperties || isRoot)
  if (!isEmpty || hasOwn) return whole()
  keep(schema, words, compiler, 'object', true)
  return list ?? text(schema, 'properties', compiler)

  /** Returns the schema of fields that have no property, if there may be such fields. */
  function othersOf(): Schema | undefined {
    if (patterns.length === 0) return isClosed ? undefined : rest
    const said = patterns.map((pattern) => `/${pattern}/`).join(' or ')
    words.push(isClosed ? `Field names match ${said}.` : sentenceOf('patternProperties', patternProperties))
    if (hasMaps) compiler.lose(schema, 'patternProperties', 'widened', 'additionalProperties')
    if (!isClosed && (rest === undefined || takesAny)) return compiler.made({}, schema)
    const anyOf = [...Object.values(patternProperties), ...(isClosed || rest === undefined ? [] : [rest])]
    return anyOf.length === 1 ? anyOf[0] : compiler.made({ anyOf }, schema)
  }

  /** Returns the schema of the properties, and of the other fields beside them. */
  function whole(): Lowered {
    const fields = [...names].flatMap((name) => fieldOf(name) ?? [])
    const needed = new Set(leaveOut === undefined ? required : names)
    const other = list && freshName('others', new Set([...names, ...fields.map(({ to }) => to)]))
    if (list !== undefined && other !== undefined) {
      needed.add(other)
      fields.push({ from: other, to: other, lowered: list })
    }
    const tos = fields.filter(({ from }) => needed.has(from)).map(({ to }) => to)
    const hasProperties = schema.properties !== undefined || names.size > 0 || closes || isRoot
    if (schema.properties === undefined && closes) compiler.lose(schema, 'properties', 'closed')
    const lowered = {
      type: 'object' as const,
      ...keep(schema, words, compiler, 'object'),
      ...(hasProperties && { properties: objectOf(fields.map((field) => [field.to, field.lowered.schema])) }),
      ...((required.size > 0 || leaveOut) && { required: tos }),
    }
    if (others !== undefined && hasMaps) {
      const each = compiler.lower(others)
      const additionalProperties = booleanOf(others) === true || each.schema
      return { schema: { ...lowered, additionalProperties }, way: wayOf(fields, each.way) }
    }
    const isSaid = closes || (isClosed && compiler.takes('additionalProperties'))
    const done = isSaid ? 'closed' : 'dropped'
    // What a closed schema says is lost only if it cannot be said, and if the compiler did not say it.
    const isChanged = isSaid ? !isClosed : isClosed && rest !== never
    if (others === undefined && isChanged) compiler.lose(schema, 'additionalProperties', done)
    const way = wayOf(fields)
    return {
      schema: { ...lowered, ...(isSaid && { additionalProperties: false }), ...(other && { required: tos }) },
      way: other === undefined ? way : besides(way, names, other),
    }
  }

  function fieldOf(from: string): Field | undefined {
    const own = Object.hasOwn(properties, from) ? properties[from]! : compiler.made({}, schema)
    const isLeftOut = leaveOut !== undefined && !required.has(from)
    try {
      const lowered = compiler.lower(own)
      return { ...named(from, own, isLeftOut ? leaveOut(own, lowered, compiler) : lowered), isLeftOut }
    } catch (error) {
      if (!(error instanceof NoValue) || required.has(from)) throw error
      compiler.lose(own, 'properties', 'dropped')
      return undefined
    }
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
