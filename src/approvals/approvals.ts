import type { Authorized, Verdict } from '../kernel/call/parcel.ts'
import type { Approval } from '../kernel/call/approval.ts'
import { Wait } from '../kernel/call/wait.ts'
import type { ApprovalContext } from '../kernel/executor-context.ts'
import { requireAllowed } from '../kernel/outcome/failure.ts'
import { askApprover, questionFor } from './approver.ts'

/** Asks a person. Without an approver the call waits: what keeps waiting calls takes the answer. */
export async function approve(call: Authorized, ask: Verdict['ask'], context: ApprovalContext): Promise<Approval> {
  const { resumption, requiresApproval } = call
  const { approver, approvalTimeout, report } = context
  if (resumption !== undefined) return resumption.requireApproval()
  if (approver === undefined || requiresApproval) {
    const question = await questionFor(call, ask, report)
    throw new Wait('approval', question, ask?.timeout ?? approvalTimeout)
  }
  return requireAllowed(await askApprover(call, context, approver, ask))
}
