import { stamp, type Authorized, type Validated, type Verdict } from '../parcel.ts'
import { ToolDeniedError } from '../errors.ts'
import type { Decision, Kernel, Policy } from '../ports.ts'
import { isThenable } from '../thenable.ts'

/** Asks the policies, in order: the first that denies ends it, and the strictest of the others wins. */
export function authorize(validated: Validated, kernel: Kernel): Authorized | Promise<Authorized> {
  const hook = validated.tool.hooks?.preToolUse
  if (hook === undefined && kernel.policies.length === 0) return stamp(validated, 'verdict', null)
  const own = hook === undefined ? [] : [{ name: 'preToolUse', decide: hook }]
  return judge(validated, [...kernel.policies, ...own])
}

async function judge(validated: Validated, policies: readonly Policy[]): Promise<Authorized> {
  let ask = null as Verdict['ask']
  let result = null as Verdict['result']
  for (const policy of policies) {
    const decision = await consult(policy, validated)
    if (decision === undefined) continue
    if ('result' in decision) result ??= { value: decision.result }
    else if (decision.decision === 'deny') throw denied(decision.reason ?? `Denied by ${policy.name}`, decision)
    else if (decision.decision === 'ask') {
      ask = { reason: ask?.reason ?? decision.reason, meta: { ...ask?.meta, ...decision.meta } }
    } else throw denied(`Policy ${policy.name} gave a decision that is not one`, {})
  }
  return stamp(validated, 'verdict', { ask, result })
}

/** A policy that breaks has not agreed. */
async function consult(policy: Policy, validated: Validated): Promise<Exclude<Decision, void> | undefined> {
  const { deadline, context } = validated
  try {
    const decision = policy.decide(validated, context)
    return (isThenable(decision) ? await deadline.within(decision) : decision) ?? undefined
  } catch (cause) {
    deadline.check()
    throw denied(`Policy ${policy.name} could not decide`, { cause })
  }
}

function denied(reason: string, details: { readonly toolResult?: unknown; readonly cause?: unknown }): ToolDeniedError {
  return new ToolDeniedError(reason, details)
}
