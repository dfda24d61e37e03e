/** Something that is kept for a client. */
export interface Kept {
  /** Whose it is; what is of no known client counts as one client's. */
  readonly party: string | undefined
}

/** How much is kept. */
export interface Quota {
  /** Of one known party. */
  readonly each: number
  /** Of all parties together. */
  readonly all: number
}

/**
 * Chooses what has to go before one more of a party is kept, so that no party can push out another that has less: a party at its
 * quota loses its own; at the bound of all, the party that has most loses one, the newcomer's before another's.
 *
 * @param kept What there is; of equals, the first goes first.
 * @param rank In which order the things of one party go: the lowest first, and never at `Infinity`.
 * @returns What has to go; `undefined` if there is room, `null` if there is none and nothing may go.
 */
export function yielding<Entry extends Kept>(
  kept: Iterable<Entry>,
  party: string | undefined,
  { each, all }: Quota,
  rank: (entry: Entry) => number,
): Entry | undefined | null {
  const entries = [...kept]
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
 * The network that an address is of, in which one client can take any address: of IPv6 its first half, of IPv4 the address.
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
