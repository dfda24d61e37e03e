import { Tool, tool, type SpooledArtifact } from 'toolwright'
import type { EmptyInput } from 'toolwright/extension'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { describe, expectTypeOf, test } from 'vitest'
import * as z from 'zod'

const name = 'forecast'
const description = 'Weather forecast'
const inputSchema = z.object({ city: z.string(), days: z.number().default(3) })
interface Sent {
  city: string
  days?: number | undefined
}
interface Parsed {
  city: string
  days: number
}

describe('new Tool infers what tool() infers', () => {
  test('from a Standard Schema', () => {
    const made = new Tool({
      name,
      description,
      inputSchema,
      handler: (input) => {
        expectTypeOf(input).toEqualTypeOf<Parsed>()
        return input.days
      },
    })
    expectTypeOf(made).toEqualTypeOf<Tool<Sent, number, never, SpooledArtifact, Parsed>>()
    expectTypeOf(made).toEqualTypeOf(tool({ name, description, inputSchema, handler: ({ days }) => days }))
  })

  test('from raw JSON Schema', () => {
    const made = new Tool({
      name,
      description,
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      handler: async ({ city }) => city.length,
    })
    expectTypeOf(made).toEqualTypeOf<Tool<{ city: string }, number, never>>()
  })

  test('from nothing, and from a generator', () => {
    const now = new Tool({ name, description, handler: () => 5 })
    expectTypeOf(now).toEqualTypeOf<Tool<void, number, never, SpooledArtifact, EmptyInput>>()
    const counting = new Tool({
      name,
      description,
      inputSchema,
      handler: async function* ({ days }) {
        yield { percent: days }
        return 'done'
      },
    })
    expectTypeOf(counting).toEqualTypeOf<Tool<Sent, string, { percent: number }, SpooledArtifact, Parsed>>()
  })

  test('and refuses what tool() refuses', () => {
    // @ts-expect-error -- a tool that runs here needs a handler
    void new Tool({ name, description, inputSchema })
    // @ts-expect-error -- the handler returns what `outputSchema` takes
    void new Tool({ name, description, inputSchema, outputSchema: z.number(), handler: () => 'x' })
    // @ts-expect-error -- the field is called `inputSchema`
    void new Tool({ name, description, parameters: inputSchema, handler: () => 'x' })
    // @ts-expect-error -- the handler takes what the schema gives
    void new Tool({ name, description, inputSchema, handler: (input: { town: string }) => input.town })
    void new Tool({ name, description, inputSchema, type: 'client' })
  })
})

describe('a class that extends Tool', () => {
  test('gives its types to the handler', () => {
    class Forecast extends Tool<{ city: string }, string> {
      constructor() {
        super({
          name,
          description,
          inputSchema: z.object({ city: z.string() }),
          handler: ({ city }) => this.phrase(city),
          hooks: { preToolUse: ({ input }) => (input.city === '' ? { decision: 'deny' } : undefined) },
        })
      }

      phrase(city: string): string {
        return `${this.name}: ${city}`
      }
    }
    expectTypeOf(new Forecast().invoke({ city: 'Rome' })).toEqualTypeOf<Promise<string>>()
    expectTypeOf(new Forecast().validate({})).toEqualTypeOf<Promise<{ city: string }>>()
  })

  test('tells the handler what validation returns, if that differs from what callers send', () => {
    class Forecast extends Tool<Sent, number, never, SpooledArtifact, Parsed> {}
    const made = new Forecast({ name, description, inputSchema, handler: ({ days }) => days })
    expectTypeOf(made.validate({})).toEqualTypeOf<Promise<Parsed>>()
    // @ts-expect-error -- the class promises a number
    void new Forecast({ name, description, inputSchema, handler: ({ city }) => city })
    // @ts-expect-error -- the schema lacks the city
    void new Forecast({ name, description, inputSchema: z.object({ town: z.string() }), handler: () => 1 })
  })

  test('may leave its types out', () => {
    class Special extends Tool {
      constructor() {
        super({ name, description, inputSchema, handler: ({ city }) => String(city) })
      }
    }
    expectTypeOf(new Special().validate({})).toEqualTypeOf<Promise<unknown>>()
    const tools: Tool[] = [new Special(), tool({ name, description, inputSchema, handler: ({ days }) => days })]
    expectTypeOf(tools).toEqualTypeOf<Tool[]>()
  })
})

describe('what a typed tool knows of its input', () => {
  test('validate returns what the schema gives back', () => {
    expectTypeOf(tool({ name, description, inputSchema, handler: () => 1 }).validate({})).toEqualTypeOf<
      Promise<Parsed>
    >()
    const wire = jsonSchema<{ a: string }, { a: number }>({ type: 'object' }, { origin: 'wire' })
    const made = tool({ name, description, inputSchema: wire, handler: () => 1 })
    expectTypeOf(made.validate({})).toEqualTypeOf<Promise<{ a: number }>>()
  })

  test('its hooks and its middleware get the input of the handler', () => {
    const made = tool({
      name,
      description,
      inputSchema,
      hooks: {
        preToolUse: ({ input }) => {
          expectTypeOf(input).toEqualTypeOf<Parsed>()
          return input.days > 5 ? { decision: 'ask' } : undefined
        },
        postToolUse: ({ input }) => {
          expectTypeOf(input).toEqualTypeOf<Parsed>()
          return undefined
        },
      },
      middleware: [
        async ({ input }, _context, next) => {
          expectTypeOf(input).toEqualTypeOf<Parsed>()
          return next()
        },
      ],
      handler: ({ days }) => days,
    })
    expectTypeOf(made).toEqualTypeOf<Tool<Sent, number, never, SpooledArtifact, Parsed>>()
    void made.with({ hooks: { preToolUse: ({ input }) => (input.days > 5 ? { decision: 'ask' } : undefined) } })
  })
})
