import { lookup } from 'node:dns/promises'

/** Returns the addresses that a name of a host resolves to. A name that does not resolve has none: the request will say so. */
export async function addressesOf(hostname: string): Promise<readonly string[]> {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address)
  } catch {
    return []
  }
}
