import { isObject } from '../_read.ts'
import { isNever, never, type Compiler } from './compiler.ts'
import { freshName, objectOf, same } from './schema.ts'
import type { Lowered, Node, SchemaObject, NamedSchemas, Way } from './schema.ts'
import { closedObject, keptKeywords, lowerSome, asJsonText } from './value.ts'
import { sentenceOf } from './words.ts'

/** One property: its own name, the one that the model sees, and its schema. */
export interface Field {
  readonly from: string
  readonly to: string
  readonly lowered: Lowered
  /** Whether null leaves it out. */
  readonly isLeftOut?: boolean
}

/** Lowers a schema of objects for a dialect whose objects have no fields but their properties. */
export function lowerObject(schema: SchemaObject, words: string[], compiler: Compiler): Lowered {
  const { leaveOut } = compiler.dialect
  const closes = compiler.takes('additionalProperties')
  const rest = restOf(schema)
  const names = knownFields(schema)
  const hasPatterns = Object.keys(schema.patternProperties ?? {}).length > 0
  const isFree = isAny(rest) && !hasPatterns && (rest !== undefined || !schema.properties)
  const isEmpty = names.size === 0
  const others = isEmpty && isFree ? undefined : othersOf(schema, words, compiler)
  const list = others && pairs(compiler.lower(others), compiler)
  if (list) compiler.lose(schema, hasPatterns ? 'patternProperties' : 'additionalProperties', 'as pairs')
  // Without properties, only the root can be an object that is not closed.
  if (isEmpty && (list || isFree || (!closes && compiler.pointerOf(schema) !== ''))) {
    keptKeywords(schema, words, compiler, 'object', true)
    return list ?? asJsonText(schema, 'properties', compiler)
  }
  const fields = fieldsIn(schema, names, compiler)
  const needed = leaveOut ? names : new Set(schema.required)
  const required = fields.filter(({ from }) => needed.has(from)).map(({ to }) => to)
  let way: Way | undefined
  if (list) {
    const other = freshName('others', new Set([...names, ...fields.map(({ to }) => to)]))
    fields.push({ from: other, to: other, lowered: list })
    required.push(other)
    way = restField(fieldsWay(fields), names, other)
  }
  if (closes && !schema.properties) compiler.lose(schema, 'properties', 'closed')
  const keywords = keptKeywords(schema, words, compiler, 'object')
  // What the compiler closes itself is no loss.
  if (!others && closes !== isNever(rest) && rest !== never) {
    compiler.lose(schema, 'additionalProperties', closes ? 'closed' : 'dropped')
  }
  return {
    schema: {
      type: 'object',
      ...keywords,
      properties: propertiesOf(fields),
      ...((leaveOut || needed.size > 0) && { required }),
      ...(closes && { additionalProperties: false }),
      ...(list && { required }),
    },
    way: way ?? fieldsWay(fields),
  }
}

/** Returns the names of the fields that a schema knows. */
export function knownFields({ properties = {}, required = [] }: SchemaObject): ReadonlySet<string> {
  return new Set([...Object.keys(properties), ...required])
}

/** Returns the schema of the fields that have no property and match no pattern. */
export function restOf(schema: SchemaObject): SchemaObject | undefined {
  return (schema['additionalProperties'] ?? schema['unevaluatedProperties']) as SchemaObject | undefined
}

/** Returns whether a schema takes any value. */
function isAny(schema: SchemaObject = {}): boolean {
  return Object.keys(schema).length === 0 && !isNever(schema)
}

/** Returns the schema of fields that have no property, if there may be such fields. */
export function othersOf(schema: SchemaObject, words: string[], compiler: Compiler): SchemaObject | undefined {
  const { patternProperties = {} } = schema
  const rest = restOf(schema)
  const isClosed = isNever(rest)
  const patterns = Object.keys(patternProperties)
  if (patterns.length === 0) return isClosed ? undefined : rest
  const patternText = patterns.map((pattern) => `/${pattern}/`).join(' or ')
  words.push(isClosed ? `Field names match ${patternText}.` : sentenceOf('patternProperties', patternProperties))
  if (isAny(rest)) return compiler.placed({}, schema)
  const anyOf = [...Object.values(patternProperties), ...(isClosed ? [] : [rest!])]
  return anyOf.length === 1 ? anyOf[0] : compiler.placed({ anyOf }, schema)
}

/** Lowers the fields that a schema knows. An optional one that no value fits is left out. */
export function fieldsIn(schema: SchemaObject, names: Iterable<string>, compiler: Compiler): Field[] {
  const { properties = {} } = schema
  const { leaveOut, naming } = compiler.dialect
  const required = new Set(schema.required)
  const named = naming?.(names, compiler)
  return [...names].flatMap((from) => {
    const own = Object.hasOwn(properties, from) ? properties[from]! : compiler.placed({}, schema)
    const isOptional = !required.has(from)
    const lowered = isOptional ? lowerSome(own, 'properties', compiler) : compiler.lower(own)
    if (!lowered) return []
    const isLeftOut = leaveOut !== undefined && isOptional
    const field = { from, to: from, lowered: isLeftOut ? leaveOut(own, lowered, compiler) : lowered, isLeftOut }
    return named?.(field, own) ?? field
  })
}

/** Returns the schemas of fields by the names that the model sees. */
export function propertiesOf(fields: readonly Field[]): NamedSchemas {
  return objectOf(fields.map(({ to, lowered }) => [to, lowered.schema]))
}

/** Returns the way of fields, and of those that have no schema of their own. */
export function fieldsWay(fields: readonly Field[], rest: Way = same): Way {
  const isSame = fields.every(({ from, to, lowered, isLeftOut }) => from === to && lowered.way === same && !isLeftOut)
  if (isSame && rest === same) return same
  const byTo = new Map(fields.map((field) => [field.to, field]))
  const byFrom = new Map(fields.map((field) => [field.from, field]))
  return (value, scope) => {
    if (!isObject(value)) return value
    const { isUp } = scope
    const members = new Map<string, unknown>()
    for (const [key, item] of Object.entries(value)) {
      // A value of the tool's own shape has the names of its own.
      const field = (isUp ? byTo.get(key) : undefined) ?? byFrom.get(key)
      const name = field ? (isUp ? field.from : field.to) : key
      if (!field) members.set(key, rest(item, scope))
      else if (name !== key && Object.hasOwn(value, name)) members.set(key, item)
      else if (!isUp || !field.isLeftOut || item !== null) members.set(name, field.lowered.way(item, scope))
    }
    if (!isUp) for (const { to, isLeftOut } of fields) if (isLeftOut && !members.has(to)) members.set(to, null)
    return objectOf(members)
  }
}

/** Moves the fields that no property has into one field, and back. */
function restField(way: Way, names: ReadonlySet<string>, to: string): Way {
  return (value, scope) => {
    if (!isObject(value)) return value
    if (!scope.isUp) {
      const fields = (areOwn: boolean): Node =>
        objectOf(Object.entries(value).filter(([key]) => names.has(key) === areOwn))
      return way({ ...fields(true), [to]: fields(false) }, scope)
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
    schema: { type: 'array', items: closedObject({ key: { type: 'string' }, value: schema }, compiler) },
    way(value, scope) {
      if (!scope.isUp) {
        if (!isObject(value)) return value
        return Object.entries(value).map(([key, item]) => ({ key, value: way(item, scope) }))
      }
      if (!Array.isArray(value)) return value
      const members = new Map<string, unknown>()
      for (const item of value) {
        const { key, value: content, ...strange } = Object(item) as Node
        const isPair = typeof key === 'string' && content !== undefined && Object.keys(strange).length === 0
        if (!isPair || members.has(key)) return value
        members.set(key, way(content, scope))
      }
      return objectOf(members)
    },
  }
}
