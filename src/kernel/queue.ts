import { idOf } from './call/call.ts'
import type { Resume } from './calls.ts'
import { InvalidConfigurationError } from './errors.ts'
import type { Recorder, WorkQueue } from './recorder.ts'
import type { Bus, ExecutorQueue } from './queue-types.ts'

export class Queue implements ExecutorQueue {
  readonly #queue: WorkQueue
  readonly #resume: Resume

  /** @throws `E_INVALID_CONFIGURATION` without a recorder. */
  constructor(recorder: Recorder | undefined, resume: Resume) {
    if (recorder === undefined) {
      const words = 'No call waits for a worker without a journal: give the executor one in `use`.'
      throw new InvalidConfigurationError(words)
    }
    this.#queue = recorder.queue
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
