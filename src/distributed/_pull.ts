import { isToolError, type ToolExecutor } from '../index.ts'
import type { Delivery } from './fleet.ts'

/** How often to look for calls, in milliseconds: without a hint, and at most, however many hints come. */
const [seldom, often] = [250, 20]
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
  let wake = (): void => {}
  const unwatch = executor.watch(() => wake())

  function begin(invocationId: string): void {
    const running_ = run(invocationId)
      .catch((error: unknown) => {
        if (!isToolError(error) || error.code !== 'E_UNAVAILABLE' || excepted.size >= mostExcepted) return
        excepted.set(invocationId, performance.now() + resendAfter)
      })
      .finally(() => {
        running.delete(running_)
        wake()
      })
    running.add(running_)
  }

  async function take(): Promise<number> {
    const free = concurrency - running.size
    if (free <= 0) return 0
    for (const [invocationId, until] of excepted) if (until < performance.now()) excepted.delete(invocationId)
    const taken = await executor.queue.take(queue, free, [...excepted.keys()])
    for (const invocationId of taken) begin(invocationId)
    return taken.length
  }

  /** Waits for a hint, at most for a while. Hints that come in quick succession count as one. */
  async function rest(): Promise<void> {
    const hint = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seldom)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    const began = performance.now()
    await hint
    wake = () => {}
    const left = often - (performance.now() - began)
    if (left > 0 && state.isOpen && running.size > 0) await new Promise((resolve) => setTimeout(resolve, left))
  }

  async function loop(): Promise<void> {
    while (state.isOpen) {
      try {
        const isMore = (await take()) > 0 && running.size < concurrency
        if (isMore) continue
      } catch (error) {
        fail(error)
      }
      if (state.isOpen) await rest()
    }
  }

  const looping = loop()
  const pause = async (): Promise<void> => {
    state.isOpen = false
    wake()
    await looping
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
