import { copyOf } from '../kernel/json/copy.ts'
import { limited } from '../kernel/call/deadline.ts'
import type { ToolDefinition } from '../kernel/tool/definition.ts'
import { ApprovalExpiredError, ToolDeniedError } from '../kernel/errors.ts'
import { announce, isWatched } from '../kernel/call/events.ts'
import { redactorOf, toldInput } from '../kernel/call/secrets.ts'
import type { Approval, Authorized, Verdict } from '../kernel/call/parcel.ts'
import type { Question } from '../kernel/call/pause.ts'
import type { ApprovalAnswer, Approver, Kernel } from '../kernel/ports.ts'
import { shortened } from '../kernel/json/text.ts'
import { isThenable, unawaited } from '../kernel/json/thenable.ts'

const patience = 300_000
const longestPrompt = 4_096
const longestWhy = 1_024

/** Whether the tool wants to be confirmed; a predicate that breaks means that somebody has to look. */
export async function wantsConfirmation({ tool, input, context, deadline }: Authorized): Promise<boolean> {
  if (typeof tool.requiresConfirmation === 'boolean') return tool.requiresConfirmation
  try {
    const wanted = tool.requiresConfirmation(input, context)
    return isThenable(wanted) ? await deadline.within(wanted, (later) => later !== false) : wanted !== false
  } catch {
    deadline.check()
    return true
  }
}

/** What a person is asked; of a tool with secrets, all of it is made of its masked args. */
export function questionFor(authorized: Authorized, ask: Verdict['ask']): Question {
  const { tool } = authorized
  const input = toldInput(authorized)
  const prompt = shortened(promptFor(tool, input), longestPrompt)
  if (ask === null) return { prompt, input }
  const redactor = tool.secrets.length === 0 ? undefined : redactorOf(authorized)
  const why = ask.reason === undefined ? undefined : shortened(redactor?.words(ask.reason) ?? ask.reason, longestWhy)
  const meta = redactor === undefined ? ask.meta : (redactor.told(ask.meta) as typeof ask.meta)
  return { prompt, ...(why !== undefined && { why }), ...(meta && { meta }), input }
}

/** The question, in words; a message that breaks, or is no text, gives way to the plain one. */
function promptFor({ confirmationMessage: message, name }: ToolDefinition, input: unknown): string {
  const otherwise = `Allow ${name} to execute?`
  try {
    const said: unknown = typeof message === 'function' ? message(input) : message
    void unawaited(said) // what a promise comes to is of no use, and harms nobody
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
  const { invocationId, callId, name: toolName, session, deadline } = authorized
  const timeout = approver.timeout ?? patience
  const question = questionFor(authorized, ask)
  const isHeard = isWatched(authorized, kernel)
  if (isHeard) {
    const expiresAt = Date.now() + timeout
    announce(authorized, kernel, 'call:paused', { reason: 'approval', ...question, expiresAt })
  }
  const request = { invocationId, callId, toolName, session, ...question, input: copyOf(question.input) }
  let approval: Approval
  try {
    const answer = deadline.outside(approver.ask(request, deadline.signal), approvalOf)
    approval = await limited(answer, timeout, () => expired(timeout))
  } catch (cause) {
    deadline.check()
    if (cause instanceof ApprovalExpiredError) throw cause
    throw new ToolDeniedError('Nobody could be asked for approval', { cause })
  }
  if (isHeard) announce(authorized, kernel, 'call:resumed', { ...approval })
  return approval
}

/** Reads the answer: only a plain yes is one. */
function approvalOf({ decision, decidedBy, note, always }: ApprovalAnswer): Approval {
  return { decision: decision === 'allow' ? 'allow' : 'deny', decidedBy, note, always }
}

function expired(timeout: number): ApprovalExpiredError {
  return new ApprovalExpiredError(`Nobody answered the request for approval within ${timeout} ms.`)
}

/** The refusal of a person, as a result that the model can read. */
export function refused({ note }: Approval): ToolDeniedError {
  return new ToolDeniedError(`Permission denied by user${note === undefined ? '' : `: ${note}`}`)
}
