import type { Deadline } from '../call/deadline.ts'
import type { ToolEvent, Observer } from '../call/events.ts'
import { isObject } from '../schema/json-schema.ts'
import { Pace } from './pace.ts'

/** The key of what `await using` calls. Engines without it get the symbol that compilers look for in its place. */
export const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol as Partial<Pick<typeof Symbol, 'asyncDispose'>>).asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as never)

/** Whether a handler returned a generator. It yields progress and returns the result. */
export function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown, undefined> {
  return isObject(value) && Symbol.asyncIterator in value && 'next' in value && typeof value.next === 'function'
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
      const yielded = pace.step()
      if (yielded === undefined) continue
      await yielded
      deadline.check()
    }
  } catch (error) {
    // It counts as working until it has closed.
    if (!isOver) deadline.within(closing(generator)).catch(() => {})
    throw error
  }
}

/**
 * Starts work that emits events, yields them as they come, and returns its outcome. Leaving early aborts the work.
 *
 * @param most How many events wait for a slow reader. Then progress is left out, and the next event says how often.
 */
export async function* streamEvents<Outcome>(
  start: (watcher: Observer, signal: AbortSignal) => Promise<Outcome>,
  outer: AbortSignal | undefined,
  most = 1_000,
): AsyncGenerator<ToolEvent, Outcome, undefined> {
  const leaving = new AbortController()
  // Some platforms have no `AbortSignal.any`. The call itself refuses anything but a signal.
  const canAbort = typeof outer?.addEventListener === 'function'
  const leave = (): void => leaving.abort(outer?.reason)
  if (outer?.aborted) leave()
  else if (canAbort) outer.addEventListener('abort', leave, leaving)
  const events: ToolEvent[] = []
  let [wake, isDone, omitted] = [(): void => {}, false, 0]
  const outcome = start(
    (event) => {
      if (events.length >= most && event.event === 'tool:progress') return void omitted++
      events.push(omitted === 0 ? event : { ...event, omitted })
      omitted = 0
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

export async function closing(generator: { return?: (value: undefined) => unknown }): Promise<void> {
  try {
    await generator.return?.(undefined)
  } catch {
    // the generator was over before: an error of closing it changes nothing
  }
}

/** Bytes or text in pieces. */
export type Stream = AsyncIterable<unknown> | ReadableStream<unknown>

/** Whether a result is a stream, which yields bytes or text in pieces. A generator of progress is handled before. */
export function isStream(value: unknown): value is Stream {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.asyncIterator in value || typeof (value as { getReader?: unknown }).getReader === 'function'
}
