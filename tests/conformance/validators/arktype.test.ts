import { scope, type, type Type } from 'arktype'
import { createExecutor, tool } from 'toolwright'
import { arktype } from 'toolwright/validators/arktype'
import { describe, expect, test } from 'vitest'
import { validatorConformance } from './_suite.ts'

const schemas = {
  order: type({
    city: type('string > 0').describe('The city'),
    days: 'number.integer <= 10 = 3',
    'unit?': '"c" | "f"',
    items: type({ name: type('string').describe('Its name'), 'tags?': 'string[]' }).array(),
  }),
  ownProperty: type({ toString: 'string' }),
  closed: type({ city: 'string', '+': 'reject' }),
  transforming: type({ since: type('string').pipe((text) => new Date(text)) }),
}

const traits = { fillsDefaults: true, unknownProperties: 'kept' } as const

validatorConformance('arktype(type)', {
  ...traits,
  order: arktype(schemas.order),
  ownProperty: arktype(schemas.ownProperty),
  closed: arktype(schemas.closed),
  transforming: arktype(schemas.transforming),
  unsayable: arktype(type({ since: 'Date' }) as never),
})

describe('a plain ArkType type', () => {
  const plain = tool({ name: 'plain', description: 'x', inputSchema: schemas.order, handler: ({ days }) => days })

  test('is a function, and validates all the same', async () => {
    expect(schemas.order).toBeTypeOf('function')
    const executor = createExecutor({ tools: [plain] })
    expect(await executor.execute({ name: 'plain', args: { city: 'Oslo', items: [] } })).toMatchObject({
      status: 'ok',
      content: [{ text: '3' }],
    })
    const result = await executor.execute({
      name: 'plain',
      args: { city: 'Oslo', items: [{ name: 'a' }, { name: 1 }] },
    })
    expect(result.error).toMatchObject({ code: 'E_INVALID_TOOL_ARGS', issues: [{ path: ['items', 1, 'name'] }] })
  })

  test('is shown to a model', () => {
    expect(plain.describe().inputSchema).toMatchObject({ type: 'object', required: ['city', 'items'] })
  })
})

const validate = (of: Type, value: unknown) => arktype(of)['~standard'].validate(value)

describe('a promise is never taken for a yes', () => {
  const answers = [() => Promise.resolve(false), () => Promise.resolve(true), () => Promise.reject(new Error('down'))]

  test.each<[string, (lookUp: () => Promise<boolean>) => Type]>([
    ['a narrow', (lookUp) => type('string').narrow(lookUp as never)],
    ['a narrow in an object', (lookUp) => type({ id: type('string').narrow(lookUp as never) })],
    ['a narrow in a list', (lookUp) => type({ id: type('string').narrow(lookUp as never) }).array()],
    ['a narrow of an object', (lookUp) => type({ id: 'string' }).narrow(lookUp as never)],
    ['a narrow in a union', (lookUp) => type({ id: type('string').narrow(lookUp as never) }).or('number[]')],
    ['a morph', (lookUp) => type({ id: type('string').pipe(lookUp) })],
    ['a morph of a morph', (lookUp) => type({ id: type('string').pipe((id) => id, lookUp) })],
  ])('from %s', (_title, typeOf) => {
    for (const lookUp of answers) {
      for (const value of ['known', { id: 'known' }, [{ id: 'known' }]]) {
        let answer: unknown
        try {
          answer = validate(typeOf(lookUp), value)
        } catch (error) {
          answer = error
        }
        if (answer instanceof Error) expect(answer.message).toContain('promise')
        else expect(answer).toHaveProperty('issues')
      }
    }
  })

  test('and the call breaks before the handler', async () => {
    let runs = 0
    const inputSchema = arktype(type({ id: type('string').narrow((() => Promise.resolve(false)) as never) }))
    const probe = tool({ name: 'probe', description: 'x', inputSchema, handler: () => ++runs })
    const result = await createExecutor({ tools: [probe] }).execute({ name: 'probe', args: { id: 'x' } })
    expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_VALIDATOR_FAILED' } })
    expect(runs).toBe(0)
  })
})

test('narrows and morphs that answer at once work as ever', () => {
  const id = type('string')
    .narrow((text, traversal) => text.startsWith('a') || traversal.reject('text that starts with a'))
    .pipe((text) => text.length)
  const both = type({
    id,
    'next?': ['string.numeric.parse', '|', 'boolean'],
    list: type('string.integer.parse').array(),
  })
  expect(validate(both, { id: 'abc', next: '5', list: ['1'] })).toEqual({ value: { id: 3, next: 5, list: [1] } })
  expect(validate(both, { id: 'b', next: true, list: [] })).toEqual({
    issues: [{ message: expect.stringContaining('text that starts with a'), path: ['id'] }],
  })
  expect(validate(both, { id: 'a', list: [1] })).toMatchObject({ issues: [{ path: ['list', 0] }] })
})

test('recursive types with narrows are validated all the way down', () => {
  const { node } = scope({
    node: { id: 'name', 'next?': 'node' },
    name: type('string').narrow((id) => id !== 'x'),
  }).export()
  expect(validate(node as never, { id: 'a', next: { id: 'b' } })).toEqual({ value: { id: 'a', next: { id: 'b' } } })
  expect(validate(node as never, { id: 'a', next: { id: 'x' } })).toMatchObject({ issues: [{ path: ['next', 'id'] }] })
})

test('an issue says what is wrong, and leaves the place to its path', () => {
  expect(validate(type({ items: type({ name: 'string' }).array() }), { items: [{ name: 1 }] })).toEqual({
    issues: [{ message: 'must be a string (was a number)', path: ['items', 0, 'name'] }],
  })
})

describe('JSON Schema', () => {
  const show = (of: Type, side: 'input' | 'output' = 'input', target = 'draft-2020-12') => {
    const { $schema: _, ...shown } = arktype(of)['~standard'].jsonSchema[side]({ target })
    return shown
  }

  test('leaves out what only narrows', () => {
    expect(show(type('string').narrow(() => true))).toEqual({ type: 'string' })
    expect(show(type('/^a/ & /b$/'))).toMatchObject({ allOf: [expect.anything(), { pattern: 'b$' }] })
    expect(show(type('string|undefined'))).toEqual({ anyOf: [{ type: 'string' }, { not: {} }] })
  })

  test('tells the two sides apart', () => {
    const both = type({ days: 'number = 3', since: 'string.date.parse' })
    expect(show(both)).toEqual({
      type: 'object',
      properties: { days: { type: 'number', default: 3 }, since: { type: 'string' } },
      required: ['since'],
    })
    expect(show(both, 'output')).toEqual({
      type: 'object',
      properties: { days: { type: 'number' }, since: { type: 'string', format: 'date-time' } },
      required: ['days', 'since'],
    })
    expect(() => show(schemas.transforming, 'output')).toThrow(/the result of a morph/)
  })

  test.each<[string, Type]>([
    ['Date', type('Date')],
    ['bigint', type('bigint')],
    ['symbol', type('symbol')],
    ['Map', type('Map')],
    ['Set', type('Set')],
    ['Promise', type('Promise')],
  ])('is refused where there are no words: %s', (name, of) => {
    expect(() => show(type({ outer: of.array() }))).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining(name) }),
    )
  })

  test('is refused for a target that nobody knows', () => {
    expect(() => show(type('string'), 'input', 'draft-99')).toThrow(/draft-99/)
    expect(show(type(['string', 'number']), 'input', 'draft-07')).toMatchObject({ type: 'array' })
  })
})

test('what is no ArkType type is refused at once', () => {
  for (const value of [undefined, null, {}, { type: 'object' }, () => true]) {
    expect(() => arktype(value as never)).toThrow(expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }))
  }
})
