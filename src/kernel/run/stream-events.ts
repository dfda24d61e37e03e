import type { ToolEvent } from '../call/events.ts'
import type { Observer } from '../ports.ts'

/** Starts work that emits events, yields them as they come, and returns its outcome. Leaving early aborts the work. */
export async function* streamEvents<Outcome>(
  start: (watcher: Observer, signal: AbortSignal) => Promise<Outcome>,
  outer: AbortSignal | undefined,
): AsyncGenerator<ToolEvent, Outcome, undefined> {
  const leaving = new AbortController()
  // Some platforms have no `AbortSignal.any`. The call itself refuses anything but a signal.
  const canAbort = typeof outer?.addEventListener === 'function'
  const leave = (): void => leaving.abort(outer?.reason)
  if (outer?.aborted === true) leave()
  else if (canAbort) outer.addEventListener('abort', leave)
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
    if (canAbort) outer.removeEventListener('abort', leave)
    if (!isDone) leaving.abort()
  }
}
