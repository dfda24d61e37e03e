import { untilFree } from '../call/blocked.ts'
import { lockKeysOf, type LockKey } from '../call/lock-keys.ts'
import { type Admitted, type Confirmed, stamp } from '../call/parcel.ts'
import type { Kernel } from '../kernel.ts'
import { downstream } from '../outcome/failure.ts'
import { noteEffectKey } from '../run/effect-key.ts'
import { passGates } from '../run/gates.ts'
import { asksClient, runsNothing } from '../run/handler.ts'
import { ToolDownstreamError } from '../errors.ts'

/**
 * Lets a call begin once the gates have let it in, it has its locks, and then a slot of its turn: what waits at a gate holds no
 * locks, and what waits for locks no slot. A call that runs on a worker is handed over before, and the worker's executor admits
 * it.
 */
export function admit(confirmed: Confirmed, kernel: Kernel): Admitted | Promise<Admitted> {
  const handedOver = kernel.elsewhere?.handOver(confirmed)
  if (handedOver !== undefined) return handedOver
  noteEffectKey(confirmed)
  const passing = kernel.gates.length === 0 ? undefined : passGates(confirmed, kernel)
  return passing === undefined ? lineUp(confirmed, kernel) : lineUpLater(passing, confirmed, kernel)
}

/** A function of its own, so that a gate that answers at once makes no closure. */
async function lineUpLater(passing: Promise<void>, confirmed: Confirmed, kernel: Kernel): Promise<Admitted> {
  await passing
  return lineUp(confirmed, kernel)
}

/** Lets a call that the gates have let in wait for the earlier calls of its turn. */
function lineUp(confirmed: Confirmed, kernel: Kernel): Admitted | Promise<Admitted> {
  if (runsNothing(confirmed, kernel)) return stamp(confirmed, 'hasSlot', false)
  const { order } = confirmed
  const earlier = order?.before(confirmed)
  if (order === undefined || earlier === undefined) return enter(confirmed, kernel)
  const [blocker, wait] = [
    { by: 'order', behind: earlier.invocationId } as const,
    order.wait(confirmed, kernel.waitTimeout),
  ]
  return untilFree(confirmed, kernel, blocker, wait).then(() => enter(confirmed, kernel))
}

/** Asks for the locks of a call, and lets the later calls of its turn ask. */
function enter(confirmed: Confirmed, kernel: Kernel): Admitted | Promise<Admitted> {
  const isAsking = asksClient(confirmed, kernel)
  const isInSession = !isAsking || !confirmed.tool.traits.concurrent
  const waiting = kernel.locks.enter(confirmed, conflictsOf(confirmed), isInSession)
  confirmed.order?.pass(confirmed)
  const go = (): Admitted | Promise<Admitted> => (isAsking ? stamp(confirmed, 'hasSlot', false) : takeSlot(confirmed))
  if (waiting === undefined) return go()
  return untilFree(confirmed, kernel, kernel.locks.blockerOf(confirmed), waiting).then(go)
}

const noKeys: readonly LockKey[] = Object.freeze([])

/** Returns what the call touches. A tool that cannot say it is not run. */
function conflictsOf({ tool, input, context, session }: Confirmed): readonly LockKey[] {
  if (tool.conflicts === undefined) return noKeys
  try {
    return lockKeysOf(tool.conflicts(input, context), tool.name, session)
  } catch (thrown) {
    throw thrown instanceof ToolDownstreamError ? thrown : downstream(tool.name, thrown)
  }
}

function takeSlot(confirmed: Confirmed): Admitted | Promise<Admitted> {
  const { slots, deadline } = confirmed
  if (slots === undefined) return stamp(confirmed, 'hasSlot', false)
  const place = slots.enter()
  if (place === undefined) return stamp(confirmed, 'hasSlot', true)
  return deadline.outside(place).then(
    () => stamp(confirmed, 'hasSlot', true),
    (thrown: unknown) => {
      slots.leave(place)
      throw thrown
    },
  )
}
