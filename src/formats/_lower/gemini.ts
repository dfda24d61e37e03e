import { isAlways, isNever, type Compiler } from './compiler.ts'
import { fieldsIn, knownFields, othersOf, propertiesOf, restOf, fieldsWay } from './object.ts'
import { same, type Lowered, type SchemaObject, type TypeName } from './schema.ts'
import { keptKeywords } from './value.ts'

// What only the dialects of Gemini have.

/** Lowers a schema of objects for a dialect that has maps. */
export function objectOrMap(schema: SchemaObject, words: string[], compiler: Compiler): Lowered {
  const { required = [] } = schema
  const others = othersOf(schema, words, compiler)
  if (Object.keys(schema.patternProperties ?? {}).length > 0) {
    compiler.lose(schema, 'patternProperties', 'widened', 'additionalProperties')
  }
  const names = knownFields(schema)
  const fields = fieldsIn(schema, names, compiler)
  const needed = new Set(required)
  const hasProperties = schema.properties || names.size > 0 || compiler.pointerOf(schema) === ''
  const keywords = keptKeywords(schema, words, compiler, 'object')
  const each = others && compiler.lower(others)
  return {
    schema: {
      type: 'object',
      ...keywords,
      ...(hasProperties && { properties: propertiesOf(fields) }),
      ...(required.length > 0 && { required: fields.filter(({ from }) => needed.has(from)).map(({ to }) => to) }),
      ...(each && { additionalProperties: isAlways(others) || each.schema }),
      ...(!each && isNever(restOf(schema)) && { additionalProperties: false }),
    },
    way: fieldsWay(fields, each?.way),
  }
}

/** Lowers a schema of arrays for a dialect that has tuples. */
export function arrayOrTuple(schema: SchemaObject, words: string[], compiler: Compiler): Lowered {
  const { prefixItems = [], items, maxItems = Infinity } = schema
  const isClosed = isNever(items)
  const keywords = keptKeywords(schema, words, compiler, 'array')
  const first = prefixItems.map((item) => compiler.lower(item))
  if (isClosed) compiler.lose(schema, 'items', 'widened', `maxItems: ${first.length}`)
  const hasRest = !isClosed || first.length === 0
  if (!items) compiler.lose(schema, 'items', 'widened', 'any items')
  const each = hasRest ? compiler.lower(items && !isClosed ? items : compiler.placed({}, schema)) : undefined
  const ways = [...first, ...(each ? [each] : [])].map(({ way }) => way)
  return {
    schema: {
      type: 'array',
      ...keywords,
      ...(first.length > 0 && { prefixItems: first.map((item) => item.schema) }),
      ...(isClosed && { maxItems: Math.min(maxItems, first.length) }),
      ...(each && { items: each.schema }),
    },
    way: ways.every((way) => way === same)
      ? same
      : (value, scope) =>
          Array.isArray(value) ? value.map((item, index) => ((first[index] ?? each)?.way ?? same)(item, scope)) : value,
  }
}

/** Lowers a schema without a type. */
export function untyped(schema: SchemaObject, words: string[], compiler: Compiler): Lowered {
  return { schema: keptKeywords(schema, words, compiler), way: same }
}

/** Returns the schema of null in OpenAPI, which has no such type, or that of an integer. */
export function integerOrNull(
  schema: SchemaObject,
  words: string[],
  compiler: Compiler,
  type: TypeName,
): SchemaObject | undefined {
  if (type !== 'null') return boundedInteger(schema, words, compiler, type)
  compiler.tell(schema, 'type', words, 'Must be null.')
  return { type: 'string', nullable: true }
}

/** Returns the schema of an integer, with inclusive bounds. */
export function boundedInteger(
  schema: SchemaObject,
  words: string[],
  compiler: Compiler,
  type: TypeName,
): SchemaObject | undefined {
  if (type !== 'integer') return undefined
  let bounded = schema
  for (const [exclusive, bound, sign] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const { [exclusive]: edge, [bound]: otherBound, ...rest } = bounded
    if (typeof edge !== 'number') continue
    const next = sign * (Math.floor(sign * edge) + 1)
    const tighter = typeof otherBound === 'number' ? sign * Math.max(sign * otherBound, sign * next) : next
    bounded = compiler.placed({ ...rest, [bound]: tighter }, schema)
    compiler.lose(schema, exclusive, 'widened', `${bound}: ${next}`)
  }
  return { type, ...keptKeywords(bounded, words, compiler, type) }
}
