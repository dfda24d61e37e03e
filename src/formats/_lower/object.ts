import { isObject } from '../_read.ts'
import { never, type Compiler, type Stack } from './compiler.ts'
import {
  fieldsOf,
  freshName,
  listOf,
  NoValue,
  objectOf,
  type Lowered,
  type Node,
  type Scope,
  type Way,
} from './schema.ts'
import { namesOf, takesNull } from './shape.ts'
import { described, keep, nullable, text } from './value.ts'
import { describe, sentenceOf } from './words.ts'

/** One property: its own name, the one that the model sees, and its schema. */
interface Field {
  readonly from: string
  readonly to: string
  readonly lowered: Lowered
  readonly isRequired: boolean
}

/** Lowers a schema of objects. */
export function object(node: Node, stack: Stack, words: string[], compiler: Compiler): Lowered {
  const { dialect, lose, booleanOf } = compiler
  const properties = fieldsOf(node['properties'])
  const required = new Set(listOf(node['required']) as string[])
  const rest = (node['additionalProperties'] ?? node['unevaluatedProperties']) as Node | undefined
  const isClosed = rest !== undefined && booleanOf(rest) === false
  const patterns = Object.entries(fieldsOf(node['patternProperties'])) as [string, Node][]
  const names = [...new Set([...Object.keys(properties), ...required])]
  const takesAny = rest !== undefined && !isClosed && Object.keys(rest).length === 0
  const isFree = patterns.length === 0 && (rest === undefined || takesAny)
  if (names.length === 0 && isFree && (dialect.objects !== 'open' || !dialect.takesEmpty)) {
    keep(node, 'object', words, compiler, true)
    return text(node, 'properties', compiler)
  }
  // A dialect that has `additionalProperties` and open objects says what is in a map. Others have a list of pairs.
  const isOpen = dialect.objects === 'open' && dialect.keywords.has('additionalProperties')
  const others = othersOf()
  if (others !== undefined && !isOpen) {
    const inner = compiler.lower(others, stack)
    lose(node, patterns.length > 0 ? 'patternProperties' : 'additionalProperties', 'as pairs')
    if (names.length === 0) {
      keep(node, 'object', words, compiler, true)
      return pairs(inner, compiler)
    }
    const base = fields(names)
    const taken = new Set([...names, ...Object.keys(fieldsOf(base.schema['properties']))])
    return withOthers(base, freshName('others', taken), pairs(inner, compiler))
  }
  if (names.length === 0 && !dialect.takesEmpty && !compiler.isRoot(node)) {
    keep(node, 'object', words, compiler, true)
    return text(node, 'properties', compiler)
  }
  const whole = fields(names)
  if (others === undefined) return { ...whole, schema: { ...whole.schema, ...closing() } }
  return withRest(whole, compiler.lower(others, stack), booleanOf(others) === true)

  /** Returns the schema of fields that have no property, if there may be such fields. */
  function othersOf(): Node | undefined {
    if (patterns.length > 0) {
      const said = patterns.map(([pattern]) => `/${pattern}/`).join(' or ')
      words.push(isClosed ? `Field names match ${said}.` : sentenceOf('patternProperties', node['patternProperties']))
      if (isOpen) lose(node, 'patternProperties', 'widened', 'additionalProperties')
      if (!isClosed && (rest === undefined || takesAny)) return compiler.made({}, node)
      const schemas = [...patterns.map(([, schema]) => schema), ...(isClosed || rest === undefined ? [] : [rest])]
      return schemas.length === 1 ? schemas[0] : compiler.made({ anyOf: schemas }, node)
    }
    return isClosed ? undefined : rest
  }

  function closing(): object | undefined {
    if (!dialect.keywords.has('additionalProperties')) {
      if (isClosed && rest !== never) lose(node, 'additionalProperties', 'dropped')
      return undefined
    }
    if (dialect.objects === 'open') return isClosed ? { additionalProperties: false } : undefined
    if (!isClosed) lose(node, 'additionalProperties', 'closed')
    return { additionalProperties: false }
  }

  function fields(all: readonly string[]): Lowered {
    const made: Field[] = []
    const taken = new Set(all)
    for (const from of all) {
      const field = fieldOf(from, taken)
      if (field !== undefined) made.push(field)
    }
    const needed = made.filter(({ isRequired }) => isRequired || dialect.objects === 'all').map(({ to }) => to)
    const hasOwn = Object.hasOwn(node, 'properties')
    const hasProperties = hasOwn || all.length > 0 || dialect.objects !== 'open' || compiler.isRoot(node)
    if (!hasOwn && dialect.objects !== 'open') lose(node, 'properties', 'closed')
    const schema: Node = {
      type: 'object',
      ...keep(node, 'object', words, compiler),
      ...(hasProperties ? { properties: objectOf(made.map(({ to, lowered }) => [to, lowered.schema])) } : undefined),
      ...(needed.length > 0 || dialect.objects === 'all' ? { required: needed } : undefined),
    }
    return { schema, ...waysOf(made, dialect.objects === 'all') }
  }

  function fieldOf(from: string, taken: Set<string>): Field | undefined {
    const isRequired = required.has(from)
    const own = Object.hasOwn(properties, from) ? (properties[from] as Node) : compiler.made({}, node)
    let lowered: Lowered
    try {
      lowered = compiler.lower(own, stack)
    } catch (error) {
      if (!(error instanceof NoValue) || isRequired) throw error
      lose(own, 'properties', 'dropped')
      return undefined
    }
    if (!isRequired && dialect.objects === 'all') lowered = leftOut(own, lowered, compiler)
    if (dialect.names?.test(from) !== false) return { from, to: from, lowered, isRequired }
    const to = renamed(from, taken)
    taken.add(to)
    lose(own, 'properties', 'renamed', to)
    const told = describe(lowered.schema['description'], [`Stands for ${JSON.stringify(from)}.`])
    return { from, to, lowered: described(lowered, told), isRequired }
  }

  function withOthers(base: Lowered, to: string, list: Lowered): Lowered {
    const own = fieldsOf(base.schema['properties'])
    const schema = {
      ...base.schema,
      properties: objectOf([...Object.entries(own), [to, list.schema]]),
      required: [...listOf(base.schema['required']), to],
      ...(dialect.keywords.has('additionalProperties') ? { additionalProperties: false } : undefined),
    }
    return {
      schema,
      up(value, scope) {
        if (!isObject(value)) return value
        const { [to]: added, ...fixed } = value
        const lifted = base.up === undefined ? fixed : (base.up(fixed, scope) as Node)
        if (added === undefined) return lifted
        // What is no list of pairs is a field of the tool's own.
        const extra = Array.isArray(added) ? list.up?.(added, scope) : undefined
        if (!isObject(extra) || Object.keys(extra).some((key) => Object.hasOwn(lifted, key))) {
          return objectOf([...Object.entries(lifted), [to, added]])
        }
        return objectOf([...Object.entries(lifted), ...Object.entries(extra)])
      },
      down(value, scope) {
        if (!isObject(value)) return value
        const isOwn = ([key]: readonly [string, unknown]): boolean => names.includes(key)
        const fixed = objectOf(Object.entries(value).filter(isOwn))
        const extra = objectOf(Object.entries(value).filter((entry) => !isOwn(entry)))
        const sunk = (base.down === undefined ? fixed : base.down(fixed, scope)) as Node
        return objectOf([...Object.entries(sunk), [to, list.down?.(extra, scope)]])
      },
    }
  }

  /** Adds the values of a map, in a dialect that has `additionalProperties`. */
  function withRest(base: Lowered, each: Lowered, isAny: boolean): Lowered {
    const schema = { ...base.schema, additionalProperties: isAny ? true : each.schema }
    const over = (own: Way | undefined, way: Way | undefined): Way | undefined => {
      if (way === undefined) return own
      return (value, scope) => {
        const first = through(own, value, scope)
        if (!isObject(first)) return first
        const entries = Object.entries(first)
        return objectOf(entries.map(([key, item]) => [key, names.includes(key) ? item : way(item, scope)]))
      }
    }
    return { schema, up: over(base.up, each.up), down: over(base.down, each.down) }
  }
}

/** Returns the ways of fields, or none if each is the same on both sides. `fills`: null stands for each that is missing. */
function waysOf(fields: readonly Field[], fills: boolean): Pick<Lowered, 'up' | 'down'> {
  const isSame = fields.every(
    ({ from, to, lowered, isRequired }) => from === to && lowered.up === undefined && (isRequired || !fills),
  )
  if (isSame) return {}
  const byTo = new Map(fields.map((field) => [field.to, field]))
  const byFrom = new Map(fields.map((field) => [field.from, field]))
  return {
    up(value, scope) {
      if (!isObject(value)) return value
      const made = new Map<string, unknown>()
      for (const [key, item] of Object.entries(value)) {
        // A value of the tool's own shape has the names of its own.
        const field = byTo.get(key) ?? byFrom.get(key)
        if (field === undefined || (field.to === key && Object.hasOwn(value, field.from) && field.from !== key)) {
          made.set(key, item)
        } else if (!fills || field.isRequired || item !== null)
          made.set(field.from, through(field.lowered.up, item, scope))
      }
      return objectOf(made)
    },
    down(value, scope) {
      if (!isObject(value)) return value
      const made = new Map<string, unknown>()
      for (const { from, to, lowered, isRequired } of fields) {
        if (Object.hasOwn(value, from)) made.set(to, through(lowered.down, value[from], scope))
        else if (fills && !isRequired) made.set(to, null)
      }
      for (const [key, item] of Object.entries(value)) if (!byFrom.has(key)) made.set(key, item)
      return objectOf(made)
    },
  }
}

/** Lets null leave out a field. A field that may be null itself is wrapped, so that both can be said. */
function leftOut(own: Node, lowered: Lowered, compiler: Compiler): Lowered {
  if (!takesNull(lowered.schema, compiler)) {
    compiler.lose(own, 'required', 'nullable', 'null leaves it out')
    return nullable(lowered, compiler, true)
  }
  const key = freshName('value', namesOf(lowered.schema))
  compiler.lose(own, 'required', 'wrapped', `null leaves it out, {"${key}": null} is null`)
  const { description, ...schema } = lowered.schema
  const box: Node = {
    type: ['object', 'null'],
    properties: { [key]: schema },
    required: [key],
    additionalProperties: false,
  }
  const wrapped = wrapping(lowered, key, box)
  return described(wrapped, describe(description, [`null leaves it out, {"${key}": null} is null.`]))
}

/** Returns a schema of objects with one field, which has the value. */
export function wrapping({ up, down }: Lowered, key: string, schema: Node): Lowered {
  return {
    schema,
    up(value, scope) {
      const isWrapped = isObject(value) && Object.hasOwn(value, key) && Object.keys(value).length === 1
      return isWrapped ? through(up, value[key], scope) : value
    },
    down: (value, scope) => ({ [key]: through(down, value, scope) }),
  }
}

/** Returns a list of pairs, in place of a map. A key that comes twice leaves the list as it is. */
function pairs(inner: Lowered, { dialect }: Compiler): Lowered {
  const pair: Node = {
    type: 'object',
    properties: { key: { type: 'string' }, value: inner.schema },
    required: ['key', 'value'],
    ...(dialect.keywords.has('additionalProperties') ? { additionalProperties: false } : undefined),
  }
  return {
    schema: { type: 'array', items: pair },
    up(value, scope) {
      if (!Array.isArray(value)) return value
      const made = new Map<string, unknown>()
      for (const item of value) {
        const { key, value: content, ...strange } = fieldsOf(item)
        if (typeof key !== 'string' || made.has(key) || content === undefined || Object.keys(strange).length > 0) {
          return value
        }
        made.set(key, through(inner.up, content, scope))
      }
      return objectOf(made)
    },
    down(value, scope) {
      if (!isObject(value)) return value
      return Object.entries(value).map(([key, item]) => ({ key, value: through(inner.down, item, scope) }))
    },
  }
}

/** Translates a value, if there is a way for it. */
export function through(way: Way | undefined, value: unknown, scope: Scope): unknown {
  return way === undefined ? value : way(value, scope)
}

/** Returns a name of letters, digits and `_` that no other property has. */
export function renamed(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .replaceAll(/[^a-zA-Z0-9_]/gu, '_')
    .replace(/^(?![a-zA-Z_])/, '_')
    .slice(0, 56)
  let fresh = plain
  for (let count = 2; taken.has(fresh); count++) fresh = `${plain}_${count}`
  return fresh
}
