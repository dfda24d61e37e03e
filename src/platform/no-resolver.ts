/** Returns no addresses: only Node says what the name of a host resolves to. */
async function noAddresses(_hostname: string): Promise<readonly string[]> {
  return []
}

export { noAddresses as addressesOf }
