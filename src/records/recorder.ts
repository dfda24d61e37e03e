import { DuplicateInvocationError, JournalError, SealedError } from '../kernel/errors.ts'
import { remark } from './fold.ts'
import { keeperOf, type Keeper } from './keeping.ts'
import type { KeptRecord } from './kept-record.ts'
import type { Received } from '../kernel/call/parcel.ts'
import { awaited, listed, unwritten } from './journal-timeout.ts'
import type { Fence, Journal, Ledger, Settlement, Unfinished } from '../kernel/ports.ts'
import { digestOf, isSettled, type OpenRecord, type ToolCallRecord } from './record.ts'
import { keptRecord, plainRecord, type OpenJournaled } from './settlement.ts'
import { isThenable } from '../kernel/json/thenable.ts'

const beatInterval = 5_000

/** Writes the records of one executor into a journal, and gives signs of life while it does. */
export class JournalLedger implements Ledger {
  readonly journal: Journal
  readonly owner: () => string
  readonly #keeper: Keeper | undefined
  readonly #report: (error: unknown) => void
  #beating: ReturnType<typeof setInterval> | undefined
  #hasEnded = false
  /** The digest of the settlement before. */
  #head = ''

  constructor(journal: Journal, owner: () => string, report: (error: unknown) => void) {
    this.journal = journal
    this.#keeper = keeperOf(journal)
    this.owner = owner
    this.#report = report
  }

  commit(received: Received): void | Promise<void> {
    return this.#put(received, this.#whole(received))
  }

  /** An id of our own is claimed by no other executor; one that the host chose may be. */
  mayLoseClaim(received: Received, outcome: Pick<Settlement, 'result' | 'awaits'>): boolean {
    const isUnclaimed = this.#isChained(outcome) && received.fence === undefined
    return isUnclaimed && !this.#isDropped(received, outcome) && !received.invocationId.startsWith(this.owner())
  }

  settle(received: Received, settlement: Settlement): string | undefined | Promise<string | undefined> {
    if (this.#isDropped(received, settlement)) return undefined
    const whole = this.#whole(received, settlement)
    if (this.#isChained(settlement)) {
      return this.#chained(whole as ToolCallRecord, (chained) => this.#put(received, chained))
    }
    const written = this.#put(received, whole)
    return isThenable(written) ? written.then(() => undefined) : undefined
  }

  #isChained({ awaits }: Pick<Settlement, 'awaits'>): boolean {
    return awaits === undefined && this.journal.isDurable
  }

  /** What comes after the end has done nothing, and the journal may be closed; what was refused is another call's. */
  #isDropped({ fence }: Received, { result }: Pick<Settlement, 'result'>): boolean {
    return fence === undefined && (this.#hasEnded || result.error?.code === 'E_DUPLICATE_INVOCATION')
  }

  remark(received: Received, note: string): void {
    const { record, fence } = received
    // The journal may be closed by then, and nobody is left who would read it.
    if (record === undefined || fence === undefined || this.#hasEnded) return
    remark(record, Date.now(), note)
    if (!isSettled(record.state)) return
    this.#addLate(received, fence, note).catch((error: unknown) => {
      if (!this.#hasEnded) this.#report(error)
    })
  }

  /** Adds a line to a settlement once that is written down; before it, the line would go down with it. */
  async #addLate(received: Received, fence: Fence, note: string): Promise<void> {
    await received.writing?.catch(() => {}) // whoever waits for it is told
    const found = await this.read(received.invocationId)
    if (found === null || !isSettled(found.record.state)) return
    const record: OpenRecord = { ...found.record }
    remark(record, Date.now(), note)
    await this.write(record, fence)
  }

  /** Whether records are kept as they are, so that their args may be handed over as text. */
  get keeps(): boolean {
    return this.#keeper !== undefined
  }

  /** Takes a record over, so that nobody else may write to it; nothing where somebody else was faster. */
  takeOver(record: ToolCallRecord, fence: Fence): ReturnType<Journal['takeOver']> {
    this.#beat() // whoever holds a record gives signs of life, however long it is until the first write
    return this.#answer(() => this.journal.takeOver(record.id, fence, this.owner()), ownCopy)
  }

  read(invocationId: string): ReturnType<Journal['read']> {
    return this.#answer(() => this.journal.read(invocationId), ownCopy)
  }

  /** Writes a record that is held by a fence. */
  write(record: ToolCallRecord, fence: Fence): boolean | Promise<boolean> {
    return this.#answer(() => this.journal.write(record, fence), Boolean)
  }

  /** Writes the settlement of a record that was taken over from a dead owner; nothing where it was lost meanwhile. */
  async close(record: ToolCallRecord, fence: Fence): Promise<ToolCallRecord | undefined> {
    let closed: ToolCallRecord | undefined
    await this.#chained(record, async (chained) => {
      if (!(await this.write(chained, fence))) throw lost(record.id)
      closed = chained
    }).catch((error: unknown) => {
      if (!(error instanceof SealedError)) throw error
    })
    return closed
  }

  /** Every record that is not settled, and can be read; of the others the report is told. */
  async *unfinished(): AsyncGenerator<Unfinished, void, undefined> {
    try {
      yield* listed(this.journal.unfinished(this.#report))
    } catch (cause) {
      throw unwritten(cause)
    }
  }

  end(): void {
    this.#hasEnded = true
    clearInterval(this.#beating)
    this.#beating = undefined
  }

  /** The record as it is now, as this journal takes it. */
  #whole({ record, caller, principal, fence }: Received, settlement?: Settlement): ToolCallRecord | KeptRecord {
    if (record === undefined) throw new JournalError('There is nothing to write down: the call has told of nothing.')
    const journal: OpenJournaled = { caller, owner: this.owner(), fence: fence === undefined ? 0 : fence.number }
    if (principal !== undefined) journal.principal = principal
    return this.#keeper === undefined
      ? plainRecord(record, journal, settlement)
      : keptRecord(record, journal, settlement)
  }

  /** Chains a settlement to the one before, and gives its digest. */
  async #chained(
    record: ToolCallRecord,
    put: (record: ToolCallRecord) => void | Promise<void>,
  ): Promise<string | undefined> {
    const { journal } = record
    if (!this.journal.isDurable || journal === undefined) {
      await put(record)
      return undefined
    }
    // The chain grows in the order of settlement, and so before anything is awaited.
    const previous = this.#head
    const digest = digestOf(previous, record)
    this.#head = digest
    try {
      await put({ ...record, journal: { ...journal, digest, previous } })
      return digest
    } catch (error) {
      if (this.#head === digest) this.#head = previous
      else this.#report(gap(record.id, digest, error)) // the next one hangs on it, and is on its way or told of already
      throw error
    }
  }

  /** Puts a record down after those before it, and at once where none is on its way. */
  #put(received: Received, record: ToolCallRecord | KeptRecord): void | Promise<void> {
    const { writing } = received
    if (writing === undefined) {
      const written = this.#putNow(received, record)
      if (isThenable(written)) received.writing = written
      return written
    }
    const put = (): void | Promise<void> => this.#putNow(received, record, true)
    received.writing = writing.then(put, put)
    return received.writing
  }

  #putNow(received: Received, record: ToolCallRecord | KeptRecord, isAgain = false): void | Promise<void> {
    this.#beat()
    const { fence } = received
    const keeper = (this.#keeper ?? this.journal) as Journal // takes what was made for it
    let answer: unknown
    try {
      answer =
        fence === undefined
          ? keeper.claim(record as ToolCallRecord, this.owner())
          : keeper.write(record as ToolCallRecord, fence)
    } catch (cause) {
      throw unwritten(cause)
    }
    if (!isThenable(answer)) return accept(answer, received, fence)
    return awaited(answer, (later) =>
      isAgain && later === null ? this.#adopt(received, record as ToolCallRecord) : accept(later, received, fence),
    )
  }

  /** Goes on from a claim that has landed, although its answer was lost. */
  async #adopt(received: Received, record: ToolCallRecord): Promise<void> {
    const found = await this.read(received.invocationId)
    // What was taken over since has another number.
    if (found?.fence.owner !== this.owner() || found.fence.number !== 0) throw duplicate(received)
    received.fence = found.fence
    accept(await this.write(record, found.fence), received, found.fence)
  }

  /** What the journal answers; where it takes its time, as soon as it is there. Says what it is that failed. */
  #answer<Value>(ask: () => Value | Promise<Value>, own: (value: Value) => Value): Value | Promise<Value> {
    try {
      const answer = ask()
      return isThenable(answer) ? awaited(answer, own) : answer
    } catch (cause) {
      throw unwritten(cause)
    }
  }

  #beat(): void {
    if (this.#beating !== undefined || this.#hasEnded) return
    const beat = async (): Promise<void> => {
      try {
        await this.journal.beat(this.owner())
      } catch (error) {
        this.#report(error)
      }
    }
    void beat()
    this.#beating = setInterval(() => void beat(), beatInterval)
    // The sign of life ends with the process, and does not keep it alive.
    ;(this.#beating as { unref?: () => void }).unref?.()
  }
}

/** An object of ours in the place of the journal's own, which may be a thenable by the time a promise passes it on. */
function ownCopy<Value extends object>(value: Value | null): Value | null {
  return value && { ...value }
}

/** Takes a journal's answer to a claim, or to a write by the fence that was had before. */
function accept(answer: unknown, received: Received, fence: Fence | undefined): void {
  if (fence !== undefined && answer) return
  if (fence !== undefined) throw lost(received.invocationId)
  if (answer === null) throw duplicate(received)
  if (typeof answer !== 'object') throw new JournalError('The journal gave no fence for a record that it claimed.')
  received.fence = answer as Fence
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

/** The refusal of an invocation that is known already; whoever has it may have done something. */
export function duplicate(received: Received, effect: Received['effect'] = 'unknown'): DuplicateInvocationError {
  received.effect = effect
  return new DuplicateInvocationError(
    `Invocation ${JSON.stringify(received.invocationId)} is known already: it has not settled yet, or was another call, in another session or of another caller. Ask again later; under another id the same may be done twice.`,
  )
}
