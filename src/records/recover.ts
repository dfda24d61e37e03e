import type { ToolResult } from '../kernel/call/call.ts'
import { InvalidConfigurationError, isToolError, SealedError } from '../kernel/errors.ts'
import { publish, type ToolEvent } from '../kernel/call/events.ts'
import { modelLine } from '../kernel/outcome/failure.ts'
import { foldEvent } from './fold.ts'
import type { JournalRecorder } from './recorder.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Listed, RecordQuery } from './journal.ts'
import { replay } from './replay.ts'
import type { Recovery, RecoverOptions, ToolCallRecord, ToolCallState } from '../kernel/call/record.ts'

/** Advice for a call that was left in each state. */
const advice: Partial<Record<ToolCallState, readonly [string, string]>> = {
  PENDING: ['The tool did not run.', 'Call it again if it is still needed.'],
  APPROVAL_REQUIRED: ['The tool did not run: it had not been approved.', 'Call it again, and ask for approval anew.'],
  APPROVED: ['The tool was approved and did not run.', 'Call it again if it is still needed.'],
  EXECUTING: [
    'Check for side effects: the tool may have run, in part or whole.',
    'Make sure of the state of other systems before calling it again.',
  ],
}

/**
 * Closes the calls that dead executors left unfinished. Runs no call, and leaves calls of living executors alone. A damaged
 * record is reported, and the others are still closed.
 *
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong; `E_JOURNAL`.
 */
export async function recover(options: RecoverOptions, recorder: JournalRecorder, kernel: Kernel): Promise<Recovery> {
  const { strategy, approvals, staleAfter } = checked(options)
  const sealed: ToolResult[] = []
  const kept: ToolCallRecord[] = []
  const mayBeDead: RecordQuery[] = [
    { state: 'waiting' },
    { state: 'running', owner: kernel.owner() },
    { state: 'running', silentFor: staleAfter },
  ]
  for (const query of mayBeDead) {
    for await (const listed of recorder.list(query)) {
      try {
        // Its own calls may be silent too, and were listed before.
        if (query.silentFor !== undefined && listed.fence.owner === kernel.owner()) continue
        await treat(listed)
      } catch (error) {
        if (isToolError(error) && error.retryable) throw error // the journal has failed, not the record
        kernel.report(error)
      }
    }
  }
  return { sealed, kept }

  async function treat(listed: Listed): Promise<void> {
    const { record } = listed
    const awaits = record.journal?.awaits
    const isValid = awaits !== undefined && awaits.expiresAt > Date.now()
    if (isValid && approvals === 'keep') kept.push(record)
    // Paused calls have no active owner.
    else if (awaits === undefined && isAlive(listed)) return
    else if (strategy === 'manual') kept.push(record)
    else {
      const closed = await seal(listed, recorder, kernel)
      if (closed !== undefined) sealed.push(await replay(closed, kernel))
    }
  }

  /** Whether the call still runs: in flight here, or with another owner that was not silent for long. */
  function isAlive({ record: { id }, fence, idle }: Listed): boolean {
    return fence.owner === kernel.owner() ? kernel.isInFlight(id) : idle < staleAfter
  }
}

function checked(options: RecoverOptions): Required<RecoverOptions> {
  const { strategy = 'crash', approvals = 'keep', staleAfter = 30_000 } = options
  requireWord('strategy', strategy, ['crash', 'manual'])
  requireWord('approvals', approvals, ['keep', 'seal'])
  if (typeof staleAfter !== 'number' || !(staleAfter >= 0)) {
    throw new InvalidConfigurationError(`\`staleAfter\` must be a number of at least 0, got ${String(staleAfter)}.`)
  }
  return { strategy, approvals, staleAfter }
}

function requireWord(option: string, word: unknown, known: readonly string[]): void {
  if (known.includes(word as string)) return
  throw new InvalidConfigurationError(`\`${option}\` must be one of ${known.join(', ')}, got ${JSON.stringify(word)}.`)
}

async function seal(
  { record, fence }: Listed,
  recorder: JournalRecorder,
  kernel: Kernel,
): Promise<ToolCallRecord | undefined> {
  const taken = await recorder.takeOver(record, fence)
  if (taken === null) return undefined
  const { state, id: invocationId, callId, name: toolName, session, seq, createdAt } = record
  const timestamp = Date.now()
  const effect = state === 'EXECUTING' ? 'unknown' : record.effect
  const principal = record.journal?.principal
  const error = new SealedError(`The process that handled this call ended while it was ${state}; it has been closed.`, {
    recommendations: adviceFor(record),
  })
  Object.assign(error, { toolName, callId, invocationId })
  const event: ToolEvent = {
    event: 'call:settled',
    invocationId,
    callId,
    toolName,
    session,
    ...(principal !== undefined && { principal }),
    seq,
    timestamp,
    status: 'error',
    effect,
    error,
    durationMs: timestamp - createdAt,
  }
  const result = [{ type: 'text' as const, text: modelLine(error, true) }]
  const { awaits: _over, ...before } = record.journal ?? { caller: 'model' as const }
  const journal = { ...before, owner: taken.owner, fence: taken.number, result, failure: error.toJSON() }
  const closed = await recorder.seal({ ...foldEvent(record, event), journal }, taken)
  const digest = closed?.journal?.digest
  if (closed !== undefined) publish({ ...event, ...(digest && { digest }) }, undefined, kernel)
  return closed
}

function adviceFor({ state, journal }: ToolCallRecord): readonly string[] {
  // The token was used, but the answer was not written yet.
  const isAnswered = state === 'APPROVAL_REQUIRED' && journal?.awaits === undefined
  return advice[isAnswered ? 'PENDING' : state] ?? []
}
