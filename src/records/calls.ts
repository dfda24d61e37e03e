import { limited } from '../kernel/call/limited.ts'
import { findingMark, idOf, noRecord, type ToolResult } from '../kernel/call/call.ts'
import type { WaitingCall } from '../kernel/call/wait.ts'
import type { ToolCallRecord, ToolCallSnapshot } from '../kernel/call/record.ts'
import {
  ArtifactError,
  InvalidConfigurationError,
  isToolError,
  JournalError,
  ToolCancelledError,
  type ToolError,
} from '../kernel/errors.ts'
import type { CallQuery, RecordedCalls, PruneQuery, WaitingQuery } from '../kernel/calls-types.ts'
import type { RecorderCalls, SettledOptions } from '../kernel/recorder.ts'
import { readText } from '../kernel/json/json-text.ts'
import { close, expiry, isBeingClosed } from './close.ts'
import { newestFirst } from './facts.ts'
import { cancelInFlight, unlisted } from './in-flight.ts'
import { awaitJournal, journalErrorOf } from './journal-timeout.ts'
import type { FoundRecord, Journal, ListedRecord, RecordQuery } from './journal.ts'
import { queueOf } from './queued.ts'
import { isSettled, snapshotOf } from './record.ts'
import type { JournalRecorder } from './recorder.ts'
import { Hints, untilSettled } from './settled.ts'
import { isWanted, waitKeyOf, leased, waitOf, requireLease, requireLimit, waitingCall } from './waiting.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import { storeTimeout } from './stored-content.ts'

/** How often to take a record that others change meanwhile. */
const mostTakeAttempts = 10
/** How many records are closed at a time. */
const recordsAtOnce = 200
/** How many are deleted at a time: no more than in one statement, since a later one that fails hides what the first deleted. */
const deletedAtOnce = 100
const answerableReasons = ['approval', 'client'] as const
const defaultReason = 'The call was cancelled.'

/** The calls in a journal. */
export class JournalCalls implements RecorderCalls {
  readonly #recorder: JournalRecorder
  readonly #journal: Journal
  readonly #kernel: RecordsContext
  readonly #hints: Hints

  constructor(recorder: JournalRecorder, journal: Journal, kernel: RecordsContext) {
    this.#recorder = recorder
    this.#journal = journal
    this.#kernel = kernel
    this.#hints = new Hints(journal)
  }

  async waiting(query: WaitingQuery = {}): Promise<WaitingCall[]> {
    const { session, invocationId, reason } = query
    const waiting: WaitingCall[] = []
    const add = ({ record }: FoundRecord): void => {
      const wait = waitOf(record)
      if (wait !== undefined && isWanted(record, wait, query)) waiting.push(waitingCall(record, wait))
    }
    if (invocationId === undefined) {
      // By reason, since thousands of calls may wait for workers.
      for (const each of reason === undefined ? answerableReasons : [reason]) {
        for await (const found of this.#recorder.list({ state: 'waiting', session, reason: each })) add(found)
      }
      if (reason === undefined) waiting.sort((a, b) => newestFirst(placeOf(a), placeOf(b)))
    } else {
      const found = await this.#recorder.read(invocationId)
      if (found !== null) add(found)
    }
    return waiting
  }

  async lease(call: WaitingCall, holder: string, milliseconds: number): ReturnType<RecordedCalls['lease']> {
    requireLease(holder, milliseconds)
    const key = typeof call === 'string' ? undefined : waitKeyOf(call)
    if (key === undefined) throw unlisted()
    return this.#again(async () => {
      const found = await this.#recorder.read(key.invocationId)
      const before = found === null ? undefined : waitOf(found.record)
      if (found === null || before?.digest !== key.digest) return { value: undefined }
      const awaits = leased(before, holder, milliseconds)
      if (awaits === undefined) return { value: undefined }
      const fence = await this.#recorder.takeOver(found.record, found.fence)
      if (fence === null) return undefined
      const journal = { ...found.record.journal!, owner: fence.owner, fence: fence.number, awaits }
      const record = { ...found.record, journal }
      if (!(await this.#recorder.write(record, fence))) return undefined
      const args = awaits.reason === 'client' ? readText(awaits.text) : record.input
      return { value: { call: waitingCall(record, awaits), args } }
    })
  }

  async list({ session, parent, before, limit = 50 }: CallQuery = {}): Promise<ToolCallSnapshot[]> {
    requireLimit(limit)
    const around = parent === undefined ? undefined : (await this.#recorder.read(idOf(parent)))?.record
    // A call has the session of its parent, and came after it.
    const place = around === undefined ? { session } : { session: around.session, since: around.createdAt }
    const isElsewhere = session !== undefined && session !== place.session
    if (isElsewhere || (parent !== undefined && around === undefined)) return []
    const snapshots: ToolCallSnapshot[] = []
    for (let last = before, isOver = false; !isOver;) {
      const wanted = limit - snapshots.length
      let count = 0
      for await (const { record } of this.#recorder.list({ session: place.session, before: last, limit: wanted })) {
        count++
        last = record
        if (record.createdAt < (place.since ?? 0)) return snapshots
        // What was found out about a call is part of that call.
        if (record.reconciles === undefined && (parent === undefined || record.parent === parent))
          snapshots.push(snapshotOf(record, this.#kernel.inFlight.get(record.id)))
        if (count >= wanted) break
      }
      isOver = count < wanted || snapshots.length >= limit
    }
    return snapshots
  }

  async settled(call: ToolResult | string, { signal, closed }: SettledOptions = {}): Promise<ToolResult> {
    const invocationId = typeof call === 'string' ? call : call.invocationId
    // A call that was just put into a queue needs no look before the first hint.
    const isQueued = typeof call !== 'string' && Boolean(queueOf(call))
    return untilSettled(
      invocationId,
      this.#kernel,
      [signal, closed],
      async (settled) => {
        const found = settled ?? (await this.#recorder.read(invocationId))
        if (found === null) throw noRecord(invocationId)
        const { record } = found
        if (isSettled(record.state))
          return { result: await unlessGivenUp(this.#recorder.findings.outcome(found), [signal, closed]) }
        const awaits = record.journal?.awaits
        if (awaits === undefined) return {}
        if (waitOf(record) === undefined) await this.#close(found, expiry(awaits))
        return { until: Math.max(awaits.expiresAt, Date.now()) }
      },
      (hint) => this.#hints.on(invocationId, hint),
      isQueued && call.expiresAt !== undefined ? { until: call.expiresAt } : undefined,
    )
  }

  async cancel(invocationId: string, reason: string = defaultReason): ReturnType<RecordedCalls['cancel']> {
    return this.#again(async () => {
      const here = await this.cancelHere(invocationId, reason)
      if (here !== undefined) return here
      const found = await this.#recorder.read(invocationId)
      if (found === null || isSettled(found.record.state)) return { value: 'not found' }
      if (found.record.journal?.awaits !== undefined) return undefined
      if (this.#journal.requestCancel === undefined) {
        throw new JournalError('The call runs in another executor, and this journal passes on no request to cancel it.')
      }
      const isAsked = await awaitJournal(this.#journal.requestCancel(invocationId), Boolean)
      return { value: isAsked ? 'asked' : 'not found' }
    })
  }

  /** Cancels a call that is in flight here, or that waits. Returns `undefined` if it is neither, or has changed meanwhile. */
  async cancelHere(
    invocationId: string,
    reason: string,
  ): Promise<{ readonly value: 'cancelled' | 'not found' } | undefined> {
    const ended = await cancelInFlight(invocationId, reason, this.#kernel)
    if (ended !== undefined) return { value: ended }
    const found = await this.#recorder.read(invocationId)
    if (found?.record.journal?.awaits === undefined || isSettled(found.record.state)) return undefined
    const closed = await this.#close(found, new ToolCancelledError(reason))
    return closed && { value: 'cancelled' }
  }

  async expire(): Promise<ToolCallSnapshot[]> {
    const expired: ToolCallSnapshot[] = []
    const now = Date.now()
    await this.inBatches({ state: 'waiting', expiresBefore: now }, async (found) => {
      const awaits = found.record.journal?.awaits
      if (awaits === undefined || awaits.expiresAt >= now || isBeingClosed(found, this.#kernel.owner())) return
      const closed = await this.#close(found, expiry(awaits))
      if (closed !== undefined) expired.push(snapshotOf(closed))
    })
    return expired
  }

  /** Does some work for each record of a list, many at a time. The journal's errors end it, those of a record are reported. */
  async inBatches(query: RecordQuery, work: (listed: ListedRecord) => Promise<void>): Promise<void> {
    let running: Promise<void>[] = []
    for await (const listed of this.#recorder.list(query)) {
      const done = work(listed).catch((error: unknown) => {
        if (isToolError(error) && error.retryable) throw error // the journal has failed, not the record
        this.#kernel.report(error)
      })
      done.catch(() => {}) // it is awaited with its batch
      running.push(done)
      if (running.length >= recordsAtOnce) {
        await Promise.all(running)
        running = []
      }
    }
    await Promise.all(running)
  }

  async prune({ settledBefore, limit = Infinity }: PruneQuery): Promise<number> {
    requireLimit(limit)
    const time = Number(settledBefore)
    if (Number.isNaN(time)) {
      throw new InvalidConfigurationError('`settledBefore` is a Date, or milliseconds since the epoch.')
    }
    if (this.#journal.delete === undefined) throw undeletable()
    let count = 0
    while (count < limit) {
      const most = Math.min(deletedAtOnce, limit - count)
      let deleted: Awaited<ReturnType<NonNullable<Journal['delete']>>>
      try {
        deleted = await awaitJournal(this.#journal.delete({ settledBefore: time, limit: most }), (list) => list)
      } catch (cause) {
        throw journalErrorOf(cause)
      }
      count += deleted.filter(({ invocationId }) => !invocationId.endsWith(findingMark)).length
      await Promise.all(deleted.map(({ stored }) => this.#deleteStored(stored)))
      if (deleted.length < most) break
    }
    return count
  }

  async #deleteStored(handle: string | undefined): Promise<void> {
    if (handle === undefined) return
    const { spool, report } = this.#kernel
    const late = (): ArtifactError =>
      new ArtifactError(`The store did not delete ${handle} in time.`, { retryable: true })
    try {
      await limited(spool.store.delete(handle), storeTimeout, late)
    } catch (error) {
      report(error)
    }
  }

  close(): void {
    this.#hints.close()
  }

  readonly watch: RecordedCalls['watch'] = (listener) => {
    try {
      return this.#journal.watch?.(listener) ?? (() => {})
    } catch (cause) {
      throw journalErrorOf(cause)
    }
  }

  #close(found: FoundRecord, error: ToolError): Promise<ToolCallRecord | undefined> {
    return close(found, error, found.record.effect, this.#recorder, this.#kernel)
  }

  /** Tries again while others change the record. */
  async #again<Value>(attempt: () => Promise<{ readonly value: Value } | undefined>): Promise<Value> {
    for (let count = 1; count <= mostTakeAttempts; count++) {
      const done = await attempt()
      if (done !== undefined) return done.value
      await new Promise((resolve) => setTimeout(resolve, count * 5))
    }
    throw new JournalError('Others kept changing the record of the call. Try again.', { retryable: true })
  }
}

/** Waits for work. Rejects if a signal aborts, although the work goes on. */
async function unlessGivenUp<Value>(
  work: Promise<Value>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<Value> {
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new ToolCancelledError('The wait for the call was given up.'))
  })
  for (const signal of signals) signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted])
  } finally {
    for (const signal of signals) signal?.removeEventListener('abort', abort)
  }
}

function placeOf({ createdAt, invocationId: id }: WaitingCall): Pick<ToolCallRecord, 'createdAt' | 'id'> {
  return { createdAt, id }
}

function undeletable(): InvalidConfigurationError {
  return new InvalidConfigurationError('There is nothing to prune: the executor has no journal that deletes records.')
}
