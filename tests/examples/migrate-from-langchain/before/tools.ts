import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool, tool, type ToolRuntime } from '@langchain/core/tools'
import { Command, interrupt } from '@langchain/langgraph'
import { z } from 'zod'
import * as travel from '../travel.ts'

export const searchTrips = tool((search) => travel.searchTrips(search), {
  name: 'search_trips',
  description: 'Searches trips',
  schema: z.object({
    to: z.string(),
    from: z.iso.date().transform((day) => new Date(day)),
    sort: z.enum(['day', 'euros']).default('day'),
    price: z.object({ max: z.number().default(1_000) }).default({ max: 1_000 }),
    limit: z.number().int().max(50).default(2),
  }),
  extras: { cache_control: { type: 'ephemeral' } },
})

export const myBookings = tool((_input, config) => travel.bookingsOf(config.configurable?.['customer']), {
  name: 'my_bookings',
  description: 'Lists the bookings of the customer',
  schema: z.object({}),
})

export const bookTrip = tool(
  ({ trip }) => {
    if (travel.priceOf(trip) > 100) {
      const answer = interrupt({ prompt: `Book ${trip} for ${travel.priceOf(trip)} euros?` })
      if (answer.approved !== true) return `The customer does not agree: ${answer.note}`
    }
    return travel.book(trip)
  },
  { name: 'book_trip', description: 'Books a trip', schema: z.object({ trip: z.string() }) },
)

export const cancelTrip = tool(({ trip }) => travel.cancel(trip), {
  name: 'cancel_trip',
  description: 'Cancels a booking',
  schema: z.object({ trip: z.string() }),
})

export const findDocuments = tool(
  async ({ topic }) => {
    const { words, sources } = travel.documents(topic)
    return [words, sources]
  },
  {
    name: 'find_documents',
    description: 'Finds what a traveller has to know',
    schema: z.object({ topic: z.string() }),
    responseFormat: 'content_and_artifact',
  },
)

export const priceHistory = tool(({ trip }) => travel.prices(trip), {
  name: 'price_history',
  description: 'Lists the prices of a trip',
  schema: z.object({ trip: z.string() }),
})

export const watchPrice = tool(
  async function* ({ trip }) {
    yield { trip, state: 'asking the airline' }
    yield { trip, state: 'comparing' }
    return { trip, euros: travel.priceOf(trip) }
  },
  { name: 'watch_price', description: 'Asks for the newest price', schema: z.object({ trip: z.string() }) },
)

export const awaitPayment = tool(({ trip }, { signal }) => travel.payment(trip, signal), {
  name: 'await_payment',
  description: 'Waits until a trip is paid',
  schema: z.object({ trip: z.string() }),
})

export const translate = tool((text) => travel.translated(text), {
  name: 'translate',
  description: 'Translates a text',
  schema: z.string(),
})

export const convert = new DynamicStructuredTool({
  name: 'convert',
  description: 'Converts euros to kroner',
  schema: { type: 'object' as const, properties: { euros: { type: 'number' as const } }, required: ['euros'] },
  func: async (input) => travel.exchanged((input as { euros: number }).euros),
})

export const handOver = tool(({ reason }) => `A colleague will answer: ${reason}`, {
  name: 'hand_over',
  description: 'Hands the chat over to a colleague',
  schema: z.object({ reason: z.string() }),
  returnDirect: true,
})

export const setLanguage = tool(
  ({ language }, { toolCallId }: ToolRuntime) =>
    new Command({
      update: { language, messages: [new ToolMessage({ content: `Now in ${language}.`, tool_call_id: toolCallId })] },
    }),
  { name: 'set_language', description: 'Sets the language', schema: z.object({ language: z.string() }) },
)
