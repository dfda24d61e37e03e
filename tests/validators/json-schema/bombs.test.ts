import type { JsonSchema } from 'toolwright'
import { describe, expect, test } from 'vitest'

import { compile, type CompileOptions } from '../../../validators/json-schema/_engine.ts'

/** A format that counts how often it is asked, as a measure of the work that was done. */
function counted(): { asked: () => number; options: CompileOptions } {
  let asked = 0
  return {
    asked: () => asked,
    options: {
      formats: {
        counted: () => {
          asked++
          return true
        },
      },
    },
  }
}

function nested(depth: number, innermost: unknown = 'end'): unknown {
  let value = innermost
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

const stopped = { message: 'cannot be checked: more than 2000000 steps', path: [] }
const tooDeep = { message: 'cannot be checked: more than 1000 levels', path: [] }

describe('references that never end are refused when the schema is compiled', () => {
  const cycles: [string, JsonSchema][] = [
    ['to the root', { $ref: '#' }],
    ['to one another', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
    ['through allOf', { allOf: [{ anyOf: [true, { $ref: '#' }] }] }],
    ['through not', { not: { $ref: '#' } }],
    ['through a condition', { if: { $ref: '#' } }],
    ['through a dependency', { dependentSchemas: { a: { $ref: '#' } } }],
    ['by an anchor', { $anchor: 'me', oneOf: [{ $ref: '#me' }] }],
    ['by an id', { $id: 'https://a.example/me', allOf: [{ $ref: 'https://a.example/me' }] }],
  ]
  test.each(cycles)('%s', (_title, schema) => {
    expect(() => compile(schema)).toThrow(expect.objectContaining({ code: 'cycle' }))
  })

  test('one that goes down into the value is a fine schema', () => {
    const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }
    expect(compile(tree)({ children: [{ children: [] }] })).toBeUndefined()
    expect(compile(tree)({ children: [{ children: [1] }] })).toEqual([
      { message: 'must be object, got number 1', path: ['children', 0, 'children', 0] },
    ])
  })

  test('a dynamic one is stopped when it happens', () => {
    const check = compile({ $dynamicAnchor: 'me', allOf: [{ $dynamicRef: '#me' }] })
    expect(check(1)).toEqual([tooDeep])
  })
})

describe('work is bounded, and what cannot be decided is refused', () => {
  test('31 nested pairs of references', () => {
    const $defs: Record<string, JsonSchema> = { d0: { format: 'counted' } }
    for (let level = 1; level <= 31; level++) {
      const $ref = `#/$defs/d${level - 1}`
      $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] }
    }
    const { asked, options } = counted()
    const check = compile({ $ref: '#/$defs/d31', $defs }, options)
    expect(check('x')).toEqual([stopped])
    expect(asked()).toBeGreaterThan(1_000)
    expect(asked()).toBeLessThanOrEqual(2_000_000)
  })

  test('alternatives that double with each level of the value', () => {
    const { asked, options } = counted()
    const list: JsonSchema = { type: 'array', items: { $ref: '#' } }
    const check = compile({ oneOf: [list, list, { type: 'string', format: 'counted' }] }, options)
    expect(check(nested(40))).toEqual([stopped])
    expect(asked()).toBeLessThanOrEqual(2_000_000)
  })

  test('unevaluated members that are carried up through alternatives', () => {
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, 1]))
    let schema: JsonSchema = { additionalProperties: true }
    for (let level = 0; level < 100; level++) schema = { anyOf: [schema, true] }
    const check = compile({ allOf: Array.from({ length: 100 }, () => schema), unevaluatedProperties: false })
    expect(check(wide)).toEqual([stopped])
  })

  test('items that are compared with each other cost what their size is', () => {
    const item = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, 1]))
    expect(compile({ uniqueItems: true })(Array.from({ length: 2_500 }, () => item))).toHaveLength(1)
    const different = Array.from({ length: 2_500 }, (_, index) => ({ ...item, index }))
    expect(compile({ uniqueItems: true })(different)).toEqual([stopped])
  })

  describe('also where a schema looks at a large value many times', () => {
    const many = (schema: JsonSchema): JsonSchema => ({
      $defs: { one: schema },
      anyOf: Array.from({ length: 20_000 }, () => ({ $ref: '#/$defs/one' })),
    })
    const names = Array.from({ length: 20_000 }, (_, index) => `p${index}`)
    const wide = Object.fromEntries([...names.map((name) => [name, 1]), ['last', 'x']])
    const dependencies = Object.fromEntries(names.map((name) => [name, ['x']]))
    const cases: [string, JsonSchema, unknown][] = [
      ['to fail at its last member', many({ additionalProperties: { type: 'integer' } }), wide],
      ['to fail at its last item', many({ items: { type: 'integer' } }), [...names.map(() => 1), 'x']],
      ['to count its members', many({ minProperties: 1_000_000 }), wide],
      ['to compare it with a constant', many({ const: { ...wide, last: 'y' } }), wide],
      ['to compare it with a list', many({ const: [...names, 'y'] }), [...names, 'x']],
      ['to find no name in it', many({ propertyNames: { maxLength: 5 } }), { ...wide, 'too long': 1 }],
      ['to look for what it needs', { items: { dependentRequired: dependencies } }, names.map(() => ({}))],
      ['to look for missing items', many({ contains: { const: 'x' } }), names],
    ]
    test.each(cases)('%s', (_title, schema, value) => {
      expect(compile(schema)(value)).toEqual([stopped])
    })

    test('to explain what is allowed', () => {
      const properties = Object.fromEntries(names.map((name) => [name, true]))
      const closed = compile(many({ properties, additionalProperties: false }))
      expect(closed({ wrong: 1 })).toHaveLength(1)
      const listed = compile(many({ enum: names }))
      expect(listed('wrong')).toHaveLength(1)
    })
  })

  test('the explanation of a refusal has a smaller budget than the decision', () => {
    const { asked, options } = counted()
    const schema = { items: { format: 'counted' }, contains: false }
    expect(compile(schema, options)(Array.from({ length: 500_000 }, () => 'x'))).toEqual([
      { message: 'does not fit the schema', path: [] },
    ])
    expect(asked()).toBeLessThanOrEqual(700_000)
  })

  test('the budget can be set', () => {
    const check = compile({ items: { type: 'integer' } }, { steps: 100 })
    expect(check(Array.from({ length: 90 }, () => 1))).toBeUndefined()
    expect(check(Array.from({ length: 101 }, () => 1))).toEqual([
      { message: 'cannot be checked: more than 100 steps', path: [] },
    ])
  })

  test('a million members are no problem', () => {
    expect(compile({ items: { type: 'integer' } })(Array.from({ length: 1_000_000 }, () => 1))).toBeUndefined()
  })
})

describe('depth is bounded', () => {
  const tree: JsonSchema = { items: { $ref: '#' } }

  test('a value of 20,000 levels is refused where the schema follows it', () => {
    expect(compile(tree)(nested(20_000))).toEqual([tooDeep])
    expect(compile({ $dynamicAnchor: 'n', items: { $dynamicRef: '#n' } })(nested(20_000))).toEqual([tooDeep])
    expect(compile({ uniqueItems: true })([nested(20_000), 1])).toEqual([tooDeep])
  })

  test('and is no problem where it does not', () => {
    expect(compile({ type: 'array' })(nested(20_000))).toBeUndefined()
    expect(compile({ enum: [1, [[1]]] })(nested(20_000))).toHaveLength(1)
  })

  test('a value of 256 levels passes', () => {
    expect(
      compile({ $ref: '#/$defs/n', $defs: { n: { allOf: [{ items: { $ref: '#/$defs/n' } }] } } })(nested(256)),
    ).toBeUndefined()
  })

  test('a value within itself is refused', () => {
    const loop: unknown[] = []
    loop.push(loop)
    expect(compile(tree)(loop)).toEqual([tooDeep])
  })

  test('a check that has little stack left refuses too', () => {
    const check = compile(tree)
    const value = nested(500)
    function atTheEnd(): unknown {
      try {
        return atTheEnd()
      } catch {
        return check(value)
      }
    }
    // Somewhere on the way back up there is enough stack again; what matters is that nothing else is ever thrown.
    expect(() => atTheEnd()).not.toThrow(SyntaxError)
  })

  test('a schema of 300 levels is refused', () => {
    let schema: JsonSchema = true
    for (let level = 0; level < 300; level++) schema = { not: schema }
    expect(() => compile(schema)).toThrow(expect.objectContaining({ code: 'too-deep' }))
  })
})

describe('large schemas', () => {
  test('an enum of 2,000 strings', () => {
    const check = compile({ enum: Array.from({ length: 2_000 }, (_, index) => `value ${index}`) })
    expect(check('value 1999')).toBeUndefined()
    const [issue] = check('value 2000')!
    expect(issue!.message).toMatch(/^must be one of "value 0", .*, "value 11", …, got string "value 2000"$/)
  })

  test('2,000 local references', () => {
    const $defs: Record<string, JsonSchema> = {}
    const properties: Record<string, JsonSchema> = {}
    for (let index = 0; index < 2_000; index++) {
      $defs[`d${index}`] = { type: 'integer' }
      properties[`p${index}`] = { $ref: `#/$defs/d${index}` }
    }
    const check = compile({ properties, $defs })
    expect(check({ p0: 1, p1999: 1 })).toBeUndefined()
    expect(check({ p1999: 'x' })).toEqual([{ message: 'must be integer, got string "x"', path: ['p1999'] }])
  })

  test('5,000 properties, all of them required', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `p${index}`)
    const schema = {
      properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
      required: names,
      additionalProperties: false,
    }
    const check = compile(schema)
    expect(check(Object.fromEntries(names.map((name) => [name, 1])))).toBeUndefined()
    expect(check({})).toHaveLength(8)
  })

  test('one of more than 100,000 values is refused', () => {
    const schema = { enum: Array.from({ length: 100_001 }, (_, index) => index) }
    expect(() => compile(schema)).toThrow(expect.objectContaining({ code: 'too-large' }))
    expect(() => compile({ description: 'x'.repeat(7_000_000) })).toThrow(
      expect.objectContaining({ code: 'too-large' }),
    )
  })

  test('20,000 dynamic references among 1,000 resources are compiled once each', () => {
    const $defs: Record<string, JsonSchema> = {}
    for (let index = 0; index < 1_000; index++) {
      $defs[`d${index}`] = {
        $id: `https://a.example/${index}`,
        $dynamicAnchor: 'n',
        properties: Object.fromEntries(Array.from({ length: 20 }, (_, name) => [`p${name}`, { $dynamicRef: '#n' }])),
      }
    }
    const check = compile({ $ref: 'https://a.example/0', $defs })
    expect(check({ p0: { p19: {} } })).toBeUndefined()
  })
})
