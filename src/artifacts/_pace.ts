/** Milliseconds of work after which the others get their turn. */
const sliceTime = 10
/** Work after which they get it however fast it went; about as many characters that were looked at once. */
const sliceWork = 4_000_000
/** Work after which the clock is looked at. */
const clockWork = 100_000

/** Divides long work into slices, between which everybody else has a turn, and knows when it has taken enough time. */
export class Pace {
  readonly #budget: number
  readonly #signal: AbortSignal
  readonly #startedAt = performance.now()
  #sliceAt = this.#startedAt
  #work = 0
  #workAtClock = 0

  /** @param budget Milliseconds after which `isSpent`. */
  constructor(budget: number, signal: AbortSignal) {
    this.#budget = budget
    this.#signal = signal
  }

  /** Whether it is time for a `turn`, before so much more work. */
  isDue(work: number): boolean {
    this.#work += work
    if (this.#work - this.#workAtClock < clockWork) return false
    this.#workAtClock = this.#work
    return this.#work >= sliceWork || performance.now() - this.#sliceAt >= sliceTime
  }

  /** Lets everybody else have a turn. Throws the reason of the signal once it is aborted. */
  async turn(): Promise<void> {
    await nextTurn()
    this.#signal.throwIfAborted()
    this.#sliceAt = performance.now()
    this.#work = 0
    this.#workAtClock = 0
  }

  get isSpent(): boolean {
    return performance.now() - this.#startedAt >= this.#budget
  }
}

/** A promise alone gives nothing back: timers and sockets wait until no promise is left. */
function nextTurn(): Promise<void> {
  const { setImmediate: soon } = globalThis as { setImmediate?: (callback: () => void) => unknown }
  // A timer waits for a millisecond at least, and is there everywhere.
  return new Promise((resolve) => (soon === undefined ? setTimeout(resolve) : soon(resolve)))
}
