/**
 * Limits the number of calls. This leaf counts the calls of one process in memory and forgets them on a restart. It never
 * refunds a call that has begun, and counts neither requests for approval nor refusals.
 *
 * @module
 */
import { requireOptions, wholeNumber, type ToolName } from './_options.ts'
import { limitStarts, type LimitedBy, type Limiting, type Tally } from './_starts.ts'

export type { LimitedBy, Limiting, ToolName }

export interface BudgetOptions {
  /** How many calls may begin. */
  readonly calls: number
  /**
   * Which calls share the budget. Over HTTP a client can begin any number of sessions: only `'principal'` and `'tool'` limit it.
   * Default: `'session-and-tool'`.
   */
  readonly per?: LimitedBy
  /** The tools whose calls are counted. A name means the tool of that name from any source; each is counted apart. Default: all. */
  readonly tools?: readonly ToolName[]
}

interface Spent extends Tally {
  begun: number
}

/**
 * Allows a number of calls to begin and denies the rest.
 *
 * A call counts when it begins; if a client has to answer it, it counts when the client is asked. A call that is denied or
 * never approved costs nothing. A call that is resumed counts once. A waiting call holds its place, so parallel calls cannot
 * exceed the budget. The policy keeps the counts of the 10,000 most recently used sessions and tools.
 *
 * @param options `calls` is the number; `per` and `tools` choose which calls it counts.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { budget } from 'toolwright/policies/budget'
 *
 * const executor = createExecutor({ use: [budget({ calls: 20, per: 'session' })] })
 * ```
 * @experimental
 */
export function budget(options: BudgetOptions): Limiting {
  requireOptions('budget', options, ['calls', 'per', 'tools'])
  const calls = wholeNumber('budget', 'calls', options.calls, 0)
  return limitStarts<Spent>({
    name: 'budget',
    calls,
    per: options.per,
    tools: options.tools,
    create: () => ({ waiting: 0, begun: 0 }),
    refusal({ begun, waiting }, allowance) {
      if (begun + waiting < calls) return undefined
      const rest = begun < calls ? `, ${waiting} of which ${waiting === 1 ? 'waits' : 'wait'} to begin` : ''
      return `The budget is used up: ${allowance}${rest}`
    },
    begun: (spent) => void spent.begun++,
  })
}
