import { createExecutor, type ToolCall, type ToolContext, type ToolExecutor, type ToolResult } from 'toolwright'
import type { Policy } from 'toolwright/extension'
import { expect } from 'vitest'
import { soon, turn, work } from './_calls.ts'

/** What a call of a schedule does. */
interface Plan {
  readonly number: number
  readonly keys: readonly { readonly key: string; readonly mode: 'read' | 'write' }[]
  /** How many turns of the event loop a policy and the handler take. */
  readonly checks: number
  readonly runs: number
  /** What its handler calls, one after the other or at once. */
  readonly inner: readonly Plan[]
  readonly isAlone: boolean
}

/** Returns numbers at random, below a bound, from a seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

async function ticks(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await turn()
}

const paths = ['a', 'a/b', 'a/b/c', 'd', 'd/e', 'f'] as const

interface Run {
  readonly plan: Plan
  readonly session: string
  readonly around: string | undefined
  readonly id: string
}

function overlap(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)
}

/** Whether two calls may not run at the same time, told in the plainest way. */
function clash(one: Pick<Run, 'plan' | 'session'>, other: Pick<Run, 'plan' | 'session'>): boolean {
  if (one.session === other.session && (one.plan.isAlone || other.plan.isAlone)) return true
  return one.plan.keys.some((a) =>
    other.plan.keys.some((b) => (a.mode === 'write' || b.mode === 'write') && overlap(a.key, b.key)),
  )
}

/**
 * Runs 50 calls at random: in turns and by themselves, of two sessions, with policies that take a while, with calls in calls, and some
 * given up. Requires that two that clash never run at once, that those of a turn begin in their order, and that all end.
 */
export async function runSchedule(seed: number): Promise<void> {
  const random = randomOf(seed)
  let count = 0
  const planOf = (within?: Plan): Plan => {
    const covered = within?.keys.filter(({ mode }) => mode === 'write').map(({ key }) => key)
    const own = (covered ?? paths).map((key) => ({
      key: covered !== undefined && random(2) > 0 ? `${key}/below` : key,
      mode: random(3) > 0 ? ('write' as const) : ('read' as const),
    }))
    const keys = own.filter(() => random(covered === undefined ? 4 : 2) === 0).slice(0, 3)
    const plan = { number: count++, keys, checks: random(4), runs: random(4) }
    const isAlone = within === undefined ? random(12) === 0 : within.isAlone && random(2) > 0
    const whole = { ...plan, isAlone, inner: [] }
    if (within !== undefined || random(5) > 0) return whole
    return { ...whole, inner: Array.from({ length: 1 + random(2) }, () => planOf(whole)) }
  }

  const running = new Set<Run>()
  const wrong: string[] = []
  const began: string[] = []
  const isWithin = (one: Run, other: Run): boolean => one.around === other.id || other.around === one.id
  const handler = async ({ plan }: { plan: Plan }, context: ToolContext): Promise<void> => {
    const { session, invocationId: id } = context
    const run = { plan, session, id, around: outer.get(plan.number) }
    for (const other of running) {
      if (!isWithin(run, other) && clash(run, other)) wrong.push(`${plan.number} beside ${other.plan.number}`)
    }
    running.add(run)
    began.push(id)
    await ticks(plan.runs)
    for (const each of plan.inner) outer.set(each.number, id)
    const inner = context.signal.aborted ? [] : plan.inner // the context of a call that is over makes no call
    const results = await Promise.all(inner.map((each) => executor.execute(callOf(each), { parent: context })))
    running.delete(run)
    results.forEach(requireDone)
  }
  const outer = new Map<number, string>()
  const conflicts = ({ plan }: { plan: Plan }): Plan['keys'] => plan.keys
  const tools = [
    work('touch', handler, { conflicts }),
    work('alone', handler, { conflicts, traits: { concurrent: false } }),
  ]
  const slow: Policy = { name: 'slow', decide: ({ args }) => ticks((args as { plan: Plan }).plan.checks) }
  const executor: ToolExecutor = createExecutor({
    tools,
    concurrency: 1 + random(3),
    use: [{ policies: [slow] }],
    waitTimeout: 20_000,
  })
  const callOf = (plan: Plan): ToolCall => ({ name: plan.isAlone ? 'alone' : 'touch', args: { plan } })

  const all: Promise<unknown>[] = []
  for (let left = 50; left > 0;) {
    const plans = Array.from({ length: Math.min(left, 1 + random(6)) }, () => planOf())
    left -= plans.length
    const session = `${random(2)}`
    const leaving = random(6) === 0 ? new AbortController() : undefined
    const own = { session, ...(leaving && { signal: leaving.signal }) }
    const ids = plans.map(({ number }) => `${number}`)
    const options = { ...own, invocationId: (_call: unknown, index: number) => ids[index]! }
    const first = all.length
    all.push(
      executor.executeToolCalls(plans.map(callOf), options).then((results) => {
        results.forEach(requireDone)
        if (leaving === undefined) requireOrder(plans, ids, session, first)
      }),
    )
    if (leaving !== undefined) void ticks(random(12)).then(() => leaving.abort())
    if (random(2) > 0) await ticks(random(3))
  }
  await soon(Promise.all(all))
  while (running.size > 0) await turn() // handlers of calls that were given up
  expect(wrong).toEqual([])

  function requireOrder(plans: readonly Plan[], ids: readonly string[], session: string, index: number): void {
    const places = ids.map((id) => began.indexOf(id))
    for (const [later, plan] of plans.entries()) {
      for (let earlier = 0; earlier < later; earlier++) {
        if (!clash({ plan, session }, { plan: plans[earlier]!, session })) continue
        expect(places[earlier], `turn ${index}, call ${earlier} before ${later}`).toBeLessThan(places[later]!)
      }
    }
  }
}

function requireDone({ status, error }: ToolResult): void {
  if (status !== 'ok' && status !== 'cancelled') expect.fail(error?.message ?? status)
}

/** Runs some schedules, several at a time. Says which failed. */
export async function runSchedules(seed: number, count: number): Promise<void> {
  let next = seed
  const lane = async (): Promise<void> => {
    while (next < seed + count) {
      const own = next++
      await runSchedule(own).catch((error: unknown) => {
        throw new Error(`SEED=${own}: ${String((error as Error).message)}`, { cause: error })
      })
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

/** The seed of a run: that of the environment, or one at random, which is printed. */
export function seedOf(): number {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`seed ${seed}`)
  return seed
}
