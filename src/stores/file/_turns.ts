/** Lets so many pieces of work go on at once, and the others wait in the order in which they came. */
export class Turns {
  #left: number
  readonly #waiting = new Set<() => void>()

  constructor(atOnce: number) {
    this.#left = atOnce
  }

  /**
   * Does a piece of work when it is its turn.
   *
   * @throws The reason of the signal if it aborts before.
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
      else next() // which has this turn now
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
