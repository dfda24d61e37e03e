import { copyOf } from './copy.ts'
import { timerLength } from './deadline.ts'
import { ApprovalExpiredError, ToolDeniedError } from './errors.ts'
import { announce, isWatched } from './events.ts'
import { masked } from './mask.ts'
import type { Approval, Authorized, Verdict } from './parcel.ts'
import type { Approver, Kernel } from './ports.ts'
import { isThenable } from './thenable.ts'

const patience = 300_000

/** Whether the tool wants to be confirmed; a predicate that breaks means that somebody has to look. */
export async function wantsConfirmation({ tool, input, context, deadline }: Authorized): Promise<boolean> {
  if (typeof tool.requiresConfirmation === 'boolean') return tool.requiresConfirmation
  try {
    const wanted = tool.requiresConfirmation(input, context)
    return (isThenable(wanted) ? await deadline.within(wanted) : wanted) !== false
  } catch {
    deadline.check()
    return true
  }
}

/** The question, in words; a message that breaks, or is no text, gives way to the plain one. */
export function promptFor({ tool, input }: Authorized): string {
  const { confirmationMessage: message, name, secrets } = tool
  const otherwise = `Allow ${name} to execute?`
  try {
    const said: unknown = typeof message === 'function' ? message(masked(input, secrets)) : message
    if (isThenable(said)) said.then(undefined, () => {}) // what it comes to is of no use, and harms nobody
    return typeof said === 'string' ? said : otherwise
  } catch {
    return otherwise
  }
}

/** Asks the approver, for as long as it is patient; the call's own clock stands still meanwhile. */
export async function askApprover(
  authorized: Authorized,
  kernel: Kernel,
  approver: Approver,
  ask: Verdict['ask'],
): Promise<Approval> {
  const { invocationId, callId, name: toolName, session, tool, deadline } = authorized
  const timeout = approver.timeout ?? patience
  const prompt = promptFor(authorized)
  const meta = ask?.meta === undefined ? undefined : { meta: ask.meta }
  const isHeard = isWatched(authorized, kernel)
  if (isHeard) {
    const expiresAt = Date.now() + timeout
    announce(authorized, kernel, 'call:paused', { reason: 'approval', prompt, ...meta, expiresAt })
  }
  const input = copyOf(masked(authorized.input, tool.secrets))
  const request = { invocationId, callId, toolName, session, prompt, input, reason: ask?.reason, ...meta }
  const expiry = timer(timeout)
  let approval: Approval
  try {
    const answer = await deadline.outside(Promise.race([approver.ask(request, deadline.signal), expiry.passed]))
    const { decision, decidedBy, note, always } = answer
    approval = { decision: decision === 'allow' ? 'allow' : 'deny', decidedBy, note, always } // only a plain yes is one
  } catch (cause) {
    deadline.check()
    if (cause instanceof ApprovalExpiredError) throw cause
    throw new ToolDeniedError('Nobody could be asked for approval', { cause })
  } finally {
    expiry.clear()
  }
  if (isHeard) announce(authorized, kernel, 'call:resumed', { ...approval })
  return approval
}

function timer(timeout: number): { readonly passed: Promise<never>; clear(): void } {
  let id: ReturnType<typeof setTimeout> | undefined
  const passed = new Promise<never>((_, reject) => {
    id = setTimeout(() => {
      reject(new ApprovalExpiredError(`Nobody answered the request for approval within ${timeout} ms.`))
    }, timerLength(timeout))
  })
  return { passed, clear: () => clearTimeout(id) }
}

/** The refusal of a person, as a result that the model can read. */
export function refused({ note }: Approval): ToolDeniedError {
  return new ToolDeniedError(`Permission denied by user${note === undefined ? '' : `: ${note}`}`)
}
