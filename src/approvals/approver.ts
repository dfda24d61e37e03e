import { copyOf } from '../kernel/json/copy.ts'
import { limited } from '../kernel/call/limited.ts'
import { ApprovalExpiredError, ToolDeniedError } from '../kernel/errors.ts'
import { emit, isWatched } from '../kernel/call/emit.ts'
import { maskedInput, type Authorized, type Verdict } from '../kernel/call/parcel.ts'
import type { Approval, ApprovalAnswer, Approver, Question } from '../kernel/call/approval.ts'
import { unawaited } from '../kernel/json/thenable.ts'
import type { ToolDefinition } from '../kernel/tool/definition.ts'
import { shortened } from '../kernel/json/shortened.ts'
import { shownBy } from './shown.ts'
import type { EventTargets } from '../kernel/executor-context.ts'

const approvalTimeout = 300_000
const longestPrompt = 4_096
const longestWhy = 1_024

/** Returns the question for a person. If its tool has secrets, it is of masked args. */
export async function questionFor(
  authorized: Authorized,
  ask: Verdict['ask'],
  report: (error: unknown) => void,
): Promise<Question> {
  const { tool, redactor } = authorized
  const input = maskedInput(authorized)
  const prompt = shortened(promptFor(tool, input), longestPrompt)
  const reason = ask?.reason
  const why = reason === undefined ? undefined : shortened(redactor?.text(reason) ?? reason, longestWhy)
  const details = await shownBy(authorized, input, ask?.meta, report)
  const meta = redactor === undefined ? details : (redactor.value(details) as typeof details)
  const repaired = authorized.identity.repaired?.steps
  return { prompt, ...(repaired && { repaired }), ...(why !== undefined && { why }), ...(meta && { meta }), input }
}

/** Returns the prompt. Falls back to the plain one if the tool's message throws or is not text. */
function promptFor({ confirmationMessage: message, name }: ToolDefinition, input: unknown): string {
  const otherwise = `Allow ${name} to execute?`
  try {
    const promptText: unknown = typeof message === 'function' ? message(input) : message
    void unawaited(promptText) // a promise is not used, and its rejection is swallowed
    return typeof promptText === 'string' ? promptText : otherwise
  } catch {
    return otherwise
  }
}

/** Asks the approver, up to its timeout. The clock of the call stops meanwhile. */
export async function askApprover(
  authorized: Authorized,
  kernel: EventTargets,
  approver: Approver,
  ask: Verdict['ask'],
): Promise<Approval> {
  const { invocationId, callId, name: toolName, session, deadline } = authorized
  const timeout = ask?.timeout ?? approver.timeout ?? approvalTimeout
  const question = await questionFor(authorized, ask, kernel.report)
  const isHeard = isWatched(authorized, kernel)
  if (isHeard) {
    const expiresAt = Date.now() + timeout
    emit(authorized, kernel, 'call:waiting', { reason: 'approval', ...question, expiresAt, inProcess: true })
  }
  const request = { invocationId, callId, toolName, session, ...question, input: copyOf(question.input) }
  let approval: Approval
  try {
    const answer = deadline.outside(approver.ask(request, deadline.signal), approvalOf)
    approval = await limited(answer, timeout, () => expired(timeout))
  } catch (cause) {
    deadline.check()
    if (cause instanceof ApprovalExpiredError || cause instanceof ToolDeniedError) throw cause
    throw new ToolDeniedError('The approver could not be asked for approval', { cause })
  }
  if (isHeard) emit(authorized, kernel, 'call:resumed', { ...approval })
  return approval
}

/** Reads the answer. Everything except `allow` denies, and what is no answer is no person's. */
function approvalOf(answer: ApprovalAnswer): Approval {
  const { decision, decidedBy, note, always } = Object(answer) as ApprovalAnswer
  if (decision === 'allow' || decision === 'deny') return { decision, decidedBy, note, always }
  throw new ToolDeniedError("An approver answers { decision: 'allow' } or { decision: 'deny' }, and this one did not.")
}

function expired(timeout: number): ApprovalExpiredError {
  return new ApprovalExpiredError(`The request for approval was not answered within ${timeout} ms.`)
}
