/** Looks for changes when it is told to, and now and then. There is one look at a time: a wish meanwhile makes another one. */
export class Looks {
  readonly #interval: number
  readonly #look: (isOver: () => boolean) => Promise<void>
  #timer: ReturnType<typeof setInterval> | undefined
  #isLooking = false
  /** Whether something may have changed since the look began. */
  #isStale = false

  /**
   * @param interval In milliseconds.
   * @param look If it fails, the next one looks for the same. `isOver` tells whether the looks have ended meanwhile.
   */
  constructor(interval: number, look: (isOver: () => boolean) => Promise<void>) {
    this.#interval = interval
    this.#look = look
  }

  begin(): void {
    this.#timer = setInterval(() => this.now(), this.#interval)
    ;(this.#timer as { unref?: () => void }).unref?.() // a watch does not keep the process alive
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  now(): void {
    const own = this.#timer
    if (own === undefined) return
    this.#isStale = this.#isLooking
    if (this.#isLooking) return
    this.#isLooking = true
    void this.#look(() => this.#timer !== own)
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false
        if (this.#isStale) this.now()
      })
  }
}
