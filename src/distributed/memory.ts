/**
 * A dispatcher for the workers of one process: for tests, and for programs that will have a fleet.
 *
 * @module
 */
import { Topics } from './_bus.ts'
import { backoff } from './_retry.ts'
import type { Delivery, Dispatcher, QueuedCall, QueueOptions } from './fleet.ts'

/** The calls of a queue, and those who wait for them. */
class MemoryQueue {
  readonly #waiting = new Map<string, QueuedCall>()
  readonly #held = new Set<string>()
  readonly #workers = new Set<() => void>()

  get size(): number {
    return this.#held.size
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  add(call: QueuedCall): void {
    const key = callKey(call)
    if (this.#held.has(key)) return
    this.#held.add(key)
    this.again(call)
  }

  /** Lets a call wait, also one that was taken. */
  again(call: QueuedCall): void {
    this.#waiting.set(callKey(call), call)
    for (const wake of this.#workers) wake()
  }

  done(call: QueuedCall): void {
    this.#held.delete(callKey(call))
  }

  /** Takes the most urgent call. */
  next(): QueuedCall | undefined {
    let first: QueuedCall | undefined
    for (const call of this.#waiting.values()) {
      if (first === undefined || (call.priority ?? 0) < (first.priority ?? 0)) first = call
      if ((first.priority ?? 0) === 0) break
    }
    if (first !== undefined) this.#waiting.delete(callKey(first))
    return first
  }

  /** Calls the listener when a call has come. Returns an unsubscribe function. */
  on(listener: () => void): () => void {
    this.#workers.add(listener)
    return () => void this.#workers.delete(listener)
  }
}

/** Calls that the workers take for different ones. */
function callKey({ invocationId, attempts = 0, place }: QueuedCall): string {
  return JSON.stringify([invocationId, attempts, place])
}

/** The starts of a queue in the present interval. */
interface Window {
  began: number
  count: number
}

/**
 * Makes a dispatcher for the workers of this process. Its calls end with the process; the journal has them still.
 *
 * @experimental
 * @example
 * ```ts
 * import { memoryDispatcher } from 'toolwright/distributed/memory'
 *
 * const dispatcher = memoryDispatcher()
 * await dispatcher.send([{ invocationId: 'order-17', queue: 'default' }])
 * ```
 */
export function memoryDispatcher(): Dispatcher {
  const queues = new Map<string, MemoryQueue>()
  const windows = new Map<string, Window>()
  const topics = new Topics()
  const timers = new Set<ReturnType<typeof setTimeout>>()

  function queueOf(name: string): MemoryQueue {
    const queue = queues.get(name) ?? new MemoryQueue()
    queues.set(name, queue)
    return queue
  }

  function later(milliseconds: number, work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, milliseconds)
    timers.add(timer)
  }

  /** Returns how long to wait before the next start, in milliseconds; 0 if it may start now, which counts. */
  function paceOf(name: string, limit: QueueOptions['limit']): number {
    if (limit === undefined) return 0
    const now = performance.now()
    const window = windows.get(name)
    if (window === undefined || now - window.began >= limit.interval) {
      windows.set(name, { began: now, count: 1 })
      return 0
    }
    if (window.count >= limit.calls) return Math.max(1, limit.interval - (now - window.began))
    window.count++
    return 0
  }

  return {
    isLocal: true,

    bus: {
      publish: (topic, message) => queueMicrotask(() => topics.tell(topic, message)),
      subscribe(topic, listener) {
        const remove = topics.add(topic, listener)
        return () => void remove()
      },
    },

    async send(calls) {
      for (const call of calls) queueOf(call.queue).add(call)
    },

    async work(name, { concurrency, limit }, run): Promise<Delivery> {
      const queue = queueOf(name)
      const failures = new Map<string, number>()
      const running = new Set<Promise<void>>()
      const state = { isOpen: true, isPausing: false }

      async function deliver(call: QueuedCall): Promise<void> {
        const { invocationId } = call
        try {
          await run(invocationId)
          failures.delete(invocationId)
          queue.done(call)
        } catch (error) {
          const count = (failures.get(invocationId) ?? 0) + 1
          failures.set(invocationId, count)
          later(backoff(count, error), () => queue.again(call))
        }
      }

      function fill(): void {
        while (state.isOpen && !state.isPausing && !queue.isEmpty && running.size < concurrency) {
          const pause = paceOf(name, limit)
          state.isPausing = pause > 0
          if (state.isPausing) return later(pause, goOn)
          const call = queue.next()
          if (call === undefined) return
          off()
          off = queue.on(wake) // the others get the next call first
          const delivery = deliver(call).finally(() => {
            running.delete(delivery)
            fill()
          })
          running.add(delivery)
        }
      }

      function goOn(): void {
        state.isPausing = false
        fill()
      }

      const wake = (): void => queueMicrotask(fill)
      let off = queue.on(wake)
      wake()
      const pause = async (): Promise<void> => {
        state.isOpen = false
        off()
      }
      return {
        pause,
        async close() {
          await pause()
          await Promise.all(running)
        },
      }
    },

    depth: async (name) => queues.get(name)?.size ?? 0,

    async close() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
