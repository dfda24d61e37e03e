/**
 * Tests what every journal promises. They run in vitest.
 *
 * @module
 */
import { describe } from 'vitest'
import type { Journal } from '../records/index.ts'
import { testBus } from './_buses.ts'
import { describeDeletions } from './journals/_deletions.ts'
import { describeFields } from './journals/_fields.ts'
import { describeFences } from './journals/_fences.ts'
import { describeLists } from './journals/_lists.ts'
import { describeOptional } from './journals/_optional.ts'
import { openedJournal } from './journals/_records.ts'
import { describeQueues } from './journals/_queues.ts'
import { describeShared } from './journals/_shared.ts'
import type { OpenedStorage, JournalSuite } from './journals/_suite.ts'
import { describeSessionOrder } from './journals/_session-order.ts'
import { describeTexts } from './journals/_texts.ts'

/** A place where a journal keeps its records. */
export interface JournalStorage {
  /** Opens a journal on the place. If the journal is shared, several are open at a time. */
  readonly open: () => { readonly journal: Journal; readonly close?: () => void | Promise<void> }
  /**
   * Replaces the text of a record, as a fault of a disk would. Only a shared journal needs it.
   *
   * @param id The invocation of the record.
   * @param text The text that the place has afterwards.
   */
  readonly damage?: ((id: string, text: string) => unknown) | undefined
}

/** How a journal is tested. */
export interface JournalTestOptions {
  /** Whether several journals may be open on one place, as processes do. It then has to outlive them. Default: `false`. */
  readonly isShared?: boolean
}

/**
 * Describes what every journal promises, in tests of vitest. Optional methods that the journal leaves out are skipped.
 *
 * @param name The name of the journal, for the titles of the tests.
 * @param make Makes a place without records, for each test anew. The suite closes what it opens only if the test says so.
 * @param options How the journal is tested.
 * @experimental
 * @example
 * ```ts
 * import { describeJournal } from 'toolwright/conformance/journals'
 * import { memoryJournal } from 'toolwright/journals/memory'
 *
 * describeJournal('memoryJournal', () => ({ open: () => memoryJournal() }))
 * ```
 */
export function describeJournal(
  name: string,
  make: () => JournalStorage | Promise<JournalStorage>,
  options: JournalTestOptions = {},
): void {
  const newStorage = async (): Promise<OpenedStorage> => {
    const storage = await make()
    return { open: () => openedJournal(storage.open()), damage: storage.damage?.bind(storage) }
  }
  const newJournal: JournalSuite['newJournal'] = async () => (await newStorage()).open().journal
  const { isShared = false } = options
  const suite: JournalSuite = { title: name, isShared, newStorage, newJournal }
  describeFences(suite)
  describeFields(suite)
  describeLists(suite)
  describeOptional(suite)
  describeDeletions(suite)
  describeQueues(suite)
  describeSessionOrder(suite)
  describeTexts(suite)
  if (isShared) describeShared(suite)
  describe(name, () => {
    testBus(async () => {
      const storage = await newStorage()
      const one = storage.open().journal.bus
      const other = isShared ? storage.open().journal.bus : one
      return one && other && [one, other]
    })
  })
}
