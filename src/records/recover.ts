import type { ToolResult } from '../kernel/call/call.ts'
import type { Recovery, RecoverOptions, ToolCallRecord, ToolCallState } from '../kernel/call/record.ts'
import { InvalidConfigurationError, SealedError } from '../kernel/errors.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import { aliveFor, close, isBeingClosed, isLost } from './close.ts'
import { notHappened } from './finding.ts'
import type { ListedRecord } from './journal.ts'
import type { JournalRecorder } from './recorder.ts'
import { replay } from './replay.ts'

/** Advice for a call that was left in each state. */
const adviceOfState: Partial<Record<ToolCallState, readonly [string, string]>> = {
  PENDING: ['The tool did not run.', 'Call it again if it is still needed.'],
  APPROVAL_REQUIRED: ['The tool did not run: it had not been approved.', 'Call it again, and ask for approval anew.'],
  APPROVED: ['The tool was approved and did not run.', 'Call it again if it is still needed.'],
  EXECUTING: [
    'Check for side effects: the tool may have run, in part or whole.',
    'Make sure of the state of other systems before calling it again.',
  ],
}

/**
 * Closes the calls that dead executors left unfinished, or lets them wait for another worker. Asks their tools before. Runs no
 * call, and leaves those of living executors alone. A damaged record is reported.
 *
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong; `E_JOURNAL`.
 */
export async function recover(
  options: RecoverOptions,
  recorder: JournalRecorder,
  kernel: RecordsContext,
): Promise<Recovery> {
  const { strategy, approvals, staleAfter, attempts } = recoverSettings(options)
  const { reconcile = true } = options
  const { rerun = kernel.elsewhere !== undefined } = options
  const { calls, queue, findings } = recorder
  const owner = kernel.owner()
  const sealed: ToolResult[] = []
  const requeued: Recovery['requeued'][number][] = []
  const unfinished: ToolCallRecord[] = []
  const expired = strategy === 'manual' ? [] : await calls.expire()
  const treat = async (listed: ListedRecord, isWaiting = false): Promise<void> => {
    const { record, fence, idle } = listed
    const isOurs = fence.owner === owner
    const isAlive = isOurs ? (await queue.has(record.id)) || kernel.inFlight.has(record.id) : idle < staleAfter
    if (isWaiting ? isBeingClosed(listed, owner) : isAlive) return
    if (record.reconciles !== undefined) return strategy === 'manual' ? undefined : findings.again(listed)
    if (strategy === 'manual') return void unfinished.push(record)
    const found = reconcile && !isWaiting ? await findings.recover(listed) : undefined
    if (found === 'taken') return
    if (found !== undefined && 'id' in found) return void sealed.push(await replay(found, kernel))
    const hasHappenedNot = found?.effect === 'none'
    const again = rerun && found?.effect !== 'unknown' ? await queue.rerun(listed, attempts, hasHappenedNot) : 'over'
    if (again !== 'over')
      return again === 'taken' ? undefined : void requeued.push({ invocationId: record.id, ...again })
    const error = hasHappenedNot ? notHappened() : sealing(record, found?.note, isLost(record, kernel))
    const effect = hasHappenedNot ? 'none' : effectOf(record)
    const closed = await close(listed, error, effect, recorder, kernel)
    if (closed !== undefined) sealed.push(await replay(closed, kernel))
  }
  if (approvals === 'seal') {
    await calls.inBatches({ state: 'waiting' }, async (listed) => {
      // A waiting call has no active owner. One that waits for a worker waits for no answer.
      if (listed.record.journal?.awaits?.reason !== 'worker') await treat(listed, true)
    })
  }
  await calls.inBatches({ state: 'running', owner }, (listed) => treat(listed))
  // Its own calls may be silent too, and were listed before.
  await calls.inBatches({ state: 'running', silentFor: staleAfter }, async (listed) => {
    if (listed.fence.owner !== owner) await treat(listed)
  })
  return { sealed, requeued, kept: unfinished, expired }
}

function recoverSettings(options: RecoverOptions): Required<Omit<RecoverOptions, 'rerun' | 'reconcile'>> {
  const { strategy = 'crash', approvals = 'keep', staleAfter = aliveFor, attempts = 3 } = options
  requireWord('strategy', strategy, ['crash', 'manual'])
  requireWord('approvals', approvals, ['keep', 'seal'])
  if (typeof staleAfter !== 'number' || !(staleAfter >= 0)) {
    throw new InvalidConfigurationError(`\`staleAfter\` must be a number of at least 0, got ${String(staleAfter)}.`)
  }
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new InvalidConfigurationError(`\`attempts\` must be a whole number of at least 1, got ${String(attempts)}.`)
  }
  return { strategy, approvals, staleAfter, attempts }
}

function requireWord(option: string, word: unknown, knownWords: readonly string[]): void {
  if (knownWords.includes(word as string)) return
  throw new InvalidConfigurationError(
    `\`${option}\` must be one of ${knownWords.join(', ')}, got ${JSON.stringify(word)}.`,
  )
}

function sealing(record: ToolCallRecord, note: string | undefined, wasLost: boolean): SealedError {
  const ended = `process that handled this call ended while it was ${record.state}`
  const words = `The ${wasLost ? 'outcome of this call could not be written' : ended}; it has been closed.`
  const recommendations = note === undefined ? adviceFor(record) : [...adviceFor(record), note]
  return new SealedError(words, { recommendations })
}

function effectOf({ state, effect }: ToolCallRecord): ToolCallRecord['effect'] {
  return state === 'EXECUTING' ? 'unknown' : effect
}

function adviceFor({ state, journal }: ToolCallRecord): readonly string[] {
  // The token was used, but the answer was not written yet.
  const isAnswered = state === 'APPROVAL_REQUIRED' && journal?.awaits === undefined
  return adviceOfState[isAnswered ? 'PENDING' : state] ?? []
}
