import { emit, eventOf, isWatched, recordEvent, publish } from '../call/emit.ts'
import { type Admitted, type Ran, setReturned } from '../call/parcel.ts'
import { resultWithoutRun, wrap } from '../run/handler.ts'
import type { ToolEvent } from '../call/events.ts'
import type { Kernel } from '../kernel.ts'
import { knownOutcome } from '../outcome/known.ts'
import { isThenable } from '../json/thenable.ts'

/** Runs the tool within its middleware. */
export function run(admitted: Admitted, kernel: Kernel): Ran | Promise<Ran> {
  const ready = resultWithoutRun(admitted, kernel)
  return ready === null ? start(admitted, kernel) : setReturned(admitted, ready.value)
}

/** Ends a run. Emits exactly one `tool:end` for each `tool:start`, however often the handler was retried. */
export function endRun(admitted: Admitted, kernel: Kernel, isError: boolean): void {
  const { startedAt } = admitted
  try {
    if (startedAt === undefined) return
    emit(admitted, kernel, 'tool:end', { isError, durationMs: performance.now() - startedAt })
  } finally {
    if (admitted.hasSlot) admitted.slots?.leave(undefined)
  }
}

/** Whether what was thrown is no outcome that is known to be `ok`. */
export function isFailure(thrown: unknown): boolean {
  return knownOutcome(thrown)?.status !== 'ok'
}

/** The record of the start is durable before `tool:start` is emitted. */
function start(admitted: Admitted, kernel: Kernel): Ran | Promise<Ran> {
  const { input, deadline } = admitted
  deadline.check()
  if (!isWatched(admitted, kernel)) return wrap(admitted, input, kernel)
  const event = eventOf(admitted, kernel, 'tool:start', { input: admitted.input })
  const written = kernel.recorder?.commit(admitted, event)
  if (isThenable(written)) return deadline.within(written).then(() => started(admitted, kernel, event, input))
  return started(admitted, kernel, event, input)
}

function started(admitted: Admitted, kernel: Kernel, event: ToolEvent, input: unknown): Ran | Promise<Ran> {
  // Progress that was emitted meanwhile, such as a policy's, has used the number.
  const numbered = event.seq === admitted.seq ? event : { ...event, seq: admitted.seq }
  recordEvent(numbered, admitted, kernel)
  publish(numbered, admitted, kernel)
  admitted.startedAt = performance.now()
  return wrap(admitted, input, kernel)
}
