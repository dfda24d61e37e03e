/**
 * So many calls in so much time. This leaf refuses at once what comes too soon: it delays and queues nothing, and knows
 * only the calls of its own process.
 *
 * @module
 */
import { requireOptions, wholeNumber, wrong, type ToolName } from './_options.ts'
import { limitStarts, type LimitedBy, type Limiting, type Tally } from './_starts.ts'

export type { LimitedBy, Limiting, ToolName }

export interface RateLimitOptions {
  /** How many calls may begin within any stretch of `interval`. */
  readonly calls: number
  /** The length of the stretch, in milliseconds. */
  readonly interval: number
  /**
   * Whose calls share the limit. A client that can begin as many sessions as it likes, as over HTTP, is held by `'principal'` and
   * `'tool'` alone. Default: `'session-and-tool'`.
   */
  readonly per?: LimitedBy
  /** The tools whose calls are counted: by name those of any source, each by itself. Default: all. */
  readonly tools?: readonly ToolName[]
}

interface Recent extends Tally {
  /** When the calls of the last interval began, by the monotonic clock. */
  starts: number[]
}

/**
 * Lets so many calls begin within any stretch of time, and refuses the rest, saying when to try again.
 *
 * A call counts when it begins, as in a budget; one that waits to begin holds its place. The window slides, and is measured
 * by the monotonic clock. At most `calls` times are kept for each of the 10,000 sessions and tools that were used last.
 *
 * @param options `calls`: how many; `interval`: in how many milliseconds; `per` and `tools`: of which.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong or unknown.
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
  requireOptions('rateLimit', options, ['calls', 'interval', 'per', 'tools'])
  const calls = wholeNumber('rateLimit', 'calls', options.calls, 1)
  const { interval } = options
  if (!Number.isFinite(interval) || interval <= 0) {
    throw wrong('rateLimit', 'takes a positive number of milliseconds as `interval`')
  }
  return limitStarts<Recent>({
    name: 'rateLimit',
    calls,
    per: options.per,
    tools: options.tools,
    create: () => ({ waiting: 0, starts: [] }),
    refusal(recent, allowance) {
      const { starts, waiting } = recent
      const now = performance.now()
      while (starts[0] !== undefined && starts[0] + interval <= now) starts.shift()
      if (starts.length + waiting < calls) return undefined
      const [oldest] = starts
      const soon = oldest === undefined ? 'once the calls before it are done' : `in ${words(oldest + interval - now)}`
      return `Too many calls: ${allowance} within ${words(interval)}. Try again ${soon}`
    },
    begun(recent) {
      recent.starts.push(performance.now())
      // More may begin where a tally was forgotten meanwhile; the newest of them say all that is needed.
      if (recent.starts.length > calls) recent.starts.shift()
    },
  })
}

/** A stretch of time, never shorter than it is. */
function words(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.ceil(milliseconds)} ms` : `${Math.ceil(milliseconds / 100) / 10} s`
}
