import type { DecideOptions, RespondOptions } from '../kernel/calls-types.ts'
import type { Approval, WaitReason } from '../kernel/call/approval.ts'
import type { ResumableCall, Resumption, WaitingCall } from '../kernel/call/wait.ts'
import { ApprovalExpiredError, ApprovalInvalidError, LeasedError, ValidatorFailedError } from '../kernel/errors.ts'
import { callIdOf, canonicalize } from '../kernel/json/canonical.ts'
import { parseArgs } from '../kernel/json/parse.ts'
import { returnedFailure } from '../kernel/outcome/failure.ts'
import type { Answers, WaitKeeper } from '../kernel/recorder.ts'
import type { Issue } from '../kernel/schema/standard.ts'
import { invalidArgs, invalidOutput, type Validation } from '../kernel/schema/validator.ts'
import { validateOutput } from '../kernel/stages/check.ts'
import type { ToolDefinition } from '../kernel/tool/definition.ts'
import { inputOf } from '../kernel/tool/validators.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'

/** How often a call that others change meanwhile is taken again. */
const mostAnswerAttempts = 10

/** Takes the answers to the waiting calls of one keeper. An answer that is refused leaves its call waiting. */
export class KeptAnswers implements Answers {
  readonly #kernel: RecordsContext
  readonly #keeper: Pick<WaitKeeper, 'find' | 'take'>

  constructor(kernel: RecordsContext, keeper: Pick<WaitKeeper, 'find' | 'take'>) {
    this.#kernel = kernel
    this.#keeper = keeper
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
    const { name, args: formerArgs } = found.call
    const editedFrom = callIdOf(name, typeof formerArgs === 'string' ? formerArgs : '') // before they are replaced
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
    const { approvals, waitingValues, registryFor } = this.#kernel
    for (let attempt = 1; attempt <= mostAnswerAttempts; attempt++) {
      const found = await this.#keeper.find(token)
      if (found?.reason !== reason || (session !== undefined && session !== found.session)) {
        throw new ApprovalInvalidError(
          'This token is unknown, used already, or of another session. Ask for approval anew.',
        )
      }
      const { digest, expiresAt, fingerprint: formerFingerprint, lease, call } = found
      if (reason === 'approval' && Date.now() > expiresAt) {
        waitingValues.delete(digest)
        throw new ApprovalExpiredError('This token has expired. Let the call be made again, and ask anew.')
      }
      if (lease !== undefined && lease.holder !== holder) {
        throw new LeasedError('Another client holds this call. Answer again when its lease has run out.')
      }
      const tool = registryFor(found.session).get(call.name)
      if (check !== undefined) approvals.requireUnchanged(tool, call.name, formerFingerprint) // a denial needs no tool
      if (tool !== undefined && Date.now() <= expiresAt) await check?.(tool)
      const takenRecord = await this.#keeper.take(found)
      if (takenRecord !== undefined) {
        const own = values ?? waitingValues.get(digest) ?? {}
        waitingValues.delete(digest)
        return { ...takenRecord, values: own }
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
    const { issues } = await inputOf(tool).validate(value)
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
