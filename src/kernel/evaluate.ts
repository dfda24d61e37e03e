import type { Received } from './call/parcel.ts'
import { Wait } from './call/wait.ts'
import type { Evaluation } from './executor-types.ts'
import type { Kernel } from './kernel.ts'
import { failed } from './outcome/result.ts'
import { prepare } from './pipeline.ts'
import type { Observer } from './call/events.ts'
import type { Policy } from './ports.ts'

/**
 * Returns what would become of a call: passes it through the stages before the run. Emits, writes and asks nothing.
 */
export async function evaluate(kernel: Kernel, receive: (kernel: Kernel) => Received): Promise<Evaluation> {
  // Without an approver, a call that would be asked about waits.
  const policies = kernel.policies.map(evaluator)
  const quiet = { ...kernel, policies, watchers: new Set<Observer>(), recorder: undefined, approver: undefined }
  const received = receive(quiet)
  try {
    await prepare(received, quiet)
    return { decision: 'allow', callId: received.callId }
  } catch (thrown) {
    const { callId } = received
    if (!(thrown instanceof Wait)) {
      const { error, status } = failed(received, quiet, thrown)
      return { decision: status === 'denied' ? 'deny' : 'invalid', callId, ...(error && { error }) }
    }
    const { input: _input, ...question } = thrown.question
    return { decision: 'ask', callId, ...question, ...(kernel.approver && { hasApprover: true as const }) }
  } finally {
    received.deadline.end()
  }
}

function evaluator(policy: Policy): Policy {
  const { name } = policy
  return {
    name,
    decide: (...call) => (policy.evaluate === undefined ? policy.decide(...call) : policy.evaluate(...call)),
  }
}
