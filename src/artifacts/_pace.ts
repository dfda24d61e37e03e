/** Milliseconds of work after which other tasks run. */
const sliceMilliseconds = 10
/** Work after which other tasks run, however little time it took. One unit is about one character read once. */
const sliceWork = 4_000_000
/** Work between two looks at the clock. */
const clockWork = 100_000

/** Divides long work into slices, so that other tasks of the process run between them. Measures the time budget. */
export class WorkPace {
  readonly #budget: number
  readonly #signal: AbortSignal
  readonly #startedAt = performance.now()
  #sliceAt = this.#startedAt
  #work = 0
  #workAtClock = 0

  /** @param budget Milliseconds after which `isSpent` is true. */
  constructor(budget: number, signal: AbortSignal) {
    this.#budget = budget
    this.#signal = signal
  }

  /** Counts the work that comes next. Returns whether to call `pause` first. */
  isDue(work: number): boolean {
    this.#work += work
    if (this.#work - this.#workAtClock < clockWork) return false
    this.#workAtClock = this.#work
    return this.#work >= sliceWork || performance.now() - this.#sliceAt >= sliceMilliseconds
  }

  /** Lets other tasks run. Throws the reason of the signal if it has aborted. */
  async pause(): Promise<void> {
    await yieldToLoop()
    this.#signal.throwIfAborted()
    this.#sliceAt = performance.now()
    this.#work = 0
    this.#workAtClock = 0
  }

  get isSpent(): boolean {
    return performance.now() - this.#startedAt >= this.#budget
  }
}

/** Waits for the event loop: a promise alone is not enough, since timers and sockets wait until no promise is left. */
function yieldToLoop(): Promise<void> {
  const { setImmediate: soon } = globalThis as { setImmediate?: (callback: () => void) => unknown }
  // A timer exists on every platform, but waits for at least a millisecond.
  return new Promise((resolve) => (soon === undefined ? setTimeout(resolve) : soon(resolve)))
}
