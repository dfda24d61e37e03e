import { ToolDeniedError } from '../errors.ts'
import { stamp, type Authorized, type Validated, type Verdict } from '../parcel.ts'
import type { Kernel, Policy } from '../ports.ts'
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
    const said = await consult(policy, validated)
    if (said.decision === 'deny') throw denied(said.reason ?? `Denied by ${policy.name}`, said)
    if (said.decision === 'ask') ask = { reason: ask?.reason ?? said.reason, meta: { ...ask?.meta, ...said.meta } }
    else if ('result' in said) result ??= { value: said.result }
  }
  return stamp(validated, 'verdict', { ask, result })
}

/** Everything that a policy can say, read once. */
interface Said {
  readonly decision?: 'ask' | 'deny'
  readonly reason?: string
  readonly meta?: Readonly<Record<string, unknown>>
  readonly toolResult?: unknown
  readonly result?: unknown
}

/** Asks a policy; one that breaks, or says what it cannot say, has not agreed. */
async function consult(policy: Policy, validated: Validated): Promise<Said> {
  const { deadline, context } = validated
  try {
    const decision = policy.decide(validated, context)
    const said: unknown = isThenable(decision) ? await deadline.within(decision) : decision
    if (said === undefined || said === null) return {}
    if (typeof said !== 'object') throw new TypeError(`a decision is an object, not ${typeof said}`)
    const copy: Record<string, unknown> = { ...said }
    if (copy['decision'] !== 'ask' && copy['decision'] !== 'deny' && !('result' in copy)) {
      throw new TypeError('a decision asks, denies, or gives a result')
    }
    return copy
  } catch (cause) {
    deadline.check()
    throw denied(`Policy ${policy.name} could not decide`, { cause })
  }
}

function denied(reason: string, details: { readonly toolResult?: unknown; readonly cause?: unknown }): ToolDeniedError {
  return new ToolDeniedError(reason, details)
}
