import { Type as SinclairType } from '@sinclair/typebox'
import { type } from 'arktype'
import { tool } from 'toolwright'
import { typebox } from 'toolwright/validators/typebox'
import { valibot } from 'toolwright/validators/valibot'
import { Type } from 'typebox'
import * as v from 'valibot'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'

interface Place {
  city: string
  days: number
}

it('USR-01 the input of a handler is typed by its schema, whichever validator made it', () => {
  const config = { name: 'forecast', description: 'Weather for a city' }
  tool({
    ...config,
    inputSchema: z.object({ city: z.string(), days: z.number() }),
    handler: (input) => expectTypeOf(input).toEqualTypeOf<Place>(),
  })
  tool({
    ...config,
    inputSchema: valibot(v.object({ city: v.string(), days: v.number() })),
    handler: (input) => expectTypeOf(input).toEqualTypeOf<Place>(),
  })
  tool({
    ...config,
    inputSchema: type({ city: 'string', days: 'number' }),
    handler: (input) => expectTypeOf(input).toEqualTypeOf<Place>(),
  })
  tool({
    ...config,
    inputSchema: typebox(Type.Object({ city: Type.String(), days: Type.Number() })),
    handler: (input) => expectTypeOf(input).toEqualTypeOf<Place>(),
  })
  tool({
    ...config,
    inputSchema: Type.Object({ city: Type.String(), days: Type.Number() }),
    handler: (input) => expectTypeOf(input).toEqualTypeOf<Place>(),
  })
  tool({
    ...config,
    inputSchema: SinclairType.Object({ city: SinclairType.String(), days: SinclairType.Number() }),
    handler: (input) => expectTypeOf(input).toEqualTypeOf<Place>(),
  })
  tool({
    ...config,
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city', 'days'],
    },
    handler: (input) => expectTypeOf(input).toEqualTypeOf<Place>(),
  })
})
