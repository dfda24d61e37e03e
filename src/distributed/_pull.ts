import { isToolError, type ToolExecutor } from '../index.ts'
import type { Delivery } from './fleet.ts'

/** How often to look for calls without a hint, in milliseconds. */
const seldom = 250
/** How long a worker that found none rests despite hints, in milliseconds: other workers were faster. It doubles each time. */
const [shortestRest, longestRest] = [1, 20]
/** The most calls that are left out, since this worker cannot run them. */
const mostExcepted = 1_000

/** Takes the calls of a queue from the journal, as many as may run at a time. */
export function pull(
  executor: ToolExecutor,
  queue: string,
  concurrency: number,
  run: (invocationId: string) => Promise<void>,
  { resendAfter, fail }: { readonly resendAfter: number; readonly fail: (error: unknown) => void },
): Delivery {
  const running = new Set<Promise<void>>()
  /** The calls that this worker cannot run, and when it looks at them again. */
  const excepted = new Map<string, number>()
  const state = { isOpen: true }
  /** Whether there may be calls, or free places for them, since the last look. */
  let isHinted = false
  /** Whether the journal tells of calls. */
  let isWatched = false
  let later: ReturnType<typeof setTimeout> | undefined
  let wake = (): void => {}
  const hint = (): void => {
    isHinted = true
    wake()
  }
  const unwatch = executor.calls.watch((_invocationId, _session, change) => {
    isWatched = true
    if (change === 'queued' || change === undefined) hint()
    else later ??= setTimeout(hint, longestRest) // with its end another call of its session may run
  })

  function begin(invocationId: string): void {
    const running_ = run(invocationId)
      .catch((error: unknown) => {
        if (!isToolError(error) || error.code !== 'E_UNAVAILABLE' || excepted.size >= mostExcepted) return
        excepted.set(invocationId, performance.now() + resendAfter)
      })
      .finally(() => {
        const wasFull = running.size >= concurrency
        running.delete(running_)
        if (wasFull || !isWatched) hint()
      })
    running.add(running_)
  }

  /** Takes as many calls as there are free places, and returns how many it got. */
  async function take(free: number): Promise<number> {
    clearTimeout(later)
    later = undefined
    for (const [invocationId, until] of excepted) if (until < performance.now()) excepted.delete(invocationId)
    const calls = await executor.queue.take(queue, free, [...excepted.keys()])
    for (const invocationId of calls) begin(invocationId)
    return calls.length
  }

  /** Waits for some time, or for less if `isEnough` says so after a hint. */
  async function rest(milliseconds: number, isEnough: () => boolean): Promise<void> {
    if (milliseconds <= 0 || isEnough()) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      wake = () => {
        if (!isEnough()) return
        clearTimeout(timer)
        resolve()
      }
    })
    wake = () => {}
  }

  async function loop(): Promise<void> {
    let pause = 0
    const isClosed = (): boolean => !state.isOpen
    const isHintedOrClosed = (): boolean => isHinted || !state.isOpen
    while (state.isOpen) {
      const free = concurrency - running.size
      isHinted = false
      const began = performance.now()
      try {
        const count = free > 0 ? await take(free) : 0
        isHinted ||= free > 0 && count >= free // there may be more
        pause = count > 0 || free === 0 ? 0 : Math.min(longestRest, Math.max(shortestRest, pause * 2))
      } catch (error) {
        fail(error)
        pause = seldom
      }
      await rest(seldom, isHintedOrClosed)
      await rest(began + pause - performance.now(), isClosed)
    }
  }

  const looping = loop()
  const pause = async (): Promise<void> => {
    state.isOpen = false
    wake()
    await looping
    clearTimeout(later)
    unwatch()
  }
  return {
    pause,
    async close() {
      await pause()
      await Promise.all(running)
    },
  }
}
