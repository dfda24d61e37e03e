import type { ToolContext } from '../../index.ts'
import { credentialRequest, mintedFor, valueOfMinted } from '../_minted.ts'
import type { CredentialMask } from './_mask.ts'
import { byteString, encoded, headerValue } from './_parameters.ts'
import type { PlannedScheme } from './_security.ts'

/** Where credentials are put. */
export interface CredentialPlaces {
  readonly headers: Headers
  readonly query: string[]
  readonly cookies: string[]
}

/** Makes the credentials of a request, hides them in what comes back, and puts them where they are sent. */
export async function putCredentials(
  schemes: readonly PlannedScheme[],
  context: ToolContext,
  rejected: boolean,
  mask: CredentialMask,
  { headers, query, cookies }: CredentialPlaces,
): Promise<void> {
  for (const scheme of schemes) {
    const { carrier, parameter, options } = scheme
    const minted = await mintedFor(options.mint, credentialRequest(scheme, context, rejected))
    const value = valueOfMinted(minted)
    const username = typeof minted === 'string' ? '' : (minted.username ?? '')
    const pair = `${username}:${value}`
    mask.add(options.mint, value, carrier === 'basic' ? pair : undefined)
    if (carrier === 'query') query.push(`${encoded(parameter)}=${encoded(value)}`)
    else if (carrier === 'cookie') cookies.push(`${encoded(parameter)}=${encoded(value)}`)
    else if (carrier === 'basic') headers.set(parameter, `Basic ${btoa(byteString(pair))}`)
    else headers.set(parameter, headerValue(carrier === 'bearer' ? `Bearer ${value}` : value))
  }
}
