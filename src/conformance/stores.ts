/**
 * Tests what every store of artifacts promises. They run in vitest.
 *
 * @module
 */
import type { ArtifactStore } from '../extension.ts'
import { requireMethods } from './_methods.ts'
import { describeBytes } from './stores/_bytes.ts'
import { describeCopies } from './stores/_copies.ts'
import { describeGuards } from './stores/_guards.ts'
import { describeLeftovers } from './stores/_leftovers.ts'
import { describeLimits } from './stores/_limits.ts'
import type { StoreSuite } from './stores/_suite.ts'

/** What a store has to be made with. */
export interface StoreLimits {
  /** The most bytes that it takes of one artifact. Default: what the store likes, 32 MiB at least. */
  readonly maximumBytes?: number
}

/** A store, as an extension gives it. */
export interface StoreUnderTest {
  readonly store: ArtifactStore
  /**
   * Counts everything that the store keeps where it keeps it: files, rows, uploads that are not complete. With it, the suite tests
   * that nothing is left of what failed. Without it, these tests are skipped.
   */
  readonly count?: (() => number | Promise<number>) | undefined
}

/**
 * Describes what every store of artifacts promises, in tests of vitest.
 *
 * @param name The name of the store, for the titles of the tests.
 * @param make Makes a store that keeps nothing yet, for each test anew.
 * @experimental
 * @example
 * ```ts
 * import { memoryStore } from 'toolwright'
 * import { describeStore } from 'toolwright/conformance/stores'
 *
 * describeStore('memoryStore', (limits) => ({ store: memoryStore(limits) }))
 * ```
 */
export function describeStore(
  name: string,
  make: (limits?: StoreLimits) => StoreUnderTest | Promise<StoreUnderTest>,
): void {
  const open = async (limits?: StoreLimits): Promise<StoreUnderTest> => {
    const tested = await make(limits)
    requireMethods(
      (tested as Partial<StoreUnderTest> | undefined)?.store,
      ['write', 'open', 'delete'],
      '`make` gives `{ store }`: a store has `write`, `open` and `delete`',
    )
    return tested
  }
  const suite: StoreSuite = { title: name, create: async (limits) => (await open(limits)).store }
  describeBytes(suite)
  describeGuards(suite)
  describeCopies(suite)
  describeLimits(suite)
  describeLeftovers(name, open)
}
