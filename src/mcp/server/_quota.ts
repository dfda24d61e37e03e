/** An entry that is kept for a client. */
export interface QuotaEntry {
  /** The client that owns the entry. All unknown clients count as one. */
  readonly party: string | undefined
}

/** How many entries are kept. */
export interface Quota {
  /** For one known party. */
  readonly each: number
  /** For all parties together. */
  readonly all: number
}

/**
 * Chooses the entry to evict before a party gets one more, so that no party can evict an entry of a party with fewer entries.
 * A party at its own quota loses an entry of its own. At the common bound, the party with most entries loses one; of equal
 * parties, the one that asks.
 *
 * @param kept The entries; of equal ones, the first is evicted first.
 * @param rank Ranks the entries of one party: the lowest is evicted first, `Infinity` never.
 * @returns The entry to evict; `undefined` if there is room; `null` if there is no room and no entry may be evicted.
 */
export function yielding<Entry extends QuotaEntry>(
  current: Iterable<Entry>,
  party: string | undefined,
  { each, all }: Quota,
  rank: (entry: Entry) => number,
): Entry | undefined | null {
  const entries = [...current]
  const counts = new Map<string | undefined, number>()
  for (const entry of entries) counts.set(entry.party, (counts.get(entry.party) ?? 0) + 1)
  const own = counts.get(party) ?? 0
  const isAtQuota = party !== undefined && own >= each
  if (!isAtQuota && entries.length < all) return undefined
  let chosen: { readonly entry: Entry; readonly order: readonly number[] } | undefined
  for (const entry of entries) {
    const isOwn = entry.party === party
    const count = counts.get(entry.party) ?? 0
    const place = rank(entry)
    if (place === Infinity || count < own || (isAtQuota && !isOwn)) continue
    const order = [-count, isOwn ? 0 : 1, place]
    if (chosen === undefined || isBefore(order, chosen.order)) chosen = { entry, order }
  }
  return chosen?.entry ?? null
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((figure, index) => figure !== other[index])
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0)
}

/**
 * Returns the network of an address, since one client can use any address of its own: the first half of an IPv6 address, the
 * whole of an IPv4 address.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.toLowerCase().split('%', 1)
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1]
  if (mapped !== undefined || !bare.includes(':')) return mapped ?? bare
  const [head = '', tail] = bare.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  if (tail !== undefined) while (groups.length + rest.length < 8) groups.push('0')
  return `${[...groups, ...rest]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
