import type { ToolResult } from '../kernel/call/call.ts'
import { InvalidConfigurationError, isToolError, SealedError } from '../kernel/errors.ts'
import { publish, type ToolEvent } from '../kernel/call/events.ts'
import { modelLine } from '../kernel/outcome/failure.ts'
import { foldEvent } from './fold.ts'
import type { JournalLedger } from './recorder.ts'
import type { Kernel, Unfinished } from '../kernel/ports.ts'
import { replay } from './replay.ts'
import type { ToolCallRecord, ToolCallState } from './record.ts'

/** How to treat what dead executors left. */
export interface RecoverOptions {
  /** `'crash'` closes what they left, `'manual'` only lists it. Default: `'crash'`. */
  readonly strategy?: 'crash' | 'manual'
  /** Whether approvals and client waits that are still valid stay so. Default: `'keep'`. */
  readonly approvals?: 'keep' | 'seal'
  /**
   * How long an owner may be silent before it counts as dead, in milliseconds. Owners give a sign of life every 5,000: less than
   * 10,000 may close what a living one is busy with. Default: 30,000.
   */
  readonly staleAfter?: number
}

/** What was found. */
export interface Recovery {
  /** The results of what was closed, to be put into the conversation where it has none. */
  readonly sealed: readonly ToolResult[]
  /** What is left as it is: valid approvals, and everything with `'manual'`. */
  readonly kept: readonly ToolCallRecord[]
}

/** What to do about a call that was left in each state. */
const advice: Partial<Record<ToolCallState, readonly [string, string]>> = {
  PENDING: ['The tool did not run.', 'Call it again if it is still needed.'],
  APPROVAL_REQUIRED: ['The tool did not run: nobody had approved it.', 'Call it again, and ask for approval anew.'],
  APPROVED: ['The tool was approved and did not run.', 'Call it again if it is still needed.'],
  EXECUTING: [
    'Check for side effects: the tool may have run, in part or whole.',
    'Make sure of the state of other systems before calling it again.',
  ],
}

/**
 * Closes what dead executors left unfinished; never runs anything, and touches nothing of those that live. A record that is
 * damaged is reported, and keeps no other from being closed.
 *
 * @throws `E_INVALID_CONFIGURATION` where there is no journal, or an option is wrong; `E_JOURNAL`.
 */
export async function recover(
  options: RecoverOptions,
  ledger: JournalLedger | undefined,
  kernel: Kernel,
  isInFlight: (invocationId: string) => boolean,
): Promise<Recovery> {
  if (ledger === undefined) {
    throw new InvalidConfigurationError(
      'There is nothing to recover without a journal: give the executor one in `use`.',
    )
  }
  const { owner } = ledger
  const { strategy, approvals, staleAfter } = checked(options)
  const sealed: ToolResult[] = []
  const kept: ToolCallRecord[] = []
  for await (const unfinished of ledger.unfinished()) {
    try {
      await treat(unfinished, ledger)
    } catch (error) {
      if (isToolError(error) && error.retryable) throw error // the journal has failed, and not the record
      kernel.report(error)
    }
  }
  return { sealed, kept }

  async function treat(unfinished: Unfinished, its: JournalLedger): Promise<void> {
    const { record } = unfinished
    const awaits = record.journal?.awaits
    const isValid = awaits !== undefined && awaits.expiresAt > Date.now()
    if (isValid && approvals === 'keep') kept.push(record)
    // A wait is nobody's work: its owner may live, and has no more to do with it.
    else if (awaits === undefined && isAlive(unfinished)) return
    else if (strategy === 'manual') kept.push(record)
    else {
      const closed = await seal(unfinished, its, kernel)
      if (closed !== undefined) sealed.push(await replay(closed, kernel))
    }
  }

  /** Of our own, what is not in flight has lost its outcome; of others, who is silent for long is dead. */
  function isAlive({ record: { id }, fence, idle }: Unfinished): boolean {
    return fence.owner === owner() ? isInFlight(id) : idle < staleAfter
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
  { record, fence }: Unfinished,
  ledger: JournalLedger,
  kernel: Kernel,
): Promise<ToolCallRecord | undefined> {
  const taken = await ledger.takeOver(record, fence)
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
  const closed = await ledger.close({ ...foldEvent(record, event), journal }, taken)
  const digest = closed?.journal?.digest
  if (closed !== undefined) publish({ ...event, ...(digest && { digest }) }, undefined, kernel)
  return closed
}

function adviceFor({ state, journal }: ToolCallRecord): readonly string[] {
  // Where the token is used, somebody has answered, and nobody has written down yet what.
  const isAnswered = state === 'APPROVAL_REQUIRED' && journal?.awaits === undefined
  return advice[isAnswered ? 'PENDING' : state] ?? []
}
