import type { ToolEvent } from '../call/events.ts'
import type { Observer } from '../ports.ts'

/** Starts work that emits events, yields them as they come, and returns its outcome. Leaving early aborts the work. */
export async function* streamEvents<Outcome>(
  start: (watcher: Observer, signal: AbortSignal) => Promise<Outcome>,
  outer: AbortSignal | undefined,
): AsyncGenerator<ToolEvent, Outcome, undefined> {
  const leaving = new AbortController()
  const signal = outer === undefined ? leaving.signal : AbortSignal.any([outer, leaving.signal])
  const events: ToolEvent[] = []
  let wake = (): void => {}
  let isDone = false
  const outcome = start((event) => {
    events.push(event)
    wake()
  }, signal)
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
    if (!isDone) leaving.abort()
  }
}
