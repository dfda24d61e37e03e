/**
 * Credentials that are made when a call runs: after validation, policies and approvals, once for each attempt. They never pass
 * through the model. This file keeps none longer than `cached` is told to, and never gives one to another principal.
 *
 * @module
 */
import type { ToolContext } from '../index.ts'
import { checkOptions, functionOption, integerFrom, optionsError, required } from '../extension.ts'
import { beforeAbort, credentialRequest, mintedFor, valueOfMinted } from './_minted.ts'
import { credentialKey } from './_minting.ts'
import type { Credential, CredentialOptions, CredentialRequest, Mint, Minted } from './_minting.ts'

export type {
  Consent,
  Credential,
  CredentialOptions,
  CredentialRequest,
  CredentialSource,
  Mint,
  Minted,
} from './_minting.ts'

/**
 * Makes a credential.
 *
 * @param name What messages call it.
 * @param options How it is made, and what is needed before.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid.
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { credential } from 'toolwright/imports/credentials'
 *
 * const tokens = new Map([['ada', 'ghp_0123456789']])
 * const github = credential('github', { mint: ({ principal = '' }) => tokens.get(principal) ?? '' })
 * const whoami = tool('whoami', async (_, context) => {
 *   const response = await fetch('https://api.github.com/user', { headers: { authorization: `Bearer ${await github(context)}` } })
 *   return response.json()
 * })
 * ```
 * @experimental
 */
export function credential(name: string, options: CredentialOptions): Credential {
  if (typeof name !== 'string' || name === '') throw optionsError('credential', 'takes a name')
  checkOptions('credential', options, {
    mint: required(functionOption),
    ready: functionOption,
    revoked: functionOption,
  })
  const own = { ...options }
  const call = async (context: ToolContext): Promise<string> => {
    const purpose = { scheme: name, scopes: [], host: '', operation: context.toolName }
    const minted = mintedFor(own.mint, credentialRequest(purpose, context, false))
    return valueOfMinted(await beforeAbort(minted, context.signal))
  }
  return Object.defineProperty(Object.assign(call, { [credentialKey]: own }), 'name', { value: name })
}

/** The options of `cached`: until when a credential is good. */
export interface CachedOptions<Made extends Minted = Minted> {
  /** Returns until when a credential is used, in milliseconds since 1970. */
  readonly until: (minted: Made) => number
  /** How many credentials are stored at most. Default: 1,000. */
  readonly max?: number
}

interface KeptCredential<Made> {
  readonly minted: Promise<Made>
  until: number
}

/**
 * Keeps what `mint` makes. There is one for each name, host, set of scopes, and principal: without a principal, for each session.
 * Calls that need the same one at the same time wait for one `mint`, which none of them can abort.
 *
 * @param mint Makes the credential. If the API has refused the stored one, it is made anew.
 * @param options Until when a credential is used, and how many are stored.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid.
 * @example
 * ```ts
 * import { cached, credential } from 'toolwright/imports/credentials'
 *
 * const refresh = async (user: string) => ({ value: `token-of-${user}`, expiresAt: Date.now() + 3_600_000 })
 * const github = credential('github', {
 *   mint: cached(({ principal = '' }) => refresh(principal), { until: ({ expiresAt }) => expiresAt - 60_000 }),
 * })
 * ```
 * @experimental
 */
export function cached<Made extends Minted>(mint: Mint<Made>, options: CachedOptions<Made>): Mint<Made> {
  if (typeof mint !== 'function') throw optionsError('cached', 'takes a function as `mint`')
  checkOptions('cached', options, { until: required(functionOption), max: integerFrom(1) })
  const { until, max = 1_000 } = options
  const stored = new Map<string, KeptCredential<Made>>()
  const flights = new Map<string, Promise<Made>>()

  return (request) => {
    const { scheme, host, scopes, principal, session } = request
    const owner = principal === undefined ? ['session', session] : ['principal', principal]
    const key = JSON.stringify([scheme, host, scopes.toSorted(), ...owner])
    const current = stored.get(key)
    if (current !== undefined && !request.rejected && Date.now() < current.until) return current.minted
    return flights.get(key) ?? fly(key, request)
  }

  function fly(key: string, request: CredentialRequest): Promise<Made> {
    stored.delete(key)
    // Others may wait for it: the abort of the call that was first does not end it.
    const flight = (async () => mint({ ...request, signal: new AbortController().signal }))()
    flights.set(key, flight)
    const minted = flight.then((made) => {
      const end = Number(until(made))
      if (end > Date.now()) stored.set(key, { minted, until: end })
      for (const oldest of stored.keys()) {
        if (stored.size <= max) break
        stored.delete(oldest)
      }
      return made
    })
    const land = (): void => void flights.delete(key)
    flights.set(key, minted)
    minted.then(land, land)
    return minted
  }
}
