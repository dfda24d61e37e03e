import { compose, layersOf } from '../compose.ts'
import { isToolError } from '../errors.ts'
import { announce, happen, isWatched, publish } from '../events.ts'
import { downstream } from '../failure.ts'
import { masked } from '../mask.ts'
import { stamp, type Confirmed, type Ran } from '../parcel.ts'
import { perform, resultWithoutRun } from '../perform.ts'
import type { Kernel, Ledger } from '../ports.ts'

/** Runs the tool within its middleware, once there is a slot for it. */
export async function run(confirmed: Confirmed, kernel: Kernel): Promise<Ran> {
  const ready = resultWithoutRun(confirmed, kernel)
  if (ready !== null) return stamp(confirmed, 'returned', ready.value)
  const { slots, deadline } = confirmed
  const slot = slots?.enter()
  const gate = kernel.gates.enter(confirmed)
  try {
    if (slot !== undefined) await deadline.outside(slot)
    if (gate !== undefined) await deadline.outside(gate)
    return stamp(confirmed, 'returned', await announced(confirmed, kernel))
  } finally {
    kernel.gates.leave(confirmed)
    slots?.leave(slot)
  }
}

/** One start and one end around the onion, however often it tries and whatever comes of it. */
async function announced(confirmed: Confirmed, kernel: Kernel): Promise<unknown> {
  const isHeard = isWatched(confirmed, kernel)
  const { input, tool, deadline } = confirmed
  deadline.check()
  if (!isHeard) return onion(confirmed, input, kernel)
  const start = happen(confirmed, kernel, 'tool:start', { input: masked(input, tool.secrets) })
  // Nothing starts that is not written down, and so nothing is told of either.
  if (kernel.ledger !== undefined) await committed(confirmed, kernel.ledger)
  publish(start, confirmed, kernel)
  const startedAt = performance.now()
  let isError = true
  try {
    const value = await onion(confirmed, input, kernel)
    isError = false
    return value
  } finally {
    announce(confirmed, kernel, 'tool:end', { isError, durationMs: performance.now() - startedAt })
  }
}

/** Writes the start down; where that fails, nobody hears of it, and its number goes to the next event. */
async function committed(confirmed: Confirmed, ledger: Ledger): Promise<void> {
  try {
    await confirmed.deadline.within(ledger.commit(confirmed))
  } catch (error) {
    confirmed.seq--
    throw error
  }
}

async function onion(confirmed: Confirmed, input: unknown, kernel: Kernel): Promise<unknown> {
  const { tool, context, deadline } = confirmed
  const layers = layersOf(tool, kernel)
  if (layers.length === 0) return perform(confirmed, input, kernel)
  try {
    return await deadline.within(compose(layers, confirmed, context, () => perform(confirmed, input, kernel)))
  } catch (thrown) {
    deadline.check()
    throw isToolError(thrown) ? thrown : downstream(tool.name, thrown)
  }
}
