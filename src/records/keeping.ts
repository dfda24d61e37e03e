import type { KeptRecord } from './kept-record.ts'
import type { Fence, Journal } from '../kernel/ports.ts'

/** What a journal that keeps records in the memory of its process does instead of `claim` and `write`. */
export interface Keeper {
  /** As the journal's `claim`. */
  claim(record: KeptRecord, owner: string): Fence | null
  /** As the journal's `write`. */
  write(record: KeptRecord, fence: Fence): boolean
}

const keepers = new WeakMap<Journal, Keeper>()

/**
 * Says how a journal keeps records that need not be copied or written down, since they never change. Executors that are given
 * this very journal go to the keeper; a journal that wraps it is another one, and is given plain records.
 *
 * @returns The journal.
 */
export function keeping(journal: Journal, keeper: Keeper): Journal {
  keepers.set(journal, keeper)
  return journal
}

/** The keeper of a journal, where it has one. */
export function keeperOf(journal: Journal): Keeper | undefined {
  return journal.isDurable ? undefined : keepers.get(journal)
}
