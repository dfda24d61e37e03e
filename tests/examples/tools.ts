/**
 * Five small tools, each with a schema of another library. All of them can be tried from the command line:
 *
 *   npx toolwright list tests/examples/tools.ts
 *   npx toolwright call tests/examples/tools.ts get_forecast '{"city":"Bergen","days":2}'
 */
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'
import { tool, ToolFailure, type Tool } from 'toolwright'
import { typebox } from 'toolwright/validators/typebox'
import { valibot } from 'toolwright/validators/valibot'

const skies: ReadonlyMap<string, readonly [sky: string, high: number][]> = new Map([
  [
    'bergen',
    [
      ['rain', 9],
      ['rain', 8],
      ['showers', 10],
      ['rain', 9],
      ['sun, briefly', 12],
    ],
  ],
  [
    'lisbon',
    [
      ['sun', 24],
      ['sun', 26],
      ['haze', 25],
      ['sun', 27],
      ['sun', 27],
    ],
  ],
  [
    'oslo',
    [
      ['clouds', 7],
      ['sun', 11],
      ['sleet', 2],
      ['snow', -1],
      ['snow', -4],
    ],
  ],
])

/** Zod: a default is filled in, and the handler sees it. */
const getForecast = tool({
  name: 'get_forecast',
  title: 'Weather forecast',
  description: 'Weather forecast for a city, for up to five days, temperatures in degrees Celsius',
  inputSchema: z.object({
    city: z.string().min(1).describe('Bergen, Lisbon or Oslo'),
    days: z.number().int().min(1).max(5).default(1),
  }),
  outputSchema: z.array(z.object({ day: z.number(), sky: z.string(), high: z.number() })),
  traits: { readonly: true },
  handler: ({ city, days }) => {
    const known = skies.get(city.toLowerCase())
    if (known === undefined) {
      throw new ToolFailure(`Nobody watches the sky over ${city}.`, {
        recommendations: ['Ask for Bergen, Lisbon or Oslo.'],
      })
    }
    return known.slice(0, days).map(([sky, high], index) => ({ day: index + 1, sky, high }))
  },
})

const metres = { mm: 0.001, cm: 0.01, m: 1, km: 1_000, in: 0.0254, ft: 0.3048, mi: 1_609.344 }

/** Valibot: through its wrapper, so that a model can be shown the schema. */
const convertLength = tool({
  name: 'convert_length',
  description: 'Converts a length from one unit to another',
  inputSchema: valibot(
    v.object({
      value: v.number(),
      from: v.picklist(['mm', 'cm', 'm', 'km', 'in', 'ft', 'mi']),
      to: v.picklist(['mm', 'cm', 'm', 'km', 'in', 'ft', 'mi']),
    }),
  ),
  traits: { readonly: true },
  handler: ({ value, from, to }) => `${round((value * metres[from]) / metres[to], 6)} ${to}`,
})

// What one euro is worth, in a table that never changes.
const rates = { EUR: 1, USD: 1.1, GBP: 0.85, NOK: 11.5, JPY: 160 }

/** ArkType: types written as they are read. */
const exchange = tool({
  name: 'exchange',
  description: 'Exchanges an amount of money at fixed rates; the amount has to be positive',
  inputSchema: type({
    amount: 'number > 0',
    from: "'EUR' | 'USD' | 'GBP' | 'NOK' | 'JPY'",
    to: "'EUR' | 'USD' | 'GBP' | 'NOK' | 'JPY'",
  }),
  traits: { readonly: true },
  handler: ({ amount, from, to }) => ({ amount: round((amount / rates[from]) * rates[to], 2), currency: to }),
})

const gatebook = `\
A gate is a place where somebody looks at you.
The first gate asks for your name, the second for your papers.
The third asks nobody but itself whether you may pass.
What stands behind the last gate is a workshop, and it is loud.
The clerk writes down who came, what was made, and how long it took.
Nobody leaves by the way they came.`

/** TypeBox: through its wrapper as well. */
const searchBook = tool({
  name: 'search_book',
  description: 'Finds the lines of the gate book that contain a word',
  inputSchema: typebox(
    Type.Object({
      word: Type.String({ minLength: 1, description: 'Upper and lower case are the same' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
    }),
  ),
  traits: { readonly: true },
  handler: ({ word, limit }) =>
    gatebook
      .split('\n')
      .map((text, index) => ({ line: index + 1, text }))
      .filter(({ text }) => text.toLowerCase().includes(word.toLowerCase()))
      .slice(0, limit ?? 20),
})

const notes: string[] = []

/** Raw JSON Schema, and a handler that yields what it is doing; who wants to throw notes away is asked first. */
const keepNotes = tool({
  name: 'keep_notes',
  description: 'Adds notes to the list, after emptying it where that is asked for, and gives the whole list',
  inputSchema: {
    type: 'object',
    properties: {
      add: { type: 'array', items: { type: 'string', minLength: 1 }, description: 'In the order of the list' },
      clear: { type: 'boolean', description: 'Throws away what the list holds' },
    },
    additionalProperties: false,
  },
  requiresConfirmation: ({ clear }) => clear === true,
  confirmationMessage: 'Throw all notes away?',
  async *handler({ add = [], clear }) {
    if (clear === true) notes.length = 0
    for (const note of add) {
      notes.push(note)
      yield `noted ${JSON.stringify(note)}`
    }
    return { notes: [...notes] }
  },
})

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

const tools: readonly Tool[] = [getForecast, convertLength, exchange, searchBook, keepNotes]
export default tools
