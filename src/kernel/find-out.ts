import { CallContext } from './call/context.ts'
import { Deadline } from './call/deadline.ts'
import {
  Parcel,
  setApproval,
  setHasSlot,
  setIdentity,
  setReturned,
  setVerdict,
  type Received,
  type Validated,
} from './call/parcel.ts'
import { isToolError, JournalError, type ToolError } from './errors.ts'
import type { OutcomeContext } from './executor-context.ts'
import { callIdOf } from './json/canonical.ts'
import { readText } from './json/json-text.ts'
import type { Redaction, Spool } from './kernel.ts'
import { downstream, returnedFailure } from './outcome/failure.ts'
import { describeArtifact } from './outcome/publish.ts'
import { failed, success } from './outcome/result.ts'
import type { EarlierCall, FoundOut, Recorder, Settlement } from './recorder.ts'
import { askTool } from './run/reconcile.ts'
import { check } from './stages/check.ts'
import { giveTool } from './stages/resolve.ts'
import { spool } from './stages/spool.ts'
import { validate } from './stages/validate.ts'

/** What an earlier call is asked about with. */
interface FindingContext extends OutcomeContext {
  readonly redaction: Redaction
  readonly spool: Spool
  readonly inlineLimit: number
  readonly timeout: number
  readonly recorder: Recorder | undefined
}

/**
 * Asks the tool of an earlier call what became of it. The args are identified and validated anew. What it has done is settled as
 * any result is, once that is asked for: it passes `check` and `spool`.
 *
 * @throws `E_JOURNAL` if the args are not those of the call; else what the tool or its validator throws, with secrets masked.
 */
export async function findOut(earlier: EarlierCall, kernel: FindingContext): Promise<FoundOut> {
  const { id, name, text, callId, program, startedAt, invocationId, session, principal, caller, values = {} } = earlier
  const tool = kernel.registryFor(session).get(name)
  if (tool?.reconcile === undefined) return { effect: 'unknown' }
  if (callIdOf(name, text) !== callId) {
    throw new JournalError(`The record of invocation ${JSON.stringify(invocationId)} is damaged: its args are others.`)
  }
  const deadline = new Deadline(tool.timeout ?? kernel.timeout, earlier.signal)
  const received = new Parcel({ id, name, args: text, program }, invocationId, session, caller, deadline)
  received.principal = principal
  received.receivedAt = performance.now()
  received.context = new CallContext(received, kernel, values)
  const end = (): void => deadline.end()
  let isEnding = true
  try {
    deadline.check()
    const identity = { callId, text, args: readText(text) }
    const validated = await validate(setIdentity(giveTool(received, tool, kernel), identity), {
      ...kernel,
      repairArgs: undefined,
    })
    const found = await deadline.within(askTool(validated, startedAt))
    if (found.effect === 'unknown') return { ...found, ...(found.note && { note: maskedNote(received, found.note) }) }
    if (found.effect === 'none') return found
    isEnding = false
    return { effect: 'completed', settle: () => settlementOf(validated, found.result, kernel).finally(end), end }
  } catch (thrown) {
    throw errorFor(received, thrown)
  } finally {
    if (isEnding) end()
  }
}

function maskedNote({ redactor }: Received, note: string): string {
  return redactor === undefined ? note : redactor.text(note)
}

function errorFor(received: Received, thrown: unknown): ToolError {
  const { name: toolName, callId, invocationId, redactor } = received
  const error = isToolError(thrown) ? thrown : downstream(toolName, thrown)
  return Object.assign(redactor?.error(error) ?? error, { toolName, callId, invocationId })
}

/** Passes what a tool has done through the stages after the run. */
async function settlementOf(validated: Validated, value: unknown, kernel: FindingContext): Promise<Settlement> {
  validated.effect = 'completed'
  let result: Settlement['result']
  try {
    const failure = returnedFailure(value)
    if (failure !== undefined) throw downstream(validated.name, failure)
    const confirmed = setApproval(setVerdict(validated, null), null)
    const ran = setReturned(setHasSlot(confirmed, false), value)
    result = success(await spool(await check(ran, kernel), kernel))
  } catch (thrown) {
    result = failed(validated, kernel, thrown)
  }
  const artifact = result.artifact && describeArtifact(result.artifact, kernel)
  return { result, artifact }
}
