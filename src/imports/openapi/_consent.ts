import type { ToolContext } from '../../index.ts'
import { credentialRequest, type Consent } from '../_minting.ts'
import type { CallableOperation } from './_calls.ts'
import { documentText } from './_document.ts'
import type { OperationOptions } from './_options.ts'
import type { PlannedScheme } from './_security.ts'

/** How long the answer of `ready` holds, in milliseconds. */
const readyFor = 1_000
const mostReady = 1_000

type OperationHooks = OperationOptions['hooks']

/** Asks for a person's consent after all other policies, if a credential needs it. */
export function withConsent(
  hooks: OperationHooks,
  { schemes }: CallableOperation,
  confirmation: OperationOptions['requiresConfirmation'],
): OperationHooks {
  const asking = schemes.filter(({ options }) => options.ready !== undefined)
  // A consent is no confirmation: one answer is never taken for both.
  if (asking.length === 0 || (confirmation !== undefined && confirmation !== false)) return hooks
  const answers = new Map<string, { readonly consent: Consent | undefined; readonly until: number }>()
  return {
    ...hooks,
    preToolUse: async (call, context) => {
      const before = await hooks?.preToolUse?.(call, context)
      if (before !== undefined && before !== null) return before
      if (call.resumption !== undefined) return undefined
      for (const scheme of asking) {
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
    },
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
