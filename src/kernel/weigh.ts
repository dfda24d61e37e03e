import type { Received } from './call/parcel.ts'
import { Pause } from './call/pause.ts'
import type { Weighing } from './executor-types.ts'
import type { Kernel } from './kernel.ts'
import { failed } from './outcome/result.ts'
import type { Policy } from './ports.ts'
import { authorize } from './stages/authorize.ts'
import { confirm } from './stages/confirm.ts'
import { identify } from './stages/identify.ts'
import { resolve } from './stages/resolve.ts'
import { validate } from './stages/validate.ts'

/** Makes a kernel that tells, writes and asks nothing, whose policies weigh. */
export function quiet(kernel: Kernel): Kernel {
  const policies = kernel.policies.map((policy): Policy => {
    const { name } = policy
    return { name, decide: (...call) => (policy.weigh === undefined ? policy.decide(...call) : policy.weigh(...call)) }
  })
  return { ...kernel, policies, watchers: new Set(), recorder: undefined, approver: undefined }
}

/** Walks the stages before the run. `kernel` is made by `quiet`. With an approver, a call never waits for `decide`. */
export async function weigh(received: Received, kernel: Kernel, hasApprover: boolean): Promise<Weighing> {
  try {
    const validated = await validate(identify(resolve(received, kernel), kernel), kernel)
    await confirm(await authorize(validated, kernel), kernel)
    return { decision: 'allow', callId: received.callId }
  } catch (thrown) {
    const { callId } = received
    if (!(thrown instanceof Pause)) {
      const { error } = failed(received, kernel, thrown)
      return { decision: 'refuse', callId, ...(error && { error }) }
    }
    const { prompt, why, meta } = thrown.question
    const told = { ...(why !== undefined && { why }), ...(meta && { meta }), ...(hasApprover && { hasApprover }) }
    return { decision: 'ask', callId, prompt, ...told }
  } finally {
    received.deadline.end()
  }
}
