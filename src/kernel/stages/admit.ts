import { untilFree } from '../call/blocked.ts'
import { lockKeysOf, type LockKey } from '../call/lock-keys.ts'
import { requireNoMore } from '../call/lock-parents.ts'
import { type Admitted, type Confirmed, setHasSlot } from '../call/parcel.ts'
import type { Kernel } from '../kernel.ts'
import { downstream } from '../outcome/failure.ts'
import { noteEffectKey } from '../run/effect-key.ts'
import { asksClient, runsNothing } from '../run/handler.ts'
import { ToolDownstreamError } from '../errors.ts'

/**
 * Lets a call begin once the gates have let it in, it has its locks, and then a slot of its turn: what waits at a gate holds no
 * locks, and what waits for locks no slot. A call that runs on a worker is handed over before: that worker admits it.
 */
export function admit(confirmed: Confirmed, kernel: Kernel): Admitted | Promise<Admitted> {
  const handedOver = kernel.elsewhere?.handOver(confirmed)
  if (handedOver !== undefined) return handedOver
  noteEffectKey(confirmed)
  const passing = kernel.gates.length === 0 ? undefined : kernel.passGates(confirmed)
  return passing === undefined ? lineUp(confirmed, kernel) : goOn(passing, lineUp, confirmed, kernel)
}

/** Goes on after a wait: without one, no closure is made. */
async function goOn(wait: Promise<void>, next: typeof admit, confirmed: Confirmed, kernel: Kernel): Promise<Admitted> {
  await wait
  return next(confirmed, kernel)
}

/** Waits for the earlier calls of the turn. */
function lineUp(confirmed: Confirmed, kernel: Kernel): Admitted | Promise<Admitted> {
  if (runsNothing(confirmed, kernel)) return setHasSlot(confirmed, false)
  const { order } = confirmed
  const earlier = order?.before(confirmed)
  if (order === undefined || earlier === undefined) return enter(confirmed, kernel)
  const wait = order.wait(confirmed, kernel.waitTimeout)
  const blocker = { by: 'order', behind: earlier.invocationId } as const
  return goOn(untilFree(confirmed, kernel, blocker, wait), enter, confirmed, kernel)
}

/** Asks for the locks of a call, and lets the later calls of its turn ask. */
function enter(confirmed: Confirmed, kernel: Kernel): Admitted | Promise<Admitted> {
  const isInSession = !asksClient(confirmed, kernel) || !confirmed.tool.traits.concurrent
  const keys = conflictsOf(confirmed)
  if (confirmed.parent !== undefined) requireNoMore(confirmed, keys, isInSession && !confirmed.tool.traits.concurrent)
  const waiting = kernel.locks.enter(confirmed, keys, isInSession)
  confirmed.order?.pass(confirmed)
  if (waiting === undefined) return takeSlot(confirmed, kernel)
  const blocker = kernel.locks.blockerOf(confirmed)
  return goOn(untilFree(confirmed, kernel, blocker, waiting), takeSlot, confirmed, kernel)
}

const noKeys: readonly LockKey[] = Object.freeze([])

/** Returns what the call touches. A tool that cannot say it is not run. */
function conflictsOf({ tool, input, context, session }: Confirmed): readonly LockKey[] {
  if (tool.conflicts === undefined) return noKeys
  try {
    return lockKeysOf(tool.conflicts(input, context), tool.name, session)
  } catch (thrown) {
    throw thrown instanceof ToolDownstreamError ? thrown : downstream(tool.name, thrown, '`conflicts` of tool')
  }
}

/** Waits for a slot of the turn. A call that asks a client takes none. */
function takeSlot(confirmed: Confirmed, kernel: Kernel): Admitted | Promise<Admitted> {
  const { slots, deadline } = confirmed
  if (slots === undefined || asksClient(confirmed, kernel)) return setHasSlot(confirmed, false)
  const place = slots.enter()
  if (place === undefined) return setHasSlot(confirmed, true)
  return deadline.outside(place).then(
    () => setHasSlot(confirmed, true),
    (thrown: unknown) => {
      slots.leave(place)
      throw thrown
    },
  )
}
