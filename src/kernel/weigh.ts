import type { Received } from './call/parcel.ts'
import { Pause } from './call/pause.ts'
import type { Weighing } from './executor-types.ts'
import type { Kernel } from './kernel.ts'
import { failed } from './outcome/result.ts'
import type { walkToRun as walk } from './passage.ts'
import type { Observer, Policy } from './ports.ts'

/**
 * Walks the stages before the run, and returns what would become of the call. Tells, writes and asks nothing.
 *
 * @param receive Makes the call for a kernel.
 * @param walkToRun Walks the stages.
 */
export async function weigh(
  kernel: Kernel,
  receive: (kernel: Kernel) => Received,
  walkToRun: typeof walk,
): Promise<Weighing> {
  // Without an approver, a call that would be asked about pauses.
  const policies = kernel.policies.map(weigher)
  const quiet = { ...kernel, policies, watchers: new Set<Observer>(), recorder: undefined, approver: undefined }
  const received = receive(quiet)
  try {
    await walkToRun(received, quiet)
    return { decision: 'allow', callId: received.callId }
  } catch (thrown) {
    const { callId } = received
    if (!(thrown instanceof Pause)) {
      const { error } = failed(received, quiet, thrown)
      return { decision: 'refuse', callId, ...(error && { error }) }
    }
    const { input: _input, ...question } = thrown.question
    return { decision: 'ask', callId, ...question, ...(kernel.approver && { hasApprover: true as const }) }
  } finally {
    received.deadline.end()
  }
}

/** Makes a policy that decides as another weighs. */
function weigher(policy: Policy): Policy {
  const { name } = policy
  return { name, decide: (...call) => (policy.weigh === undefined ? policy.decide(...call) : policy.weigh(...call)) }
}
