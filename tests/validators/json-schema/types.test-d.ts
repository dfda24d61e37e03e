import type { JsonSchema, StandardJSONSchemaV1, StandardSchemaV1 } from 'toolwright'
import { expectTypeOf, test } from 'vitest'

import { jsonSchema } from '../../../validators/json-schema.ts'

const loaded = JSON.parse('{}') as JsonSchema

test('the types are read from a literal', () => {
  const schema = jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' }, unit: { enum: ['c', 'f'] } },
    required: ['city'],
  })
  type Expected = { city: string; days?: number; unit?: 'c' | 'f' }
  expectTypeOf<StandardSchemaV1.InferInput<typeof schema>>().toEqualTypeOf<Expected>()
  expectTypeOf<StandardSchemaV1.InferOutput<typeof schema>>().toEqualTypeOf<Expected>()
  expectTypeOf(schema).toExtend<StandardSchemaV1<Expected>>()
  expectTypeOf(schema).toExtend<StandardJSONSchemaV1<Expected>>()
})

test('options do not change that', () => {
  const schema = jsonSchema({ type: 'array', items: { type: 'number' } }, { origin: 'wire', draft: '07' })
  expectTypeOf<StandardSchemaV1.InferInput<typeof schema>>().toEqualTypeOf<number[]>()
})

test('the types can be given, also where they look like a schema', () => {
  const titled = jsonSchema<{ title: string; type: 'note' }>(loaded)
  expectTypeOf<StandardSchemaV1.InferInput<typeof titled>>().toEqualTypeOf<{ title: string; type: 'note' }>()
  expectTypeOf<StandardSchemaV1.InferOutput<typeof titled>>().toEqualTypeOf<{ title: string; type: 'note' }>()
  const both = jsonSchema<{ when: string }, { when: Date }>({ type: 'object' })
  expectTypeOf<StandardSchemaV1.InferInput<typeof both>>().toEqualTypeOf<{ when: string }>()
  expectTypeOf<StandardSchemaV1.InferOutput<typeof both>>().toEqualTypeOf<{ when: Date }>()
})

test('a schema from a file describes some object', () => {
  const schema = jsonSchema(loaded)
  expectTypeOf<StandardSchemaV1.InferInput<typeof schema>>().toEqualTypeOf<Record<string, unknown>>()
})

test('what is no schema is a type error', () => {
  // @ts-expect-error a schema is an object or a boolean
  jsonSchema('string')
  // @ts-expect-error minimum is a number
  jsonSchema({ minimum: '3' })
  // @ts-expect-error there is no such origin
  jsonSchema(true, { origin: 'web' })
})
