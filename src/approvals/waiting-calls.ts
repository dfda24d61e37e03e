import { sha256 } from '#sha256'
import { toldId, type ToolResult } from '../kernel/call/call.ts'
import { emit, isWatched } from '../kernel/call/events.ts'
import {
  stageFields,
  stamp,
  type Approval,
  type Authorized,
  type Received,
  type Resolved,
  type Verdict,
} from '../kernel/call/parcel.ts'
import { Wait, type ResumableCall, type WaitReason, type Resumption, type WaitingCall } from '../kernel/call/wait.ts'
import type { WaitRecord } from '../kernel/call/record.ts'
import { randomDigits, waitingWords } from '../kernel/call/waiting.ts'
import {
  ApprovalExpiredError,
  ApprovalInvalidError,
  InvalidToolResultError,
  LeasedError,
  ToolDeniedError,
  ValidatorFailedError,
} from '../kernel/errors.ts'
import { bounded } from '../kernel/json/json-text.ts'
import { ownJson } from '../kernel/json/own-json.ts'
import type { DecideOptions, RespondOptions } from '../kernel/calls-types.ts'
import type { Approvals, Kernel } from '../kernel/kernel.ts'
import type { Approver, ToolValues } from '../kernel/ports.ts'
import { callIdOf, canonicalize } from '../kernel/json/canonical.ts'
import { parseArgs } from '../kernel/json/parse.ts'
import { returnedFailure } from '../kernel/outcome/failure.ts'
import { resultOf, type BeginningWait } from '../kernel/outcome/result.ts'
import type { Issue } from '../kernel/schema/standard.ts'
import { invalidArgs, invalidOutput, type Validation } from '../kernel/schema/validator.ts'
import { validateOutput } from '../kernel/stages/check.ts'
import { internals, type ToolDefinition } from '../kernel/tool/definition.ts'
import { askApprover, questionFor } from './approver.ts'
import { fingerprint, requireUnchanged } from './fingerprint.ts'

/** The most waiting calls whose values are kept in this process. */
const mostValues = 10_000
/** The largest provider's result in a waiting call, in bytes of JSON. */
const largestResult = 262_144
/** How often a call that others change meanwhile is taken again. */
const mostAttempts = 10
/** The last millisecond that a `Date` can hold. */
const endOfTime = 8.64e15

/**
 * The waiting calls of one executor, from the question to the answer. A token is a capability. It is random and works once, and
 * the record keeps only its hash.
 */
export class WaitingCalls implements Approvals {
  readonly #kernel: Kernel

  constructor(kernel: Kernel) {
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

  requireUnchanged(tool: ToolDefinition, asked: string): void {
    requireUnchanged(tool, tool.name, asked)
  }

  admit(received: Received, tool: ToolDefinition | undefined): void {
    if (received.resumption === undefined) return
    const { reason, approval, callId, fingerprint: asked } = received.resumption
    const isSame = tool !== undefined && fingerprint(tool) === asked
    if (isSame || (tool === undefined && approval.decision === 'allow')) return
    if (reason !== 'approval' || approval.decision === 'allow') return requireUnchanged(tool, received.name, asked)
    if (callId !== null) stamp(received as Resolved, 'identity', { callId, text: '', args: undefined })
    if (isWatched(received, this.#kernel)) emit(received, this.#kernel, 'call:resumed', { ...approval })
    requireAllowed(approval)
  }

  beginWait(received: Received, { question, reason, work, timeout }: Wait): BeginningWait {
    const { id, tool, identity, approval, call, invocationId, context } = stageFields(received)
    if (tool === undefined || identity === undefined) throw new TypeError('A call waits only once it is identified.')
    if (bounded(call.result, largestResult) !== call.result) {
      throw new InvalidToolResultError(
        `The provider's result of ${tool.name} is too large to be kept while the call waits.`,
      )
    }
    const token = `${invocationId}.${randomDigits(32)}`
    const wait: WaitRecord = {
      reason,
      digest: sha256(token),
      fingerprint: fingerprint(tool),
      expiresAt: Math.min(Date.now() + (timeout === 0 ? Infinity : timeout), endOfTime),
      prompt: question.prompt,
      text: identity.text,
      // A journal takes JSON alone.
      ...(this.#kernel.recorder && call.result !== undefined && ownJson({ result: call.result })),
      ...(typeof id === 'string' && toldId(id) !== id && { id }),
      ...((approval ?? received.resumption?.isApproved === true) && { isApproved: true as const }),
      ...(work && { work }),
    }
    if (work === undefined) this.#keep(wait.digest, context.values) // else they stay with its caller
    if (reason === 'client') received.effect = 'unknown' // from now on the client may do its work
    const { expiresAt } = wait
    const body = { reason, ...(reason !== 'worker' && { token }), ...question, expiresAt }
    return { result: waitingResult(received, wait, token), wait, body }
  }

  #keep(digest: string, own: ToolValues): void {
    const values = this.#kernel.waitingValues
    values.set(digest, own)
    const [oldest] = values.keys()
    if (values.size > mostValues && oldest !== undefined) values.delete(oldest)
  }

  /** Redeems the token of a call that waits for approval. */
  async decide(token: string | WaitingCall, decision: 'allow' | 'deny', options: DecideOptions): Promise<Resumption> {
    const { note, always, decidedBy = 'user', editedArgs } = options
    const isEdited = editedArgs !== undefined && decision === 'allow'
    const check = (tool: ToolDefinition): Promise<void> | undefined =>
      isEdited ? this.#requireValid(tool, editedArgs) : undefined
    const found = await this.#take(token, 'approval', options, decision === 'allow' ? check : undefined)
    const approval: Approval = { decision: decision === 'allow' ? 'allow' : 'deny', decidedBy, note, always }
    if (!isEdited) return { ...found, approval }
    const { name, args: kept } = found.call
    const editedFrom = callIdOf(name, typeof kept === 'string' ? kept : '') // before they are replaced
    return { ...found, approval, call: { ...found.call, args: editedArgs }, editedFrom }
  }

  /** Redeems the token of a call that waits for a client. */
  async respond(token: string | WaitingCall, value: unknown, options: RespondOptions): Promise<Resumption> {
    const found = await this.#take(token, 'client', options, (tool) => this.#requireFitting(tool, value))
    const resumption = { ...found, approval: { decision: 'allow' as const, decidedBy: 'client' } }
    return Date.now() > found.expiresAt ? { ...resumption, isExpired: true } : { ...resumption, reply: { value } }
  }

  /** Takes a waiting call after all checks, so that a refused answer leaves the call redeemable. */
  async #take(
    token: unknown,
    reason: WaitReason,
    { session, values, holder }: RespondOptions,
    check: ((tool: ToolDefinition) => void | Promise<void>) | undefined,
  ): Promise<ResumableCall & Pick<Resumption, 'values'>> {
    const { waitingValues, registryFor } = this.#kernel
    const keeper = await this.#kernel.waits()
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const found = await keeper.find(token)
      if (found?.reason !== reason || (session !== undefined && session !== found.session)) {
        throw new ApprovalInvalidError(
          'This token is unknown, used already, or of another session. Ask for approval anew.',
        )
      }
      const { digest, expiresAt, fingerprint: asked, lease, call } = found
      if (reason === 'approval' && Date.now() > expiresAt) {
        waitingValues.delete(digest)
        throw new ApprovalExpiredError('This token has expired. Let the call be made again, and ask anew.')
      }
      if (lease !== undefined && lease.holder !== holder) {
        throw new LeasedError('Another client holds this call. Answer again when its lease has run out.')
      }
      const tool = registryFor(found.session).get(call.name)
      if (check !== undefined) requireUnchanged(tool, call.name, asked) // a denial needs no tool
      if (tool !== undefined && Date.now() <= expiresAt) await check?.(tool)
      const taken = await keeper.take(found)
      if (taken !== undefined) {
        const own = values ?? waitingValues.get(digest) ?? {}
        waitingValues.delete(digest)
        return { ...taken, values: own }
      }
      // Another answer took it, or only a lease was written meanwhile: then the call still waits.
      await new Promise((resolve) => setTimeout(resolve, attempt * 5))
    }
    throw new ApprovalInvalidError('This token was not accepted, since others kept changing the call. Answer again.')
  }

  /** Throws for edited args that do not fit, so that the call still waits for correct ones. */
  async #requireValid(tool: ToolDefinition, args: unknown): Promise<void> {
    const value = typeof args === 'string' ? parseArgs(args, Infinity) : args
    canonicalize(value, Infinity)
    const { issues } = await internals(tool).input.validate(value)
    if (issues !== undefined) throw invalidArgs(tool.name, await this.#told(issues, tool))
  }

  /** Throws `E_INVALID_TOOL_RESULT` for a client's answer that does not fit, so that the call still waits for a correct one. */
  async #requireFitting(tool: ToolDefinition, value: unknown): Promise<void> {
    if (returnedFailure(value) !== undefined) return // the client tells that it has failed
    let outcome: Validation | undefined
    try {
      outcome = await validateOutput(tool, value)
    } catch (error) {
      if (tool.secrets.length === 0) throw error
      throw new ValidatorFailedError('The answer could not be validated. The tool has secrets, so no more is told.')
    }
    if (outcome?.issues !== undefined) throw invalidOutput(tool.name, await this.#told(outcome.issues, tool))
  }

  /** Returns the issues. If the tool has secrets, nothing that a validator says of them is told. */
  async #told(issues: readonly Issue[], { secrets }: ToolDefinition): Promise<readonly Issue[]> {
    return secrets.length === 0 ? issues : this.#kernel.redaction.redactIssues(issues, secrets)
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

/** Makes the result of a call that waits for an answer. */
function waitingResult(received: Received, { reason, expiresAt }: WaitRecord, token: string): ToolResult {
  const text = waitingWords(received.name, reason)
  const result = resultOf(received, 'waiting', received.effect, [{ type: 'text', text }])
  // Not enumerable: an application that sends the result over HTTP must not give the caller the right to approve.
  Object.defineProperty(result, 'token', { value: token })
  result.expiresAt = expiresAt
  return result
}
