import type { ToolCallRecord } from '../kernel/call/record.ts'
import { JournalError } from '../kernel/errors.ts'
import { isMomentary } from './journal-timeout.ts'
import { digestOf } from './record.ts'

/** For how long an end is written again, in milliseconds: PgBouncer refuses for 15 s after a server that failed. */
const triedFor = 20_000

/** The settlements of one executor. Each is chained to the one before by its digest. */
export class SettlementChain {
  /** The digest of the settlement before. */
  #head = ''
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /**
   * Chains a settlement to the one before, and writes it. Returns its digest.
   *
   * @param isOpen Whether to write it again while the journal fails for a moment. The same fence writes it, so there is one end.
   */
  async append(
    record: ToolCallRecord,
    put: (record: ToolCallRecord) => void | Promise<void>,
    isOpen?: () => boolean,
  ): Promise<string> {
    // The chain grows in the order of settlement, so the head moves before any await.
    const previous = this.#head
    const digest = digestOf(previous, record)
    this.#head = digest
    const chained = { ...record, journal: { ...record.journal!, digest, previous } }
    const isRepeatable = record.journal?.failure?.code === 'E_JOURNAL'
    const giveUpAt = performance.now() + (isRepeatable ? 0 : triedFor)
    for (let pause = 50; ; pause = Math.min(2 * pause, 1_000)) {
      try {
        await put(chained)
        return digest
      } catch (error) {
        if (!isMomentary(error) || isOpen?.() !== true || performance.now() + pause > giveUpAt) {
          if (this.#head === digest) this.#head = previous
          else this.#report(gap(record.id, digest, error)) // the next settlement is chained to it already
          throw error
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

function gap(invocationId: string, digest: string, cause: unknown): JournalError {
  return new JournalError(
    `The settlement of invocation ${invocationId} is lost, and another is chained to its digest, which no record has: ${digest}. Keep it with those that were told.`,
    { cause },
  )
}
