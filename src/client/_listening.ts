import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidConfigurationError } from '../errors.ts'

/**
 * Lets a server listen.
 *
 * @param option The name of the option that has the address, for the error.
 * @returns Where it listens.
 * @throws `E_INVALID_CONFIGURATION` if the port is taken or forbidden, or the address is none of this machine. Its cause is what Node threw.
 */
export async function listenAt(server: Server, port: number, address: string, option: string): Promise<AddressInfo> {
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve))
  } catch (cause) {
    const words = listeningFault((cause as { readonly code?: unknown }).code, port, address, option)
    throw words === undefined ? cause : new InvalidConfigurationError(words, { cause })
  }
  return server.address() as AddressInfo
}

function listeningFault(code: unknown, port: number, address: string, option: string): string | undefined {
  if (code === 'EADDRINUSE') {
    return `Port ${port} of ${address} is taken: end what listens there, or give another \`port\`, such as 0 for any that is free.`
  }
  if (code === 'EACCES') return `This process may not listen at port ${port}: give a \`port\` above 1023.`
  return code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
    ? `This machine has no address ${address}: give one of its own as \`${option}\`, such as 127.0.0.1.`
    : undefined
}
