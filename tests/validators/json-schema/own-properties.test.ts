import type { JsonSchema } from 'toolwright'
import { describe, expect, test } from 'vitest'

import { compile, SchemaError } from '../../../validators/json-schema/_engine.ts'

// Schemas and values are JSON text here: in a JavaScript literal `__proto__` would set the prototype.
function isValid(schema: string, value: string): boolean {
  return compile(JSON.parse(schema))(JSON.parse(value)) === undefined
}

describe('only own properties count', () => {
  test.each([
    ['a required name that every object inherits is missing', '{"required":["toString"]}', '{}', false],
    ['a required `constructor` is missing', '{"required":["constructor"]}', '{}', false],
    ['a required `__proto__` is missing', '{"required":["__proto__"]}', '{}', false],
    ['a required `__proto__` of its own is there', '{"required":["__proto__"]}', '{"__proto__":1}', true],
    ['an inherited constructor is no property', '{"properties":{"constructor":{"type":"number"}}}', '{}', true],
    ['an own constructor is one', '{"properties":{"constructor":{"type":"number"}}}', '{"constructor":"x"}', false],
    ['an inherited toString is no property', '{"properties":{"toString":{"type":"number"}}}', '{}', true],
    ['an own toString is one', '{"properties":{"toString":{"type":"number"}}}', '{"toString":"x"}', false],
    ['an own `__proto__` is one', '{"properties":{"__proto__":{"type":"number"}}}', '{"__proto__":"x"}', false],
    ['nothing depends on an inherited name', '{"dependentRequired":{"toString":["b"]}}', '{"a":1}', true],
    ['an inherited name does not meet a dependency', '{"dependentRequired":{"a":["valueOf"]}}', '{"a":1}', false],
    ['no schema depends on an inherited name', '{"dependentSchemas":{"hasOwnProperty":false}}', '{"a":1}', true],
    ['`__proto__` is an additional property', '{"additionalProperties":false}', '{"__proto__":1}', false],
    [
      '`__proto__` is one beside known properties',
      '{"properties":{"a":true},"required":["a"],"additionalProperties":false}',
      '{"a":1,"__proto__":1}',
      false,
    ],
    ['its value is checked', '{"additionalProperties":{"type":"number"}}', '{"__proto__":"s"}', false],
    ['`__proto__` can be unevaluated', '{"unevaluatedProperties":false}', '{"__proto__":1}', false],
    ['`__proto__` is a property name', '{"propertyNames":{"maxLength":3}}', '{"__proto__":1}', false],
    ['a constant is compared by its own members', '{"const":{"a":1}}', '{"__proto__":1}', false],
    ['an inherited member makes no constant', '{"const":{"toString":1}}', '{"a":1}', false],
    ['`__proto__` is data in an enum', '{"enum":[{"__proto__":1}]}', '{"__proto__":1}', true],
    ['`__proto__` tells items apart', '{"uniqueItems":true}', '[{"__proto__":1},{"__proto__":2},{}]', true],
  ])('%s', (_title, schema, value, expected) => {
    expect(isValid(schema, value)).toBe(expected)
  })

  test('what a prototype holds is neither there nor unknown', () => {
    const value = Object.create({ city: 'Oslo' }) as object
    expect(compile({ required: ['city'] })(value)).toHaveLength(1)
    expect(compile({ additionalProperties: false })(value)).toBeUndefined()
  })

  test('an unknown format with an inherited name is an annotation', () => {
    expect(compile({ format: 'toString' }, { formats: {} })('x')).toBeUndefined()
  })

  test('documents are found by own names only', () => {
    expect(() => compile({ $ref: 'https://a.example/constructor' }, { documents: {} })).toThrow(SchemaError)
  })
})

describe('references and the like mean what they say', () => {
  test.each([
    [
      'a definition may be called constructor',
      '{"$ref":"#/$defs/constructor","$defs":{"constructor":{"type":"number"}}}',
      '1',
      true,
    ],
    [
      'a definition may be called `__proto__`',
      '{"$ref":"#/$defs/__proto__","$defs":{"__proto__":{"type":"number"}}}',
      '"1"',
      false,
    ],
    [
      'a property called const holds a schema with an anchor',
      '{"properties":{"const":{"$anchor":"a","type":"number"},"x":{"$ref":"#a"}}}',
      '{"x":"1"}',
      false,
    ],
    ['a name is compared whole', '{"properties":{"a":{}},"additionalProperties":false}', '{"a\\n":1}', false],
    ['a name may hold a slash', '{"properties":{"a-b/c":{}},"additionalProperties":false}', '{"a-b/c":1}', true],
    ['decimals divide as they were written', '{"multipleOf":0.01}', '19.99', true],
    ['tiny divisors are not rounded away', '{"multipleOf":1e-11}', '1.5e-11', false],
    ['large numbers divide exactly', '{"multipleOf":0.123456789}', '1e308', false],
    [
      'items of different types are different',
      '{"uniqueItems":true}',
      '[1,"1",true,null,[],{},"[]","{}","null"]',
      true,
    ],
    [
      'equal items are equal whatever their order of members',
      '{"uniqueItems":true}',
      '[{"a":1,"b":2},{"b":2,"a":1}]',
      false,
    ],
    ['zero has one sign', '{"uniqueItems":true}', '[0,-0]', false],
    ['an unknown keyword is an annotation', '{"~refine":[{"check":1}]}', '"y"', true],
    ['a surrogate pair is one character', '{"minLength":2}', '"\\ud83d\\ude00"', false],
    ['two surrogate pairs are two', '{"maxLength":2}', '"\\ud83d\\ude00\\ud83d\\ude00"', true],
    ['a default is an annotation', '{"properties":{"a":{"default":1}},"required":["a"]}', '{}', false],
  ])('%s', (_title, schema, value, expected) => {
    expect(isValid(schema, value)).toBe(expected)
  })

  test.each([
    [
      'a definition somewhere else',
      '{"properties":{"a":{"definitions":{"q":{"type":"number"}}}},"$ref":"#/definitions/q"}',
      'unresolved',
    ],
    ['an anchor in data', '{"default":{"$anchor":"zz","type":"number"},"$ref":"#zz"}', 'unresolved'],
    ['a value that is no schema', '{"$ref":"#/$defs/a/title","$defs":{"a":{"title":"x"}}}', 'unresolved'],
    ['the length of a list', '{"$ref":"#/allOf/length","allOf":[true]}', 'unresolved'],
    ['an inherited name', '{"$ref":"#/$defs/constructor","$defs":{}}', 'unresolved'],
    ['a web page', '{"$ref":"https://example.com/schema.json"}', 'remote'],
    ['a file', '{"$ref":"file:///etc/passwd"}', 'remote'],
    ['a relative address', '{"$ref":"other.json#/x"}', 'remote'],
    ['something that is no reference', '{"$ref":"#%"}', 'uri'],
  ])('a reference to %s is refused', (_title, schema, code) => {
    expect(() => compile(JSON.parse(schema))).toThrow(expect.objectContaining({ name: 'SchemaError', code }))
  })

  test('what no reference reaches may refer to what is not there', () => {
    expect(compile({ $defs: { unused: { $ref: '#/$defs/gone' } } })(1)).toBeUndefined()
  })

  test('two schemas cannot have one id, nor one anchor', () => {
    const twice = { $id: 'https://a.example/one', type: 'string' }
    expect(() => compile({ $defs: { a: twice, b: twice } })).toThrow(expect.objectContaining({ code: 'duplicate' }))
    const anchored = { $anchor: 'one' }
    expect(() => compile({ $defs: { a: anchored, b: anchored } })).toThrow(
      expect.objectContaining({ code: 'duplicate' }),
    )
  })

  test('a schema cannot take the place of the one that it stands in', () => {
    const schema = { $id: 'https://a.example/one', $ref: '#/$defs/a', $defs: { a: { $id: '#' }, b: { $id: 'one' } } }
    expect(() => compile(schema)).toThrow(expect.objectContaining({ code: 'duplicate' }))
  })

  test('a schema outside the known keywords can be referred to by its pointer', () => {
    const check = compile({
      $ref: '#/components/schemas/city',
      components: { schemas: { city: { type: 'string' } } },
    } as never)
    expect(check('Oslo')).toBeUndefined()
    expect(check(1)).toHaveLength(1)
  })

  test('documents are found by their address, and refer to each other from their own id', () => {
    const documents: Record<string, JsonSchema> = {
      'https://a.example/city': { $id: 'https://b.example/places/city', $ref: 'name#/$defs/short' },
      'https://b.example/places/name': { $defs: { short: { type: 'string', maxLength: 5 } } },
    }
    const check = compile({ $ref: 'https://a.example/city' }, { documents })
    expect(check('Oslo')).toBeUndefined()
    expect(check('Reykjavik')).toHaveLength(1)
  })

  test('the schema is copied: what is done to it later has no effect', () => {
    const schema = { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }
    const check = compile(schema)
    schema.required.push('b')
    schema.properties.a.type = 'number'
    expect(check({ a: 'x' })).toBeUndefined()
  })

  test('the same value gets the same answer after others', () => {
    const check = compile({
      anyOf: [{ properties: { a: true } }, { properties: { b: true } }],
      unevaluatedProperties: false,
    })
    for (let round = 0; round < 3; round++) {
      expect(check({ a: 1, b: 2 })).toBeUndefined()
      expect(check({ c: 1 })).toHaveLength(1)
    }
  })
})
