import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'

import { ajv } from '../../../validators/ajv.ts'

const fromJson = ajv(new Ajv({ allErrors: true }))
const place = {
  type: 'object',
  properties: { city: { type: 'string' }, 'a/b': { type: 'array', items: { type: 'integer' } } },
  required: ['city'],
  additionalProperties: false,
} as const

describe('Ajv as a Standard Schema', () => {
  test('a valid value comes back as it is', () => {
    const value = { city: 'Oslo' }
    expect(fromJson(place)['~standard'].validate(value)).toEqual({ value })
  })

  test('issues have the path as a list and name the property', () => {
    expect(fromJson(place)['~standard'].validate({ cty: 1, 'a/b': [1, 'x'] })).toEqual({
      issues: [
        { message: "must have required property 'city'", path: [] },
        { message: 'must NOT have additional properties: "cty"', path: [] },
        { message: 'must be integer', path: ['a/b', 1] },
      ],
    })
  })

  test('the schema is shown as a copy', () => {
    const shown = fromJson(place)['~standard'].jsonSchema.input({ target: 'draft-07' })
    expect(shown).toEqual(place)
    expect(shown).not.toBe(place)
  })

  test('a schema that Ajv refuses is refused at once, and so is one that would answer later', () => {
    expect(() => fromJson({ type: 'strnig' })).toThrow(/type/)
    expect(() => fromJson({ $async: true, type: 'string' } as object)).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' }),
    )
  })
})
