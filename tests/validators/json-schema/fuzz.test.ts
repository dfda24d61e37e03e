import type { JsonSchema } from 'toolwright'
import { Ajv, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fastCheck from 'fast-check'
import { describe, expect, test } from 'vitest'

import { compile, SchemaError } from '../../../validators/json-schema/_engine.ts'

const runs = Number(process.env['FUZZ_RUNS'] ?? 2_000)
const patience = 30_000 + runs * 20

type Draft = '07' | '2019-09' | '2020-12'
interface Schema {
  [keyword: string]: unknown
}

// Names and values are few, so that schemas and values meet often.
const name = fastCheck.constantFrom('a', 'b', 'c', 'd')
const scalar = fastCheck.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  -1,
  2,
  3,
  4,
  0.5,
  1e20,
  '',
  'a',
  'b',
  'ab',
  'abc',
  '😀',
  '1',
)
const value = fastCheck.letrec<{ value: unknown }>((tie) => ({
  value: fastCheck.oneof(
    { depthSize: 'small', maxDepth: 3 },
    scalar,
    fastCheck.array(tie('value'), { maxLength: 4 }),
    fastCheck.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const typeName = fastCheck.constantFrom(...types)
const size = fastCheck.integer({ min: 0, max: 3 })
const bound = fastCheck.constantFrom(-1, 0, 0.5, 1, 2, 3)
const pattern = fastCheck.constantFrom('^a', 'b$', '^[ab]*$', '.', '^\\d+$', '^.{2}$')
const names = fastCheck.uniqueArray(name, { maxLength: 3 })
const reference = fastCheck.constantFrom('#/$defs/a', '#/$defs/b', '#/$defs/c')

/** Schemas of a draft, with everything in them that Ajv can be trusted with. */
function schemaOf(draft: Draft): fastCheck.Arbitrary<Schema> {
  const isModern = draft !== '07'
  return fastCheck.letrec<{ schema: unknown; object: Schema; map: unknown; list: unknown }>((tie) => ({
    schema: fastCheck.oneof(
      { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
      { weight: 1, arbitrary: fastCheck.boolean() },
      { weight: 6, arbitrary: tie('object') },
    ),
    map: fastCheck.dictionary(name, tie('schema'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    list: fastCheck.array(tie('schema'), { minLength: 1, maxLength: 3 }),
    object: fastCheck
      .array(
        fastCheck.oneof(
          ...keyword('type', typeName, fastCheck.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
          ...keyword('const', value),
          ...keyword(
            'enum',
            fastCheck.uniqueArray(value, { minLength: 1, maxLength: 4, selector: (each) => JSON.stringify(each) }),
          ),
          ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].flatMap((word) => keyword(word, bound)),
          // 1e20 and 0.1 are left out on purpose: Ajv divides in binary.
          ...keyword('multipleOf', fastCheck.constantFrom(1, 2, 0.5)),
          ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].flatMap((word) =>
            keyword(word, size),
          ),
          ...keyword('pattern', pattern),
          ...keyword('uniqueItems', fastCheck.boolean()),
          ...keyword('required', names),
          ...keyword('properties', tie('map')),
          ...keyword(
            'patternProperties',
            fastCheck.dictionary(fastCheck.constantFrom('^a', '[bc]', '.'), tie('schema'), {
              maxKeys: 2,
              noNullPrototype: true,
            }),
          ),
          ...['additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else', 'contains'].flatMap((word) =>
            keyword(word, tie('schema')),
          ),
          ...['allOf', 'anyOf', 'oneOf'].flatMap((word) => keyword(word, tie('list'))),
          ...keyword('items', ...(draft === '2020-12' ? [tie('schema')] : [tie('schema'), tie('list')])),
          ...(draft === '2020-12' ? keyword('prefixItems', tie('list')) : keyword('additionalItems', tie('schema'))),
          ...(isModern
            ? [
                ...['minContains', 'maxContains'].flatMap((word) => keyword(word, size)),
                ...keyword(
                  'dependentRequired',
                  fastCheck.dictionary(name, names, { maxKeys: 2, noNullPrototype: true }),
                ),
                ...keyword('dependentSchemas', tie('map')),
                ...['unevaluatedProperties', 'unevaluatedItems'].flatMap((word) => keyword(word, tie('schema'))),
                ...keyword('$ref', reference),
              ]
            : keyword(
                'dependencies',
                fastCheck.dictionary(name, fastCheck.oneof(names, tie('schema')), {
                  maxKeys: 2,
                  noNullPrototype: true,
                }),
              )),
        ),
        { maxLength: 5 },
      )
      .map((members) => Object.fromEntries(members)),
  })).object
}

function keyword(word: string, ...values: fastCheck.Arbitrary<unknown>[]): fastCheck.Arbitrary<[string, unknown]>[] {
  return values.map((each) => each.map((chosen): [string, unknown] => [word, chosen]))
}

const options: Options = { strict: false, validateSchema: false, allErrors: false, logger: false, addUsedSchema: false }
const rivals: Record<Draft, () => Pick<Ajv, 'compile'>> = {
  '07': () => new Ajv(options),
  '2019-09': () => new Ajv2019(options),
  '2020-12': () => new Ajv2020(options),
}

/** Where Ajv 8 departs from the standard; each was checked against the words of the specification. */
function isMistakenByAjv(schema: unknown, draft: Draft): boolean {
  const text = JSON.stringify(schema)
  const unevaluated = text.includes('"unevaluated')
  return (
    // What `contains` has looked at counts as evaluated in 2020-12 for the items that fit only, and in 2019-09 for none.
    (text.includes('"unevaluatedItems"') && text.includes('"contains"')) ||
    // It gathers what was evaluated when it compiles, and loses track where several schemas are asked about one value.
    (unevaluated && /"(?:anyOf|oneOf|if|not|dependentSchemas|allOf|\$ref)"/.test(text)) ||
    // A list of items is no longer than the list, so that the unevaluated ones begin there.
    (draft === '2019-09' && text.includes('"unevaluatedItems"') && /"items":\[/.test(text)) ||
    // `minContains` without `contains` says nothing, and `minContains: 0` is not a reason to skip `maxContains`.
    text.includes('"minContains":0')
  )
}

/** Ajv's verdict, where it has one to rely on. */
function ask(rival: (value: unknown) => unknown, schema: unknown, candidate: unknown): boolean | undefined {
  // It lets an array pass that has to contain something if it is empty, or no longer than a list of items.
  const text = JSON.stringify(schema)
  if (
    text.includes('"contains"') &&
    (/"(?:prefixItems|items)":\[/.test(text) || JSON.stringify(candidate).includes('[]'))
  )
    return undefined
  try {
    return rival(candidate) === true
  } catch (error) {
    // Its generated code sometimes reads what it has not set, as with `patternProperties` beside `anyOf`.
    expect(String(error)).toMatch(/^(?:TypeError|ReferenceError)/)
    return undefined
  }
}

describe.each(Object.keys(rivals) as Draft[])('draft %s', (draft) => {
  test('generated schemas and values are judged as Ajv judges them', { timeout: patience }, () => {
    const counts = { compared: 0, valid: 0 }
    const definitions = fastCheck.record({
      a: schemaOf(draft),
      b: schemaOf(draft),
      c: fastCheck.constant({ items: { $ref: '#/$defs/c' } }),
    })
    fastCheck.assert(
      fastCheck.property(
        schemaOf(draft),
        definitions,
        fastCheck.array(value, { minLength: 4, maxLength: 8 }),
        (top, $defs, values) => {
          const schema = draft === '07' ? top : { ...top, $defs }
          if (isMistakenByAjv(schema, draft)) return
          let check: ReturnType<typeof compile>
          try {
            check = compile(schema, { draft })
          } catch (error) {
            // The definitions may refer to each other in a circle.
            expect(error).toMatchObject({ name: 'SchemaError', code: 'cycle' })
            return
          }
          const rival = rivals[draft]().compile(schema)
          for (const each of values) {
            const issues = check(each)
            const verdict = ask(rival, schema, each)
            if (verdict === undefined) continue
            counts.compared++
            if (issues === undefined) counts.valid++
            else expect(issues.length).toBeGreaterThan(0)
            expect({ value: each, isValid: issues === undefined }).toEqual({ value: each, isValid: verdict })
          }
        },
      ),
      { numRuns: Math.max(300, Math.ceil(runs / 5)) },
    )
    expect(counts.compared).toBeGreaterThan(runs / 5)
    expect(counts.valid / counts.compared).toBeGreaterThan(0.1)
    expect(counts.valid / counts.compared).toBeLessThan(0.9)
  })
})

describe('garbage', () => {
  const words = [
    '$ref',
    '$id',
    '$anchor',
    '$dynamicRef',
    '$dynamicAnchor',
    '$recursiveRef',
    '$recursiveAnchor',
    '$schema',
    '$defs',
    'definitions',
    'type',
  ]
    .concat([
      'const',
      'enum',
      'minimum',
      'multipleOf',
      'maxLength',
      'pattern',
      'format',
      'items',
      'prefixItems',
      'additionalItems',
      'contains',
      'minContains',
    ])
    .concat([
      'uniqueItems',
      'required',
      'properties',
      'patternProperties',
      'additionalProperties',
      'propertyNames',
      'dependentRequired',
      'dependencies',
    ])
    .concat([
      'dependentSchemas',
      'allOf',
      'anyOf',
      'oneOf',
      'not',
      'if',
      'then',
      'else',
      'unevaluatedItems',
      'unevaluatedProperties',
      '$vocabulary',
      '__proto__',
      'x',
    ])
  const texts = [
    '#',
    '#/',
    '#/$defs/a',
    '#a',
    'a',
    '#%',
    '#/%ff',
    '//',
    'http://[',
    'urn:x',
    '?',
    '',
    'https://a.example/',
    'string',
    'object',
    '(',
    '[a-z]+',
    '\ud800',
  ].concat([
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ])
  const garbage = fastCheck.letrec<{ any: unknown; schema: unknown }>((tie) => ({
    any: fastCheck.oneof(
      { depthSize: 'small', maxDepth: 6 },
      fastCheck.constantFrom<unknown>(...texts),
      fastCheck.constantFrom<unknown>(
        null,
        true,
        false,
        0,
        1,
        -1,
        1.5,
        Number.NaN,
        undefined,
        1n,
        Symbol('x'),
        () => 1,
        new Date(0),
        new Map(),
        /x/,
      ),
      fastCheck.array(tie('any'), { maxLength: 3 }),
      fastCheck.dictionary(fastCheck.constantFrom('a', 'b', ...words), tie('any'), { maxKeys: 5 }),
      fastCheck.dictionary(fastCheck.constantFrom('a', 'b', ...words), tie('schema'), { maxKeys: 5 }),
      fastCheck.array(tie('schema'), { minLength: 1, maxLength: 3 }),
    ),
    // Half right, so that more than the forms is tried.
    schema: fastCheck.oneof(
      { depthSize: 'small', maxDepth: 6 },
      fastCheck.boolean(),
      fastCheck.dictionary(fastCheck.constantFrom(...words), tie('any'), { maxKeys: 5 }),
      fastCheck.record(
        {
          $ref: fastCheck.constantFrom('#', '#/$defs/a', '#/$defs/b', '#a', 'a', 'https://a.example/'),
          $dynamicRef: fastCheck.constantFrom('#a', '#', 'a#a'),
          $dynamicAnchor: fastCheck.constantFrom('a', 'b'),
          $id: fastCheck.constantFrom('a', 'b', 'https://a.example/', 'urn:x', '#a'),
          $defs: fastCheck.dictionary(fastCheck.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
          properties: fastCheck.dictionary(fastCheck.constantFrom('a', '__proto__'), tie('schema'), { maxKeys: 2 }),
          items: tie('schema'),
          anyOf: fastCheck.array(tie('schema'), { minLength: 1, maxLength: 3 }),
          unevaluatedProperties: tie('schema'),
        },
        { requiredKeys: [] },
      ),
    ),
  }))

  test('as a schema is refused with a SchemaError or can be used', { timeout: patience }, () => {
    const counts = { refused: 0, used: 0 }
    const draft = fastCheck.constantFrom<Draft>('07', '2019-09', '2020-12')
    const schema = fastCheck.oneof({ weight: 1, arbitrary: garbage.any }, { weight: 3, arbitrary: garbage.schema })
    fastCheck.assert(
      fastCheck.property(schema, draft, garbage.any, (candidate, chosen, data) => {
        let check: ReturnType<typeof compile>
        try {
          check = compile(candidate as JsonSchema, {
            draft: chosen,
            documents: { 'https://a.example/': { $ref: '#/$defs/a', $defs: { a: true } } },
          })
        } catch (error) {
          expect(error).toBeInstanceOf(SchemaError)
          counts.refused++
          return
        }
        counts.used++
        for (const each of [data, { a: data }, [data, data]]) expect(check(each)?.length ?? 1).toBeGreaterThan(0)
      }),
      { numRuns: runs },
    )
    expect(counts.refused).toBeGreaterThan(runs / 20)
    expect(counts.used).toBeGreaterThan(runs / 20)
    expect(Object.prototype).not.toHaveProperty('a')
  })
})
