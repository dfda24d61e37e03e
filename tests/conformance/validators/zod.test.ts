import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { tool, type Schema } from 'toolwright'
import { zod } from 'toolwright/validators/zod'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import * as zod3 from 'zod/v3'
import { timesAsked, validatorConformance, type LookUp, type ValidatorFixtures } from './_suite.ts'

const classic = {
  order: z.object({
    city: z.string().min(1).describe('The city'),
    days: z.int().max(10).default(3),
    unit: z.enum(['c', 'f']).optional(),
    items: z.array(z.object({ name: z.string().describe('Its name'), tags: z.array(z.string()).optional() })),
  }),
  ownProperty: z.object({ toString: z.string() }),
  closed: z.strictObject({ city: z.string() }),
  transforming: z.object({ since: z.iso.date().transform((text) => new Date(text)) }),
  unsayable: z.object({ since: z.date() }),
}
const lookingUp = (lookUp: LookUp) => z.object({ id: z.string().refine((id) => lookUp(id)) })

const small = {
  order: mini.object({
    city: mini.string().check(mini.minLength(1), mini.describe('The city')),
    days: mini._default(mini.int().check(mini.maximum(10)), 3),
    unit: mini.optional(mini.enum(['c', 'f'])),
    items: mini.array(
      mini.object({
        name: mini.string().check(mini.describe('Its name')),
        tags: mini.optional(mini.array(mini.string())),
      }),
    ),
  }),
  ownProperty: mini.object({ toString: mini.string() }),
  closed: mini.strictObject({ city: mini.string() }),
  transforming: mini.object({
    since: mini.pipe(
      mini.iso.date(),
      mini.transform((text) => new Date(text)),
    ),
  }),
  unsayable: mini.object({ since: mini.date() }),
}
const lookingUpSmall = (lookUp: LookUp) =>
  mini.object({ id: mini.string().check(mini.refine((id) => lookUp(id) as unknown as boolean)) })

const traits = { fillsDefaults: true, unknownProperties: 'dropped' } as const

validatorConformance('zod(schema)', { ...traits, ...wrapped(classic), lookingUp: (lookUp) => zod(lookingUp(lookUp)) })
validatorConformance('zod(compiled schema)', { ...traits, ...wrapped(classic, z.compile) })
validatorConformance('zod(schema of zod/mini)', {
  ...traits,
  ...wrapped(small),
  lookingUp: (lookUp) => zod(lookingUpSmall(lookUp)),
})
validatorConformance('plain Zod', { ...traits, ...classic, lookingUp })
validatorConformance('plain zod/mini', {
  ...traits,
  ...small,
  lookingUp: lookingUpSmall,
  isDescribable: false,
})

function wrapped<Schemas extends Record<string, z.core.$ZodType>>(
  schemas: Schemas,
  prepare: (schema: z.core.$ZodType) => z.core.$ZodType = (schema) => schema,
): { [Name in keyof Schemas]: Schema } {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, zod(prepare(schema))])
  return Object.fromEntries(entries) as { [Name in keyof Schemas]: Schema }
}

const validate = (schema: Parameters<typeof zod>[0], value: unknown) => zod(schema)['~standard'].validate(value)
const show = (schema: Parameters<typeof zod>[0], side: 'input' | 'output' = 'input', target = 'draft-2020-12') => {
  const { $schema: _, additionalProperties: __, ...shown } = zod(schema)['~standard'].jsonSchema[side]({ target })
  return shown
}

describe('a refinement runs once for each call', () => {
  test('where it gives a promise', async () => {
    expect(await timesAsked((lookUp) => zod(lookingUp(lookUp)))).toBe(1)
    expect(await timesAsked((lookUp) => zod(lookingUpSmall(lookUp)))).toBe(1)
    expect(await timesAsked((lookUp) => zod(z.compile(lookingUp(lookUp))))).toBe(1)
  })

  test('of plain Zod too, of each kind', async () => {
    expect(await timesAsked(lookingUp)).toBe(1)
    expect(await timesAsked(lookingUp, true)).toBe(1)
    expect(await timesAsked(lookingUpSmall)).toBe(1)
    expect(await timesAsked((lookUp) => z.compile(lookingUp(lookUp)))).toBe(1)
    expect(await timesAsked((lookUp) => zod3.object({ id: zod3.string().refine(lookUp) }))).toBe(1)
  })

  test('of an output schema of plain Zod too', async () => {
    let asked = 0
    const outputSchema = z.string().refine(async () => ++asked > 0)
    const word = tool({ name: 'word', description: 'x', outputSchema, handler: () => 'word' })
    expect(await word()).toBe('word')
    expect(asked).toBe(1)
  })

  test('where it gives none', async () => {
    expect(await timesAsked((lookUp) => zod(lookingUp(lookUp)), true)).toBe(1)
  })

  test.each<[string, (lookUp: LookUp) => z.core.$ZodType]>([
    [
      'a transformation',
      (lookUp) => z.object({ id: z.string().transform(async (id) => ((await lookUp(id)) ? id : '')) }),
    ],
    ['a preprocessing', (lookUp) => z.preprocess(async (args) => ((await lookUp('')) ? args : 0), z.any())],
    ['a check', (lookUp) => z.object({ id: z.string() }).check(async () => void (await lookUp('')))],
    ['a lazy schema', (lookUp) => z.object({ id: z.lazy(() => z.string().refine(lookUp)) })],
    ['a union', (lookUp) => z.union([z.object({ id: z.number() }), z.object({ id: z.string().refine(lookUp) })])],
    ['an intersection', (lookUp) => z.object({ id: z.string() }).and(lookingUp(lookUp))],
    ['a record', (lookUp) => z.record(z.string(), z.string().refine(lookUp))],
    ['a catchall', (lookUp) => z.object({}).catchall(z.string().refine(lookUp))],
    ['a default', (lookUp) => z.object({ id: z.string().refine(lookUp).optional().default('') })],
    ['a codec', (lookUp) => z.object({ id: z.codec(z.string(), z.any(), { decode: lookUp, encode: String }) })],
    ['a custom type', (lookUp) => z.object({ id: z.custom((id) => lookUp(id as string)) })],
    [
      'a discriminated union',
      (lookUp) =>
        z.discriminatedUnion('id', [
          z.object({ id: z.literal('known') }).refine(() => lookUp('')),
          z.object({ id: z.literal('b') }),
        ]),
    ],
    ['a property check', (lookUp) => z.object({ id: z.string() }).check(z.property('id', z.string().refine(lookUp)))],
    [
      'a recursive schema',
      (lookUp) => {
        const node: z.ZodType = z.object({
          id: z.string().refine(lookUp),
          get next() {
            return node.optional()
          },
        })
        return node
      },
    ],
  ])('inside %s', async (_title, schemaOf) => {
    expect(await timesAsked((lookUp) => zod(schemaOf(lookUp)))).toBe(1)
    expect(await timesAsked((lookUp) => schemaOf(lookUp) as z.ZodType)).toBe(1)
  })

  test('and a schema that waits for nothing answers at once', () => {
    expect(validate(classic.order, {})).not.toBeInstanceOf(Promise)
    expect(
      validate(
        lookingUp(() => true),
        { id: 'known' },
      ),
    ).toEqual({ value: { id: 'known' } })
  })

  test('and a schema with nothing of its author’s in it takes the compiled way', () => {
    let asked = 0
    const parser = (input: unknown): { n: number } => {
      asked++
      return { n: (input as { n: number }).n }
    }
    expect(validate(z.withParser(z.object({ n: z.number() }), parser), { n: 1 })).toEqual({ value: { n: 1 } })
    expect(asked).toBe(1)
  })

  test('a refinement that throws is not taken for an answer', async () => {
    const broken = z.string().refine(() => {
      throw new Error('broken')
    })
    expect(() => validate(broken, 'x')).toThrow('broken')
  })
})

test('a program goes on after a look-up of plain Zod has rejected', async () => {
  const program = `
    import { tool } from 'toolwright'
    import { z } from 'zod'
    const id = z.string().refine(async () => { throw new Error('the database is down') })
    const find = tool({ name: 'find', description: 'x', inputSchema: z.object({ id }), handler: () => 1 })
    const codes = [find({ id: 'a' }), find.validate({ id: 'a' })].map((call) => call.catch(({ code }) => code))
    console.log(await Promise.all(codes))
    await new Promise((resolve) => setTimeout(resolve, 20))
    console.log('goes on')`
  const flags = ['-C', '@toolwright/source', '--input-type=module', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', program])
  expect(stdout).toBe("[ 'E_VALIDATOR_FAILED', 'E_VALIDATOR_FAILED' ]\ngoes on\n")
})

describe('JSON Schema of what Zod itself refuses', () => {
  test('is said where there are words for it', () => {
    expect(show(z.coerce.date())).toEqual({ type: 'string', format: 'date-time' })
    expect(show(z.coerce.bigint())).toEqual({ type: 'string', pattern: '^-?[0-9]+$' })
    expect(show(z.object({ at: z.date().optional().describe('When') }), 'output').properties).toEqual({
      at: { type: 'string', format: 'date-time', description: 'When' },
    })
    expect(show(z.codec(z.iso.datetime(), z.date(), { decode: (s) => new Date(s), encode: String }), 'output')).toEqual(
      {
        type: 'string',
        format: 'date-time',
      },
    )
    expect(show(z.union([z.string(), z.undefined()]))).toEqual({ anyOf: [{ type: 'string' }, { not: {} }] })
    expect(show(z.string().catch(() => 'x'))).toMatchObject({ type: 'string' })
  })

  test('is what the author says in the metadata', () => {
    expect(show(z.instanceof(URL).meta({ type: 'string', format: 'uri' }))).toEqual({ type: 'string', format: 'uri' })
    const override = ({ jsonSchema }: { jsonSchema: object }) => Object.assign(jsonSchema, { type: 'string' })
    expect(zod(z.date(), { override })['~standard'].jsonSchema.input({ target: 'draft-07' })).toMatchObject({
      type: 'string',
    })
  })

  test.each<[string, z.core.$ZodType]>([
    ['date', z.date()],
    ['bigint', z.bigint()],
    ['symbol', z.symbol()],
    ['map', z.map(z.string(), z.string())],
    ['set', z.set(z.string())],
    ['nan', z.nan()],
    ['custom', z.custom(() => true)],
    ['custom', z.instanceof(URL).describe('A place')],
    ['transform', z.transform((value) => value)],
    ['literal', z.literal([1n])],
    ['literal', z.literal(['a', undefined])],
  ])('is refused by name and place where there are none: %s', (name, schema) => {
    expect(() => show(z.object({ outer: z.array(schema) }))).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining(`z.${name}()`) }),
    )
    expect(() => show(z.object({ outer: schema }))).toThrow(/outer/)
  })

  test('is refused for what a transformation makes', () => {
    expect(() => show(classic.transforming, 'output')).toThrow(/z\.transform\(\)/)
  })

  test('is refused for a target that nobody knows', () => {
    expect(() => show(classic.order, 'input', 'draft-99')).toThrow(/draft-99/)
    expect(show(classic.order, 'input', 'draft-07')).toMatchObject({ type: 'object' })
  })

  test('reads the registry that it is given', () => {
    const metadata = z.registry<{ description: string }>()
    const schema = z.string().register(metadata, { description: 'From afar' })
    expect(zod(schema, { metadata })['~standard'].jsonSchema.input({ target: 'draft-07' })).toMatchObject({
      description: 'From afar',
    })
  })

  test('says what is any as any', () => {
    expect(show(z.object({ any: z.any(), unknown: z.unknown() })).properties).toEqual({ any: {}, unknown: {} })
  })
})

test('what is no Zod 4 schema is refused at once', () => {
  for (const schema of [undefined, null, {}, { type: 'object' }, { _def: {} }, { _zod: {} }]) {
    expect(() => zod(schema as never)).toThrow(expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }))
  }
})

const _fixtures: readonly Omit<ValidatorFixtures, 'fillsDefaults' | 'unknownProperties'>[] = [classic, small]
void _fixtures
