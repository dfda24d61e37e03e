import { emit } from '../kernel/call/emit.ts'
import { setIdentity, type Received, type Resolved, type Resumption } from '../kernel/call/parcel.ts'
import { ToolDeniedError } from '../kernel/errors.ts'
import type { EventTargets } from '../kernel/executor-context.ts'
import { requireAllowed } from '../kernel/outcome/failure.ts'
import type { ToolDefinition } from '../kernel/tool/definition.ts'
import { fingerprint, requireUnchanged } from './fingerprint.ts'

type Answered = Omit<Resumption, 'admit' | 'requireApproval'>

/** Makes the call that goes on, of one that was answered. */
export function resumptionOf(answered: Answered, context: EventTargets): Resumption {
  return {
    ...answered,
    admit: (received, tool) => admitAnswered(received, tool, answered, context),
    requireApproval: () => requireApproval(answered),
  }
}

function admitAnswered(
  received: Received,
  tool: ToolDefinition | undefined,
  { reason, approval, callId, fingerprint: asked }: Answered,
  context: EventTargets,
): void {
  const isSame = tool !== undefined && fingerprint(tool) === asked
  if (isSame || (tool === undefined && approval.decision === 'allow')) return
  if (reason !== 'approval' || approval.decision === 'allow') return requireUnchanged(tool, received.name, asked)
  if (callId !== null) setIdentity(received as Resolved, { callId, text: '', args: undefined })
  emit(received, context, 'call:resumed', { ...approval })
  requireAllowed(approval)
}

/** Neither a client's answer nor a worker counts as an approval, unless a person approved before. */
function requireApproval({ approval, reason, reply, isApproved }: Answered): Resumption['approval'] {
  const isPersons = reason !== 'worker' && reply === undefined
  if (isApproved || isPersons) return requireAllowed(approval)
  throw new ToolDeniedError(
    reason === 'worker'
      ? 'Approval was asked for only on the worker: give the caller the same tools and policies'
      : 'Approval was asked for only after the client had answered: what it gave is not taken',
  )
}
