import type { Deadline } from '../call/deadline.ts'
import type { ToolEvent } from '../call/events.ts'
import type { Observer } from '../ports.ts'
import { closing, Pace } from '../result/stream.ts'

/** Whether a handler returned a generator. It yields progress and returns the result. */
export function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown, undefined> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof (value as { next?: unknown }).next === 'function'
  )
}

/** Runs a generator to its end and reads its result. If the call ends first, closes the generator without waiting. */
export async function drain<Next>(
  generator: AsyncGenerator<unknown, unknown, undefined>,
  deadline: Deadline,
  progress: (data: unknown) => void,
  end: (value: unknown) => Next,
): Promise<Next> {
  const pace = new Pace()
  let isOver = false
  const take = (step: IteratorResult<unknown, unknown>): Next | undefined => {
    if (typeof step !== 'object') throw new TypeError('A step of a generator is an object.')
    if (step.done === true) {
      isOver = true
      return end(step.value)
    }
    progress(step.value)
    return undefined
  }
  try {
    for (;;) {
      const next = await deadline.within(generator.next(), take)
      if (isOver) return next as Next
      const turn = pace.step()
      if (turn === undefined) continue
      await turn
      deadline.check()
    }
  } catch (error) {
    // It counts as working until it has closed.
    if (!isOver) deadline.within(closing(generator)).catch(() => {})
    throw error
  }
}

/** Starts work that emits events, yields them as they come, and returns its outcome. Leaving early aborts the work. */
export async function* streamEvents<Outcome>(
  start: (watcher: Observer, signal: AbortSignal) => Promise<Outcome>,
  outer: AbortSignal | undefined,
): AsyncGenerator<ToolEvent, Outcome, undefined> {
  const leaving = new AbortController()
  // Some platforms have no `AbortSignal.any`. The call itself refuses anything but a signal.
  const canAbort = typeof outer?.addEventListener === 'function'
  const leave = (): void => leaving.abort(outer?.reason)
  if (outer?.aborted) leave()
  else if (canAbort) outer.addEventListener('abort', leave, leaving)
  const events: ToolEvent[] = []
  let wake = (): void => {}
  let isDone = false
  const outcome = start(
    (event) => {
      events.push(event)
      wake()
    },
    outer === undefined || canAbort ? leaving.signal : outer,
  )
  const end = (): void => {
    isDone = true
    wake()
  }
  outcome.then(end, end)
  try {
    for (;;) {
      yield* events.splice(0)
      if (events.length > 0) continue
      if (isDone) return await outcome
      await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    leaving.abort()
  }
}
