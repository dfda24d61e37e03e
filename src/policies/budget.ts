/**
 * Limits the number of calls, or what they cost. This file counts the calls of one process in memory and forgets them on a
 * restart. It counts neither requests for approval nor refusals.
 *
 * @module
 */
import type { ToolContext } from '../index.ts'
import { checkOptions, functionOption, integerFrom, optionsError, type Middleware } from '../extension.ts'
import { toolNames, type ToolName } from './_options.ts'
import { limitStarts, scope, type LimitedBy, type Limiting, type Tally } from './_starts.ts'

export type { LimitedBy, Limiting, ToolName }

interface SharedOptions {
  /**
   * Which calls share the budget. Over HTTP a client can begin any number of sessions: only `'principal'` and `'tool'` limit it.
   * Default: `'session-and-tool'`.
   */
  readonly per?: LimitedBy
  /** The tools whose calls are counted. A name means the tool of that name from any source; each is counted apart. Default: all. */
  readonly tools?: readonly ToolName[]
}

/** A budget of calls. */
export interface CallBudget extends SharedOptions {
  /** How many calls may begin. */
  readonly calls: number
  readonly units?: never
  readonly cost?: never
}

/** A budget of units, such as tokens or cents. */
export interface UnitBudget extends SharedOptions {
  /** How many units the calls may cost together. Whole units are summed exactly, fractions are rounded as usual. */
  readonly units: number
  /**
   * Returns what a call costs: a finite number of at least 0. It is asked before the call, without `result`, for an estimate to
   * reserve; and after it, with what the handler returned, for the true cost. It must not read a stream. If it throws or
   * returns anything else, the call is denied; if it does so after the call, the calls that follow are.
   */
  readonly cost: (input: unknown, result?: unknown) => number
  readonly calls?: never
}

/** The options of `budget`: a number of calls, or what they may cost together. */
export type BudgetOptions = CallBudget | UnitBudget

interface Spent extends Tally {
  /** What the calls that began have cost, or reserved if they have not ended. */
  spent: number
  /** The reason why it is not known what they cost. */
  fault?: string
}

/**
 * Allows calls to begin until they have used the budget, and denies the rest.
 *
 * A call counts when it begins; if a client has to answer it, it counts when the client is asked. A call that is denied or
 * never approved costs nothing. A call that is resumed counts once. A waiting call holds its place, so parallel calls cannot
 * exceed the budget. The policy keeps the counts of the 10,000 most recently used sessions and tools.
 *
 * With `units` and `cost`, a call reserves its estimate, and gives it back if it never begins. Its true cost replaces the
 * estimate when it returns. A call that fails or is given up keeps its estimate, since nothing says what it cost. A true
 * cost above the estimate may exceed the budget; the next call is then denied.
 *
 * @param options `calls` is the number of calls, or `units` and `cost` are what they may cost; `per` and `tools` choose which
 *   calls it counts.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { budget } from 'toolwright/policies/budget'
 *
 * // A search is expected to give at most 4,000 characters, and costs what it gives.
 * const cost = (_input: unknown, result?: unknown): number => (typeof result === 'string' ? result.length : 4_000)
 * const executor = createExecutor({
 *   use: [budget({ calls: 20, per: 'session' }), budget({ units: 100_000, cost, tools: ['search'] })],
 * })
 * ```
 * @experimental
 */
export function budget(options: BudgetOptions): Limiting {
  checkOptions('budget', options, {
    calls: integerFrom(0),
    units: { expected: 'a finite number of at least 0', accepts: isUnits },
    cost: functionOption,
    per: scope,
    tools: toolNames,
  })
  const { units, cost, calls: most, per, tools } = options
  if (units === undefined && cost === undefined) {
    if (most === undefined) throw optionsError('budget', 'needs `calls`, or `units` and `cost`')
    return limitStarts<Spent>({
      name: 'budget',
      most,
      per,
      tools,
      create: createSpent,
      refusal({ spent, waiting }, allowance) {
        if (spent + waiting < most) return undefined
        const rest = spent < most ? `, ${waiting} of which ${waiting === 1 ? 'waits' : 'wait'} to begin` : ''
        return `The budget is used up: ${allowance()}${rest}`
      },
      begun: (tally) => void tally.spent++,
    })
  }
  if (most !== undefined) throw optionsError('budget', 'takes `calls`, or `units` and `cost`, and not both')
  if (units === undefined || cost === undefined) throw optionsError('budget', 'needs both `units` and `cost`')
  return budgetOfUnits(options)
}

function budgetOfUnits({ units, cost, per, tools }: UnitBudget): Limiting {
  const reservations = new WeakMap<ToolContext, { readonly tally: Spent; readonly weight: number }>()
  const limiting = limitStarts<Spent>({
    name: 'budget',
    most: units,
    unit: 'unit',
    per,
    tools,
    create: createSpent,
    weightOf: ({ input }) => costOf(() => cost(input)),
    refusal({ spent, reserved, fault }, allowance, weight) {
      if (fault !== undefined) return `It is not known what is left of the budget. After an earlier call: ${fault}`
      if (spent + reserved + weight <= units) return undefined
      return `The budget does not allow the call: ${allowance()}, ${spent + reserved} are used or reserved, and the call needs ${weight}`
    },
    begun: (tally, weight) => void (tally.spent += weight),
    decided: (tally, context, weight) => void reservations.set(context, { tally, weight }),
  })
  const settle: Middleware = async ({ input }, context, next) => {
    const value = await next()
    const reservation = reservations.get(context)
    // The extension may be mounted twice.
    if (reservation === undefined || !reservations.delete(context)) return value
    const { tally, weight } = reservation
    const actual = costOf(() => cost(input, value))
    if (typeof actual === 'string') tally.fault = actual
    else tally.spent += actual - weight
    return value
  }
  return { ...limiting, middleware: [settle] }
}

function createSpent(): Spent {
  return { waiting: 0, reserved: 0, spent: 0 }
}

/** Returns what a call costs, or the reason why that is not known. What `cost` throws may hold secrets, and is not told. */
function costOf(cost: () => unknown): number | string {
  try {
    const units = cost()
    if (isUnits(units)) return units
    if (units instanceof Promise) units.catch(() => {}) // it would end the process
    const unitsText = typeof units === 'number' ? String(units) : units === null ? 'null' : typeof units
    return `\`cost\` of the budget has to return a finite number of at least 0, and returned ${unitsText}`
  } catch {
    return '`cost` of the budget threw an error'
  }
}

function isUnits(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
