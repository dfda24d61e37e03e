import type { Slots } from './parcel.ts'

/** A fixed number of slots; who comes when all are taken waits in line. */
export class TurnSlots implements Slots {
  #free: number
  /** In the order in which they came. */
  readonly #waiting = new Map<Promise<void>, () => void>()

  constructor(count: number) {
    this.#free = count
  }

  enter(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    let begin = (): void => {}
    const turn = new Promise<void>((resolve) => (begin = resolve))
    this.#waiting.set(turn, begin)
    return turn
  }

  leave(turn: Promise<void> | undefined): void {
    if (turn !== undefined && this.#waiting.delete(turn)) return // it left the line before its turn came
    for (const [next, begin] of this.#waiting) {
      this.#waiting.delete(next)
      begin()
      return
    }
    this.#free++
  }
}
