import { Pulse } from '#clock'
import { isThenable } from '../kernel/json/thenable.ts'
import { stageFields, type Received } from '../kernel/call/parcel.ts'
import { bounded } from '../kernel/json/json-text.ts'
import { copyOf } from '../kernel/json/copy.ts'
import type { ResumableCall, Wait } from '../kernel/call/wait.ts'
import type { RecoverOptions, Recovery, ToolCallRecord, ToolCallSnapshot, WaitRecord } from '../kernel/call/record.ts'
import type { ToolEvent } from '../kernel/call/events.ts'
import type { ToolResult } from '../kernel/call/call.ts'
import { SealedError } from '../kernel/errors.ts'
import { duplicate } from '../kernel/outcome/failure.ts'
import type { ExecutorQueue } from '../kernel/queue-types.ts'
import type { Answers, BeginningWait, Recorder, Resume, Settlement } from '../kernel/recorder.ts'
import { KeptAnswers } from './answers.ts'
import { beginningOf } from './beginning.ts'
import { Cancellations } from './cancellations.ts'
import { SettlementChain } from './chain.ts'
import { tellDropped } from './close.ts'
import { begun, fold, foldEvent, remark, type OpenRecord } from './fold.ts'
import { JournalCalls } from './calls.ts'
import { QueueOfExecutor } from './executor-queue.ts'
import { JournalQueue } from './queue.ts'
import { awaitJournal, effectClaimsOf, journalErrorOf, listJournal } from './journal-timeout.ts'
import type { Fence, FoundRecord, Journal, ListedRecord, RecordQuery } from './journal.ts'
import { acceptAnswer, LiveRecording, takenOver, recordingOf } from './live-recording.ts'
import { findResumable, usedUp } from './resumable.ts'
import { inQueue } from './queued.ts'
import { isSettled, snapshotOf } from './record.ts'
import { recover } from './recover.ts'
import { keepArgs, Findings } from './reconcile.ts'
import { recall, replay } from './replay.ts'
import { keepRecordShapes } from './shapes.ts'
import { plainRecords, type OpenJournaled, type RecordedSettlement, type RecordFormat } from './settlement.ts'
import { isLarge, storeContent } from './stored-content.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'

/** The digest that chains a settlement to the one before, if the journal is durable. */
type Digested = ReturnType<Recorder['settle']>

const beatInterval = 5_000
const largestKeptArgs = 262_144

/** Writes the records of one executor into a journal, and gives signs of life. */
export class JournalRecorder implements Recorder {
  readonly #journal: Journal
  readonly #kernel: RecordsContext
  readonly #format: RecordFormat
  readonly answers: Answers
  readonly calls: JournalCalls
  readonly queue: JournalQueue
  readonly findings: Findings
  readonly claimEffect: Recorder['claimEffect']
  readonly #pulse = new Pulse(() => void this.beat(), beatInterval)
  readonly #undrop: (() => void) | undefined
  readonly #chain: SettlementChain
  readonly #cancellations: Cancellations
  #hasEnded = false

  constructor(journal: Journal, kernel: RecordsContext, format: RecordFormat = plainRecords) {
    this.#journal = journal
    this.#kernel = kernel
    this.#format = format
    keepRecordShapes(format)
    this.#chain = new SettlementChain(kernel.report)
    this.#cancellations = new Cancellations(journal, kernel, () => void this.beat())
    this.answers = new KeptAnswers(kernel, this)
    this.calls = new JournalCalls(this, journal, kernel)
    this.queue = new JournalQueue(this, journal, kernel)
    this.findings = new Findings(this, kernel)
    this.claimEffect = effectClaimsOf(journal)
    this.#undrop = journal.onDrop?.((found) => tellDropped(found, kernel))
  }

  note(call: Received, event: ToolEvent): void {
    const { record } = (call.recording ??= new LiveRecording(begun(event))) as LiveRecording
    fold(record, event)
    if (event.event === 'call:received' || event.event === 'call:repaired' || event.event === 'call:resumed') {
      const { identity, tool } = stageFields(call)
      // A call resumes from its canonical text, so large args in its record may be cut.
      const isCut = identity !== undefined && identity.text.length > largestKeptArgs
      const text = tool?.secrets.length === 0 ? identity?.text : undefined
      record.input = isCut ? bounded(copyOf(record.input), largestKeptArgs) : this.#format.args(record.input, text)
    }
  }

  commit(call: Received, event?: ToolEvent): void | Promise<void> {
    const { record } = recordingOf(call)
    // A journal may keep this very record, and the live one changes.
    const fullRecord = event === undefined ? { ...record } : foldEvent(record, event)
    return this.#put(call, this.#whole(call, fullRecord, undefined, undefined, event?.event === 'tool:start'))
  }

  settle(call: Received, event: ToolEvent, settlement: Settlement): Digested {
    const { fence } = this.#end(call)
    if (settlement.result.effect === 'unknown') this.findings.settled(call)
    // After `close` the journal may be closed too. The record of a duplicate belongs to another call.
    const isRefused = settlement.result.error?.code === 'E_DUPLICATE_INVOCATION'
    if (fence === undefined && (this.#hasEnded || isRefused)) return undefined
    // Another executor may claim an id that the application chose. A claim that fails must leave no gap in the chain.
    const mayLoseClaim = this.isDurable && fence === undefined && !call.invocationId.startsWith(this.#kernel.owner())
    const claimed = mayLoseClaim ? this.commit(call) : undefined
    return isThenable(claimed)
      ? claimed.then(() => this.#conclude(call, event, settlement))
      : this.#conclude(call, event, settlement)
  }

  #conclude(call: Received, event: ToolEvent, settlement: Settlement): Digested {
    const { record } = recordingOf(call)
    fold(record, event)
    const { result } = settlement
    if (!isLarge(result.content)) return this.#conclusion(call, record, settlement)
    return storeContent(result.content, call.session, this.#kernel).then(({ result: content, stored }) =>
      this.#conclusion(call, record, { ...settlement, result: { ...result, content }, stored }),
    )
  }

  #conclusion(call: Received, record: ToolCallRecord, settlement: RecordedSettlement): Digested {
    const fullRecord = this.#whole(call, record, settlement)
    const isOpen = (): boolean => !this.#hasEnded && recordingOf(call).fence !== undefined
    if (this.isDurable) return this.#chain.append(fullRecord, (chained) => this.#put(call, chained), isOpen)
    const written = this.#put(call, fullRecord)
    return isThenable(written) ? written.then(() => undefined) : undefined
  }

  begin(call: Received, wait: Wait): BeginningWait {
    return beginningOf(call, wait, this.#kernel)
  }

  wait(call: Received, event: ToolEvent, { result, wait }: BeginningWait): void | Promise<void> {
    const { record, fence } = this.#end(call)
    if (fence === undefined && this.#hasEnded) return
    fold(record, event)
    record.effect = result.effect
    if (wait.work !== undefined) inQueue(result, wait.work.queue)
    return this.#put(call, this.#whole(call, record, undefined, wait))
  }

  /** Ends the signs of life of a call. */
  #end(call: Received): LiveRecording {
    const recording = recordingOf(call)
    recording.isOver = true
    this.#pulse.release(recording)
    return recording
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

  async find(token: unknown): Promise<ResumableCall | undefined> {
    return findResumable(token, async (invocationId) => {
      const found = await this.read(invocationId)
      return found === null
        ? undefined
        : { record: found.record, recording: new LiveRecording(found.record, found.fence) }
    })
  }

  async take(call: ResumableCall): Promise<ResumableCall | undefined> {
    const { record, fence } = call.recording as LiveRecording
    if (fence === undefined || record.journal === undefined) return undefined
    const newFence = await this.takeOver(record, fence)
    if (newFence === null) return undefined
    const resumed = usedUp(record, newFence)
    if (!(await this.write(resumed, newFence))) return undefined
    return { ...call, recording: this.resume(resumed, newFence) }
  }

  async outcome(invocationId: string): Promise<ToolResult | undefined> {
    const record = (await this.read(invocationId))?.record
    return record && isSettled(record.state) ? replay(record, this.#kernel) : undefined
  }

  /** Begins the recording of a call that was taken over. */
  resume(record: ToolCallRecord, fence: Fence): LiveRecording {
    const recording = new LiveRecording(record, fence)
    this.#pulse.start(recording)
    return recording
  }

  /** Ends the recording of a call that another executor is to run. */
  release(recording: ResumableCall['recording']): LiveRecording {
    this.#pulse.release(recording as LiveRecording)
    return recording as LiveRecording
  }

  recall(call: Received): Promise<ToolResult | undefined> {
    return recall(call, this.#kernel, this)
  }

  async snapshot(invocationId: string, call?: Received): Promise<ToolCallSnapshot | undefined> {
    const live = call?.recording?.record // it has no result: from the settlement on, only the journal is right
    const record = live && !isSettled(live.state) ? live : (await this.read(invocationId))?.record
    return record && snapshotOf(record, call)
  }

  queueFor(resume: Resume): ExecutorQueue {
    return new QueueOfExecutor(this.queue, resume)
  }

  recover(options: RecoverOptions): Promise<Recovery> {
    return recover(options, this, this.#kernel)
  }

  get isDurable(): boolean {
    return this.#journal.isDurable
  }

  close(): void {
    this.#hasEnded = true
    this.#pulse.stop()
    this.#cancellations.stop()
    this.calls.close()
    this.findings.close()
    this.#undrop?.()
  }

  /** Takes a record over from its owner. Returns `null` if another executor took it first. */
  takeOver(record: ToolCallRecord, fence: Fence): Fence | null | Promise<Fence | null> {
    this.#pulse.start() // an owner gives signs of life even before its first write
    return this.#answer(() => this.#journal.takeOver(record.id, fence, this.#kernel.owner()), ownCopy)
  }

  /** Writes a new record. Returns `null` if its invocation has one. */
  claim(record: ToolCallRecord): Fence | null | Promise<Fence | null> {
    this.#pulse.start()
    return this.#answer(() => this.#journal.claim(record, this.#kernel.owner()), ownCopy)
  }

  read(invocationId: string): FoundRecord | null | Promise<FoundRecord | null> {
    return this.#answer(() => this.#journal.read(invocationId), ownCopy)
  }

  /** Writes a record by its fence. Returns `false` if another executor holds it. */
  write(record: ToolCallRecord, fence: Fence): boolean | Promise<boolean> {
    return this.#answer(() => this.#journal.write(record, fence), Boolean)
  }

  /** Writes the settlement of a record that was taken over. Returns `undefined` if another executor has taken it since. */
  async seal(record: ToolCallRecord, fence: Fence): Promise<ToolCallRecord | undefined> {
    let sealed: ToolCallRecord | undefined
    const put = async (written: ToolCallRecord): Promise<void> => {
      if (!(await this.write(written, fence))) throw takenOver(record.id)
      sealed = written
    }
    const putting = this.isDurable ? this.#chain.append(record, put) : put(record)
    await putting.catch((error: unknown) => {
      if (!(error instanceof SealedError)) throw error
    })
    return sealed
  }

  /** Lists records. Damaged records are reported and left out. */
  async *list(query: RecordQuery): AsyncGenerator<ListedRecord, void, undefined> {
    try {
      yield* listJournal(this.#journal.list(query, this.#kernel.report))
    } catch (cause) {
      throw journalErrorOf(cause)
    }
  }

  /** @param awaits What the call needs to go on, if it begins to wait. */
  #whole(
    call: Received,
    record: ToolCallRecord,
    settlement?: RecordedSettlement,
    awaits?: WaitRecord,
    hasStarted: boolean = false,
  ): ToolCallRecord {
    const { caller, principal, program } = call
    const journal: OpenJournaled = { caller, owner: this.#kernel.owner(), fence: recordingOf(call).fence?.number ?? 0 }
    if (principal !== undefined) journal.principal = principal
    if (program !== undefined) journal.program = program
    if (hasStarted) journal.hasStarted = true
    if (awaits !== undefined) journal.awaits = awaits
    else if (settlement === undefined && call.resumption?.taken !== undefined) journal.work = call.resumption.taken
    else if (record.state === 'EXECUTING' || record.effect === 'unknown') keepArgs(call, journal)
    return this.#format.complete(record, journal, settlement)
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
    if (!isThenable(answer)) return acceptAnswer(answer, recording, call)
    return awaitJournal(answer, (later) =>
      isAgain && later === null ? this.#adopt(recording, call, record) : acceptAnswer(later, recording, call),
    )
  }

  /** Recovers from a claim that succeeded, but whose answer was lost. */
  async #adopt(recording: LiveRecording, call: Received, record: ToolCallRecord): Promise<void> {
    const found = await this.read(call.invocationId)
    // A record that was taken over since has another number.
    if (found?.fence.owner !== this.#kernel.owner() || found.fence.number !== 0) throw duplicate(call)
    recording.fence = found.fence
    acceptAnswer(await this.write(record, found.fence), recording, call)
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

  /** Gives a sign of life, and cancels what others asked to cancel. */
  async beat(): Promise<void> {
    this.#cancellations.start()
    try {
      const beatAnswer = await this.#journal.beat(this.#kernel.owner())
      for (const id of beatAnswer ?? []) await this.calls.cancelHere(id, 'Another executor asked to cancel the call.')
    } catch (error) {
      this.#kernel.report(error)
    }
  }
}

/** Copies the journal's object, which could become a thenable before a promise resolves with it. */
function ownCopy<Value extends object>(value: Value | null): Value | null {
  return value && { ...value }
}
