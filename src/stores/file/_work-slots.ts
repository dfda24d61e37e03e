/** Limits how many pieces of work run at once. The others wait, first come first served. */
export class WorkSlots {
  #left: number
  readonly #waiting = new Set<() => void>()

  constructor(atOnce: number) {
    this.#left = atOnce
  }

  /**
   * Waits for a slot, then runs the work.
   *
   * @throws The reason of the signal if it aborts before that.
   */
  async take<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    signal?.throwIfAborted()
    if (this.#left > 0) this.#left--
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#left++
      else next() // passes this slot on
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(begin)
        signal?.removeEventListener('abort', giveUp)
      }
      const begin = (): void => {
        leave()
        resolve()
      }
      const giveUp = (): void => {
        leave()
        reject(signal?.reason as Error)
      }
      this.#waiting.add(begin)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }
}
