import { setApproval, type Authorized, type Confirmed } from '../call/parcel.ts'
import { isThenable } from '../json/thenable.ts'
import type { Kernel } from '../kernel.ts'
import { approved } from '../run/approved.ts'

/** Asks a person if a policy or the tool itself requires it. */
export function confirm(authorized: Authorized, kernel: Kernel): Confirmed | Promise<Confirmed> {
  const { tool, verdict, resumption, requiresApproval } = authorized
  const isRefused = resumption !== undefined && resumption.approval.decision !== 'allow'
  const ask = verdict === null ? null : verdict.ask
  if (isRefused || requiresApproval || ask !== null) return approved(authorized, kernel, ask)
  const isSkipped = verdict !== null && verdict.result !== null
  if (tool.requiresConfirmation === false || isSkipped) return unasked(authorized)
  return ifWanted(authorized, kernel)
}

/** Goes on without a question. A person may have approved the call although nothing asks now: it waited. */
function unasked(authorized: Authorized): Confirmed {
  const { resumption } = authorized
  return setApproval(authorized, resumption?.reason === 'approval' ? resumption.approval : null)
}

/** Asks if the tool requires it. A predicate that throws requires it. */
async function ifWanted(authorized: Authorized, kernel: Kernel): Promise<Confirmed> {
  const { tool, input, context, deadline } = authorized
  let isWanted = true
  if (typeof tool.requiresConfirmation === 'function') {
    try {
      const wanted = tool.requiresConfirmation(input, context)
      isWanted = isThenable(wanted) ? await deadline.within(wanted, (later) => later !== false) : wanted !== false
    } catch (error) {
      deadline.check()
      kernel.report(error)
    }
  }
  return isWanted ? approved(authorized, kernel, null) : unasked(authorized)
}
