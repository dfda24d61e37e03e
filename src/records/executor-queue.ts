import { idOf } from '../kernel/call/call.ts'
import type { Bus, ExecutorQueue } from '../kernel/queue-types.ts'
import type { Resume, WorkQueue } from '../kernel/recorder.ts'

/** The calls in the records that wait for a worker, as an executor shows them. */
export class QueueOfExecutor implements ExecutorQueue {
  readonly #queue: WorkQueue
  readonly #resume: Resume

  constructor(queue: WorkQueue, resume: Resume) {
    this.#queue = queue
    this.#resume = resume
  }

  readonly take: ExecutorQueue['take'] = (...calls) => this.#queue.take(...calls)
  readonly unsent: ExecutorQueue['unsent'] = (...calls) => this.#queue.unsent(...calls)
  readonly depth: ExecutorQueue['depth'] = (...queue) => this.#queue.depth(...queue)
  readonly onOrder: ExecutorQueue['onOrder'] = (listener) => this.#queue.onOrder(listener)
  readonly cancelRequested: ExecutorQueue['cancelRequested'] = () => this.#queue.cancelRequested()

  readonly run: ExecutorQueue['run'] = async (id, options = {}) =>
    this.#resume<undefined>(`${idOf(id)}.`, () => this.#queue.redeem(id, options), options)

  get bus(): Bus | undefined {
    return this.#queue.bus
  }
}
