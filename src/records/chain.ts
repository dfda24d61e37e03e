import type { ToolCallRecord } from '../kernel/call/record.ts'
import { JournalError } from '../kernel/errors.ts'
import { digestOf } from './record.ts'

/** The settlements of one executor. Each is chained to the one before by its digest. */
export class SettlementChain {
  /** The digest of the settlement before. */
  #head = ''
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Chains a settlement to the one before, and writes it. Returns its digest. */
  async append(record: ToolCallRecord, put: (record: ToolCallRecord) => void | Promise<void>): Promise<string> {
    // The chain grows in the order of settlement, so the head moves before any await.
    const previous = this.#head
    const digest = digestOf(previous, record)
    this.#head = digest
    try {
      await put({ ...record, journal: { ...record.journal!, digest, previous } })
      return digest
    } catch (error) {
      if (this.#head === digest) this.#head = previous
      else this.#report(gap(record.id, digest, error)) // the next settlement is chained to it already
      throw error
    }
  }
}

function gap(invocationId: string, digest: string, cause: unknown): JournalError {
  return new JournalError(
    `The settlement of invocation ${invocationId} is lost, and another is chained to its digest, which no record has: ${digest}. Keep it with those that were told.`,
    { cause },
  )
}
