import type { ToolResult } from './call/call.ts'
import { CallResult } from './call/call-result.ts'
import type { Ran, Received, Spooled } from './call/parcel.ts'
import type { Kernel } from './kernel.ts'
import { publishOutcome } from './outcome/publish.ts'
import { failed, failure } from './outcome/result.ts'
import type { Recorder } from './recorder.ts'
import { admit } from './stages/admit.ts'
import { authorize } from './stages/authorize.ts'
import { check } from './stages/check.ts'
import { confirm } from './stages/confirm.ts'
import { identify } from './stages/identify.ts'
import { resolve } from './stages/resolve.ts'
import { endRun, isFailure, run } from './stages/run.ts'
import { settle, settleEarly } from './stages/settle.ts'
import { spool } from './stages/spool.ts'
import { validate } from './stages/validate.ts'
import { isThenable } from './json/thenable.ts'

/** The pipeline: every call passes these stages in this order. */
export async function execute(received: Received, kernel: Kernel): Promise<ToolResult> {
  let spooled: Spooled | Promise<Spooled>
  try {
    const resolved = resolve(received, kernel)
    const identified = identify(resolved, kernel)
    const validated = await validate(identified, kernel)
    let authorized = authorize(validated, kernel)
    if (isThenable(authorized)) authorized = await authorized
    let confirmed = confirm(authorized, kernel)
    if (isThenable(confirmed)) confirmed = await confirmed
    let admitted = admit(confirmed, kernel)
    if (isThenable(admitted)) admitted = await admitted
    let ran: Ran | Promise<Ran>
    try {
      ran = run(admitted, kernel)
      if (isThenable(ran)) ran = await ran
    } catch (thrown) {
      endRun(admitted, kernel, isFailure(thrown))
      throw thrown
    }
    endRun(admitted, kernel, false)
    let checked = check(ran, kernel)
    if (isThenable(checked)) checked = await checked
    spooled = spool(checked, kernel)
    if (isThenable(spooled)) spooled = await spooled
  } catch (thrown) {
    await Promise.resolve() // the caller gets the promise before the last event is emitted
    return settleEarly(received, kernel, thrown)
  }
  return settle(spooled, kernel)
}

/** Runs a call with an id of the application, unless the id has a record. */
export async function executeOnce(received: Received, kernel: Kernel, recorder: Recorder): Promise<ToolResult> {
  let earlierResult: ToolResult | undefined
  try {
    earlierResult = await received.deadline.within(recorder.recall(received))
  } catch (thrown) {
    return settleUnread(received, kernel, thrown)
  }
  if (earlierResult === undefined) return execute(received, kernel)
  received.deadline.end()
  kernel.inFlight.leave(received)
  return earlierResult
}

/**
 * Settles a call that failed before the record of its id was read, or because of it. The id may be another call's: nothing is
 * written, and those who wait for the id get no result. A duplicate emits no event among those of the other call.
 */
function settleUnread(received: Received, kernel: Kernel, thrown: unknown): ToolResult | Promise<ToolResult> {
  received.deadline.end()
  const result = failed(received, kernel, thrown)
  try {
    const isDuplicate = result.error?.code === 'E_DUPLICATE_INVOCATION'
    return isDuplicate ? result : publishOutcome(received, kernel, result, null)
  } catch (another) {
    return failed(received, kernel, another)
  } finally {
    kernel.inFlight.leave(received)
  }
}

/** Returns the result of a call, or that it was cancelled, if its caller gives up while other calls wait for its work. */
export function orReleased(result: Promise<ToolResult>, call: Received, kernel: Kernel): Promise<ToolResult> {
  if (kernel.gates.length === 0) return result
  return new Promise((release, fail) => {
    result.then(release, fail)
    call.deadline.onRelease((reason) => release(CallResult.of(failure(call, kernel, reason), { effect: 'unknown' })))
  })
}

/** Passes a call through the stages before the run. */
export async function prepare(received: Received, kernel: Kernel): Promise<void> {
  const validated = await validate(identify(resolve(received, kernel), kernel), kernel)
  await confirm(await authorize(validated, kernel), kernel)
}
