import { announce, happen, isWatched, publish } from '../events.ts'
import { masked } from '../mask.ts'
import { stamp, type Confirmed, type Ran } from '../parcel.ts'
import { onion, resultWithoutRun } from '../perform.ts'
import type { Kernel } from '../ports.ts'
import { after, isThenable, lastly } from '../thenable.ts'

/** Runs the tool within its middleware, once there is a slot for it. */
export function run(confirmed: Confirmed, kernel: Kernel): Ran | Promise<Ran> {
  const ready = resultWithoutRun(confirmed, kernel)
  if (ready !== null) return stamp(confirmed, 'returned', ready.value)
  const { slots, deadline } = confirmed
  const slot = slots?.enter()
  const gate = kernel.gates.enter(confirmed)
  return lastly(
    () => (slot === undefined && gate === undefined ? announced(confirmed, kernel) : turn()),
    () => {
      kernel.gates.leave(confirmed)
      slots?.leave(slot)
    },
    (value) => stamp(confirmed, 'returned', value),
  )

  async function turn(): Promise<unknown> {
    if (slot !== undefined) await deadline.outside(slot)
    if (gate !== undefined) await deadline.outside(gate)
    return announced(confirmed, kernel)
  }
}

/** One start and one end around the onion, however often it tries and whatever comes of it. */
function announced(confirmed: Confirmed, kernel: Kernel): unknown {
  const { input, tool, deadline } = confirmed
  deadline.check()
  if (!isWatched(confirmed, kernel)) return onion(confirmed, input, kernel)
  const start = happen(confirmed, kernel, 'tool:start', { input: masked(input, tool.secrets) })
  // Nothing starts that is not written down, and so nothing is told of either.
  return after(committed(confirmed, kernel), () => {
    publish(start, confirmed, kernel)
    const startedAt = performance.now()
    return lastly(
      () => onion(confirmed, input, kernel),
      (isError) => announce(confirmed, kernel, 'tool:end', { isError, durationMs: performance.now() - startedAt }),
    )
  })
}

/** Writes the start down; where that fails, nobody hears of it, and its number goes to the next event. */
function committed(confirmed: Confirmed, kernel: Kernel): void | Promise<void> {
  return lastly(
    () => {
      const written = kernel.ledger?.commit(confirmed)
      return isThenable(written) ? confirmed.deadline.within(written) : undefined
    },
    (isError) => {
      if (isError) confirmed.seq--
    },
  )
}
