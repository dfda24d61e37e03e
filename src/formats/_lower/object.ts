import { isObject } from '../_read.ts'
import { never, type Compiler, type Stack } from './compiler.ts'
import {
  fieldsOf,
  freshName,
  listOf,
  NoValue,
  namesBeside,
  plainName,
  through,
  type Lowered,
  type Node,
  type Way,
} from './schema.ts'
import { boxOf, described, keep, text } from './value.ts'
import { describe, sentenceOf } from './words.ts'

/** One property: its own name, the one that the model sees, and its schema. */
export interface Field {
  readonly from: string
  readonly to: string
  readonly lowered: Lowered
  /** Whether null leaves it out. */
  readonly isLeftOut?: boolean
}

/** Lowers a schema of objects. */
export function object(node: Node, stack: Stack, words: string[], compiler: Compiler): Lowered {
  const { dialect, lose, takes, booleanOf } = compiler
  const isRoot = compiler.pointerOf(node) === ''
  const properties = fieldsOf(node['properties'])
  const required = new Set(listOf<string>(node['required']))
  const rest = (node['additionalProperties'] ?? node['unevaluatedProperties']) as Node | undefined
  const isClosed = booleanOf(rest) === false
  const patterns = Object.entries(fieldsOf(node['patternProperties']))
  const names = new Set([...Object.keys(properties), ...required])
  const takesAny = rest !== undefined && !isClosed && Object.keys(rest).length === 0
  const isFree = patterns.length === 0 && (takesAny || (rest === undefined && node['properties'] === undefined))
  // A dialect that has `additionalProperties` and open objects says what is in a map. Others have a list of pairs.
  const hasMaps = dialect.isOpen && takes('additionalProperties')
  const isEmpty = names.size === 0 && !hasMaps
  const others = isEmpty && isFree ? undefined : othersOf()
  if (isEmpty && others === undefined && (isFree || !(dialect.takesEmpty || isRoot))) {
    keep(node, 'object', words, compiler, true)
    return text(node, 'properties', compiler)
  }
  if (others === undefined || hasMaps) return whole()
  const content = compiler.lower(others, stack)
  lose(node, patterns.length > 0 ? 'patternProperties' : 'additionalProperties', 'as pairs')
  const map = pairs(content, compiler)
  if (!isEmpty) return withOthers(whole(), map)
  keep(node, 'object', words, compiler, true)
  return map

  /** Returns the schema of fields that have no property, if there may be such fields. */
  function othersOf(): Node | undefined {
    if (patterns.length === 0) return isClosed ? undefined : rest
    const said = patterns.map(([pattern]) => `/${pattern}/`).join(' or ')
    words.push(isClosed ? `Field names match ${said}.` : sentenceOf('patternProperties', node['patternProperties']))
    if (hasMaps) lose(node, 'patternProperties', 'widened', 'additionalProperties')
    if (!isClosed && (rest === undefined || takesAny)) return compiler.made({}, node)
    const schemas = [...patterns.map(([, schema]) => schema), ...(isClosed || rest === undefined ? [] : [rest])]
    return schemas.length === 1 ? schemas[0] : compiler.made({ anyOf: schemas }, node)
  }

  /** Returns the schema of the properties. */
  function whole(): Lowered {
    const fields: Field[] = []
    const fresh = namesBeside(names)
    for (const name of names) {
      const field = fieldOf(name, fresh)
      if (field !== undefined) fields.push(field)
    }
    const needed = fields.filter(({ from }) => dialect.leaveOut !== undefined || required.has(from))
    const hasOwn = node['properties'] !== undefined
    if (!hasOwn && !dialect.isOpen) lose(node, 'properties', 'closed')
    const hasProperties = hasOwn || names.size > 0 || !dialect.isOpen || isRoot
    const schema = {
      type: 'object',
      ...keep(node, 'object', words, compiler),
      ...(hasProperties
        ? { properties: Object.fromEntries(fields.map(({ to, lowered }) => [to, lowered.schema])) }
        : undefined),
      ...(needed.length > 0 || dialect.leaveOut !== undefined ? { required: needed.map(({ to }) => to) } : undefined),
    }
    if (others === undefined || !hasMaps) return { schema: { ...schema, ...closing() }, way: wayOf(fields) }
    const each = compiler.lower(others, stack)
    const additionalProperties = booleanOf(others) === true || each.schema
    return { schema: { ...schema, additionalProperties }, way: wayOf(fields, each.way) }
  }

  function closing(): object | undefined {
    const done = takes('additionalProperties') ? (isClosed || dialect.isOpen ? undefined : 'closed') : 'dropped'
    if (others === undefined && done !== undefined && (done === 'closed' || (isClosed && rest !== never))) {
      lose(node, 'additionalProperties', done)
    }
    const isSaid = takes('additionalProperties') && (isClosed || !dialect.isOpen)
    return isSaid ? { additionalProperties: false } : undefined
  }

  function fieldOf(from: string, fresh: (name: string) => string): Field | undefined {
    const own = Object.hasOwn(properties, from) ? properties[from]! : compiler.made({}, node)
    const isLeftOut = dialect.leaveOut !== undefined && !required.has(from)
    let lowered: Lowered
    try {
      lowered = compiler.lower(own, stack)
    } catch (error) {
      if (!(error instanceof NoValue) || required.has(from)) throw error
      lose(own, 'properties', 'dropped')
      return undefined
    }
    if (isLeftOut) lowered = dialect.leaveOut(own, lowered, compiler)
    if (dialect.names?.test(from) !== false) return { from, to: from, lowered, isLeftOut }
    const to = fresh(plainName(from))
    lose(own, 'properties', 'renamed', to)
    const told = describe(lowered.schema['description'], standsFor(from))
    return { from, to, lowered: described(lowered, told), isLeftOut }
  }

  /** Adds a list of pairs, in a field of its own. */
  function withOthers({ schema, way }: Lowered, list: Lowered): Lowered {
    const fields = fieldsOf(schema['properties'])
    const to = freshName('others', new Set([...names, ...Object.keys(fields)]))
    return {
      schema: {
        ...schema,
        properties: { ...fields, [to]: list.schema },
        required: [...listOf(schema['required']), to],
      },
      way(value, isUp, scope) {
        if (!isObject(value)) return value
        if (!isUp) {
          const isOwn = ([key]: readonly [string, unknown]): boolean => names.has(key)
          const entries = Object.entries(value)
          const fixed = through(way, Object.fromEntries(entries.filter(isOwn)), isUp, scope) as Node
          const extra = Object.fromEntries(entries.filter((entry) => !isOwn(entry)))
          return { ...fixed, [to]: through(list.way, extra, isUp, scope) }
        }
        const { [to]: added, ...fixed } = value
        const lifted = through(way, fixed, isUp, scope) as Node
        if (added === undefined) return lifted
        // What is no list of pairs is a field of the tool's own.
        const extra = Array.isArray(added) ? through(list.way, added, isUp, scope) : undefined
        const isOther = isObject(extra) && Object.keys(extra).every((key) => !Object.hasOwn(lifted, key))
        return isOther ? { ...lifted, ...extra } : { ...lifted, [to]: added }
      },
    }
  }
}

/** Returns the sentence that tells the own name of a property. */
export function standsFor(name: string): string {
  return `Stands for ${JSON.stringify(name)}.`
}

/** Returns the way of fields, or none if each is the same on both sides. */
export function wayOf(fields: readonly Field[], rest?: Way): Way | undefined {
  const isSame = fields.every(({ from, to, lowered, isLeftOut }) => from === to && !lowered.way && isLeftOut !== true)
  if (isSame && rest === undefined) return undefined
  const byTo = new Map(fields.map((field) => [field.to, field]))
  const byFrom = new Map(fields.map((field) => [field.from, field]))
  return (value, isUp, scope) => {
    if (!isObject(value)) return value
    const made = new Map<string, unknown>()
    for (const [key, item] of Object.entries(value)) {
      // A value of the tool's own shape has the names of its own.
      const field = (isUp ? byTo.get(key) : undefined) ?? byFrom.get(key)
      const name = isUp ? field?.from : field?.to
      if (field === undefined || name === undefined || (name !== key && Object.hasOwn(value, name))) {
        made.set(key, through(field === undefined ? rest : undefined, item, isUp, scope))
      } else if (!isUp || field.isLeftOut !== true || item !== null) {
        made.set(name, through(field.lowered.way, item, isUp, scope))
      }
    }
    if (!isUp) for (const { to, isLeftOut } of fields) if (isLeftOut === true && !made.has(to)) made.set(to, null)
    return Object.fromEntries(made)
  }
}

/** Returns a list of pairs, in place of a map. A key that comes twice leaves the list as it is. */
function pairs(inner: Lowered, compiler: Compiler): Lowered {
  const pair = boxOf({ key: { type: 'string' }, value: inner.schema }, compiler)
  return {
    schema: { type: 'array', items: pair },
    way(value, isUp, scope) {
      if (!isUp) {
        if (!isObject(value)) return value
        return Object.entries(value).map(([key, item]) => ({ key, value: through(inner.way, item, isUp, scope) }))
      }
      if (!Array.isArray(value)) return value
      const made = new Map<string, unknown>()
      for (const item of value) {
        const { key, value: content, ...strange } = fieldsOf(item)
        const isPair = typeof key === 'string' && content !== undefined && Object.keys(strange).length === 0
        if (!isPair || made.has(key)) return value
        made.set(key, through(inner.way, content, isUp, scope))
      }
      return Object.fromEntries(made)
    },
  }
}
