import { emit, isWatched } from '../kernel/call/emit.ts'
import { stamp, type Authorized, type Received, type Resolved, type Verdict } from '../kernel/call/parcel.ts'
import type { Approval, Approver } from '../kernel/call/approval.ts'
import { Wait, type Resumption } from '../kernel/call/wait.ts'
import { ToolDeniedError } from '../kernel/errors.ts'
import type { ApprovalDesk, EventTargets } from '../kernel/executor-context.ts'
import type { ToolDefinition } from '../kernel/tool/definition.ts'
import { askApprover, questionFor } from './approver.ts'
import { fingerprint, requireUnchanged } from './fingerprint.ts'

/** Asks people. Without an approver the call waits: what keeps waiting calls takes the answer. */
export class HumanApprovals implements ApprovalDesk {
  readonly #kernel: EventTargets & { readonly approvalTimeout: number }

  constructor(kernel: EventTargets & { readonly approvalTimeout: number }) {
    this.#kernel = kernel
  }

  async approve(call: Authorized, ask: Verdict['ask'], approver: Approver | undefined): Promise<Approval> {
    if (call.resumption !== undefined) return givenApproval(call.resumption)
    if (approver === undefined || call.requiresApproval === true) {
      const question = await questionFor(call, ask, this.#kernel.report)
      throw new Wait('approval', question, ask?.timeout ?? this.#kernel.approvalTimeout)
    }
    return requireAllowed(await askApprover(call, this.#kernel, approver, ask))
  }

  readonly fingerprint: ApprovalDesk['fingerprint'] = fingerprint
  readonly requireUnchanged: ApprovalDesk['requireUnchanged'] = requireUnchanged

  admit(received: Received, tool: ToolDefinition | undefined): void {
    if (received.resumption === undefined) return
    const { reason, approval, callId, fingerprint: formerFingerprint } = received.resumption
    const isSame = tool !== undefined && fingerprint(tool) === formerFingerprint
    if (isSame || (tool === undefined && approval.decision === 'allow')) return
    if (reason !== 'approval' || approval.decision === 'allow')
      return requireUnchanged(tool, received.name, formerFingerprint)
    if (callId !== null) stamp(received as Resolved, 'identity', { callId, text: '', args: undefined })
    if (isWatched(received, this.#kernel)) emit(received, this.#kernel, 'call:resumed', { ...approval })
    requireAllowed(approval)
  }
}

/** Returns the approval of a call that resumes. Neither a client's answer nor a worker counts as one, unless a person approved before. */
function givenApproval({ approval, reason, reply, isApproved }: Resumption): Approval {
  const isPersons = reason !== 'worker' && reply === undefined
  if (isApproved || isPersons) return requireAllowed(approval)
  throw new ToolDeniedError(
    reason === 'worker'
      ? 'Approval was asked for only on the worker: give the caller the same tools and policies'
      : 'Approval was asked for only after the client had answered: what it gave is not taken',
  )
}

/** Throws the error of a person's refusal, in words for the model. */
function requireAllowed(approval: Approval): Approval {
  const { decision, note } = approval
  if (decision === 'allow') return approval
  throw new ToolDeniedError(`Permission denied by user${note === undefined ? '' : `: ${note}`}`)
}
