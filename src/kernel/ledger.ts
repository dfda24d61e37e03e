import type { SpooledArtifact } from './artifact.ts'
import type { ToolResult } from './call.ts'
import { CallDeadline } from './deadline.ts'
import { DuplicateInvocationError, isToolError, JournalError, SealedError, type ToolError } from './errors.ts'
import type { Received } from './parcel.ts'
import type { Fence, Journal, Ledger, Unfinished } from './ports.ts'
import { digestOf, isSettled, remark, type Awaited, type Journaled, type ToolCallRecord } from './record.ts'

const beatInterval = 5_000
/** How long a journal may take to answer, in milliseconds. */
const patience = 30_000

/** Writes the records of one executor into a journal, and gives signs of life while it does. */
export class JournalLedger implements Ledger {
  readonly journal: Journal
  readonly owner: () => string
  readonly #report: (error: unknown) => void
  #beating: ReturnType<typeof setInterval> | undefined
  #hasEnded = false
  /** The digest of the settlement before. */
  #head = ''

  constructor(journal: Journal, owner: () => string, report: (error: unknown) => void) {
    this.journal = journal
    this.owner = owner
    this.#report = report
  }

  async commit(received: Received): Promise<void> {
    await this.#put(received, this.#whole(received, {}))
  }

  async settle(received: Received, result: ToolResult, awaits: Awaited | undefined): Promise<string | undefined> {
    // What comes after the end has done nothing, and the journal may be closed.
    if (this.#hasEnded && received.fence === undefined) return undefined
    if (awaits !== undefined) {
      await this.#put(received, this.#whole(received, { awaits }))
      return undefined
    }
    const { content, handle, error, skipped, artifact } = result
    const whole = this.#whole(received, {
      result: content,
      ...summaryOf(artifact),
      ...(handle && { handle }),
      ...(error && { failure: error.toJSON() }),
      ...(skipped && { skipped }),
    })
    return this.#chained(whole, (chained) => this.#put(received, chained))
  }

  remark(received: Received, note: string): void {
    const { record, fence } = received
    if (record === undefined || fence === undefined) return
    received.record = remark(record, Date.now(), note)
    if (isSettled(record.state)) this.#addLate(received, fence, note).catch(this.#report)
  }

  /** Adds a line to a settlement once that is written down; before it, the line would go down with it. */
  async #addLate(received: Received, fence: Fence, note: string): Promise<void> {
    await received.writing?.catch(() => {}) // whoever waits for it is told
    const found = await this.read(received.invocationId)
    if (found === null || !isSettled(found.record.state)) return
    await this.write(remark(found.record, Date.now(), note), fence)
  }

  /** Takes a record over, so that nobody else may write to it; nothing where somebody else was faster. */
  async takeOver(record: ToolCallRecord, fence: Fence): Promise<Fence | null> {
    return this.#answer(() => this.journal.takeOver(record.id, fence, this.owner()))
  }

  async read(invocationId: string): ReturnType<Journal['read']> {
    return this.#answer(() => this.journal.read(invocationId))
  }

  /** Writes a record that is held by a fence. */
  async write(record: ToolCallRecord, fence: Fence): Promise<boolean> {
    return this.#answer(() => this.journal.write(record, fence))
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

  /** Every record that is not settled. */
  async *unfinished(): AsyncGenerator<Unfinished, void, undefined> {
    try {
      yield* this.journal.unfinished()
    } catch (cause) {
      throw unwritten(cause)
    }
  }

  end(): void {
    this.#hasEnded = true
    clearInterval(this.#beating)
    this.#beating = undefined
  }

  #whole(received: Received, additions: Partial<Journaled>): ToolCallRecord {
    const { record, caller, fence } = received
    if (record === undefined) throw new JournalError('There is nothing to write down: the call has told of nothing.')
    return { ...record, journal: { caller, owner: this.owner(), fence: fence?.number ?? 0, ...additions } }
  }

  /** Chains a settlement to the one before, where the journal is durable, and gives its digest. */
  async #chained(record: ToolCallRecord, put: (record: ToolCallRecord) => Promise<void>): Promise<string | undefined> {
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
      if (this.#head === digest) this.#head = previous // nothing hangs on it yet
      throw error
    }
  }

  #put(received: Received, record: ToolCallRecord): Promise<void> {
    const put = async (): Promise<void> => this.#putNow(received, record)
    const { writing } = received
    received.writing = writing === undefined ? put() : writing.then(put, put)
    return received.writing
  }

  async #putNow(received: Received, record: ToolCallRecord): Promise<void> {
    this.#beat()
    const { fence } = received
    if (fence !== undefined) {
      if (!(await this.write(record, fence))) throw lost(record.id)
      return
    }
    const claimed: unknown = await this.#answer(() => this.journal.claim(record, this.owner()))
    if (claimed === null) throw duplicate(record.id)
    if (typeof claimed !== 'object') throw new JournalError('The journal gave no fence for a record that it claimed.')
    received.fence = claimed as Fence
  }

  /** Waits for the journal, but not for ever, and says what it is that failed. */
  async #answer<Value>(ask: () => Promise<Value>): Promise<Value> {
    const deadline = new CallDeadline(patience, undefined)
    try {
      return await deadline.within(Promise.resolve(ask()))
    } catch (cause) {
      throw unwritten(cause)
    } finally {
      deadline.end()
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

/** What a record says of an artifact; one of the handler's own making may break when it is asked. */
function summaryOf(artifact: SpooledArtifact | undefined): Pick<Journaled, 'artifact'> | undefined {
  try {
    return artifact === undefined ? undefined : { artifact: artifact.toJSON() }
  } catch {
    return undefined
  }
}

/** Of what is not the journal's own error the words stay here: they may name hosts, files and secrets. */
function unwritten(cause: unknown): ToolError {
  if (isToolError(cause) && cause.code === 'E_JOURNAL') return cause
  const words = isToolError(cause) && cause.code === 'E_TOOL_TIMEOUT' ? 'did not answer in time' : 'failed'
  return new JournalError(`The journal ${words}.`, { cause, retryable: true })
}

function lost(invocationId: string): SealedError {
  return new SealedError(
    `Invocation ${invocationId} has been taken over by another executor; what it gives here is lost.`,
  )
}

/** The refusal of an invocation that is known already. */
export function duplicate(invocationId: string): DuplicateInvocationError {
  return new DuplicateInvocationError(
    `Invocation ${JSON.stringify(invocationId)} is known already, and is not settled or was another call. Wait for it, or give another id.`,
  )
}
