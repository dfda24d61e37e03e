import { jsonSchema } from 'toolwright/validators/json-schema'
import { tool, Tool, type ToolConfig, type ToolContext, type ToolHandler } from 'toolwright'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'

it('STR-09 a handler may take the context or leave it, and what it takes has the context’s type', () => {
  const inputSchema = z.object({ a: z.number() })
  tool({ name: 'a', description: 'a', inputSchema, handler: () => 1 })
  tool({ name: 'a', description: 'a', inputSchema, handler: (input) => input.a })
  tool({
    name: 'a',
    description: 'a',
    inputSchema,
    handler: (input, context) => {
      expectTypeOf(context).toEqualTypeOf<ToolContext>()
      return input.a
    },
  })
  // @ts-expect-error -- there is no third argument
  tool({ name: 'a', description: 'a', inputSchema, handler: (_input, _context, _third: string) => 1 })
  // @ts-expect-error -- the second argument is the context
  tool({ name: 'a', description: 'a', inputSchema, handler: (_input, _context: string) => 1 })
})

it('STR-21 the input of a handler is what its schema gives, and a call takes what its schema takes', () => {
  const zod = tool({
    name: 'zod',
    description: 'Zod',
    inputSchema: z.object({ city: z.string(), days: z.number().default(3) }),
    handler: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>()
      return input.days
    },
  })
  expectTypeOf(zod).toExtend<Tool<{ city: string; days?: number | undefined }, number>>()
  expectTypeOf(zod).parameter(0).toEqualTypeOf<{ city: string; days?: number | undefined }>()
  expectTypeOf(zod).returns.resolves.toEqualTypeOf<number>()

  const raw = tool({
    name: 'raw',
    description: 'Raw',
    inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['a'] },
    handler: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ a: number; b?: string }>()
      return input.b
    },
  })
  expectTypeOf(raw).returns.resolves.toEqualTypeOf<string | undefined>()

  tool({
    name: 'loaded',
    description: 'Loaded',
    inputSchema: jsonSchema<{ a: number }>(JSON.parse('{}') as object),
    handler: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ a: number }>()
    },
  })
})

it('STR-18 a tool is a Tool and a function that returns a promise of what the handler returns', () => {
  const made = tool({ name: 'a', description: 'a', inputSchema: z.object({ a: z.number() }), handler: ({ a }) => [a] })
  expectTypeOf(made).toExtend<Tool>()
  expectTypeOf(made).toBeCallableWith({ a: 1 })
  expectTypeOf(made).returns.toEqualTypeOf<Promise<number[]>>()
})

it('STR-24 tool is exported, and the types of its config and its handler', () => {
  expectTypeOf(tool).toBeFunction()
  expectTypeOf<ToolConfig<undefined, object, undefined, never, 'server'>>().toHaveProperty('description')
  expectTypeOf<ToolHandler<{ a: number }, string>>().toBeFunction()
  expectTypeOf<ToolHandler<{ a: number }, string>>().parameter(0).toEqualTypeOf<{ a: number }>()
})
