import { ToolDeniedError } from '../errors.ts'
import { stamp, type Approval, type Authorized, type Confirmed, type Verdict } from '../call/parcel.ts'
import { Pause, type Resumption } from '../call/pause.ts'
import type { Kernel } from '../kernel.ts'

/** Asks a person if a policy or the tool itself requires it. */
export function confirm(authorized: Authorized, kernel: Kernel): Confirmed | Promise<Confirmed> {
  const { tool, verdict, resumption } = authorized
  const grant = resumption?.approval
  if (grant !== undefined && grant.decision !== 'allow') throw refused(grant)
  const ask = verdict === null ? null : verdict.ask
  if (authorized.isHeld === true) return pause(authorized, kernel, ask)
  const isSkipped = verdict !== null && verdict.result !== null
  if (ask === null && (tool.requiresConfirmation === false || isSkipped)) return unasked(authorized)
  return approved(authorized, kernel, ask)
}

/** Goes on without a question. A person may have approved the call although nothing asks now: it was held. */
function unasked(authorized: Authorized): Confirmed {
  const { resumption } = authorized
  return stamp(authorized, 'approval', resumption?.reason === 'approval' ? resumption.approval : null)
}

async function pause(authorized: Authorized, kernel: Kernel, ask: Verdict['ask']): Promise<never> {
  const question = await kernel.approvals.questionFor(authorized, ask, kernel.report)
  throw new Pause('approval', question, ask?.timeout ?? kernel.approvalTimeout)
}

async function approved(authorized: Authorized, kernel: Kernel, ask: Verdict['ask']): Promise<Confirmed> {
  if (ask === null && !(await kernel.approvals.wantsConfirmation(authorized))) return unasked(authorized)
  const { resumption } = authorized
  // Neither a client's answer nor a worker is an approval. They count as one only if a person approved the call before.
  const isGranted = resumption !== undefined && (resumption.isApproved || isPersons(resumption))
  if (isGranted) return stamp(authorized, 'approval', resumption.approval)
  if (resumption !== undefined) {
    throw new ToolDeniedError(
      resumption.reason === 'worker'
        ? 'Approval was asked for only on the worker: give the caller the same tools and policies'
        : 'Approval was asked for only after the client had answered: what it gave is not taken',
    )
  }
  if (kernel.approver === undefined) return pause(authorized, kernel, ask)
  const approval = await kernel.approvals.ask(authorized, kernel.approver, ask)
  if (approval.decision !== 'allow') throw refused(approval)
  return stamp(authorized, 'approval', approval)
}

/** Whether a person answered. */
function isPersons({ reason, reply }: Resumption): boolean {
  return reason !== 'worker' && reply === undefined
}

/** Makes the error of a person's refusal, in words for the model. */
function refused({ note }: Approval): ToolDeniedError {
  return new ToolDeniedError(`Permission denied by user${note === undefined ? '' : `: ${note}`}`)
}
