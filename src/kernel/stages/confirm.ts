import { ToolDeniedError } from '../errors.ts'
import { stamp, type Approval, type Authorized, type Confirmed, type Verdict } from '../call/parcel.ts'
import { Pause, type Resumption } from '../call/pause.ts'
import { isThenable } from '../json/thenable.ts'
import type { Approvals, Kernel } from '../kernel.ts'

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

/** Whether the tool requires confirmation. A predicate that throws requires it. */
async function wantsConfirmation({ tool, input, context, deadline }: Authorized): Promise<boolean> {
  if (typeof tool.requiresConfirmation === 'boolean') return tool.requiresConfirmation
  try {
    const wanted = tool.requiresConfirmation(input, context)
    return isThenable(wanted) ? await deadline.within(wanted, (later) => later !== false) : wanted !== false
  } catch {
    deadline.check()
    return true
  }
}

async function pause(authorized: Authorized, kernel: Kernel, ask: Verdict['ask']): Promise<never> {
  const approvals = await approvalsFor(authorized, kernel)
  const question = await approvals.questionFor(authorized, ask)
  throw new Pause('approval', question, ask?.timeout ?? kernel.approvalTimeout)
}

async function approved(authorized: Authorized, kernel: Kernel, ask: Verdict['ask']): Promise<Confirmed> {
  if (ask === null && !(await wantsConfirmation(authorized))) return unasked(authorized)
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
  const approvals = await approvalsFor(authorized, kernel)
  const approval = await approvals.ask(authorized, kernel.approver, ask)
  if (approval.decision !== 'allow') throw refused(approval)
  return stamp(authorized, 'approval', approval)
}

/** Returns what asks people. A cancelled call does not wait for its load. */
function approvalsFor({ deadline }: Authorized, kernel: Kernel): Approvals | Promise<Approvals> {
  const approvals = kernel.approvals()
  return isThenable(approvals) ? deadline.outside(approvals) : approvals
}

/** Whether a person answered. */
function isPersons({ reason, reply }: Resumption): boolean {
  return reason !== 'worker' && reply === undefined
}

/** Makes the error of a person's refusal, in words for the model. */
function refused({ note }: Approval): ToolDeniedError {
  return new ToolDeniedError(`Permission denied by user${note === undefined ? '' : `: ${note}`}`)
}
