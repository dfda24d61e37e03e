import { askPolicy, noObjection, type PolicyAnswer } from '../run/policies.ts'
import { ToolDeniedError } from '../errors.ts'
import { setVerdict, type Authorized, type Validated, type Verdict } from '../call/parcel.ts'
import type { Kernel } from '../kernel.ts'
import type { Policy } from '../ports.ts'
import { isThenable } from '../json/thenable.ts'

const noVerdict: Verdict = Object.freeze({ ask: null, result: null })

/** Asks the policies in order. The first that denies ends the call; the strictest of the other answers wins. */
export function authorize(validated: Validated, kernel: Kernel): Authorized | Promise<Authorized> {
  const hook = validated.tool.hooks?.preToolUse
  if (hook === undefined && kernel.policies.length === 0) return setVerdict(validated, null)
  const policies = hook === undefined ? kernel.policies : [...kernel.policies, { name: 'preToolUse', decide: hook }]
  return askFrom(validated, policies, 0, noVerdict)
}

/** Asks the policies from an index on. If one returns a promise, the rest are asked after it. */
function askFrom(
  validated: Validated,
  policies: readonly Policy[],
  from: number,
  before: Verdict,
): Authorized | Promise<Authorized> {
  let verdict = before
  for (let index = from; index < policies.length; index++) {
    const policy = policies[index]!
    const answer = askPolicy(policy, validated)
    if (isThenable(answer)) {
      return answer.then((later) => askFrom(validated, policies, index + 1, merge(later, verdict, policy)))
    }
    verdict = merge(answer, verdict, policy)
  }
  return setVerdict(validated, verdict)
}

function merge(answer: PolicyAnswer, verdict: Verdict, { name }: Policy): Verdict {
  if (answer === noObjection) return verdict
  if (answer.decision === 'deny') throw new ToolDeniedError(answer.reason ?? `Denied by ${name}`, answer)
  const { ask, result } = verdict
  if (answer.decision === 'ask') {
    const { reason, meta, timeout = ask?.timeout } = answer
    const least = timeout === undefined ? undefined : Math.min(ask?.timeout ?? Infinity, timeout || Infinity)
    return { ask: { reason: ask?.reason ?? reason, meta: { ...ask?.meta, ...meta }, timeout: least }, result }
  }
  return { ask, result: result ?? { value: answer.result } }
}
