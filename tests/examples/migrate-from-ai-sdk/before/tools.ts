import { dynamicTool, jsonSchema, tool } from 'ai'
import { z } from 'zod'
import * as shop from '../shop.ts'

export const tools = {
  search_products: tool({
    description: 'Searches the products of the shop',
    inputSchema: z.object({
      query: z.string().transform((text) => text.trim().toLowerCase()),
      sort: z.enum(['name', 'price']).default('name'),
      price: z.object({ from: z.number().default(0), to: z.number().optional() }).default({ from: 0 }),
      limit: z.number().int().max(50).default(2),
    }),
    inputExamples: [{ input: { query: 'tea', sort: 'price', price: { from: 0, to: 5 }, limit: 2 } }],
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    execute: (search) => shop.searchProducts(search),
  }),
  get_order: tool({
    description: 'Reads an order of the customer',
    inputSchema: z.object({ id: z.string() }),
    contextSchema: z.object({ customer: z.string() }),
    execute: async ({ id }, { context }) => shop.findOrder(id, context.customer),
  }),
  track_parcel: tool({
    description: 'Follows a parcel',
    inputSchema: z.object({ id: z.string() }),
    async *execute({ id }) {
      yield { id, state: 'packed' }
      yield { id, state: 'on its way' }
      yield { id, state: 'delivered' }
    },
  }),
  order_summary: tool({
    description: 'Sums up an order of the customer',
    inputSchema: z.object({ id: z.string() }),
    contextSchema: z.object({ customer: z.string() }),
    execute: ({ id }, { context }) => shop.findOrder(id, context.customer),
    toModelOutput: ({ output }) => ({ type: 'text', value: `${output.items.length} items for ${output.total} euros` }),
  }),
  product_photo: tool({
    description: 'Shows a product',
    inputSchema: z.object({ sku: z.string() }),
    execute: ({ sku }) => ({ sku, photo: shop.photo }),
    toModelOutput: ({ output }) => ({
      type: 'content',
      value: [
        { type: 'text', text: `This is ${output.sku}:` },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: output.photo } },
      ],
    }),
  }),
  refund: tool({
    description: 'Pays money back',
    inputSchema: z.object({ id: z.string(), cents: z.number().int().positive() }),
    needsApproval: ({ cents }) => cents > 1_000,
    execute: ({ id, cents }, { toolCallId }) => shop.refund(id, cents, toolCallId),
  }),
  cancel_order: tool({
    description: 'Cancels an order',
    inputSchema: z.object({ id: z.string() }),
    execute: ({ id }) => shop.cancel(id),
  }),
  ship_order: tool({
    description: 'Ships an order',
    inputSchema: z.object({ id: z.string() }),
    execute: ({ id }) => shop.ship(id),
  }),
  wait_for_payment: tool({
    description: 'Waits until an order is paid',
    inputSchema: z.object({ id: z.string() }),
    execute: ({ id }, { abortSignal }) => shop.payment(id, abortSignal),
  }),
  export_orders: tool({
    description: 'Exports the orders of a year as CSV',
    inputSchema: z.object({ year: z.number().int() }),
    execute: ({ year }) => shop.exportOrders(year),
  }),
  shelf_report: dynamicTool({
    description: 'Counts the free places of a shelf',
    inputSchema: jsonSchema({
      type: 'object',
      properties: { aisle: { type: 'integer', minimum: 1 } },
      required: ['aisle'],
    }),
    execute: async (input) => shop.shelf((input as { aisle: number }).aisle),
  }),
  choose_address: tool({
    description: 'Lets the customer choose an address in the page',
    inputSchema: z.object({ addresses: z.array(z.string()) }),
    outputSchema: z.object({ address: z.string() }),
  }),
}
