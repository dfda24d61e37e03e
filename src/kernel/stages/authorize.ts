import { ToolDeniedError } from '../errors.ts'
import { stamp, type Authorized, type Validated, type Verdict } from '../parcel.ts'
import type { Kernel, Policy } from '../ports.ts'
import { isThenable } from '../thenable.ts'

/** Asks the policies, in order: the first that denies ends it, and the strictest of the others wins. */
export function authorize(validated: Validated, kernel: Kernel): Authorized | Promise<Authorized> {
  const hook = validated.tool.hooks?.preToolUse
  if (hook === undefined && kernel.policies.length === 0) return stamp(validated, 'verdict', null)
  return judge(
    validated,
    hook === undefined ? kernel.policies : [...kernel.policies, { name: 'preToolUse', decide: hook }],
  )
}

async function judge(validated: Validated, policies: readonly Policy[]): Promise<Authorized> {
  let ask = null as Verdict['ask']
  let result = null as Verdict['result']
  for (const policy of policies) {
    const answer = consult(policy, validated)
    const said = isThenable(answer) ? await answer : answer
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
function consult(policy: Policy, validated: Validated): Said | Promise<Said> {
  const { deadline, context } = validated
  const refuse = (cause: unknown): never => {
    deadline.check()
    throw denied(`Policy ${policy.name} could not decide`, { cause })
  }
  try {
    const decision: unknown = policy.decide(validated, context)
    return isThenable(decision) ? deadline.within(decision).then(read).catch(refuse) : read(decision)
  } catch (cause) {
    return refuse(cause)
  }
}

function read(decision: unknown): Said {
  if (decision === undefined || decision === null) return noObjection
  if (typeof decision !== 'object') throw new TypeError(`a decision is an object, not ${typeof decision}`)
  const said: Record<string, unknown> = { ...decision }
  if (said['decision'] === 'ask' || said['decision'] === 'deny' || 'result' in said) return said
  throw new TypeError('a decision asks, denies, or gives a result')
}

const noObjection: Said = {}

function denied(reason: string, details: { readonly toolResult?: unknown; readonly cause?: unknown }): ToolDeniedError {
  return new ToolDeniedError(reason, details)
}
