import type { ToolContext } from '../../index.ts'
import type { Decision } from '../../extension.ts'
import { credentialRequest } from '../_minted.ts'
import type { Consent } from '../_minting.ts'
import { documentText } from './_document.ts'
import type { PlannedScheme } from './_security.ts'

/** How long the answer of `ready` holds, in milliseconds. */
const readyFor = 1_000
const mostReady = 1_000

/** Returns what asks for a person's consent, if one of these credentials needs it. */
export function consentPolicy(
  schemes: readonly PlannedScheme[],
): (context: ToolContext) => Promise<Decision | undefined> {
  const answers = new Map<string, { readonly consent: Consent | undefined; readonly until: number }>()
  return async (context) => {
    for (const scheme of schemes) {
      const consent = await consentFor(scheme, context)
      if (consent === undefined) continue
      const { url, message } = consent
      const address = URL.parse(url)
      if (address?.protocol !== 'https:')
        return { decision: 'deny', reason: 'The address of the consent does not begin with https.' }
      const meta = { consent: { scheme: scheme.scheme, url: address.href } }
      return { decision: 'ask', reason: `${documentText(String(message))} (${address.host})`, meta }
    }
    return undefined
  }

  async function consentFor(scheme: PlannedScheme, context: ToolContext): Promise<Consent | undefined> {
    const { session, principal } = context
    const owner = JSON.stringify([scheme.scheme, principal === undefined ? ['session', session] : principal])
    const previous = answers.get(owner)
    if (previous !== undefined && Date.now() < previous.until) return previous.consent
    const consent = (await scheme.options.ready?.(credentialRequest(scheme, context, false))) ?? undefined
    answers.delete(owner)
    answers.set(owner, { consent, until: Date.now() + readyFor })
    for (const oldest of answers.keys()) {
      if (answers.size <= mostReady) break
      answers.delete(oldest)
    }
    return consent
  }
}
