import { createExecutor, tool, type Tool } from 'toolwright'
import { valibot } from 'toolwright/validators/valibot'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { timesAsked, validatorConformance, type LookUp } from './_suite.ts'

const schemas = {
  order: v.object({
    city: v.pipe(v.string(), v.trim(), v.minLength(1), v.description('The city'), v.brand('City')),
    days: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(10)), 3),
    unit: v.optional(v.picklist(['c', 'f'])),
    items: v.array(
      v.object({
        name: v.pipe(
          v.string(),
          v.check((name) => name !== 'nothing'),
          v.metadata({ description: 'Its name' }),
        ),
        tags: v.optional(v.array(v.string())),
      }),
    ),
  }),
  ownProperty: v.object({ toString: v.string() }),
  closed: v.strictObject({ city: v.string() }),
  transforming: v.object({
    since: v.pipe(
      v.string(),
      v.isoDate(),
      v.transform((text) => new Date(text)),
    ),
  }),
  unsayable: v.object({ since: v.date() }),
}
const lookingUp = (lookUp: LookUp) =>
  v.objectAsync({
    id: v.pipeAsync(
      v.string(),
      v.checkAsync(async (id) => await lookUp(id)),
    ),
  })

const traits = { fillsDefaults: true, unknownProperties: 'dropped' } as const

validatorConformance('valibot(schema)', {
  ...traits,
  order: valibot(schemas.order),
  ownProperty: valibot(schemas.ownProperty),
  closed: valibot(schemas.closed),
  transforming: valibot(schemas.transforming),
  unsayable: valibot(schemas.unsayable),
  lookingUp: (lookUp) => valibot(lookingUp(lookUp)),
})
validatorConformance('plain Valibot, which says no JSON Schema', {
  ...traits,
  ...schemas,
  lookingUp,
  isDescribable: false,
})

describe('a tool with a plain Valibot schema', () => {
  const config = { name: 'plain', description: 'x', inputSchema: v.object({ n: v.number() }) } as const
  const plain = tool({ ...config, handler: ({ n }) => n })

  test('is made, and runs directly', async () => {
    expect(await plain({ n: 1 })).toBe(1)
    await expect(plain({ n: 'one' } as never)).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  })

  test('does not enter an executor, and the error names the import that helps', () => {
    expect(() => createExecutor({ tools: [plain] })).toThrow(
      expect.objectContaining({
        code: 'E_SCHEMA_CONVERSION',
        message: expect.stringContaining('toolwright/validators/valibot'),
      }),
    )
  })

  test.each<[string, Tool]>([
    ['with a jsonSchema of its own', tool({ ...config, jsonSchema: { type: 'object' }, handler: ({ n }) => n })],
    ['where only people see it', tool({ ...config, audience: 'user', handler: ({ n }) => n })],
  ])('enters %s, and is validated', async (_title, entering) => {
    const executor = createExecutor({ tools: [entering] })
    const options = { caller: 'user' } as const
    expect(await executor.execute({ name: 'plain', args: { n: 1 } }, options)).toMatchObject({ status: 'ok' })
    expect(await executor.execute({ name: 'plain', args: { n: 'one' } }, options)).toMatchObject({ status: 'error' })
  })
})

test('a refinement runs once for each call', async () => {
  expect(await timesAsked((lookUp) => valibot(lookingUp(lookUp)))).toBe(1)
})

test('a promise in a synchronous action is refused at once, for Valibot would take it for a yes', () => {
  const id = v.pipe(v.string(), v.check((async () => false) as never))
  for (const schema of [
    id,
    v.object({ list: v.array(v.optional(id)) }),
    v.pipe(
      v.string(),
      v.transform(async () => 1),
    ),
  ]) {
    expect(() => valibot(schema)).toThrow(expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }))
  }
})

test('an issue holds keys, and nothing of the value', () => {
  const result = valibot(v.object({ card: v.object({ number: v.string() }) }))['~standard'].validate({
    card: { number: 4111, secret: 'no word of it' },
  })
  expect(result).toEqual({ issues: [{ message: expect.any(String), path: ['card', 'number'] }] })
  expect(JSON.stringify(result)).not.toContain('no word of it')
})

describe('JSON Schema', () => {
  const show = (
    schema: v.GenericSchema | v.GenericSchemaAsync,
    side: 'input' | 'output' = 'input',
    target = 'draft-07',
  ) => {
    const { $schema: _, ...shown } = valibot(schema)['~standard'].jsonSchema[side]({ target })
    return shown
  }

  test('leaves out what only narrows', () => {
    const name = v.pipe(
      v.string(),
      v.trim(),
      v.toLowerCase(),
      v.check((text) => text !== ''),
      v.regex(/^a/),
      v.regex(/b$/),
      v.regex(/case/i),
      v.brand('Name'),
      v.readonly(),
    )
    expect(show(name)).toEqual({ type: 'string', pattern: '^a', allOf: [{ pattern: 'b$' }] })
    expect(show(v.pipe(v.string(), v.regex(/case/i), v.description('Said')))).toEqual({
      type: 'string',
      description: 'Said',
    })
    expect(show(v.pipe(v.array(v.string()), v.mapItems(Number)))).toEqual({ type: 'array', items: { type: 'string' } })
    expect(
      show(
        v.pipe(
          v.object({ a: v.string() }),
          v.forward(
            v.partialCheck([['a']], () => true),
            ['a'],
          ),
        ),
      ),
    ).toMatchObject({ type: 'object', required: ['a'] })
  })

  test('says what stands where Valibot’s converter gives up', () => {
    expect(show(v.record(v.picklist(['a', 'b']), v.number()))).toEqual({
      type: 'object',
      propertyNames: { enum: ['a', 'b'], type: 'string' },
      additionalProperties: { type: 'number' },
    })
    expect(show(v.required(v.object({ a: v.optional(v.string()) })))).toMatchObject({
      properties: { a: { type: 'string' } },
      required: ['a'],
    })
    expect(show(v.union([v.string(), v.undefined()]))).toEqual({ anyOf: [{ type: 'string' }, { not: {} }] })
  })

  test('tells the two sides apart', () => {
    const size = v.pipe(v.string(), v.toNumber())
    expect([show(size), show(size, 'output')]).toEqual([{ type: 'string' }, { type: 'number' }])
    const since = v.pipe(v.string(), v.toDate())
    expect([show(since), show(since, 'output')]).toEqual([{ type: 'string' }, { type: 'string', format: 'date-time' }])
    expect(show(v.date(), 'output')).toEqual({ type: 'string', format: 'date-time' })
    expect(() => show(schemas.transforming, 'output')).toThrow(/transform/)
  })

  test.each<[string, v.GenericSchema]>([
    ['date', v.date()],
    ['bigint', v.bigint()],
    ['map', v.map(v.string(), v.string())],
    ['set', v.set(v.string())],
    ['instance', v.instance(URL)],
    ['custom', v.custom(() => true)],
    ['symbol', v.symbol()],
    ['blob', v.blob()],
  ])('is refused where there are no words: %s', (name, schema) => {
    expect(() => show(v.object({ outer: v.array(schema) }))).toThrow(new RegExp(`"${name}"`))
  })

  test('is refused for a target that nobody knows', () => {
    expect(() => show(v.string(), 'input', 'draft-99')).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining('draft-99') }),
    )
  })
})

test('what is no Valibot schema is refused at once', () => {
  for (const schema of [undefined, null, {}, { type: 'object' }, { '~standard': { vendor: 'zod' } }]) {
    expect(() => valibot(schema as never)).toThrow(expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }))
  }
})
