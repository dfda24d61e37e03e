import * as fc from 'fast-check'

/** A schema, with values that fit it and no unknown fields. */
export interface Pair {
  readonly schema: Readonly<Record<string, unknown>> | boolean
  readonly instance: fc.Arbitrary<unknown>
}

/** Names that a compiler may trip over: of prototypes, of its own wrappers, and those that providers refuse. */
const name = fc.constantFrom(
  ...'a b input value others key rest item1 option1 type __proto__ constructor filter[id] $top x_y größe'.split(' '),
  'x y',
  '',
  'n'.repeat(65),
)

function pair(schema: Pair['schema'], instance: fc.Arbitrary<unknown>): fc.Arbitrary<Pair> {
  return fc.constant({ schema, instance })
}

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

const leaf: fc.Arbitrary<Pair> = fc.oneof(
  pair({ type: 'string' }, fc.string()),
  pair({ type: 'string', minLength: 1, maxLength: 5 }, fc.stringMatching(/^[a-z]{1,5}$/)),
  pair(
    { type: 'string', pattern: '^h', default: 'h', title: 'H' },
    fc.string().map((text) => `h${text}`),
  ),
  pair({ type: 'string', format: 'uri', description: 'A page' }, fc.constant('https://example.com')),
  pair({ type: 'integer', exclusiveMinimum: 0, maximum: 10 }, fc.integer({ min: 1, max: 10 })),
  pair({ type: 'integer', exclusiveMaximum: 2.5, minimum: -3, multipleOf: 1 }, fc.integer({ min: -3, max: 2 })),
  pair(
    { type: 'number', exclusiveMinimum: -1e300 },
    number.filter((value) => value > -1e300),
  ),
  pair({ type: 'boolean' }, fc.boolean()),
  pair({ type: 'null' }, fc.constant(null)),
  pair({ type: ['string', 'null'], minLength: 0 }, fc.option(fc.string())),
  pair({ type: ['integer', 'number'] }, number),
  pair(
    { type: ['string', 'integer', 'array', 'null'], items: { type: 'string' } },
    fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()), fc.constant(null)),
  ),
  pair(
    { type: ['object', 'string'], properties: { a: true }, required: ['a'], additionalProperties: false },
    fc.oneof(
      fc.string(),
      json.map((a) => ({ a })),
    ),
  ),
  pair({ enum: ['x', 'y'] }, fc.constantFrom('x', 'y')),
  pair({ type: 'string', enum: ['x', 7] }, fc.constant('x')),
  pair({ enum: [1, 2, 'three', null, true, 2.5] }, fc.constantFrom(1, 2, 'three', null, true, 2.5)),
  pair({ enum: [true, false] }, fc.boolean()),
  pair({ enum: [null] }, fc.constant(null)),
  pair({ enum: [{ a: 1 }, [2], 'text'] }, fc.constantFrom({ a: 1 }, [2], 'text')),
  pair({ type: ['string', 'null'], enum: ['x', null] }, fc.constantFrom('x', null)),
  pair({ const: 7 }, fc.constant(7)),
  pair({ type: 'string', const: 'seven' }, fc.constant('seven')),
  pair({ const: null }, fc.constant(null)),
  pair({ const: { deep: [1] } }, fc.constant({ deep: [1] })),
  pair(
    { anyOf: [{ const: 'x', description: 'First' }, { const: 'y' }, { type: 'null' }] },
    fc.constantFrom('x', 'y', null),
  ),
  pair({}, json),
  pair(true, json),
  pair({ description: 'Anything', default: { a: 1 } }, json),
  pair({ type: 'object' }, fc.dictionary(fc.string(), json)),
  pair({ type: 'object', additionalProperties: true }, fc.dictionary(fc.string(), json)),
  pair({ type: 'object', properties: {}, additionalProperties: false }, fc.constant({})),
  pair({ type: 'array' }, fc.array(json, { maxLength: 3 })),
  pair({ type: 'array', items: false }, fc.constant([])),
  pair(
    { type: 'array', items: { type: 'integer' }, minItems: 2, uniqueItems: true },
    fc.uniqueArray(fc.integer(), { minLength: 2, maxLength: 4 }),
  ),
  pair({ $ref: '#/$defs/shared' }, fc.constant('shared')),
  pair({ $ref: '#/$defs/shared', description: 'Told' }, fc.constant('shared')),
  pair({ $ref: '#/$defs/tree' }, fc.letrec<{ tree: unknown }>((tie) => ({ tree: treeOf(tie('tree')) })).tree),
  pair(
    { allOf: [{ $ref: '#/$defs/tree' }], description: 'A tree' },
    fc.letrec<{ tree: unknown }>((tie) => ({ tree: treeOf(tie('tree')) })).tree,
  ),
  pair({ $ref: '#/$defs/odd' }, fc.letrec<{ odd: unknown }>((tie) => ({ odd: oddOf(tie('odd')) })).odd),
)

/** The definitions that the leaves refer to. */
export const definitions: Readonly<Record<string, object>> = {
  shared: { const: 'shared' },
  tree: {
    type: 'object',
    properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/tree' } } },
    required: ['name'],
    additionalProperties: false,
  },
  odd: {
    anyOf: [
      { type: 'null' },
      { type: 'object', properties: { next: { $ref: '#/$defs/odd' } }, additionalProperties: false },
      { type: 'object', additionalProperties: { $ref: '#/$defs/odd' } },
    ],
  },
}

function treeOf(tree: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const kids = fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tree, { maxLength: 2 }))
  return fc.record({ name: fc.string(), kids }, { requiredKeys: ['name'] })
}

function oddOf(odd: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(null, {}),
    odd.map((next) => ({ next })),
    fc
      .array(fc.tuple(fc.constantFrom('left', 'right', 'next'), odd), { maxLength: 2 })
      .map((all) => Object.fromEntries(all)),
  )
}

function record(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries)
}

type Fields = readonly (readonly [name: string, pair: Pair, isRequired: boolean])[]

function objectPair(fields: Fields, rest: Pair | null, isPatterned: boolean): Pair {
  const others = rest === null ? { additionalProperties: false } : { additionalProperties: rest.schema }
  const patterned = rest === null ? {} : { patternProperties: { '^~': rest.schema }, additionalProperties: false }
  const schema = {
    type: 'object',
    properties: record(fields.map(([field, { schema: inner }]) => [field, inner])),
    required: fields.filter(([, , isRequired]) => isRequired).map(([field]) => field),
    ...(isPatterned ? patterned : others),
    ...(isPatterned && rest === null ? { additionalProperties: false } : undefined),
  }
  const entries = fields.map(([field, { instance }, isRequired]) =>
    fc
      .tuple(isRequired ? fc.constant(true) : fc.boolean(), instance)
      .map(([isThere, value]) => (isThere ? [[field, value] as const] : [])),
  )
  const extra =
    rest === null
      ? fc.constant([])
      : fc.array(
          fc.tuple(
            fc.string().map((text) => `~${text}`),
            rest.instance,
          ),
          { maxLength: 2 },
        )
  const instance = fc.tuple(fc.tuple(...entries), extra).map(([own, more]) => record([...own.flat(), ...more]))
  return { schema, instance }
}

const { node } = fc.letrec<{ node: Pair; object: Pair }>((tie) => ({
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(name, tie('node'), fc.boolean()), { selector: ([field]) => field, maxLength: 4 }),
      fc.option(tie('node')),
      fc.boolean(),
    )
    .map(([fields, rest, isPatterned]) => objectPair(fields, rest, isPatterned)),
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { arbitrary: leaf, weight: 3 },
    { arbitrary: tie('object'), weight: 2 },
    tie('node').map(({ schema, instance }) => ({
      schema: { type: 'array', items: schema, maxItems: 3, minItems: 0 },
      instance: fc.array(instance, { maxLength: 3 }),
    })),
    {
      arbitrary: fc.tuple(tie('node'), tie('node'), fc.boolean()).map(([one, other, isOne]) => ({
        schema: isOne
          ? { anyOf: [one.schema, false, other.schema] }
          : { anyOf: [one.schema, other.schema, { type: 'null' }] },
        instance: isOne
          ? fc.oneof(one.instance, other.instance)
          : fc.oneof(one.instance, other.instance, fc.constant(null)),
      })),
      weight: 2,
    },
    fc.tuple(tie('object'), tie('object')).map(([one, other]) => ({
      schema: {
        oneOf: [tagged(one.schema, 'one'), tagged(other.schema, 'two')],
      },
      instance: fc.oneof(
        one.instance.map((value) => ({ ...(value as object), kind: 'one' })),
        other.instance.map((value) => ({ ...(value as object), kind: 'two' })),
      ),
    })),
    fc.tuple(tie('node'), tie('node'), fc.boolean(), fc.boolean()).map(([one, other, isOpen, isOld]) => ({
      schema: {
        type: 'array',
        ...(isOld
          ? { prefixItems: [one.schema, other.schema], minItems: 1, ...(isOpen ? {} : { items: false }) }
          : {
              prefixItems: [one.schema, other.schema],
              minItems: 1,
              ...(isOpen ? { items: other.schema } : { maxItems: 2 }),
            }),
      },
      instance: fc
        .tuple(
          one.instance,
          fc.option(other.instance, { nil: undefined }),
          fc.array(other.instance, { maxLength: isOpen && !isOld ? 2 : 0 }),
        )
        .map(([first, second, more]) => (second === undefined ? [first] : [first, second, ...more])),
    })),
    tie('node').map(({ schema, instance }) => ({ schema: { allOf: [schema, {}], description: 'Both' }, instance })),
    tie('object').map(({ schema, instance }) => ({
      schema: { ...(schema as object), anyOf: [{ minProperties: 0 }, { required: ['a'] }], description: 'Refined' },
      instance,
    })),
    tie('object').map(({ schema, instance }) => ({
      schema: { allOf: [{ type: ['object', 'null'] }, schema] },
      instance,
    })),
  ),
}))

function tagged(schema: Pair['schema'], kind: string): Pair['schema'] {
  const { properties, required, ...rest } = schema as { properties: object; required: readonly string[] }
  return { ...rest, properties: { ...properties, kind: { const: kind } }, required: [...required, 'kind'] }
}

/** The schema of a tool, with a value that fits it. */
export const roots: fc.Arbitrary<readonly [schema: Record<string, unknown>, value: unknown]> = fc
  .tuple(node, node, fc.constantFrom('fields', 'union', 'map', 'all'))
  .chain(([one, two, kind]) => {
    const fields = objectPair(
      [
        ['one', one, true],
        ['two', two, false],
      ],
      null,
      false,
    )
    const others = objectPair(
      [
        ['two', two, true],
        ['filter[id]', one, false],
      ],
      kind === 'map' ? one : null,
      false,
    )
    const whole: Pair =
      kind === 'union'
        ? {
            schema: { oneOf: [tagged(fields.schema, 'one'), tagged(others.schema, 'two')] },
            instance: fc.oneof(kinded(fields, 'one'), kinded(others, 'two')),
          }
        : kind === 'all'
          ? { schema: { allOf: [fields.schema, { description: 'All' }] }, instance: fields.instance }
          : kind === 'map'
            ? others
            : fields
    const schema = { ...(whole.schema as object), type: 'object', $defs: definitions }
    return fc.tuple(fc.constant(schema), whole.instance)
  })

function kinded({ instance }: Pair, kind: string): fc.Arbitrary<unknown> {
  return instance.map((value) => ({ ...(value as object), kind }))
}

const keyword = fc.constantFrom(
  ...'type properties items anyOf oneOf allOf $ref enum const required additionalProperties prefixItems'.split(' '),
  ...'patternProperties format minItems maximum exclusiveMinimum not if default description __proto__'.split(' '),
  ...'constructor nullable $defs title unevaluatedProperties'.split(' '),
)
const scrap = fc.constantFrom(
  'object',
  'array',
  'string',
  'null',
  'integer',
  '#',
  '#/$defs/a',
  '#/properties/type',
  'x',
  '',
)

/** What may call itself a schema. Half of it has values of the right kind in places. */
export const garbage: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  keyword,
  fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      scrap,
      fc.constantFrom<unknown>(true, false, null, 0, -1, 1.5, 1e308, {}, []),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
      tie('value').map((value) => ({ type: 'object', properties: { a: value, type: value } })),
      tie('value').map((value) => ({ anyOf: [value, { $ref: '#' }] })),
      tie('value').map((value) => ({ type: 'array', items: value })),
    ),
  })).value,
  { maxKeys: 5 },
)
