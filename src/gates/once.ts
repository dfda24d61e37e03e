/**
 * Does once what is asked for again in other words: calls whose tool names the same `effectKey`. It knows nothing of what tools do
 * without such a key.
 *
 * @module
 */
import type { Extension } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import {
  checkOptions,
  numberFrom,
  oneOf,
  type Confirmed,
  type EarlierCalls,
  type Gate,
  type OptionCheck,
} from '../extension.ts'
import { Attempt, type Repeat } from './_attempt.ts'
import { DoneEffects } from './_done.ts'

const callerKinds = ['model', 'user', 'app'] as const

/** The options of `once`. */
export interface OnceOptions {
  /** How long a thing counts as done, in milliseconds. Default: 600,000 (10 minutes). */
  readonly window?: number
  /** Where it is done once: in a session, or in all sessions of a principal; of a call without one, in its session. Default: `'session'`. */
  readonly scope?: 'session' | 'principal'
  /** Whose calls are kept from being repeated. What others do counts as done too. Default: `['model']`. */
  readonly callers?: readonly (typeof callerKinds)[number][]
  /**
   * What becomes of a repeated call. `'tell'`: it gets the result of the first, and the words that the same call once more runs;
   * `'ask'`: a person decides; `'deny'`: it is denied. Default: `'tell'`.
   */
  readonly repeat?: Repeat
}

/** How many keys are remembered. */
const mostEffectKeys = 10_000

const forgetful =
  '`once` keeps things from being done twice in this process alone, until it ends: no journal of the executor notes what is done. ' +
  'Give `use` one that does, such as `sqliteJournal(file)` or `postgresJournal(pool)`; or `memoryJournal()`, if one process is enough.'

const callersCheck: OptionCheck = {
  expected: `a list of ${callerKinds.join(', ')}`,
  accepts: (list) => Array.isArray(list) && list.every((kind) => callerKinds.includes(kind as never)),
}

/**
 * Runs a call once if its tool names an `effectKey`, however the args are worded: a second call with that key, within the window, gets
 * the result of the first. A call that failed without an effect may be made again. If it is not known what the first did,
 * `reconcile` of its tool is asked, else a person.
 *
 * A journal with `claimEffect` remembers it for all processes and after a restart. Without one it holds in this process, for
 * the newest 10,000 keys, which the executor's `report` is told once, at the first call that names what it does.
 *
 * @param options How long a thing counts as done, in which scope, for whose calls, and what becomes of a repeated call.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { once } from 'toolwright/gates/once'
 * import { sqliteJournal } from 'toolwright/journals/sqlite'
 *
 * const refund = tool('refund', ({ order }: { order: string }) => `Refunded ${order}.`).with({
 *   effectKey: ({ order }) => `refund:${order}`,
 * })
 * const use = [once({ window: 3_600_000 }), sqliteJournal(`/tmp/refunds-${process.pid}.db`)]
 * const executor = createExecutor({ tools: [refund], use })
 * console.log((await executor.execute({ name: 'refund', args: { order: '4711' } })).status) // ok
 * await executor.close()
 * ```
 * @experimental
 */
export function once(options: OnceOptions = {}): Required<Pick<Extension, 'gates'>> {
  checkOptions('once', options, {
    window: numberFrom(0),
    scope: oneOf('session', 'principal'),
    callers: callersCheck,
    repeat: oneOf('tell', 'ask', 'deny'),
  })
  const { window = 600_000, scope = 'session', callers = ['model'], repeat = 'tell' } = options
  const done = new DoneEffects(window, mostEffectKeys)
  const attempts = new WeakMap<Confirmed, Attempt>()
  const reported = new WeakSet<EarlierCalls>() // each executor has its own
  const enter: Gate['enter'] = (call, _context, calls) => {
    const { effectKey, caller, session, principal, name } = call
    if (effectKey === undefined || isWithinSame(call)) return undefined
    if (calls.claim === undefined && !reported.has(calls)) {
      reported.add(calls)
      calls.report(new InvalidConfigurationError(forgetful))
    }
    const isWithheld = callers.includes(typeof caller === 'string' ? caller : 'app')
    const place = scope === 'principal' && principal !== undefined ? ['principal', principal] : ['session', session]
    const where = JSON.stringify([...place, name])
    const effect = { scope: where, key: where + effectKey.digest, isOfSession: place[0] === 'session' }
    const attempt = new Attempt(call, calls, effect, done, window, isWithheld ? repeat : undefined)
    const entry = attempt.enter()
    if (entry instanceof Promise) attempts.set(call, attempt)
    return entry
  }
  return { gates: [{ name: 'once', enter, waitsFor: (call) => attempts.get(call)?.waitsFor }] }
}

/** Whether a call is made within one that does the same thing. It is part of that, and would wait for it. */
function isWithinSame({ parent, name, effectKey }: Confirmed): boolean {
  for (let around = parent; around !== undefined; around = around.parent) {
    const outer = around as Confirmed // its handler runs, so it was confirmed
    if (outer.name === name && outer.effectKey?.digest === effectKey?.digest) return true
  }
  return false
}
