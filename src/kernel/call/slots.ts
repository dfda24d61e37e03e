/** The slots of one turn. A call that finds none free waits in line. */
export class Slots {
  #free: number
  /** In the order of arrival. */
  readonly #waiting = new Map<Promise<void>, () => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Takes a slot: at once, or when the promise resolves. */
  enter(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    let begin = (): void => {}
    const place = new Promise<void>((resolve) => (begin = resolve))
    this.#waiting.set(place, begin)
    return place
  }

  /** Frees the slot, or leaves the line if the slot was never taken. */
  leave(place: Promise<void> | undefined): void {
    if (place !== undefined && this.#waiting.delete(place)) return // it left the line before it had a slot
    for (const [next, begin] of this.#waiting) {
      this.#waiting.delete(next)
      begin()
      return
    }
    this.#free++
  }
}
