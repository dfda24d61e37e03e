import { CheckError } from './_failure.ts'
import {
  called,
  calledAtMost,
  calledInOrder,
  calledOnly,
  recovered,
  repeated,
  type ExpectedCalls,
  type ExpectedStep,
  type MatcherVerdict,
} from './_verdicts.ts'

export type { ExpectedCall, ExpectedCalls, ExpectedStep, MatcherVerdict } from './_verdicts.ts'

/**
 * The assertions about calls. `Result` is what each returns: nothing.
 *
 * @experimental
 */
export interface CallAssertions<Result = void> {
  /** The tool was called, as `expected` says: at least once, unless `times` or `atMost` say otherwise. */
  toHaveCalled(tool: string, expected?: ExpectedCalls): Result
  /** These calls came in after each other, with any others between them. */
  toHaveCalledInOrder(...steps: (string | readonly [tool: string, expected?: ExpectedStep])[]): Result
  /** No other tool was called. */
  toHaveCalledOnly(...tools: string[]): Result
  /** There were at most so many calls. */
  toHaveCalledAtMost(most: number): Result
  /** A call was made more than `most` times in its session, with the same tool and the same args. Default: 1. */
  toHaveRepeated(most?: number): Result
  /** Each call that failed or timed out is followed by one of its tool that is `ok`, or by none with an effect. */
  toHaveRecovered(): Result
}

/** What takes an executor or a log first, and then what the assertion takes. */
type MatchersOf<Assertions> = {
  readonly [Name in keyof Assertions]: Assertions[Name] extends (...values: infer Values) => unknown
    ? (subject: unknown, ...values: Values) => MatcherVerdict
    : never
}

/**
 * The matchers of calls, for the `expect` of vitest and Jest: `expect.extend(matchers)`. With vitest, import
 * `toolwright/testing/vitest` instead, which has their types too. The subject is an executor that `observe` took, or a log.
 *
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { matchers, observe } from 'toolwright/testing'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * observe(executor)
 * const { pass, message } = matchers.toHaveCalled(executor, 'now')
 * if (!pass) console.log(message()) // Expected now to be called. It was never called. What was: …
 * ```
 * @experimental
 */
export const matchers: MatchersOf<CallAssertions> = {
  toHaveCalled: called,
  toHaveCalledInOrder: (subject, ...steps) => calledInOrder(subject, steps),
  toHaveCalledOnly: (subject, ...tools) => calledOnly(subject, tools),
  toHaveCalledAtMost: calledAtMost,
  toHaveRepeated: repeated,
  toHaveRecovered: recovered,
}

/**
 * Asserts what was called, with any runner of tests. A failure throws what `node:assert` throws: an error with the code
 * `ERR_ASSERTION`, `expected` and `actual`.
 *
 * @param subject An executor that `observe` took, or a log.
 * @throws `E_INVALID_CONFIGURATION` from each assertion if nothing observes the subject, or an option is wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { expectCalls, observe } from 'toolwright/testing'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * observe(executor)
 * await executor.execute({ name: 'now' })
 * expectCalls(executor).toHaveCalled('now', { status: 'ok', times: 1 })
 * expectCalls(executor).not.toHaveCalled('send_email')
 * ```
 * @experimental
 */
export function expectCalls(subject: unknown): CallAssertions & { readonly not: CallAssertions } {
  return { ...assertionsOf(subject, true), not: assertionsOf(subject, false) }
}

function assertionsOf(subject: unknown, isExpected: boolean): CallAssertions {
  const assert = (verdict: MatcherVerdict): void => {
    if (verdict.pass !== isExpected) throw new CheckError(verdict.message(), verdict)
  }
  return {
    toHaveCalled: (...values) => assert(matchers.toHaveCalled(subject, ...values)),
    toHaveCalledInOrder: (...steps) => assert(matchers.toHaveCalledInOrder(subject, ...steps)),
    toHaveCalledOnly: (...tools) => assert(matchers.toHaveCalledOnly(subject, ...tools)),
    toHaveCalledAtMost: (most) => assert(matchers.toHaveCalledAtMost(subject, most)),
    toHaveRepeated: (most) => assert(matchers.toHaveRepeated(subject, most)),
    toHaveRecovered: () => assert(matchers.toHaveRecovered(subject)),
  }
}
