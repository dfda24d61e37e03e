import type { DecideOptions, RespondOptions } from '../kernel/calls-types.ts'
import type { Approval, WaitReason } from '../kernel/call/approval.ts'
import type { Resumption } from '../kernel/call/parcel.ts'
import type { ResumableCall, WaitingCall } from '../kernel/call/wait.ts'
import {
  ApprovalExpiredError,
  ApprovalInvalidError,
  InvalidConfigurationError,
  LeasedError,
  ValidatorFailedError,
} from '../kernel/errors.ts'
import { callIdOf } from '../kernel/json/canonical.ts'
import { canonicalArgs } from '../kernel/stages/identify.ts'
import { returnedFailure } from '../kernel/outcome/failure.ts'
import type { Answers, WaitKeeper } from '../kernel/recorder.ts'
import { invalidOutput, type Validation } from '../kernel/schema/validator.ts'
import { validateOutput } from '../kernel/stages/check.ts'
import { validateArgs } from '../kernel/stages/validate.ts'
import type { ToolDefinition } from '../kernel/tool/definition.ts'
import { requireUnchanged } from './fingerprint.ts'
import { resumptionOf } from './resumption.ts'
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
    if (decision !== 'allow' && decision !== 'deny') {
      throw new InvalidConfigurationError("A decision is 'allow' or 'deny'. The call still waits.")
    }
    const isEdited = editedArgs !== undefined && decision === 'allow'
    // Edited args that do not fit leave the call waiting for correct ones.
    const check = (tool: ToolDefinition): unknown => isEdited && this.#validateArgs(tool, editedArgs)
    const found = await this.#take(token, 'approval', options, decision === 'allow' ? check : undefined)
    const approval: Approval = { decision, decidedBy, note, always }
    if (!isEdited) return resumptionOf({ ...found, approval }, this.#kernel)
    const { name, args: formerArgs } = found.call
    const editedFrom = callIdOf(name, typeof formerArgs === 'string' ? formerArgs : '') // before they are replaced
    const call = { ...found.call, args: editedArgs }
    return resumptionOf({ ...found, approval, call, editedFrom }, this.#kernel)
  }

  /** Redeems the token of a call that waits for a client. */
  async respond(token: string | WaitingCall, value: unknown, options: RespondOptions): Promise<Resumption> {
    const found = await this.#take(token, 'client', options, (tool) => this.#requireFitting(tool, value))
    const approval: Approval = { decision: 'allow', decidedBy: 'client' }
    const answer = Date.now() > found.expiresAt ? { isExpired: true as const } : { reply: { value } }
    return resumptionOf({ ...found, approval, ...answer }, this.#kernel)
  }

  /** Takes a waiting call after all checks, so that a refused answer leaves the call redeemable. */
  async #take(
    token: unknown,
    reason: WaitReason,
    { session, values, holder }: RespondOptions,
    check: ((tool: ToolDefinition) => unknown) | undefined,
  ): Promise<ResumableCall & Pick<Resumption, 'values'>> {
    const { waitingValues, registryFor } = this.#kernel
    for (let attempt = 1; attempt <= mostAnswerAttempts; attempt++) {
      const found = await this.#keeper.find(token)
      if (found?.reason !== reason || (session !== undefined && session !== found.session)) {
        throw new ApprovalInvalidError(
          'This token is unknown, used already or of another session. Pass the `token` of a waiting result or what `calls.waiting()` lists, or ask anew.',
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
      if (check !== undefined) requireUnchanged(tool, call.name, formerFingerprint) // a denial needs no tool
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

  async #validateArgs(tool: ToolDefinition, args: unknown): Promise<void> {
    await validateArgs(tool, canonicalArgs(args, Infinity).value, this.#kernel.redaction)
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
    const { issues } = outcome ?? {}
    if (issues !== undefined) throw invalidOutput(tool.name, this.#kernel.redaction.redactIssues(issues, tool.secrets))
  }
}
