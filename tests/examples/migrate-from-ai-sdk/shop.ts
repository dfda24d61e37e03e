// What the tools do. It knows no library of agents, so a migration does not touch it.

/** What the shop did, in its order. */
export const deeds: string[] = []

const products = [
  { sku: 'tea-1', name: 'Green tea', price: 4 },
  { sku: 'tea-2', name: 'Black tea', price: 3 },
  { sku: 'tea-3', name: 'Iced tea', price: 9 },
  { sku: 'cup-1', name: 'Tea cup', price: 12 },
]
const orders = [
  { id: 'o-1', customer: 'ada', items: ['tea-1', 'cup-1'], total: 16 },
  { id: 'o-2', customer: 'bob', items: ['tea-2'], total: 3 },
]

/** A product. */
export type Product = (typeof products)[number]

/** An order. */
export type Order = (typeof orders)[number]

export function searchProducts(search: {
  readonly query: string
  readonly sort: 'name' | 'price'
  readonly price: { readonly from: number; readonly to?: number | undefined }
  readonly limit: number
}): { query: string; products: Product[] } {
  const { query, sort, price, limit } = search
  const found = products
    .filter(({ name }) => name.toLowerCase().includes(query))
    .filter((product) => product.price >= price.from && product.price <= (price.to ?? Infinity))
    .toSorted((one, other) => (sort === 'price' ? one.price - other.price : one.name.localeCompare(other.name)))
  return { query, products: found.slice(0, limit) }
}

export function findOrder(id: string, customer: string | undefined): Order {
  const order = orders.find((each) => each.id === id && each.customer === customer)
  if (order === undefined) throw new Error(`${customer} has no order ${id}.`)
  return order
}

/** @param key What the bank knows the payment by: it pays once for each key. */
export function refund(id: string, cents: number, key: string): { refunded: number } {
  if (key === '') throw new Error('The bank needs a key.')
  deeds.push(`refund ${id} ${cents}`)
  return { refunded: cents }
}

export function cancel(id: string): { cancelled: string } {
  deeds.push(`cancel ${id}`)
  return { cancelled: id }
}

export function ship(id: string): { shipped: string } {
  throw new Error(`The tea of ${id} is out of stock.`)
}

/** Resolves if the customer pays, which no test waits for. */
export function payment(id: string, signal: AbortSignal | undefined): Promise<{ paid: string }> {
  deeds.push(`wait for ${id}`)
  return new Promise((_resolve, reject) => {
    const leave = (): void => {
      deeds.push(`leave ${id}`)
      reject(new Error('The customer left.'))
    }
    signal?.addEventListener('abort', leave, { once: true })
  })
}

/** Returns the orders of a year, as CSV of 40 kB. */
export function exportOrders(year: number): string {
  return Array.from({ length: 2_000 }, (_, row) => `${year},o-${row},tea-1,4.00`).join('\n')
}

/** A picture of one pixel. */
export const photo = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

export function shelf(aisle: number): { aisle: number; free: number } {
  return { aisle, free: 4 }
}
