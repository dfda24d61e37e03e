import type { JsonSchema } from 'toolwright'
import { describe, expect, test } from 'vitest'

import { jsonSchema } from '../../../validators/json-schema.ts'

const place = { type: 'object', properties: { city: { type: 'string', default: 'Oslo' } }, required: ['city'] } as const

describe('a raw JSON Schema as a Standard Schema', () => {
  test('a valid value comes back as it is, without defaults', () => {
    const value = {}
    expect(jsonSchema({ ...place, required: [] })['~standard'].validate(value)).toEqual({ value: {} })
  })

  test('an invalid value gives issues', () => {
    expect(jsonSchema(place)['~standard'].validate({ city: 1 })).toEqual({
      issues: [{ message: 'must be string, got number 1', path: ['city'] }],
    })
  })

  test('it is a Standard Schema of version 1', () => {
    expect(jsonSchema(true)['~standard']).toMatchObject({ version: 1, vendor: 'json-schema' })
  })

  test('a bad schema is refused at once, with its place', () => {
    expect(() => jsonSchema({ properties: { a: { type: 'strnig' } } })).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining('#/properties/a/type') }),
    )
  })

  test('documents and formats are passed on', () => {
    const documents = { 'https://a.example/even': { format: 'even' } }
    const formats = { even: (text: string) => text.length % 2 === 0 }
    const schema = jsonSchema({ $ref: 'https://a.example/even' }, { documents, formats })
    expect(schema['~standard'].validate('abc')).toHaveProperty('issues')
  })
})

describe('the schema is shown', () => {
  const show = (schema: JsonSchema, target: string, draft?: '07'): unknown =>
    jsonSchema(schema, draft ? { draft } : {})['~standard'].jsonSchema.input({ target })

  test('as a copy that may be changed', () => {
    const schema = jsonSchema(place)
    const shown = schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' })
    expect(shown).toEqual(place)
    delete shown['type']
    expect(schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' })).toEqual(place)
  })

  test('for every draft that reads all of it alike', () => {
    for (const target of ['draft-2020-12', 'draft-2019-09', 'draft-07']) expect(show(place, target)).toEqual(place)
  })

  test('with the $schema of the draft that was asked for', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#'
    expect(show({ $schema, type: 'string' }, 'draft-07')).toEqual({ $schema, type: 'string' })
    expect(show({ $schema, type: 'string' }, 'draft-2020-12')).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'string',
    })
  })

  test('booleans as objects', () => {
    expect(show(true, 'draft-07')).toEqual({})
    expect(show(false, 'draft-07')).toEqual({ not: {} })
  })

  test.each<[string, JsonSchema, string, '07' | undefined]>([
    ['prefixItems', { properties: { a: { prefixItems: [true] } } }, 'draft-07', undefined],
    ['unevaluatedProperties', { unevaluatedProperties: false }, 'draft-07', undefined],
    ['keywords beside $ref', { $ref: '#/$defs/a', minLength: 1, $defs: { a: true } }, 'draft-07', undefined],
    [
      'keywords beside $ref',
      { $ref: '#/definitions/a', minLength: 1, definitions: { a: true } },
      'draft-2020-12',
      '07',
    ],
    ['a list of items', { items: [true] }, 'draft-2020-12', '07'],
    ['a local id', { definitions: { a: { $id: '#a' } } }, 'draft-2020-12', '07'],
    ['anything', {}, 'openapi-3.0', undefined],
  ])('but not with %s that would be lost: %j as %s', (_title, schema, target, draft) => {
    expect(() => show(schema, target, draft)).toThrow(expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }))
  })

  test('a reference alone is shown for every draft', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }
    expect(show(schema, 'draft-07')).toEqual(schema)
  })
})
