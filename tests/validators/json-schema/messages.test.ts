import type { JsonSchema } from 'toolwright'
import { describe, expect, test } from 'vitest'

import { compile } from '../../../validators/json-schema/_engine.ts'

/** Issues as lines: the path, then the message. */
function issues(schema: JsonSchema, value: unknown): string[] {
  return (compile(schema)(value) ?? []).map(({ path, message }) => `/${path.join('/')} ${message}`)
}

const place: JsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
}

describe('each issue says what was expected and what came', () => {
  test.each<[JsonSchema, unknown, string]>([
    [{ type: 'integer' }, 'three', '/ must be integer, got string "three"'],
    [{ type: 'integer' }, 3.5, '/ must be integer, got number 3.5'],
    [{ type: ['string', 'null'] }, true, '/ must be one of string, null, got boolean true'],
    [{ type: 'object' }, [1], '/ must be object, got array'],
    [{ type: 'array' }, { a: 1 }, '/ must be array, got object'],
    [{ type: 'string' }, null, '/ must be string, got null'],
    [{ type: 'string' }, undefined, '/ must be string, got undefined'],
    [{ type: 'number' }, Number.NaN, '/ must be number, got NaN'],
    [{ type: ['number', 'null'] }, Infinity, '/ must be one of number, null, got Infinity'],
    [{ const: 'asc' }, 'ASC', '/ must be "asc", got string "ASC"'],
    [{ enum: ['asc', 'desc', 1, null] }, 2, '/ must be one of "asc", "desc", 1, null, got number 2'],
    [{ minimum: 1 }, 0, '/ must be >= 1, got 0'],
    [{ maximum: 1 }, 2, '/ must be <= 1, got 2'],
    [{ exclusiveMinimum: 1 }, 1, '/ must be > 1, got 1'],
    [{ exclusiveMaximum: 1 }, 1, '/ must be < 1, got 1'],
    [{ multipleOf: 0.5 }, 0.7, '/ must be a multiple of 0.5, got 0.7'],
    [{ minLength: 3 }, 'a', '/ length must be >= 3, got 1'],
    [{ maxLength: 1 }, '😀😀', '/ length must be <= 1, got 2'],
    [{ pattern: '^[a-z]+$' }, 'A1', '/ must match the pattern "^[a-z]+$", got "A1"'],
    [{ minItems: 1 }, [], '/ number of items must be >= 1, got 0'],
    [{ maxItems: 1 }, [1, 2], '/ number of items must be <= 1, got 2'],
    [{ uniqueItems: true }, [1, 2, 1], '/ items 0 and 2 are equal'],
    [{ contains: { type: 'string' } }, [1], '/ must contain at least 1 fitting items, got 0'],
    [{ contains: true, maxContains: 2 }, [1, 2, 3], '/ must contain 1 to 2 fitting items, got 3'],
    [{ minProperties: 2 }, { a: 1 }, '/ number of properties must be >= 2, got 1'],
    [
      { propertyNames: { pattern: '^[a-z]+$' } },
      { A: 1 },
      '/ property name "A": must match the pattern "^[a-z]+$", got "A"',
    ],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, '/ missing property "b", required by "a"'],
    [{ not: { type: 'string' } }, 'x', '/ must not fit "not"'],
    [{ properties: { a: false } }, { a: 1 }, '/a must not be there'],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, '/ fits alternatives 1 and 2; must fit exactly one'],
    // oxlint-disable-next-line unicorn/no-thenable -- it is a keyword
    [{ if: { type: 'string' }, then: { minLength: 2 } }, 'x', '/ length must be >= 2, got 1'],
    [{ unevaluatedProperties: false }, { a: 1 }, '/a must not be there'],
    [{ prefixItems: [true], unevaluatedItems: false }, [1, 2], '/1 must not be there'],
    [false, 1, '/ must not be there'],
  ])('%j refuses %j', (schema, value, line) => {
    expect(issues(schema, value)).toEqual([line])
  })

  test('a missing property is told at the object, and named', () => {
    expect(issues({ properties: { places: { items: place } } }, { places: [{ city: 'Oslo' }, {}] })).toEqual([
      '/places/1 missing required property "city"',
    ])
  })

  test('several issues are told together', () => {
    expect(issues(place, { days: 0, city: 7, when: 1 })).toEqual([
      '/days must be >= 1, got 0',
      '/city must be string, got number 7',
      '/ unknown property "when"; allowed: city, days',
    ])
  })

  test('an unknown property is told with those that are known, and with the one that was probably meant', () => {
    expect(issues(place, { cty: 'Oslo' })).toEqual([
      '/ missing required property "city"',
      '/ unknown property "cty"; did you mean "city"? allowed: city, days',
    ])
    expect(issues(place, { City: 'Oslo', city: 'Oslo' })).toEqual(['/ unknown property "City"; allowed: city, days'])
    expect(issues({ additionalProperties: false }, { a: 1 })).toEqual(['/ unknown property "a"; allowed: none'])
  })

  test.each([
    ['citty', 'city'],
    ['ctiy', 'city'],
    ['CITY', 'city'],
    ['cit', 'city'],
    ['dayz', 'days'],
  ])('%s was probably meant to be %s', (written, meant) => {
    expect(issues(place, { city: 'x', [written]: 1 }).join()).toMatch(
      meant === 'city' ? 'allowed' : `did you mean "${meant}"?`,
    )
    expect(issues({ ...(place as object), required: [] }, { [written]: 1 }).join()).toMatch(`did you mean "${meant}"?`)
  })

  test('nothing is suggested for a name that is like none', () => {
    expect(issues(place, { city: 'x', temperature: 1 })).toEqual([
      '/ unknown property "temperature"; allowed: city, days',
    ])
  })
})

describe('alternatives', () => {
  const shapes: JsonSchema = {
    oneOf: [
      { properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind', 'radius'] },
      { properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
      { type: 'string' },
    ],
  }

  test('the one whose constant matches is the closest, even if it fails in more places', () => {
    expect(issues(shapes, { kind: 'square', side: 'x' })).toEqual([
      '/ fits none of 3 alternatives; the closest is number 2',
      '/side must be number, got string "x"',
    ])
    expect(issues({ properties: { shape: shapes } }, { shape: { kind: 'circle', side: 2 } })).toEqual([
      '/shape fits none of 3 alternatives; the closest is number 1',
      '/shape missing required property "radius"',
    ])
  })

  test('if no constant matches, all of them are listed', () => {
    expect(issues(shapes, { kind: 'circel', radius: 1, side: 2 })).toEqual([
      '/kind must be one of "circle", "square", got string "circel"',
    ])
  })

  test('if no type matches, all of them are listed', () => {
    expect(issues({ anyOf: [{ type: 'string' }, { type: 'null' }, { type: ['null', 'boolean'] }] }, 3)).toEqual([
      '/ must be one of string, null, boolean, got number 3',
    ])
    expect(issues({ items: { anyOf: [{ const: 1 }, { const: 'a' }] } }, [2])).toEqual([
      '/0 must be one of 1, "a", got number 2',
    ])
  })

  test('alternatives within alternatives are told once', () => {
    expect(issues({ anyOf: [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'boolean' }] }, 3)).toEqual([
      '/ must be one of string, null, boolean, got number 3',
    ])
  })
})

describe('messages stay short and of one line', () => {
  test('at most eight issues', () => {
    expect(
      issues(
        { items: { type: 'string' } },
        Array.from({ length: 100 }, () => 1),
      ),
    ).toHaveLength(8)
    expect(issues({ required: Array.from({ length: 100 }, (_, index) => `p${index}`) }, {})).toHaveLength(8)
  })

  test('values are cut', () => {
    const [line] = issues({ type: 'integer' }, 'x'.repeat(100_000))
    expect(line).toBe(`/ must be integer, got string "${'x'.repeat(58)}…`)
    expect(issues({ enum: [{ a: 'x'.repeat(1_000) }] }, 1)[0]!.length).toBeLessThan(120)
    expect(issues({ additionalProperties: false }, { ['x'.repeat(1_000)]: 1 })[0]!.length).toBeLessThan(120)
  })

  test('lists are cut', () => {
    const names = Array.from({ length: 100 }, (_, index) => `p${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, true]))
    expect(issues({ properties, additionalProperties: false }, { nothing: 1 })).toEqual([
      `/ unknown property "nothing"; allowed: ${names.slice(0, 12).join(', ')}, …`,
    ])
  })

  test('control characters and those that turn the text around are escaped', () => {
    const [line] = issues({ const: 1 }, '\u001b[31m\n\u202e\u2028\u200b\u009b')
    expect(line).toBe('/ must be 1, got string "\\u001b[31m\\n\\u202e\\u2028\\u200b\\u009b"')
    expect(issues({ additionalProperties: false }, { 'a\nb': 1 })).toEqual([
      '/ unknown property "a\\nb"; allowed: none',
    ])
  })

  test('values that are not JSON are shown all the same', () => {
    const schema: JsonSchema = { items: { type: 'string' } }
    expect(
      issues(schema, [1n, Symbol('x'), () => 1, new Map(), new Date(0)]).map((line) => line.split('got ')[1]),
    ).toEqual(['bigint', 'symbol', 'function', 'object', 'object'])
  })

  test('a value that changes between two looks is refused all the same', () => {
    let looks = 0
    const value = {
      get a(): unknown {
        return looks++ === 0 ? 1 : 'x'
      },
    }
    expect(issues({ properties: { a: { type: 'string' } } }, value)).toEqual(['/ does not fit the schema'])
  })
})
