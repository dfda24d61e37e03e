// A shop with an API: a server, and its document. It knows two people by their tokens.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export const document = `
openapi: 3.1.0
info: { title: Shop, version: '1' }
components:
  securitySchemes: { account: { type: http, scheme: bearer } }
security: [{ account: [] }]
paths:
  /orders:
    get: { operationId: listOrders, summary: Lists your orders, responses: {} }
    post:
      operationId: createOrder
      summary: Orders an item
      requestBody:
        required: true
        content:
          application/json:
            schema: { type: object, required: [item], properties: { item: { type: string }, shop: { type: string } } }
      responses: {}
`

/** Starts the shop. Returns its address, and what ends it. */
export async function openShop(): Promise<{ readonly url: string; readonly close: () => Server }> {
  const orders = new Map<string, { item: string; shop: string }[]>()
  const server = createServer((request, response) => {
    const answer = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    const [, name] = /^Bearer token-of-(\w+)$/.exec(request.headers.authorization ?? '') ?? []
    if (name === undefined) return answer(401, { title: 'Who are you?' })
    const own = orders.get(name) ?? []
    if (request.method === 'GET') return answer(200, own)
    let text = ''
    request.on('data', (piece) => (text += String(piece)))
    request.on('end', () => {
      const order = JSON.parse(text) as { item: string; shop: string }
      if (order.item === 'coffee') return answer(422, { title: 'Out of stock', detail: 'There is tea.' })
      orders.set(name, [...own, order])
      // Some servers repeat what they got.
      answer(201, { order: own.length + 1, headers: request.headers })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
