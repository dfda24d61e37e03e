/**
 * Registers the matchers of calls with vitest, and their types. Import it once, in a file of `setupFiles`. It needs `vitest`.
 *
 * @module
 */
import { expect } from 'vitest'
import { matchers, type CallAssertions } from './matchers.ts'

expect.extend({ ...matchers })

declare global {
  // The majors of vitest give their own interface different type parameters. All of them take the assertions of Chai's.
  namespace Chai {
    interface Assertion extends CallAssertions {}
  }
}
