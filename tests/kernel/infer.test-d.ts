import { Type as OldType } from '@sinclair/typebox'
import { type } from 'arktype'
import {
  tool,
  type InputOf,
  type JsonSchema,
  type OutputOf,
  type SpooledArtifact,
  type Tool,
  type ToolContext,
} from 'toolwright'
import type { EmptyInput } from 'toolwright/extension'
import { arktype } from 'toolwright/validators/arktype'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { sinclairTypebox } from 'toolwright/validators/sinclair-typebox'
import { typebox } from 'toolwright/validators/typebox'
import { valibot } from 'toolwright/validators/valibot'
import { zod } from 'toolwright/validators/zod'
import { Type } from 'typebox'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'

/** What a caller sends, and what the handler gets. */
interface Sent {
  city: string
  days?: number | undefined
  unit?: 'c' | 'f' | undefined
  since: string
}
interface Got {
  city: string
  days: number
  unit?: 'c' | 'f' | undefined
  since: Date
}

/** The same without what the library has no words for. */
interface Plain {
  city: string
  days?: number
  unit?: 'c' | 'f'
}

type Made<Input, Result, Progress, Parsed> = Tool<Input, Result, Progress, SpooledArtifact, Parsed>

const name = 'forecast'
const description = 'Weather forecast'

describe('the handler gets what validation gives back, a caller sends what it takes in', () => {
  const zodSchema = z.object({
    city: z.string(),
    days: z.number().default(3),
    unit: z.enum(['c', 'f']).optional(),
    since: z.iso.date().transform((text) => new Date(text)),
  })

  test('Zod', () => {
    const forecast = tool({
      name,
      description,
      inputSchema: zodSchema,
      handler(input, context) {
        expectTypeOf(input).toEqualTypeOf<Got>()
        expectTypeOf(context).toEqualTypeOf<ToolContext>()
        return input.days
      },
    })
    expectTypeOf(forecast).toEqualTypeOf<Made<Sent, number, never, Got>>()
    expectTypeOf(forecast).parameter(0).toEqualTypeOf<Sent>()
    expectTypeOf(forecast).returns.toEqualTypeOf<Promise<number>>()
  })

  test('Zod, wrapped', () => {
    const inputSchema = zod(zodSchema)
    expectTypeOf<InputOf<typeof inputSchema>>().toEqualTypeOf<Sent>()
    expectTypeOf<OutputOf<typeof inputSchema>>().toEqualTypeOf<Got>()
    const forecast = tool({ name, description, inputSchema, handler: ({ since }) => since })
    expectTypeOf(forecast).toEqualTypeOf<Made<Sent, Date, never, Got>>()
  })

  test('Zod mini, plain and wrapped', () => {
    const inputSchema = mini.object({
      city: mini.string(),
      days: mini._default(mini.number(), 3),
      unit: mini.optional(mini.enum(['c', 'f'])),
      since: mini.pipe(
        mini.iso.date(),
        mini.transform((text) => new Date(text)),
      ),
    })
    const plain = tool({ name, description, inputSchema, handler: ({ since }) => since })
    const wrapped = tool({ name, description, inputSchema: zod(inputSchema), handler: ({ days }) => days })
    expectTypeOf(plain).toEqualTypeOf<Made<Sent, Date, never, Got>>()
    expectTypeOf(wrapped).toEqualTypeOf<Made<Sent, number, never, Got>>()
  })

  test('Valibot, plain and wrapped', () => {
    const inputSchema = v.object({
      city: v.pipe(v.string(), v.trim()),
      days: v.optional(v.number(), 3),
      unit: v.optional(v.picklist(['c', 'f'])),
      since: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
    })
    const plain = tool({ name, description, inputSchema, handler: ({ since }) => since })
    const wrapped = tool({ name, description, inputSchema: valibot(inputSchema), handler: (input) => input })
    expectTypeOf(plain).toEqualTypeOf<Made<Sent, Date, never, Got>>()
    expectTypeOf(wrapped).toEqualTypeOf<Made<Sent, Got, never, Got>>()
  })

  test('Valibot, asynchronous', () => {
    const inputSchema = v.objectAsync({
      id: v.pipeAsync(
        v.string(),
        v.checkAsync(async () => true),
      ),
    })
    const plain = tool({ name, description, inputSchema, handler: ({ id }) => id })
    const wrapped = tool({ name, description, inputSchema: valibot(inputSchema), handler: ({ id }) => id })
    expectTypeOf(plain).toEqualTypeOf<Tool<{ id: string }, string, never>>()
    expectTypeOf(wrapped).toEqualTypeOf<Tool<{ id: string }, string, never>>()
  })

  test('ArkType, plain and wrapped', () => {
    const inputSchema = type({ city: 'string', days: 'number = 3', 'unit?': '"c" | "f"', since: 'string.date.parse' })
    const plain = tool({ name, description, inputSchema, handler: ({ since }) => since })
    const wrapped = tool({ name, description, inputSchema: arktype(inputSchema), handler: ({ since }) => since })
    type Taken = Plain & { since: string }
    expectTypeOf(plain).parameter(0).branded.toEqualTypeOf<Taken>()
    expectTypeOf(wrapped).parameter(0).branded.toEqualTypeOf<Taken>()
    expectTypeOf(plain).returns.toEqualTypeOf<Promise<Date>>()
    expectTypeOf(wrapped).returns.toEqualTypeOf<Promise<Date>>()
    tool({
      name,
      description,
      inputSchema: arktype(inputSchema),
      handler: (input) =>
        expectTypeOf(input).branded.toEqualTypeOf<{ city: string; days: number; unit?: 'c' | 'f'; since: Date }>(),
    })
  })

  test('TypeBox 1, plain and wrapped', () => {
    const inputSchema = Type.Object({
      city: Type.String(),
      days: Type.Optional(Type.Number()),
      unit: Type.Optional(Type.Union([Type.Literal('c'), Type.Literal('f')])),
    })
    const plain = tool({ name, description, inputSchema, handler: (input) => input })
    const wrapped = tool({ name, description, inputSchema: typebox(inputSchema), handler: (input) => input })
    expectTypeOf(plain).parameter(0).branded.toEqualTypeOf<Plain>()
    expectTypeOf(wrapped).parameter(0).branded.toEqualTypeOf<Plain>()
    expectTypeOf(plain).returns.resolves.branded.toEqualTypeOf<Plain>()
  })

  test('TypeBox 1, decoding', () => {
    const since = Type.Codec(Type.String())
      .Decode((text) => new Date(text))
      .Encode((date) => date.toISOString())
    const inputSchema = typebox(Type.Object({ since, list: Type.Array(Type.Integer()) }))
    const forecast = tool({ name, description, inputSchema, handler: (input) => input })
    expectTypeOf(forecast).parameter(0).branded.toEqualTypeOf<{ since: string; list: number[] }>()
    expectTypeOf(forecast).returns.resolves.branded.toEqualTypeOf<{ since: Date; list: number[] }>()
  })

  test('TypeBox 0.34, plain and wrapped', () => {
    const inputSchema = OldType.Object({
      city: OldType.String(),
      days: OldType.Optional(OldType.Number()),
      unit: OldType.Optional(OldType.Union([OldType.Literal('c'), OldType.Literal('f')])),
    })
    const plain = tool({ name, description, inputSchema, handler: (input) => input })
    const wrapped = tool({ name, description, inputSchema: sinclairTypebox(inputSchema), handler: (input) => input })
    expectTypeOf(plain).parameter(0).branded.toEqualTypeOf<Plain>()
    expectTypeOf(wrapped).parameter(0).branded.toEqualTypeOf<Plain>()
    expectTypeOf(plain).returns.resolves.branded.toEqualTypeOf<Plain>()
  })

  test('TypeBox 0.34, decoding', () => {
    const since = OldType.Transform(OldType.String())
      .Decode((text) => new Date(text))
      .Encode((date) => date.toISOString())
    const inputSchema = sinclairTypebox(OldType.Object({ since }))
    const forecast = tool({ name, description, inputSchema, handler: (input) => input })
    expectTypeOf(forecast).parameter(0).branded.toEqualTypeOf<{ since: string }>()
    expectTypeOf(forecast).returns.resolves.branded.toEqualTypeOf<{ since: Date }>()
  })

  test('a raw JSON Schema literal, without `as const`', () => {
    const forecast = tool({
      name,
      description,
      inputSchema: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          days: { type: 'integer' },
          unit: { enum: ['c', 'f'] },
          kind: { const: 'now' },
          items: { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
          either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          nullable: { type: ['string', 'null'] },
        },
        required: ['city', 'items', 'kind'],
      },
      handler: (input) => input,
    })
    expectTypeOf(forecast).parameter(0).toEqualTypeOf<{
      city: string
      items: { n: number }[]
      kind: 'now'
      days?: number
      unit?: 'c' | 'f'
      either?: string | null
      nullable?: string | null
    }>()
  })

  test('a JSON Schema from elsewhere is some object, unless somebody says which', () => {
    const anySchema: JsonSchema = JSON.parse('{}')
    const loaded = JSON.parse('{}') as Record<string, unknown>
    const raw = tool({ name, description, inputSchema: loaded, handler: (input) => input })
    expectTypeOf(raw).toEqualTypeOf<Tool<Record<string, unknown>, Record<string, unknown>, never>>()
    const parsed = tool({ name, description, inputSchema: anySchema, handler: (input) => input })
    expectTypeOf(parsed).toEqualTypeOf<Tool<Record<string, unknown>, Record<string, unknown>, never>>()
    const some = tool({ name, description, inputSchema: jsonSchema(loaded), handler: (input) => input })
    expectTypeOf(some).toEqualTypeOf<Tool<Record<string, unknown>, Record<string, unknown>, never>>()
    const said = tool({
      name,
      description,
      inputSchema: jsonSchema<{ when: string }, { when: Date }>(loaded),
      handler: ({ when }) => when,
    })
    expectTypeOf(said).toEqualTypeOf<Made<{ when: string }, Date, never, { when: Date }>>()
  })
})

const place = z.object({ city: z.string(), days: z.number().default(3) })
const weather = z.object({ temperature: z.number(), unit: z.enum(['c', 'f']) })
interface Place {
  city: string
  days?: number | undefined
}
interface Planned {
  city: string
  days: number
}

interface Found {
  kind: 'found'
  temperature: number
}
interface Missing {
  kind: 'missing'
  reason: string
}
declare function lookUp(city: string): Found | Missing
declare function nowOrLater(days: number): Promise<string> | number
declare class Query<Row> extends Promise<Row> {
  constructor(row: Row)
}

describe('the result is what the handler returns', () => {
  test('a value, a promise of it, nothing', () => {
    expectTypeOf(tool({ name, description, inputSchema: place, handler: ({ city }) => city })).toEqualTypeOf<
      Made<Place, string, never, Planned>
    >()
    expectTypeOf(
      tool({ name, description, inputSchema: place, handler: async ({ days }) => ({ days }) }),
    ).toEqualTypeOf<Made<Place, { days: number }, never, Planned>>()
    expectTypeOf(tool({ name, description, inputSchema: place, handler: () => {} })).toEqualTypeOf<
      Made<Place, void, never, Planned>
    >()
    expectTypeOf(
      tool({ name, description, inputSchema: place, handler: ({ city, days }) => [city, days] as const }),
    ).toEqualTypeOf<Made<Place, readonly [string, number], never, Planned>>()
  })

  test('a union, at once or later', () => {
    const names = new Map<number, string>()
    const config = { name, description, inputSchema: place } as const
    const found = tool({ ...config, handler: ({ days }) => names.get(days) ?? 'not found' })
    expectTypeOf(found).toEqualTypeOf<Made<Place, string, never, Planned>>()
    const literals = tool({ ...config, handler: ({ days }) => (days > 1 ? 1 : 'x') })
    expectTypeOf(literals).toEqualTypeOf<Made<Place, 1 | 'x', never, Planned>>()
    const later = tool({ ...config, handler: async ({ days }) => (days > 1 ? 1 : 'x') })
    expectTypeOf(later).toEqualTypeOf<Made<Place, 1 | 'x', never, Planned>>()
    const annotated = tool({ ...config, handler: ({ days }): string | number => (days > 1 ? 1 : 'x') })
    expectTypeOf(annotated).toEqualTypeOf<Made<Place, string | number, never, Planned>>()
    const declared = tool({ ...config, handler: ({ city }) => lookUp(city) })
    expectTypeOf(declared).toEqualTypeOf<Made<Place, Found | Missing, never, Planned>>()
    const mixed = tool({ ...config, handler: ({ days }) => (days > 1 ? [days] : { days }) })
    expectTypeOf(mixed).toEqualTypeOf<Made<Place, number[] | { days: number }, never, Planned>>()
    const branches = tool({
      ...config,
      handler({ days }) {
        if (days > 1) return { ok: true, days } as const
        return { ok: false, reason: 'too few' } as const
      },
    })
    expectTypeOf(branches).returns.resolves.toHaveProperty('ok').toEqualTypeOf<boolean>()
    const nullable = tool({ ...config, handler: ({ city, days }) => (days > 1 ? city : null) })
    expectTypeOf(nullable).toEqualTypeOf<Made<Place, string | null, never, Planned>>()
    const optional = tool({ ...config, handler: ({ days }) => names.get(days) })
    expectTypeOf(optional).toEqualTypeOf<Made<Place, string | undefined, never, Planned>>()
    const boolean = tool({ ...config, handler: ({ days }) => days > 1 })
    expectTypeOf(boolean).toEqualTypeOf<Made<Place, boolean, never, Planned>>()
  })

  test('a union, of a tool that takes nothing, of one of another type, of a quick one', () => {
    const nothing = tool({ name, description, handler: () => (Math.random() > 0.5 ? 1 : 'x') })
    expectTypeOf(nothing).toEqualTypeOf<Tool<void, 1 | 'x', never>>()
    const declared = tool({ name, description, handler: () => lookUp('Oslo') })
    expectTypeOf(declared).toEqualTypeOf<Tool<void, Found | Missing, never>>()
    const config = { name, description, inputSchema: place } as const
    const theirs = tool({ ...config, type: 'mcp', handler: ({ city }) => lookUp(city) })
    expectTypeOf(theirs).toEqualTypeOf<Made<Place, Found | Missing, never, Planned>>()
    const custom = tool({ ...config, type: 'robot', handler: ({ city }) => lookUp(city) })
    expectTypeOf(custom).toEqualTypeOf<Made<Place, Found | Missing, never, Planned>>()
    const quick = tool('quick', ({ city }: { city: string }) => lookUp(city))
    expectTypeOf(quick).toEqualTypeOf<Tool<{ city: string }, Found | Missing, never>>()
  })

  test('a promise or the same at once; one of another type is said with `async`', () => {
    const config = { name, description, inputSchema: place } as const
    const same = tool({ ...config, handler: ({ days }) => (days > 1 ? Promise.resolve(days) : days) })
    expectTypeOf(same).toEqualTypeOf<Made<Place, number, never, Planned>>()
    const nothing = tool({ ...config, handler: ({ days }) => (days > 1 ? Promise.resolve(days) : undefined) })
    expectTypeOf(nothing).toEqualTypeOf<Made<Place, number | undefined, never, Planned>>()
    // @ts-expect-error what is promised and what is there at once are inferred apart
    tool({ ...config, handler: ({ days }) => nowOrLater(days) })
    const other = tool({ ...config, handler: async ({ days }) => nowOrLater(days) })
    expectTypeOf(other).toEqualTypeOf<Made<Place, string | number, never, Planned>>()
  })

  test('what a promise of a class of its own resolves to', () => {
    const asking = tool({ name, description, inputSchema: place, handler: ({ city }) => new Query({ city }) })
    expectTypeOf(asking).toEqualTypeOf<Made<Place, { city: string }, never, Planned>>()
  })

  test('a type that only a caller knows', () => {
    const once = <Value>(value: Value) => tool({ name, description, handler: () => value })
    expectTypeOf(once<'a' | 1>).returns.toEqualTypeOf<Tool<void, 'a' | 1, never>>()
    const later = <Value>(value: Promise<Value>) => tool({ name, description, handler: () => value })
    expectTypeOf(later<'a' | 1>).returns.toEqualTypeOf<Tool<void, 'a' | 1, never>>()
  })

  test('a generator’s progress is apart from its result', () => {
    const counting = tool({
      name,
      description,
      inputSchema: place,
      async *handler({ city, days }, { signal }) {
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
        yield { percent: days }
        return city
      },
    })
    expectTypeOf(counting).toEqualTypeOf<Made<Place, string, { percent: number }, Planned>>()
    expectTypeOf(counting.stream({ city: 'Oslo' })).toEqualTypeOf<
      AsyncGenerator<{ percent: number }, string, undefined>
    >()
    const either = tool({
      name,
      description,
      inputSchema: place,
      async *handler({ days }) {
        yield days > 1 ? 1 : 'x'
        return days > 1 ? { days } : null
      },
    })
    expectTypeOf(either).toEqualTypeOf<Made<Place, { days: number } | null, 1 | 'x', Planned>>()
  })
})

describe('outputSchema', () => {
  test('keeps literals in the result without `as const`', () => {
    const forecast = tool({
      name,
      description,
      inputSchema: place,
      outputSchema: weather,
      handler: async ({ days }) => ({ temperature: days, unit: 'c' }),
    })
    expectTypeOf(forecast).toEqualTypeOf<Made<Place, { temperature: number; unit: 'c' | 'f' }, never, Planned>>()
  })

  test('takes in what it validates, and gives out what that becomes', () => {
    const outputSchema = z.object({ at: z.string().transform((text) => new Date(text)), n: z.number().default(1) })
    const clock = tool({ name, description, inputSchema: place, outputSchema, handler: () => ({ at: 'now' }) })
    expectTypeOf(clock).returns.toEqualTypeOf<Promise<{ at: Date; n: number }>>()
  })

  test('that is a union takes a union in', () => {
    const outputSchema = z.union([z.string(), z.number()])
    const options = { name, description, inputSchema: place, outputSchema } as const
    const literals = tool({ ...options, handler: ({ days }) => (days > 1 ? 1 : 'x') })
    expectTypeOf(literals).toEqualTypeOf<Made<Place, string | number, never, Planned>>()
    const mixed = tool({ ...options, handler: ({ days }) => nowOrLater(days) })
    expectTypeOf(mixed).toEqualTypeOf<Made<Place, string | number, never, Planned>>()
    // @ts-expect-error a boolean is not in the union
    tool({ ...options, handler: ({ days }) => (days > 1 ? days : false) })
  })

  test('holds the returned value to it, where it stands', () => {
    const options = { name, description, inputSchema: place, outputSchema: weather } as const
    // @ts-expect-error the temperature is a number
    tool({ ...options, handler: async ({ city }) => ({ temperature: city, unit: 'c' }) })
    // @ts-expect-error the unit is missing
    tool({ ...options, handler: ({ days }) => ({ temperature: days }) })
    tool({
      ...options,
      // @ts-expect-error the returned temperature is a number
      handler: async function* () {
        yield 'working'
        return { temperature: 'hot', unit: 'c' as const }
      },
    })
  })

  test('of raw JSON Schema', () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
    const counting = tool({ name, description, outputSchema, handler: () => ({ n: 1 }) })
    expectTypeOf(counting).returns.toEqualTypeOf<Promise<{ n: number }>>()
    // @ts-expect-error n is a number
    tool({ name, description, outputSchema, handler: () => ({ n: 'one' }) })
  })
})

describe('tools without a schema', () => {
  test('take nothing', () => {
    const now = tool({ name: 'now', description, handler: () => 1 })
    expectTypeOf(now).toEqualTypeOf<Tool<void, number, never>>()
    expectTypeOf(now()).toEqualTypeOf<Promise<number>>()
    const said = tool({ name, description, inputSchema: undefined, handler: () => 1 })
    expectTypeOf(said).toEqualTypeOf<Tool<void, number, never>>()
    tool({
      name,
      description,
      requiresConfirmation: (input) => expectTypeOf(input).toEqualTypeOf<EmptyInput>(),
      handler: (input) => expectTypeOf(input).toEqualTypeOf<EmptyInput>(),
    })
    // @ts-expect-error there is no city
    tool({ name, description, handler: ({ city }) => String(city) })
    // @ts-expect-error there are no args
    void now({ city: 'Oslo' })
  })

  test('tool(name, handler) takes what the handler says', () => {
    const add = tool('add', ({ a, b }: { a: number; b: number }) => a + b)
    expectTypeOf(add).toEqualTypeOf<Tool<{ a: number; b: number }, number, never>>()
    const count = tool('count', async function* ({ to }: { to: number }) {
      yield to
      return 'done'
    })
    expectTypeOf(count).toEqualTypeOf<Tool<{ to: number }, string, number>>()
  })
})

describe('other fields', () => {
  test('functions among the options get the validated input', () => {
    tool({
      name,
      description,
      inputSchema: place,
      requiresConfirmation: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>()
        return input.days > 3
      },
      confirmationMessage: ({ city }) => city,
      handler: ({ days }) => days,
    })
  })

  test('a handler is required where we run the tool, and only there', () => {
    // @ts-expect-error a server tool has a handler
    tool({ name, description, inputSchema: place })
    const shown = tool({ name, description, inputSchema: place, type: 'client' })
    expectTypeOf(shown).parameter(0).toEqualTypeOf<Place>()
    tool({ name, description, type: 'provider' })
    // @ts-expect-error so has a tool of type mcp
    tool({ name, description, type: 'mcp' })
  })

  test('what is wrong is told where it stands', () => {
    tool({
      name,
      description,
      inputSchema: place,
      // @ts-expect-error there is no town
      handler: ({ town }) => String(town),
    })
    tool({
      name,
      description,
      inputSchema: place,
      // @ts-expect-error the field is called requiresConfirmation
      requireConfirmation: true,
      handler: ({ city }) => city,
    })
    tool({
      name,
      description,
      inputSchema: place,
      // @ts-expect-error the field is called handler
      execute: ({ city }: { city: string }) => city,
    })
    tool({
      name,
      description,
      // @ts-expect-error the field is called inputSchema
      parameters: place,
      handler: () => 1,
    })
    tool({
      name,
      description,
      inputSchema: place,
      // @ts-expect-error a timeout is a number of milliseconds
      timeout: '5s',
      handler: ({ city }) => city,
    })
    tool({
      name,
      description,
      outputSchema: weather,
      // @ts-expect-error the temperature is a number
      handler: () => ({ temperature: 'hot', unit: 'c' as const }),
    })
    // @ts-expect-error a schema is an object or a boolean
    tool({ name, description, inputSchema: 'string', handler: () => 1 })
    const forecast = tool({ name, description, inputSchema: place, handler: ({ city }) => city })
    // @ts-expect-error the city is a text
    void forecast({ city: 1 })
    // @ts-expect-error the city is missing
    void forecast({})
    // @ts-expect-error there are args to give
    void forecast()
  })

  test('what is missing is told of the config, and leaves the input of the handler as it is', () => {
    const config = { name, inputSchema: place } as const
    // @ts-expect-error a description is required
    tool({ ...config, handler: (input) => expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>() })
    // @ts-expect-error a name is required
    tool({ description, inputSchema: place, handler: ({ city, days }) => [city.length, days] })
    // @ts-expect-error so is a description of a tool that takes nothing
    tool({ name, handler: () => 1 })
    // @ts-expect-error a handler is required
    tool({ name, description })
  })

  test('tools of every kind fit a list', () => {
    const tools: Tool[] = [
      tool({ name, description, inputSchema: place, handler: ({ city }) => city }),
      tool({ name, description, inputSchema: type({ n: 'number' }), handler: ({ n }) => n }),
      tool({ name, description, inputSchema: Type.Object({ n: Type.Number() }), handler: ({ n }) => n }),
      tool({ name, description, inputSchema: { type: 'object' }, handler: () => {} }),
      tool({ name, description, handler: () => null }),
      tool('add', ({ a }: { a: number }) => a),
      tool({
        name,
        description,
        inputSchema: place,
        outputSchema: weather,
        async *handler() {
          yield 1
          return { temperature: 1, unit: 'c' as const }
        },
      }),
    ]
    expectTypeOf(tools).items.toEqualTypeOf<Tool>()
  })
})
