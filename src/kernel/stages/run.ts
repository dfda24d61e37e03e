import { announce, happen, isWatched, publish } from '../call/events.ts'
import { toldInput } from '../call/secrets.ts'
import { stamp, type Confirmed, type Ran } from '../call/parcel.ts'
import { onion, resultWithoutRun } from '../run/handler.ts'
import type { Kernel } from '../ports.ts'
import { isThenable, lastly } from '../json/thenable.ts'

type Turn = Promise<void> | undefined

/** Runs the tool within its middleware, once there is a slot for it. */
export function run(confirmed: Confirmed, kernel: Kernel): Ran | Promise<Ran> {
  const ready = resultWithoutRun(confirmed, kernel)
  if (ready !== null) return stamp(confirmed, 'returned', ready.value)
  const { slots } = confirmed
  const slot = slots?.enter()
  const gate = kernel.gates.enter(confirmed)
  const isFree = slot === undefined && gate === undefined
  return lastly(
    () => (isFree ? start(confirmed, kernel) : inTurn(confirmed, kernel, [slot, gate])),
    (isError) => {
      try {
        end(confirmed, kernel, isError)
      } finally {
        slots?.leave(slot)
      }
    },
  )
}

async function inTurn(confirmed: Confirmed, kernel: Kernel, turns: readonly Turn[]): Promise<Ran> {
  for (const turn of turns) if (turn !== undefined) await confirmed.deadline.outside(turn)
  return start(confirmed, kernel)
}

/** Enters the onion. What starts is written down before, and told of only then. */
function start(confirmed: Confirmed, kernel: Kernel): Ran | Promise<Ran> {
  const { input, deadline } = confirmed
  deadline.check()
  if (!isWatched(confirmed, kernel)) return onion(confirmed, input, kernel)
  const before = confirmed.record && { ...confirmed.record }
  const event = happen(confirmed, kernel, 'tool:start', {
    input: toldInput(confirmed),
  })
  return lastly(
    () => {
      const written = kernel.ledger?.commit(confirmed)
      return isThenable(written) ? deadline.within(written) : undefined
    },
    (isError) => {
      if (!isError) return
      // Nobody hears of it: the record is as it was, and its number goes to the next event.
      confirmed.record = before
      confirmed.seq--
    },
    () => {
      publish(event, confirmed, kernel)
      confirmed.startedAt = performance.now()
      return onion(confirmed, input, kernel)
    },
  )
}

/** One end for each start that was told of, however often the onion tried and whatever came of it. */
function end(confirmed: Confirmed, kernel: Kernel, isError: boolean): void {
  const { startedAt } = confirmed
  if (startedAt === undefined) return
  announce(confirmed, kernel, 'tool:end', { isError, durationMs: performance.now() - startedAt })
}
