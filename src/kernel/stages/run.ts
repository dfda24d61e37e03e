import { emit, eventOf, isWatched, recordEvent, publish } from '../call/emit.ts'
import { type Confirmed, type Ran, stamp } from '../call/parcel.ts'
import { asksClient, resultWithoutRun, wrap } from '../run/handler.ts'
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
  const slots = isAsking ? undefined : confirmed.slots
  const slot = slots?.enter()
  const gate = isAsking && confirmed.tool.traits.concurrent ? undefined : kernel.gates.enter(confirmed)
  const isFree = slot === undefined && gate === undefined
  // Emits exactly one `tool:end` for each `tool:start`, however often the handler was retried.
  const end = (isError: boolean): void => {
    const { startedAt } = confirmed
    try {
      if (startedAt === undefined) return
      emit(confirmed, kernel, 'tool:end', { isError, durationMs: performance.now() - startedAt })
    } finally {
      slots?.leave(slot)
    }
  }
  let ran: Ran | Promise<Ran>
  try {
    ran = isFree ? start(confirmed, kernel) : afterWaits(confirmed, kernel, [slot, gate])
  } catch (error) {
    end(isFailure(error))
    throw error
  }
  if (!isThenable(ran)) {
    end(false)
    return ran
  }
  return ran.then(
    (later) => {
      end(false)
      return later
    },
    (thrown: unknown) => {
      end(isFailure(thrown))
      throw thrown
    },
  )
}

/** Whether what was thrown is no outcome that is known to be `ok`. */
function isFailure(thrown: unknown): boolean {
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
  const go = (): Ran | Promise<Ran> => {
    // Progress that was emitted meanwhile, such as a policy's, has used the number.
    const started = event.seq === confirmed.seq ? event : { ...event, seq: confirmed.seq }
    recordEvent(started, confirmed, kernel)
    publish(started, confirmed, kernel)
    confirmed.startedAt = performance.now()
    return wrap(confirmed, input, kernel)
  }
  return isThenable(written) ? deadline.within(written).then(go) : go()
}
