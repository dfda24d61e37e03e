import { emit, eventOf, isWatched, recordEvent, publish } from '../call/emit.ts'
import { type Confirmed, type Ran, stamp } from '../call/parcel.ts'
import { asksClient, resultWithoutRun, wrap } from '../run/handler.ts'
import type { ToolEvent } from '../call/events.ts'
import type { Slots } from '../call/slots.ts'
import type { Kernel } from '../kernel.ts'
import { knownOutcome } from '../outcome/known.ts'
import { isThenable } from '../json/thenable.ts'

type StartWait = Promise<void> | undefined

/** Runs the tool within its middleware, once it has a slot and the order of its session lets it. */
export function run(confirmed: Confirmed, kernel: Kernel): Ran | Promise<Ran> {
  const handedOver = kernel.elsewhere?.handOver(confirmed)
  if (handedOver !== undefined) return handedOver
  const ready = resultWithoutRun(confirmed, kernel)
  if (ready !== null) return stamp(confirmed, 'returned', ready.value)
  const isAsking = asksClient(confirmed, kernel)
  const slot = isAsking || confirmed.slots === undefined ? undefined : takeSlot(confirmed, confirmed.slots)
  const gate = isAsking && confirmed.tool.traits.concurrent ? undefined : kernel.gates.enter(confirmed)
  if (slot === undefined && gate === undefined) return start(confirmed, kernel)
  return afterWaits(confirmed, kernel, [slot, gate])
}

function takeSlot(confirmed: Confirmed, slots: Slots): StartWait {
  const slot = slots.enter()
  confirmed.freeSlot = () => slots.leave(slot)
  return slot
}

/** Ends a run. Emits exactly one `tool:end` for each `tool:start`, however often the handler was retried. */
export function endRun(confirmed: Confirmed, kernel: Kernel, isError: boolean): void {
  const { startedAt } = confirmed
  try {
    if (startedAt === undefined) return
    emit(confirmed, kernel, 'tool:end', { isError, durationMs: performance.now() - startedAt })
  } finally {
    confirmed.freeSlot?.()
  }
}

/** Whether what was thrown is no outcome that is known to be `ok`. */
export function isFailure(thrown: unknown): boolean {
  return knownOutcome(thrown)?.status !== 'ok'
}

async function afterWaits(confirmed: Confirmed, kernel: Kernel, waits: readonly StartWait[]): Promise<Ran> {
  for (const wait of waits) if (wait !== undefined) await confirmed.deadline.outside(wait)
  return start(confirmed, kernel)
}

/** Runs the middleware chain. The record of the start is durable before `tool:start` is emitted. */
function start(confirmed: Confirmed, kernel: Kernel): Ran | Promise<Ran> {
  const { input, deadline } = confirmed
  deadline.check()
  if (!isWatched(confirmed, kernel)) return wrap(confirmed, input, kernel)
  const event = eventOf(confirmed, kernel, 'tool:start', { input: confirmed.input })
  const written = kernel.recorder?.commit(confirmed, event)
  if (isThenable(written)) return deadline.within(written).then(() => started(confirmed, kernel, event, input))
  return started(confirmed, kernel, event, input)
}

function started(confirmed: Confirmed, kernel: Kernel, event: ToolEvent, input: unknown): Ran | Promise<Ran> {
  // Progress that was emitted meanwhile, such as a policy's, has used the number.
  const numbered = event.seq === confirmed.seq ? event : { ...event, seq: confirmed.seq }
  recordEvent(numbered, confirmed, kernel)
  publish(numbered, confirmed, kernel)
  confirmed.startedAt = performance.now()
  return wrap(confirmed, input, kernel)
}
