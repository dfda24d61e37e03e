/**
 * Limits the number of calls per interval. This file denies at once a call that comes too soon: it delays and queues nothing,
 * and knows only the calls of its own process.
 *
 * @module
 */
import { checkOptions, integerFrom, required } from '../extension.ts'
import { toolNames, type ToolName } from './_options.ts'
import { limitStarts, scope, type LimitedBy, type Limiting, type Tally } from './_starts.ts'

export type { LimitedBy, Limiting, ToolName }

/** The options of `rateLimit`. */
export interface RateLimitOptions {
  /** How many calls may begin within any `interval`. */
  readonly calls: number
  /** The length of the window, in milliseconds. */
  readonly interval: number
  /**
   * Which calls share the limit. Over HTTP a client can begin any number of sessions: only `'principal'` and `'tool'` limit it.
   * Default: `'session-and-tool'`.
   */
  readonly per?: LimitedBy
  /** The tools whose calls are counted. A name means the tool of that name from any source; each is counted apart. Default: all. */
  readonly tools?: readonly ToolName[]
}

interface Recent extends Tally {
  /** When the calls of the last interval began, by the monotonic clock. */
  starts: number[]
}

/**
 * Allows a number of calls to begin within any interval. Denies the rest, and says when to try again.
 *
 * A call counts when it begins, as in `budget`; a call that waits to begin holds its place. The window slides and uses the
 * monotonic clock. The policy keeps at most `calls` times for each of the 10,000 most recently used sessions and tools.
 *
 * @param options `calls` is the number, `interval` the window in milliseconds; `per` and `tools` choose which calls it counts.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { rateLimit } from 'toolwright/policies/rate-limit'
 *
 * const executor = createExecutor({ use: [rateLimit({ calls: 10, interval: 60_000, tools: ['web_search'] })] })
 * ```
 * @experimental
 */
export function rateLimit(options: RateLimitOptions): Limiting {
  checkOptions('rateLimit', options, {
    calls: required(integerFrom(1)),
    interval: required({
      expected: 'a positive number of milliseconds',
      accepts: (value) => Number.isFinite(value) && (value as number) > 0,
    }),
    per: scope,
    tools: toolNames,
  })
  const { calls, interval } = options
  return limitStarts<Recent>({
    name: 'rateLimit',
    most: calls,
    per: options.per,
    tools: options.tools,
    create: () => ({ waiting: 0, reserved: 0, starts: [] }),
    refusal(recent, allowance) {
      const { starts, waiting } = recent
      const now = performance.now()
      while (starts[0] !== undefined && starts[0] + interval <= now) starts.shift()
      if (starts.length + waiting < calls) return undefined
      const [oldest] = starts
      const soon =
        oldest === undefined ? 'once the calls before it are done' : `in ${durationInWords(oldest + interval - now)}`
      return `Too many calls: ${allowance()} within ${durationInWords(interval)}. Try again ${soon}`
    },
    begun(recent) {
      recent.starts.push(performance.now())
      // More calls may begin if their tally was evicted meanwhile; the newest times suffice.
      if (recent.starts.length > calls) recent.starts.shift()
    },
  })
}

/** Formats a duration, rounded up so that a caller never retries too early. */
function durationInWords(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.ceil(milliseconds)} ms` : `${Math.ceil(milliseconds / 100) / 10} s`
}
