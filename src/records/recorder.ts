import { Pulse } from '#clock'
import { isThenable } from '../kernel/json/thenable.ts'
import { stageFields, type Received } from '../kernel/call/parcel.ts'
import { bounded } from '../kernel/json/bounded.ts'
import { copyOf } from '../kernel/json/copy.ts'
import type { PausedCall } from '../kernel/call/pause.ts'
import type { Recording, RecoverOptions, Recovery, ToolCallRecord, ToolCallSnapshot } from '../kernel/call/record.ts'
import { publish, type ToolEvent } from '../kernel/call/events.ts'
import type { ToolResult } from '../kernel/call/call.ts'
import { JournalError, SealedError, ToolCancelledError } from '../kernel/errors.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { duplicate } from '../kernel/outcome/failure.ts'
import type { Recorder, Settlement } from '../kernel/ports.ts'
import { closing } from './close.ts'
import { begun, fold, foldEvent, remark, type OpenRecord } from './fold.ts'
import { JournalInbox } from './inbox.ts'
import { awaitJournal, journalErrorOf, listJournal } from './journal-timeout.ts'
import type { Fence, Found, Journal, Listed, RecordQuery } from './journal.ts'
import { findPaused, usedUp } from './paused.ts'
import { digestOf, isSettled, snapshotOf } from './record.ts'
import { recover } from './recover.ts'
import { recall, replay } from './replay.ts'
import { plainRecords, type OpenJournaled, type RecordedSettlement, type RecordFormat } from './settlement.ts'
import { isLarge, storeContent } from './stored-content.ts'

const beatInterval = 5_000
const largestKeptArgs = 262_144

/** The record of a call in flight, and its fence. */
class LiveRecording implements Recording {
  readonly record: OpenRecord
  fence: Fence | undefined
  /** The last write. It may still succeed after its timeout, so the next write waits for it. */
  writing: Promise<void> | undefined = undefined
  isOver = false

  constructor(record: OpenRecord, fence?: Fence) {
    this.record = record
    this.fence = fence
  }
}

/** Writes the records of one executor into a journal, and gives signs of life. */
export class JournalRecorder implements Recorder {
  readonly #journal: Journal
  readonly #kernel: Kernel
  readonly #format: RecordFormat
  readonly inbox: JournalInbox
  readonly #pulse = new Pulse(() => void this.#beat(), beatInterval)
  readonly #undrop: (() => void) | undefined
  #hasEnded = false
  /** The digest of the settlement before. */
  #head = ''

  constructor(journal: Journal, kernel: Kernel, format: RecordFormat = plainRecords) {
    this.#journal = journal
    this.#kernel = kernel
    this.#format = format
    this.inbox = new JournalInbox(this, journal, kernel)
    this.#undrop = journal.onDrop?.((found) => this.#dropped(found))
  }

  note(call: Received, event: ToolEvent): void {
    const { record } = (call.recording ??= new LiveRecording(begun(event))) as LiveRecording
    fold(record, event)
    if (event.event === 'call:received' || event.event === 'call:resumed') {
      const { identity } = stageFields(call)
      // A call resumes from its canonical text, so large args in its record may be cut.
      const isCut = identity !== undefined && identity.text.length > largestKeptArgs
      record.input = isCut ? bounded(copyOf(record.input), largestKeptArgs) : this.#format.args(record.input, call)
    }
  }

  commit(call: Received, event?: ToolEvent): void | Promise<void> {
    const { record } = recordingOf(call)
    return this.#put(call, this.#whole(call, event === undefined ? record : foldEvent(record, event)))
  }

  settle(call: Received, event: ToolEvent, settlement: Settlement): string | undefined | Promise<string | undefined> {
    const recording = recordingOf(call)
    const { fence } = recording
    recording.isOver = true
    this.#pulse.release(recording)
    // After `close` the journal may be closed too. The record of a duplicate belongs to another call.
    const isRefused = settlement.result.error?.code === 'E_DUPLICATE_INVOCATION'
    if (fence === undefined && (this.#hasEnded || isRefused)) return undefined
    const isChained = settlement.paused === undefined && this.#journal.isDurable
    // Another executor may claim an id that the host chose. A claim that fails must leave no gap in the chain.
    const mayLoseClaim = isChained && fence === undefined && !call.invocationId.startsWith(this.#kernel.owner())
    const claimed = mayLoseClaim ? this.commit(call) : undefined
    return isThenable(claimed)
      ? claimed.then(() => this.#conclude(call, event, settlement, isChained))
      : this.#conclude(call, event, settlement, isChained)
  }

  #conclude(
    call: Received,
    event: ToolEvent,
    settlement: Settlement,
    isChained: boolean,
  ): string | undefined | Promise<string | undefined> {
    const { record } = recordingOf(call)
    fold(record, event)
    const { result, paused } = settlement
    if (paused !== undefined || !isLarge(result.content)) return this.#conclusion(call, record, settlement, isChained)
    return storeContent(result.content, call.session, this.#kernel).then(({ result: content, stored }) =>
      this.#conclusion(call, record, { ...settlement, result: { ...result, content }, stored }, isChained),
    )
  }

  #conclusion(
    call: Received,
    record: ToolCallRecord,
    settlement: RecordedSettlement,
    isChained: boolean,
  ): string | undefined | Promise<string | undefined> {
    const whole = this.#whole(call, record, settlement)
    if (isChained) return this.#chained(whole, (chained) => this.#put(call, chained))
    const written = this.#put(call, whole)
    return isThenable(written) ? written.then(() => undefined) : undefined
  }

  remark(call: Received, note: string): void {
    const recording = call.recording as LiveRecording | undefined
    if (recording?.fence === undefined || this.#hasEnded) return
    remark(recording.record, Date.now(), note)
    if (!isSettled(recording.record.state)) return
    this.#addLate(call.invocationId, recording, note).catch((error: unknown) => {
      if (!this.#hasEnded) this.#kernel.report(error)
    })
  }

  /** Adds a line to a settled record. Waits for the settlement, since the two writes could overtake each other. */
  async #addLate(invocationId: string, { writing, fence }: LiveRecording, note: string): Promise<void> {
    await writing?.catch(() => {}) // the call itself settles with this error
    const found = await this.read(invocationId)
    if (found === null || fence === undefined || !isSettled(found.record.state)) return
    const record: OpenRecord = { ...found.record }
    remark(record, Date.now(), note)
    await this.write(record, fence)
  }

  async find(token: unknown): Promise<PausedCall | undefined> {
    return findPaused(token, async (invocationId) => {
      const found = await this.read(invocationId)
      return found === null
        ? undefined
        : { record: found.record, recording: new LiveRecording(found.record, found.fence) }
    })
  }

  async take(paused: PausedCall): Promise<PausedCall | undefined> {
    const { record, fence } = paused.recording as LiveRecording
    if (fence === undefined || record.journal === undefined) return undefined
    const taken = await this.takeOver(record, fence)
    if (taken === null) return undefined
    const recording = new LiveRecording(usedUp(record, taken), taken)
    if (!(await this.write(recording.record, taken))) return undefined
    this.#pulse.start(recording)
    return { ...paused, recording }
  }

  recall(call: Received): Promise<ToolResult | undefined> {
    return recall(call, this.#kernel, async (invocationId) => (await this.read(invocationId))?.record)
  }

  async snapshot(invocationId: string, call?: Received): Promise<ToolCallSnapshot | undefined> {
    const record = call?.recording?.record ?? (await this.read(invocationId))?.record
    return record && snapshotOf(record)
  }

  recover(options: RecoverOptions): Promise<Recovery> {
    return recover(options, this, this.#kernel)
  }

  close(): void {
    this.#hasEnded = true
    this.#pulse.stop()
    this.#undrop?.()
  }

  /** Takes a record over from its owner. Returns `null` if another executor took it first. */
  takeOver(record: ToolCallRecord, fence: Fence): Fence | null | Promise<Fence | null> {
    this.#pulse.start() // an owner gives signs of life even before its first write
    return this.#answer(() => this.#journal.takeOver(record.id, fence, this.#kernel.owner()), ownCopy)
  }

  read(invocationId: string): Found | null | Promise<Found | null> {
    return this.#answer(() => this.#journal.read(invocationId), ownCopy)
  }

  /** Writes a record by its fence. Returns `false` if another executor holds it. */
  write(record: ToolCallRecord, fence: Fence): boolean | Promise<boolean> {
    return this.#answer(() => this.#journal.write(record, fence), Boolean)
  }

  /** Writes the settlement of a record that was taken over. Returns `undefined` if another executor has taken it since. */
  async seal(record: ToolCallRecord, fence: Fence): Promise<ToolCallRecord | undefined> {
    let sealed: ToolCallRecord | undefined
    await this.#chained(record, async (chained) => {
      if (!(await this.write(chained, fence))) throw lost(record.id)
      sealed = chained
    }).catch((error: unknown) => {
      if (!(error instanceof SealedError)) throw error
    })
    return sealed
  }

  /** Lists records. Damaged records are reported and left out. */
  async *list(query: RecordQuery): AsyncGenerator<Listed, void, undefined> {
    try {
      yield* listJournal(this.#journal.list(query, this.#kernel.report))
    } catch (cause) {
      throw journalErrorOf(cause)
    }
  }

  #whole(call: Received, record: ToolCallRecord, settlement?: RecordedSettlement): ToolCallRecord {
    const { caller, principal, program } = call
    const journal: OpenJournaled = { caller, owner: this.#kernel.owner(), fence: recordingOf(call).fence?.number ?? 0 }
    if (principal !== undefined) journal.principal = principal
    if (program !== undefined) journal.program = program
    return this.#format.whole(record, journal, settlement)
  }

  /** Chains a settlement to the one before. Returns its digest. */
  async #chained(
    record: ToolCallRecord,
    put: (record: ToolCallRecord) => void | Promise<void>,
  ): Promise<string | undefined> {
    const { journal } = record
    if (!this.#journal.isDurable || journal === undefined) {
      await put(record)
      return undefined
    }
    // The chain grows in the order of settlement, so the head moves before any await.
    const previous = this.#head
    const digest = digestOf(previous, record)
    this.#head = digest
    try {
      await put({ ...record, journal: { ...journal, digest, previous } })
      return digest
    } catch (error) {
      if (this.#head === digest) this.#head = previous
      else this.#kernel.report(gap(record.id, digest, error)) // the next settlement is chained to it already
      throw error
    }
  }

  /** Writes a record: at once, or after the write in progress. */
  #put(call: Received, record: ToolCallRecord): void | Promise<void> {
    const recording = recordingOf(call)
    if (recording.writing === undefined) {
      const written = this.#putNow(recording, call, record)
      if (isThenable(written)) recording.writing = written
      return written
    }
    const put = (): void | Promise<void> => this.#putNow(recording, call, record, true)
    recording.writing = recording.writing.then(put, put)
    return recording.writing
  }

  #putNow(recording: LiveRecording, call: Received, record: ToolCallRecord, isAgain = false): void | Promise<void> {
    this.#pulse.start(recording.isOver ? undefined : recording)
    const { fence } = recording
    let answer: unknown
    try {
      answer =
        fence === undefined ? this.#journal.claim(record, this.#kernel.owner()) : this.#journal.write(record, fence)
    } catch (cause) {
      throw journalErrorOf(cause)
    }
    if (!isThenable(answer)) return accept(answer, recording, call)
    return awaitJournal(answer, (later) =>
      isAgain && later === null ? this.#adopt(recording, call, record) : accept(later, recording, call),
    )
  }

  /** Recovers from a claim that succeeded, but whose answer was lost. */
  async #adopt(recording: LiveRecording, call: Received, record: ToolCallRecord): Promise<void> {
    const found = await this.read(call.invocationId)
    // A record that was taken over since has another number.
    if (found?.fence.owner !== this.#kernel.owner() || found.fence.number !== 0) throw duplicate(call)
    recording.fence = found.fence
    accept(await this.write(record, found.fence), recording, call)
  }

  /** Asks the journal, and names it in the error if it fails. */
  #answer<Value>(ask: () => Value | Promise<Value>, own: (value: Value) => Value): Value | Promise<Value> {
    try {
      const answer = ask()
      return isThenable(answer) ? awaitJournal(answer, own) : answer
    } catch (cause) {
      throw journalErrorOf(cause)
    }
  }

  /** Tells of a call that the journal dropped while it waited. The executor that wrote it last tells, and no other. */
  #dropped({ record: before, fence }: Found): void {
    if (fence.owner !== this.#kernel.owner()) return
    const error = new ToolCancelledError('The call waited, and its record was dropped: the journal was full.')
    this.#kernel.report(error)
    const { event, record } = closing(before, error, 'none')
    publish(event, undefined, this.#kernel)
    if (before.journal?.awaits !== undefined) this.#kernel.approvals.forget(before.journal.awaits.digest)
    replay(record, this.#kernel)
      .then((result) => this.#kernel.inFlight.tell(record.id, result))
      .catch(this.#kernel.report)
  }

  async #beat(): Promise<void> {
    try {
      const asked = await this.#journal.beat(this.#kernel.owner())
      for (const id of asked ?? []) await this.inbox.cancelHere(id, 'Another executor asked to cancel the call.')
    } catch (error) {
      this.#kernel.report(error)
    }
  }
}

function recordingOf({ recording }: Received): LiveRecording {
  if (recording !== undefined) return recording as LiveRecording
  throw new JournalError('There is nothing to write: the call has emitted no event.')
}

/** Copies the journal's object, which could become a thenable before a promise resolves with it. */
function ownCopy<Value extends object>(value: Value | null): Value | null {
  return value && { ...value }
}

/** Reads a journal's answer to a claim or a write. */
function accept(answer: unknown, recording: LiveRecording, call: Received): void {
  if (recording.fence !== undefined) {
    if (answer) return
    throw lost(call.invocationId)
  }
  if (answer === null) throw duplicate(call)
  if (typeof answer !== 'object') throw new JournalError('The journal returned no fence for a record that it claimed.')
  recording.fence = answer as Fence
}

function gap(invocationId: string, digest: string, cause: unknown): JournalError {
  return new JournalError(
    `The settlement of invocation ${invocationId} is lost, and another is chained to its digest, which no record has: ${digest}. Keep it with those that were told.`,
    { cause },
  )
}

function lost(invocationId: string): SealedError {
  return new SealedError(
    `Invocation ${invocationId} has been taken over by another executor; what it gives here is lost.`,
  )
}
