/** Where the requests of an operation may go. */
export interface AllowedHosts {
  /** The address of the API. */
  readonly base: URL
  /** Whether the application's code names it. If not, it may not be private. */
  readonly isNamedInCode: boolean
  /** The further origins that the application's code names. */
  readonly origins: ReadonlySet<string>
}

/** Returns the origins that a host of the option `hosts` stands for. */
export function originsOf(host: string): string[] {
  const url = URL.parse(/^https?:\/\//.test(host) ? host : `https://${host}`)
  if (url === null) return []
  return isLoopback(url.hostname) ? [`https://${url.host}`, `http://${url.host}`] : [`https://${url.host}`]
}

/** Whether a credential may be sent to an address. */
export function isSafeForCredentials({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

const privateNames = /^[^.]*$|\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/
const privateIpv4 =
  /^(?:0|10|127|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.(?:168|0\.0)|198\.1[89]|22[4-9]|2[3-5]\d)\./
/** The public addresses, but for those of documents, and of tunnels that carry addresses of IPv4. */
const publicIpv6 = /^\[(?!2001:(?:0|db8)?:|2002:)[23][\da-f]{3}:/
/** What a gateway translates into an address of IPv4. */
const translatedIpv6 = /^\[64:ff9b::([\da-f]+):([\da-f]+)\]$/

/** Whether a host is no host of the public internet. It is as `URL` writes it, which knows all spellings of an address. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '')
  if (!host.startsWith('[')) return privateNames.test(host) || (/^[\d.]+$/.test(host) && privateIpv4.test(host))
  const [, ...groups] = translatedIpv6.exec(host) ?? []
  if (groups.length === 0) return !publicIpv6.test(host)
  const bytes = groups.map((group) => Number.parseInt(group, 16)).flatMap((pair) => [pair >> 8, pair & 255])
  return privateIpv4.test(bytes.join('.'))
}
