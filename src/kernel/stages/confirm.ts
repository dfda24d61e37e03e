import { askApprover, questionFor, refused, wantsConfirmation } from '../../approvals/approver.ts'
import { ToolDeniedError } from '../errors.ts'
import { stamp, type Authorized, type Confirmed, type Verdict } from '../call/parcel.ts'
import { Pause } from '../call/pause.ts'
import type { Kernel } from '../ports.ts'

const tokenLife = 86_400_000

/** Waits for a person's word where a policy or the tool itself asks for one. */
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
  if (ask === null && !(await wantsConfirmation(authorized))) return stamp(authorized, 'approval', null)
  const { resumption } = authorized
  // A client's answer is no person's word: it stands for one only where a person had given it before.
  const isGranted = resumption !== undefined && (resumption.reply === undefined || resumption.isApproved === true)
  if (isGranted) return stamp(authorized, 'approval', resumption.approval)
  if (resumption !== undefined) {
    throw new ToolDeniedError('Approval was asked for only after the client had answered: what it gave is not taken')
  }
  if (kernel.approver === undefined) throw new Pause('approval', questionFor(authorized, ask), tokenLife)
  const approval = await askApprover(authorized, kernel, kernel.approver, ask)
  if (approval.decision !== 'allow') throw refused(approval)
  return stamp(authorized, 'approval', approval)
}
