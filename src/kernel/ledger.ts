import type { ToolResult } from './call.ts'
import { CallDeadline } from './deadline.ts'
import { DuplicateInvocationError, isToolError, JournalError, SealedError, type ToolError } from './errors.ts'
import { wordsOf } from './failure.ts'
import type { Received } from './parcel.ts'
import type { Journal, Ledger } from './ports.ts'
import { digestOf, remark, type Awaited, type Journaled, type ToolCallRecord } from './record.ts'

const beatInterval = 5_000
/** How long a journal may take to answer, in milliseconds. */
const patience = 30_000

/** Writes the records of one executor into a journal, and gives signs of life while it does. */
export class JournalLedger implements Ledger {
  readonly journal: Journal
  readonly owner: () => string
  readonly #report: (error: unknown) => void
  #beating: ReturnType<typeof setInterval> | undefined
  /** The digest of the settlement before. */
  #head = ''

  constructor(journal: Journal, owner: () => string, report: (error: unknown) => void) {
    this.journal = journal
    this.owner = owner
    this.#report = report
  }

  async commit(received: Received): Promise<void> {
    await this.#put(received, {})
  }

  async settle(received: Received, result: ToolResult, awaits: Awaited | undefined): Promise<string | undefined> {
    if (awaits !== undefined) {
      await this.#put(received, { awaits })
      return undefined
    }
    const { content, handle, error, skipped, artifact } = result
    const outcome: Partial<Journaled> = {
      result: content,
      ...(handle && artifact && { artifact: artifact.toJSON() }),
      ...(handle && { handle }),
      ...(error && { failure: error.toJSON() }),
      ...(skipped && { skipped }),
    }
    if (!this.journal.isDurable) {
      await this.#put(received, outcome)
      return undefined
    }
    // The chain grows in the order of settlement, and so before anything is awaited.
    const previous = this.#head
    const journal = { caller: received.caller, owner: '', fence: 0, ...outcome }
    const digest = received.record === undefined ? '' : digestOf(previous, { ...received.record, journal })
    this.#head = digest
    await this.#put(received, { ...outcome, digest, previous })
    return digest
  }

  remark(received: Received, note: string): void {
    const { record, fence } = received
    if (record === undefined || fence === undefined) return
    received.record = remark(record, Date.now(), note)
    this.journal
      .read(record.id)
      .then(async (found) => {
        if (found !== null) await this.journal.write({ ...remark(found.record, Date.now(), note) }, fence)
      })
      .catch(this.#report)
  }

  /** Takes a record over, so that nobody else may write to it; nothing where somebody else was faster. */
  async takeOver(record: ToolCallRecord, fence: NonNullable<Received['fence']>): Promise<Received['fence'] | null> {
    return this.#answer(() => this.journal.takeOver(record.id, fence, this.owner()))
  }

  async read(invocationId: string): ReturnType<Journal['read']> {
    return this.#answer(() => this.journal.read(invocationId))
  }

  /** Writes a record that is held by a fence. */
  async write(record: ToolCallRecord, fence: NonNullable<Received['fence']>): Promise<boolean> {
    return this.#answer(() => this.journal.write(record, fence))
  }

  end(): void {
    clearInterval(this.#beating)
    this.#beating = undefined
  }

  async #put(received: Received, additions: Partial<Journaled>): Promise<void> {
    const { record, caller, fence } = received
    if (record === undefined) throw new JournalError('There is nothing to write down: the call has told of nothing.')
    const journal: Journaled = { caller, owner: this.owner(), fence: fence?.number ?? 0, ...additions }
    const whole = { ...record, journal }
    this.#beat()
    if (fence === undefined) {
      const claimed = await this.#answer(() => this.journal.claim(whole, this.owner()))
      if (claimed === null) throw duplicate(record.id)
      received.fence = claimed
    } else if (!(await this.write(whole, fence))) {
      throw new SealedError(
        `Invocation ${record.id} has been taken over by another executor; what it gives here is lost.`,
      )
    }
  }

  /** Waits for the journal, but not for ever, and says what it is that failed. */
  async #answer<Value>(ask: () => Promise<Value>): Promise<Value> {
    const deadline = new CallDeadline(patience, undefined)
    try {
      // What is kept in this process answers at once, or is broken for good: it needs no clock.
      return await (this.journal.isDurable ? deadline.within(ask()) : ask())
    } catch (cause) {
      throw unwritten(cause)
    } finally {
      deadline.end()
    }
  }

  #beat(): void {
    if (this.#beating !== undefined) return
    const beat = (): void => void this.journal.beat(this.owner()).catch(this.#report)
    beat()
    this.#beating = setInterval(beat, beatInterval)
    // The sign of life ends with the process, and does not keep it alive.
    ;(this.#beating as { unref?: () => void }).unref?.()
  }
}

function unwritten(cause: unknown): ToolError {
  if (isToolError(cause) && cause.code === 'E_JOURNAL') return cause
  return new JournalError(`The journal failed: ${wordsOf(cause).message}`, { cause, retryable: true })
}

/** The refusal of an invocation that is known already. */
export function duplicate(invocationId: string): DuplicateInvocationError {
  return new DuplicateInvocationError(
    `Invocation ${JSON.stringify(invocationId)} is known already, and is not settled or was another call. Wait for it, or give another id.`,
  )
}
