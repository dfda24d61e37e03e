import type { Operation } from './_operations.ts'

/** The most changes of one transaction. More would keep others waiting for too long. */
export const groupLength = 200

/** What has become of a transaction. */
export type Outcome =
  | { readonly values: readonly unknown[] }
  | {
      readonly error: unknown
      /** Whether it certainly changed nothing. */
      readonly isUndone: boolean
    }

/** How a database makes changes. */
export interface Changing {
  /** Runs operations in one transaction, and tries again until a time of `performance.now()`. It does not reject. */
  commit(operations: readonly (() => Operation<unknown>)[], giveUpAt: number): Promise<Outcome>
  /** Waits before a transaction, so that changes that arrive meanwhile join it. */
  gather(): Promise<unknown>
  /** How long a change may take, in milliseconds. */
  readonly patience: number
  refusal(error: unknown): Error
}

interface QueuedChange {
  readonly operation: () => Operation<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly giveUpAt: number
}

/** Makes changes durable. Simultaneous ones share a transaction. One transaction is under way at a time. */
export class Changes {
  readonly #database: Changing
  readonly #waiting: QueuedChange[] = []
  #writing: Promise<void> | undefined

  constructor(database: Changing) {
    this.#database = database
  }

  make<Value>(operation: () => Operation<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const giveUpAt = performance.now() + this.#database.patience
      this.#waiting.push({ operation, resolve: resolve as (value: unknown) => void, reject, giveUpAt })
      this.#writing ??= this.#writeAll()
    })
  }

  /** Waits until what was to be written is written. */
  async ended(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    do {
      await this.#database.gather()
      await this.#commit(this.#waiting.splice(0, groupLength))
    } while (this.#waiting.length > 0)
    this.#writing = undefined
  }

  /** Commits changes in one transaction. If that fails, commits each alone, so that one bad change affects no other. */
  async #commit(changes: readonly QueuedChange[]): Promise<void> {
    const giveUpAt = Math.max(...changes.map((change) => change.giveUpAt))
    const outcome = await this.#database.commit(
      changes.map(({ operation }) => operation),
      giveUpAt,
    )
    if ('values' in outcome) return changes.forEach(({ resolve }, index) => resolve(outcome.values[index]))
    if (outcome.isUndone && changes.length > 1) {
      for (const single of changes) await this.#commit([single])
      return
    }
    for (const { reject } of changes) reject(this.#database.refusal(outcome.error))
  }
}
