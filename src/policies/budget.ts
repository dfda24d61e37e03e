/**
 * A number of calls, and no more. This leaf counts the calls of one process in memory: it keeps nothing over a restart,
 * never gives a call back that has begun, and counts neither requests for approval nor refusals.
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
   * Whose calls share the budget. A client that can begin as many sessions as it likes, as over HTTP, is held by `'principal'` and
   * `'tool'` alone. Default: `'session-and-tool'`.
   */
  readonly per?: LimitedBy
  /** The tools whose calls are counted: by name those of any source, each by itself. Default: all. */
  readonly tools?: readonly ToolName[]
}

interface Spent extends Tally {
  begun: number
}

/**
 * Lets so many calls begin, and refuses the rest.
 *
 * A call counts when it begins, and where a client has to answer it, when the client is asked: one that is refused, or that
 * waits for approval and is never approved, costs nothing, and one that is resumed costs no more than another. While it
 * waits it holds its place, so that calls side by side cannot slip past. The counts of the 10,000 sessions and tools that
 * were used last are kept.
 *
 * @param options `calls`: how many; `per` and `tools`: of which.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong or unknown.
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
