import { ToolDeniedError } from '../errors.ts'
import { stamp, type Approval, type Authorized, type Confirmed, type Verdict } from '../call/parcel.ts'
import { Pause } from '../call/pause.ts'
import type { Kernel } from '../kernel.ts'

/** Asks a person if a policy or the tool itself requires it. */
export function confirm(authorized: Authorized, kernel: Kernel): Confirmed | Promise<Confirmed> {
  const { tool, verdict } = authorized
  const grant = authorized.resumption?.approval
  if (grant !== undefined && grant.decision !== 'allow') throw refused(grant)
  const ask = verdict === null ? null : verdict.ask
  const isSkipped = verdict !== null && verdict.result !== null
  if (ask === null && (tool.requiresConfirmation === false || isSkipped)) return stamp(authorized, 'approval', null)
  return approved(authorized, kernel, ask)
}

async function approved(authorized: Authorized, kernel: Kernel, ask: Verdict['ask']): Promise<Confirmed> {
  if (ask === null && !(await kernel.approvals.wantsConfirmation(authorized)))
    return stamp(authorized, 'approval', null)
  const { resumption } = authorized
  // A client's answer is no approval. It counts as one only if a person approved the call before.
  const isGranted = resumption !== undefined && (resumption.reply === undefined || resumption.isApproved)
  if (isGranted) return stamp(authorized, 'approval', resumption.approval)
  if (resumption !== undefined) {
    throw new ToolDeniedError('Approval was asked for only after the client had answered: what it gave is not taken')
  }
  if (kernel.approver === undefined) {
    const timeout = ask?.timeout ?? kernel.approvalTimeout
    throw new Pause('approval', kernel.approvals.questionFor(authorized, ask), timeout)
  }
  const approval = await kernel.approvals.ask(authorized, kernel.approver, ask)
  if (approval.decision !== 'allow') throw refused(approval)
  return stamp(authorized, 'approval', approval)
}

/** Makes the error of a person's refusal, in words for the model. */
function refused({ note }: Approval): ToolDeniedError {
  return new ToolDeniedError(`Permission denied by user${note === undefined ? '' : `: ${note}`}`)
}
