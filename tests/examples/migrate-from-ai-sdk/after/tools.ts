import { shown, tool } from 'toolwright'
import { z } from 'zod'
import * as shop from '../shop.ts'

declare module 'toolwright' {
  interface ToolValues {
    readonly customer?: string
  }
}

export const search_products = tool({
  name: 'search_products',
  description: 'Searches the products of the shop',
  inputSchema: z.object({
    query: z.string().transform((text) => text.trim().toLowerCase()),
    sort: z.enum(['name', 'price']).default('name'),
    price: z.object({ from: z.number().default(0), to: z.number().optional() }).default({ from: 0 }),
    limit: z.number().int().max(50).default(2),
  }),
  examples: [{ query: 'tea', sort: 'price', price: { from: 0, to: 5 }, limit: 2 }],
  libraryOptions: { 'ai-sdk': { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } } },
  handler: (search) => shop.searchProducts(search),
})

export const get_order = tool({
  name: 'get_order',
  description: 'Reads an order of the customer',
  inputSchema: z.object({ id: z.string() }),
  handler: async ({ id }, { values }) => shop.findOrder(id, values.customer),
})

export const track_parcel = tool({
  name: 'track_parcel',
  description: 'Follows a parcel',
  inputSchema: z.object({ id: z.string() }),
  async *handler({ id }) {
    yield { id, state: 'packed' }
    yield { id, state: 'on its way' }
    return { id, state: 'delivered' }
  },
})

export const order_summary = tool({
  name: 'order_summary',
  description: 'Sums up an order of the customer',
  inputSchema: z.object({ id: z.string() }),
  handler: ({ id }, { values }) => {
    const output = shop.findOrder(id, values.customer)
    return shown(`${output.items.length} items for ${output.total} euros`, output)
  },
})

export const product_photo = tool({
  name: 'product_photo',
  description: 'Shows a product',
  inputSchema: z.object({ sku: z.string() }),
  handler: ({ sku }) =>
    shown(
      [
        { type: 'text', text: `This is ${sku}:` },
        { type: 'image', mimeType: 'image/png', data: shop.photo },
      ],
      { sku, photo: shop.photo },
    ),
})

export const refund = tool({
  name: 'refund',
  description: 'Pays money back',
  inputSchema: z.object({ id: z.string(), cents: z.number().int().positive() }),
  requiresConfirmation: ({ cents }) => cents > 1_000,
  handler: ({ id, cents }, { invocationId }) => shop.refund(id, cents, invocationId),
})

export const cancel_order = tool({
  name: 'cancel_order',
  description: 'Cancels an order',
  inputSchema: z.object({ id: z.string() }),
  requiresConfirmation: true,
  handler: ({ id }) => shop.cancel(id),
})

export const ship_order = tool({
  name: 'ship_order',
  description: 'Ships an order',
  inputSchema: z.object({ id: z.string() }),
  handler: ({ id }) => shop.ship(id),
})

export const wait_for_payment = tool({
  name: 'wait_for_payment',
  description: 'Waits until an order is paid',
  inputSchema: z.object({ id: z.string() }),
  timeout: 600_000,
  handler: ({ id }, { signal }) => shop.payment(id, signal),
})

export const export_orders = tool({
  name: 'export_orders',
  description: 'Exports the orders of a year as CSV',
  inputSchema: z.object({ year: z.number().int() }),
  inlineLimit: 65_536,
  handler: ({ year }) => shop.exportOrders(year),
})

export const shelf_report = tool({
  name: 'shelf_report',
  description: 'Counts the free places of a shelf',
  inputSchema: { type: 'object', properties: { aisle: { type: 'integer', minimum: 1 } }, required: ['aisle'] },
  handler: async ({ aisle }) => shop.shelf(aisle),
})

export const choose_address = tool({
  name: 'choose_address',
  description: 'Lets the customer choose an address in the page',
  type: 'client',
  requiresResponse: true,
  inputSchema: z.object({ addresses: z.array(z.string()) }),
  outputSchema: z.object({ address: z.string() }),
})
