import { shown, tool } from 'toolwright'
import { z } from 'zod'
import * as travel from '../travel.ts'

declare module 'toolwright' {
  interface ToolValues {
    readonly customer?: string
  }
}

export const searchTrips = tool({
  name: 'search_trips',
  description: 'Searches trips',
  inputSchema: z.object({
    to: z.string(),
    from: z.iso.date().transform((day) => new Date(day)),
    sort: z.enum(['day', 'euros']).default('day'),
    price: z.object({ max: z.number().default(1_000) }).default({ max: 1_000 }),
    limit: z.number().int().max(50).default(2),
  }),
  libraryOptions: { langchain: { extras: { cache_control: { type: 'ephemeral' } } } },
  handler: (search) => travel.searchTrips(search),
})

export const myBookings = tool({
  name: 'my_bookings',
  description: 'Lists the bookings of the customer',
  inputSchema: z.object({}),
  handler: (_input, { values }) => travel.bookingsOf(values.customer),
})

export const bookTrip = tool({
  name: 'book_trip',
  description: 'Books a trip',
  inputSchema: z.object({ trip: z.string() }),
  requiresConfirmation: ({ trip }) => travel.priceOf(trip) > 100,
  confirmationMessage: ({ trip }) => `Book ${trip} for ${travel.priceOf(trip)} euros?`,
  handler: ({ trip }) => travel.book(trip),
})

export const cancelTrip = tool({
  name: 'cancel_trip',
  description: 'Cancels a booking',
  inputSchema: z.object({ trip: z.string() }),
  handler: ({ trip }) => travel.cancel(trip),
})

export const findDocuments = tool({
  name: 'find_documents',
  description: 'Finds what a traveller has to know',
  inputSchema: z.object({ topic: z.string() }),
  handler: async ({ topic }) => {
    const { words, sources } = travel.documents(topic)
    return shown(words, sources)
  },
})

export const priceHistory = tool({
  name: 'price_history',
  description: 'Lists the prices of a trip',
  inputSchema: z.object({ trip: z.string() }),
  inlineLimit: 65_536,
  handler: ({ trip }) => travel.prices(trip),
})

export const watchPrice = tool({
  name: 'watch_price',
  description: 'Asks for the newest price',
  inputSchema: z.object({ trip: z.string() }),
  async *handler({ trip }) {
    yield { trip, state: 'asking the airline' }
    yield { trip, state: 'comparing' }
    return { trip, euros: travel.priceOf(trip) }
  },
})

export const awaitPayment = tool({
  name: 'await_payment',
  description: 'Waits until a trip is paid',
  inputSchema: z.object({ trip: z.string() }),
  timeout: 600_000,
  handler: ({ trip }, { signal }) => travel.payment(trip, signal),
})

export const translate = tool({
  name: 'translate',
  description: 'Translates a text',
  inputSchema: z.object({ input: z.string() }),
  handler: ({ input: text }) => travel.translated(text),
})

export const convert = tool({
  name: 'convert',
  description: 'Converts euros to kroner',
  inputSchema: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  handler: async ({ euros }) => travel.exchanged(euros),
})

export const handOver = tool({
  name: 'hand_over',
  description: 'Hands the chat over to a colleague',
  inputSchema: z.object({ reason: z.string() }),
  libraryOptions: { langchain: { returnDirect: true } },
  handler: ({ reason }) => `A colleague will answer: ${reason}`,
})
