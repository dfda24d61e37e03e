import { consult, noObjection, type Said } from '../run/policies.ts'
import { ToolDeniedError } from '../errors.ts'
import { stamp, type Authorized, type Validated, type Verdict } from '../call/parcel.ts'
import type { Kernel, Policy } from '../ports.ts'
import { isThenable } from '../json/thenable.ts'

const noVerdict: Verdict = Object.freeze({ ask: null, result: null })

/** Asks the policies, in order: the first that denies ends it, and the strictest of the others wins. */
export function authorize(validated: Validated, kernel: Kernel): Authorized | Promise<Authorized> {
  const hook = validated.tool.hooks?.preToolUse
  if (hook === undefined && kernel.policies.length === 0) return stamp(validated, 'verdict', null)
  const policies = hook === undefined ? kernel.policies : [...kernel.policies, { name: 'preToolUse', decide: hook }]
  return judged(validated, policies, 0, noVerdict)
}

/** Asks the policies from one on; where one takes its time, the rest are asked when it has answered. */
function judged(
  validated: Validated,
  policies: readonly Policy[],
  from: number,
  before: Verdict,
): Authorized | Promise<Authorized> {
  let verdict = before
  for (let index = from; index < policies.length; index++) {
    const policy = policies[index]!
    const said = consult(policy, validated)
    if (isThenable(said)) {
      return said.then((later) => judged(validated, policies, index + 1, heeding(later, verdict, policy)))
    }
    verdict = heeding(said, verdict, policy)
  }
  return stamp(validated, 'verdict', verdict)
}

function heeding(said: Said, verdict: Verdict, { name }: Policy): Verdict {
  if (said === noObjection) return verdict
  if (said.decision === 'deny') throw new ToolDeniedError(said.reason ?? `Denied by ${name}`, said)
  const { ask, result } = verdict
  if (said.decision === 'ask') {
    return { ask: { reason: ask?.reason ?? said.reason, meta: { ...ask?.meta, ...said.meta } }, result }
  }
  return { ask, result: result ?? { value: said.result } }
}
