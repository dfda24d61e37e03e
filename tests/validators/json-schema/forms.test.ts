import type { JsonSchema } from 'toolwright'
import { describe, expect, test } from 'vitest'

import { compile, type CompileOptions, SchemaError } from '../../../validators/json-schema/_engine.ts'

function refusal(schema: unknown, options?: CompileOptions): SchemaError {
  try {
    compile(schema as JsonSchema, options)
  } catch (error) {
    if (error instanceof SchemaError) return error
    throw error
  }
  throw new Error('the schema was accepted')
}

describe('a keyword of the wrong form is refused, with its place', () => {
  test.each([
    ['pattern that is a list', { pattern: ['x'] }, '#/pattern'],
    ['required that is a string', { required: 'a' }, '#/required'],
    ['required that holds a number', { required: [1] }, '#/required'],
    ['type that does not exist', { type: 'strnig' }, '#/type'],
    ['type that is an empty list', { type: [] }, '#/type'],
    ['type with one that does not exist', { type: ['string', 'date'] }, '#/type'],
    ['minimum that is a string', { minimum: '3' }, '#/minimum'],
    ['exclusiveMinimum of draft 04', { minimum: 1, exclusiveMinimum: true }, '#/exclusiveMinimum'],
    ['multipleOf zero', { multipleOf: 0 }, '#/multipleOf'],
    ['minLength below zero', { minLength: -1 }, '#/minLength'],
    ['maxItems with a fraction', { maxItems: 1.5 }, '#/maxItems'],
    ['uniqueItems that is a string', { uniqueItems: 'true' }, '#/uniqueItems'],
    ['enum that is an object', { enum: { a: 1 } }, '#/enum'],
    ['properties that are a list', { properties: [] }, '#/properties'],
    ['property that is no schema', { properties: { a: 'string' } }, '#/properties'],
    ['items that are a list', { items: [{ type: 'string' }] }, '#/items'],
    ['allOf that is empty', { allOf: [] }, '#/allOf'],
    ['anyOf that is a schema', { anyOf: { type: 'string' } }, '#/anyOf'],
    ['not that is a list', { not: [] }, '#/not'],
    ['$ref that is a number', { $ref: 1 }, '#/$ref'],
    ['dependentRequired that maps to a string', { dependentRequired: { a: 'b' } }, '#/dependentRequired'],
    ['additionalProperties that is null', { additionalProperties: null }, '#/additionalProperties'],
    ['format that is a number', { format: 1 }, '#/format'],
  ])('%s', (_title, schema, at) => {
    expect(refusal(schema)).toMatchObject({ code: 'form', at, message: expect.stringContaining(`(at ${at})`) })
  })

  test('the place is a JSON pointer, however deep it is', () => {
    const schema = { properties: { 'a/b': { items: { anyOf: [true, { $defs: { 'c~d': { type: 3 } } }] } } } }
    expect(refusal(schema).at).toBe('#/properties/a~1b/items/anyOf/1/$defs/c~0d/type')
  })

  test('also where no value could get', () => {
    expect(refusal({ $defs: { unused: { minimum: '3' } } }).at).toBe('#/$defs/unused/minimum')
  })

  test('and in a document, whose address is part of the place', () => {
    const documents = { 'https://a.example/x': { items: { type: 'strnig' } } }
    expect(refusal({ $ref: 'https://a.example/x' }, { documents }).at).toBe('https://a.example/x#/items/type')
  })

  test('data may look like anything', () => {
    const data = { type: 'strnig', pattern: ['x'] }
    expect(compile({ const: data, enum: [data], default: data, examples: [data] })(data)).toBeUndefined()
  })

  test('a keyword that the draft does not know is an annotation', () => {
    expect(compile({ prefixItems: 1 } as never, { draft: '07' })([])).toBeUndefined()
    expect(compile({ items: [{ type: 'string' }] }, { draft: '07' })([1])).toHaveLength(1)
    expect(compile({ additionalItems: 1 } as never)([])).toBeUndefined()
  })
})

describe('a schema is JSON', () => {
  const cycle: Record<string, unknown> = {}
  cycle['properties'] = { again: cycle }
  test.each([
    ['a function', { default: () => 1 }, 'not-json'],
    ['a date', { const: new Date(0) }, 'not-json'],
    ['a symbol', { const: Symbol('x') }, 'not-json'],
    ['a bigint', { const: 1n }, 'not-json'],
    ['NaN', { minimum: Number.NaN }, 'not-json'],
    ['infinity', { maximum: Infinity }, 'not-json'],
    ['undefined in a list', { enum: [undefined] }, 'not-json'],
    [
      'a getter that throws',
      {
        get type(): string {
          throw new Error('no')
        },
      },
      'not-json',
    ],
    ['an object within itself', cycle, 'too-deep'],
    ['a string', 'string', 'form'],
    ['null', null, 'form'],
    ['a list', [], 'form'],
    ['a number', 1, 'form'],
    ['nothing', undefined, 'not-json'],
  ])('%s is refused', (_title, schema, code) => {
    expect(refusal(schema).code).toBe(code)
  })

  test('members that are undefined are not there', () => {
    expect(
      compile({ type: undefined, minimum: undefined, additionalProperties: undefined } as never)(1),
    ).toBeUndefined()
  })
})

describe('dialects', () => {
  test.each(['http://json-schema.org/draft-04/schema#', 'https://example.com/my-dialect', 'nonsense'])(
    'a schema of the unknown dialect %s is refused',
    ($schema) => {
      expect(refusal({ $schema })).toMatchObject({ code: 'dialect', at: '#/$schema' })
    },
  )

  test('$schema goes before the draft that was given', () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }
    expect(compile(schema, { draft: '2020-12' })([1])).toHaveLength(1)
  })

  test('a dialect that needs an unknown vocabulary is refused', () => {
    const documents = {
      'https://a.example/meta': {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $vocabulary: { 'https://a.example/vocab': true },
      } as JsonSchema,
    }
    expect(refusal({ $schema: 'https://a.example/meta' }, { documents }).code).toBe('dialect')
  })

  test('dialects that name each other are refused', () => {
    const documents = {
      'https://a.example/one': { $schema: 'https://a.example/two' },
      'https://a.example/two': { $schema: 'https://a.example/one' },
    }
    expect(refusal({ $schema: 'https://a.example/one' }, { documents }).code).toBe('dialect')
  })
})

test('a pattern that is no regular expression is refused', () => {
  expect(refusal({ properties: { a: { pattern: '(' } } })).toMatchObject({
    code: 'pattern',
    at: '#/properties/a/pattern',
  })
  expect(refusal({ patternProperties: { '[': true } })).toMatchObject({ code: 'pattern', at: '#/patternProperties' })
})

test('formats are tested only if their test is given', () => {
  const schema = { format: 'even' }
  expect(compile(schema)('abc')).toBeUndefined()
  const formats = { even: (text: string) => text.length % 2 === 0 }
  expect(compile(schema, { formats })('abc')).toEqual([{ message: 'must be a valid even, got "abc"', path: [] }])
  expect(compile(schema, { formats })(3)).toBeUndefined()
})

test('an id with a fragment is refused, and so is one that is too long', () => {
  expect(refusal({ $defs: { a: { $id: '#a' } } })).toMatchObject({ code: 'uri' })
  expect(refusal({ $id: `https://a.example/${'x'.repeat(2_000)}` })).toMatchObject({ code: 'uri' })
  expect(refusal({ $id: 'https://[' })).toMatchObject({ code: 'uri' })
})
