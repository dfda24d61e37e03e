import { execFileSync } from 'node:child_process'
import { Type as OldType } from '@sinclair/typebox'
import { Type } from 'typebox'
import { tool, type StandardSchemaV1 } from 'toolwright'
import { sinclairTypebox } from 'toolwright/validators/sinclair-typebox'
import { typebox } from 'toolwright/validators/typebox'
import { describe, expect, test } from 'vitest'
import { validatorConformance } from './_suite.ts'

const schemas = {
  order: Type.Object({
    city: Type.String({ minLength: 1, description: 'The city' }),
    days: Type.Optional(Type.Integer({ maximum: 10, default: 3 })),
    unit: Type.Optional(Type.Enum(['c', 'f'])),
    items: Type.Array(
      Type.Object({ name: Type.String({ description: 'Its name' }), tags: Type.Optional(Type.Array(Type.String())) }),
    ),
  }),
  ownProperty: Type.Object({ toString: Type.String() }),
  closed: Type.Object({ city: Type.String() }, { additionalProperties: false }),
}
const decoding = Type.Codec(Type.String())
  .Decode((text) => dateOf(text))
  .Encode((date) => date.toISOString())

validatorConformance('typebox(type)', {
  order: typebox(schemas.order),
  ownProperty: typebox(schemas.ownProperty),
  closed: typebox(schemas.closed),
  transforming: typebox(Type.Object({ since: decoding })),
  unsayable: typebox(Type.Object({ since: Type.BigInt() })),
  fillsDefaults: true,
  unknownProperties: 'kept',
})
validatorConformance('plain TypeBox 1, as raw JSON Schema', {
  ...schemas,
  fillsDefaults: false,
  unknownProperties: 'kept',
})

const oldSchemas = {
  order: OldType.Object({
    city: OldType.String({ minLength: 1, description: 'The city' }),
    days: OldType.Optional(OldType.Integer({ maximum: 10, default: 3 })),
    unit: OldType.Optional(OldType.Union([OldType.Literal('c'), OldType.Literal('f')])),
    items: OldType.Array(
      OldType.Object({
        name: OldType.String({ description: 'Its name' }),
        tags: OldType.Optional(OldType.Array(OldType.String())),
      }),
    ),
  }),
  ownProperty: OldType.Object({ toString: OldType.String() }),
  closed: OldType.Object({ city: OldType.String() }, { additionalProperties: false }),
}
const oldDecoding = OldType.Transform(OldType.String())
  .Decode((text) => dateOf(text))
  .Encode((date) => date.toISOString())

validatorConformance('sinclairTypebox(type)', {
  order: sinclairTypebox(oldSchemas.order),
  ownProperty: sinclairTypebox(oldSchemas.ownProperty),
  closed: sinclairTypebox(oldSchemas.closed),
  transforming: sinclairTypebox(OldType.Object({ since: oldDecoding })),
  unsayable: sinclairTypebox(OldType.Object({ since: OldType.Date() })),
  fillsDefaults: true,
  unknownProperties: 'kept',
})
validatorConformance('plain TypeBox 0.34, as raw JSON Schema', {
  ...oldSchemas,
  fillsDefaults: false,
  unknownProperties: 'kept',
})

function dateOf(text: string): Date {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw new Error('must be the text of a date')
  return date
}

interface Major {
  readonly wrap: (schema: never) => ReturnType<typeof typebox>
  readonly Type: typeof Type
  readonly decoding: unknown
}
const majors: readonly (readonly [string, Major])[] = [
  ['TypeBox 1', { wrap: typebox, Type, decoding }],
  ['TypeBox 0.34', { wrap: sinclairTypebox, Type: OldType as never, decoding: oldDecoding }],
]

describe.each(majors)('%s', (_name, { wrap, Type: T, decoding: since }) => {
  const validate = (schema: unknown, value: unknown) =>
    wrap(schema as never)['~standard'].validate(value) as StandardSchemaV1.Result<unknown>
  const show = (schema: unknown, side: 'input' | 'output' = 'input', target = 'draft-2020-12') =>
    wrap(schema as never)['~standard'].jsonSchema[side]({ target })

  test('fills in defaults, however deep, without a change to what came in', () => {
    const schema = T.Object({
      n: T.Number({ default: 3 }),
      inner: T.Object({ x: T.Optional(T.String({ default: 'q' })) }),
    })
    const input = Object.freeze({ inner: Object.freeze({}) })
    expect(validate(schema, input)).toEqual({ value: { n: 3, inner: { x: 'q' } } })
    expect(input).toEqual({ inner: {} })
  })

  test('coerces nothing and drops nothing, also where it decodes', () => {
    const schema = T.Object({ n: T.Number(), since: since as never })
    expect(validate(schema, { n: '1', since: '2024-02-29' })).toMatchObject({ issues: [{ path: ['n'] }] })
    expect(validate(schema, { n: 1, since: '2024-02-29', extra: 1 })).toEqual({
      value: { n: 1, since: new Date('2024-02-29'), extra: 1 },
    })
  })

  test('__proto__ stays a key, also where values are decoded and defaults filled in', () => {
    const value = JSON.parse('{"__proto__":"2024-02-29","a":"2024-02-29"}') as unknown
    for (const schema of [
      T.Record(T.String(), since as never),
      T.Object({ a: T.Any(), b: T.Number({ default: 1 }) }),
    ]) {
      const result = validate(schema, value) as { readonly value: object }
      expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype)
      expect(Object.keys(result.value)).toContain('__proto__')
    }
  })

  test('a decode that throws refuses the value', () => {
    expect(validate(T.Object({ since: since as never }), { since: 'never' })).toMatchObject({
      issues: [{ message: 'must be the text of a date' }],
    })
  })

  test('a missing and an unknown property are told at their own place, once', () => {
    const schema = T.Object({ a: T.Object({ 'b/c~': T.String() }, { additionalProperties: false }) })
    const result = validate(schema, { a: { 'd/e~': 1 } })
    expect(result.issues?.map(({ path }) => path).toSorted()).toEqual([
      ['a', 'b/c~'],
      ['a', 'd/e~'],
    ])
  })

  test('JSON Schema is the type without its marks', () => {
    const schema = T.Object({ a: T.Optional(T.String()), items: T.Array(T.Number(), { minItems: 1 }) }, { title: 'T' })
    const shown = show(schema)
    expect(Reflect.ownKeys(shown).every((key) => typeof key === 'string' && !key.startsWith('~'))).toBe(true)
    expect(shown).toEqual(JSON.parse(JSON.stringify(schema)))
    expect(shown).not.toBe(schema)
  })

  test('JSON Schema says tuples in the words of the draft', () => {
    const pair = T.Tuple([T.String(), T.Number()])
    expect(show(pair)).toMatchObject({ prefixItems: [{ type: 'string' }, { type: 'number' }], items: false })
    expect(show(pair)).not.toHaveProperty('additionalItems')
    expect(show(pair, 'input', 'draft-07')).toMatchObject({ items: [{}, {}], additionalItems: false })
  })

  test('JSON Schema keeps data that looks like a schema as it is', () => {
    const value = { type: 'Date', items: [1], default: 2 }
    expect(show(T.Object({ type: T.Any({ default: value, examples: [value] }) }))).toMatchObject({
      properties: { type: { default: value, examples: [value] } },
    })
  })

  test('JSON Schema of what may be undefined says that no value is', () => {
    expect(show(T.Union([T.String(), T.Undefined()]))).toEqual({ anyOf: [{ type: 'string' }, { not: {} }] })
  })

  test.each(['BigInt', 'Symbol', 'Function', 'Promise', 'Date', 'Uint8Array', 'RegExp'] as const)(
    'JSON Schema is refused where there are no words: %s',
    (kind) => {
      const make = (T as unknown as Record<string, ((...parameters: unknown[]) => unknown) | undefined>)[kind]
      if (make === undefined) return expect(T).toBe(Type) // the newer major has dropped it
      const part = make(...(kind === 'Function' ? [[], T.Any()] : kind === 'RegExp' ? [/a/] : [T.Any()]))
      expect(() => show(T.Object({ outer: T.Array(part as never) }))).toThrow(
        expect.objectContaining({
          code: 'E_SCHEMA_CONVERSION',
          message: expect.stringMatching(new RegExp(`${kind}.*#/properties/outer/items`)),
        }),
      )
    },
  )

  test('JSON Schema is refused for what a decode makes, and for a target that nobody knows', () => {
    expect(() => show(T.Object({ since: since as never }), 'output')).toThrow(/decoded/)
    expect(() => show(T.String(), 'input', 'draft-99')).toThrow(/draft-99/)
  })

  test('what is no type of it is refused at once', () => {
    const other = T === Type ? OldType.String() : Type.String()
    for (const schema of [undefined, null, {}, { type: 'object' }, 'string', other]) {
      expect(() => wrap(schema as never)).toThrow(expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }))
    }
  })
})

describe('TypeBox 1', () => {
  test('refinements are run, and said in their own words', () => {
    const id = Type.Refine(
      Type.String(),
      (text) => text.length > 3,
      () => 'is too short',
    )
    const { validate } = typebox(Type.Object({ id }))['~standard']
    expect(validate({ id: 'long' })).toEqual({ value: { id: 'long' } })
    expect(validate({ id: 'x' })).toEqual({ issues: [{ message: 'is too short', path: ['id'] }] })
  })

  test('asynchronous refinements are refused at once, for TypeBox would take them for a yes', () => {
    const id = Type.Refine(Type.String(), (async () => false) as never)
    expect(() => typebox(Type.Object({ list: Type.Array(id) }))).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining('asynchronous') }),
    )
  })

  test('recursive types are validated all the way down', () => {
    const tree = Type.Cyclic({ Node: Type.Object({ next: Type.Optional(Type.Ref('Node')) }) }, 'Node')
    expect(typebox(tree)['~standard'].validate({ next: { next: {} } })).toHaveProperty('value')
    expect(typebox(tree)['~standard'].validate({ next: { next: 1 } })).toMatchObject({ issues: [{}] })
  })
})

test('no leaf needs to generate code', () => {
  const script = `
    import { Type as OldType } from '@sinclair/typebox'
    import { type } from 'arktype'
    import { Type } from 'typebox'
    import { arktype } from 'toolwright/validators/arktype'
    import { sinclairTypebox } from 'toolwright/validators/sinclair-typebox'
    import { typebox } from 'toolwright/validators/typebox'
    import { zod } from 'toolwright/validators/zod'
    import * as z from 'zod'
    let isForbidden = false
    try { new Function('') } catch { isForbidden = true }
    const schemas = [
      typebox(Type.Object({ n: Type.Number() })),
      sinclairTypebox(OldType.Object({ n: OldType.Number() })),
      zod(z.object({ n: z.number() })),
      arktype(type({ n: type('number').narrow((n) => n > 0) })),
    ]
    const answers = schemas.map((schema) => [{ n: 1 }, { n: '1' }].map((value) => 'value' in schema['~standard'].validate(value)))
    console.log(JSON.stringify([isForbidden, answers]))
  `
  const flags = ['--disallow-code-generation-from-strings', '--disable-warning=ExperimentalWarning']
  const answer = execFileSync(process.execPath, [
    ...flags,
    '-C',
    '@toolwright/source',
    '--input-type=module',
    '-e',
    script,
  ])
  expect(JSON.parse(String(answer))).toEqual([true, Array.from({ length: 4 }, () => [true, false])])
})

test('a plain type is validated as the JSON Schema that it is', async () => {
  for (const inputSchema of [Type.Object({ n: Type.Number() }), OldType.Object({ n: OldType.Number() })]) {
    const plain = tool({ name: 'plain', description: 'x', inputSchema, handler: () => 'ran' })
    expect(await plain({ n: 1 })).toBe('ran')
    await expect(plain({ n: '1' } as never)).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  }
})
