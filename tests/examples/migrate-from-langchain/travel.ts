// What the tools do. It knows no library of agents, so a migration does not touch it.

/** What the agency did, in its order. */
export const deeds: string[] = []

/** A trip that can be booked. */
export interface Trip {
  readonly id: string
  readonly to: string
  readonly day: string
  readonly euros: number
}

const trips: readonly Trip[] = [
  { id: 't-1', to: 'Oslo', day: '2026-05-01', euros: 90 },
  { id: 't-2', to: 'Oslo', day: '2026-05-02', euros: 300 },
  { id: 't-3', to: 'Oslo', day: '2026-07-02', euros: 120 },
  { id: 't-4', to: 'Rome', day: '2026-05-02', euros: 80 },
]

export function searchTrips(search: {
  readonly to: string
  readonly from: Date
  readonly sort: 'day' | 'euros'
  readonly price: { readonly max: number }
  readonly limit: number
}): { readonly trips: readonly Trip[] } {
  const { to, from, sort, price, limit } = search
  const found = trips
    .filter((trip) => trip.to === to && new Date(trip.day) >= from && trip.euros <= price.max)
    .toSorted((one, other) => (sort === 'euros' ? one.euros - other.euros : one.day.localeCompare(other.day)))
  return { trips: found.slice(0, limit) }
}

export function bookingsOf(customer: string | undefined): { customer: string | undefined; bookings: string[] } {
  return { customer, bookings: customer === 'ada' ? ['t-1'] : [] }
}

export function priceOf(trip: string): number {
  return trips.find(({ id }) => id === trip)?.euros ?? 0
}

export function book(trip: string): string {
  deeds.push(`book ${trip}`)
  return `Booked ${trip}.`
}

export function cancel(trip: string): string {
  throw new Error(`There is no booking of ${trip}.`)
}

/** Finds documents: their words for the model, and where they come from for the program. */
export function documents(topic: string): { readonly words: string; readonly sources: { readonly url: string }[] } {
  return { words: `You need a passport for ${topic}.`, sources: [{ url: `https://example.com/${topic}` }] }
}

/** Returns the prices of a trip of two thousand days, as text of 30 kB. */
export function prices(trip: string): string {
  return Array.from({ length: 2_000 }, (_, day) => `${trip} ${day} 90.00`).join('\n')
}

/** Resolves if the customer pays, which no test waits for. */
export function payment(trip: string, signal: AbortSignal | undefined): Promise<string> {
  deeds.push(`wait for ${trip}`)
  return new Promise((_resolve, reject) => {
    const leave = (): void => {
      deeds.push(`leave ${trip}`)
      reject(new Error('The customer left.'))
    }
    signal?.addEventListener('abort', leave, { once: true })
  })
}

export function translated(text: string): string {
  return `${text}, på norsk`
}

export function exchanged(euros: number): { readonly kroner: number } {
  return { kroner: euros * 11 }
}
