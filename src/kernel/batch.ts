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

/** Who may run beside whom in a session: calls of a tool that is not concurrent run alone, in the order in which they came. */
export class SessionGates {
  readonly #sessions = new Map<string, Gate>()

  /** Takes a place: at once, or when the promise resolves. */
  enter(session: string, isConcurrent: boolean): Promise<void> | undefined {
    let gate = this.#sessions.get(session)
    if (gate === undefined) this.#sessions.set(session, (gate = new Gate()))
    return gate.enter(isConcurrent)
  }

  /** Gives the place back, or leaves the line. */
  leave(session: string, isConcurrent: boolean, turn: Promise<void> | undefined): void {
    const gate = this.#sessions.get(session)
    if (gate?.leave(isConcurrent, turn)) this.#sessions.delete(session)
  }
}

class Gate {
  #together = 0
  #alone = false
  readonly #line: { readonly turn: Promise<void>; readonly begin: () => void; readonly isConcurrent: boolean }[] = []

  enter(isConcurrent: boolean): Promise<void> | undefined {
    if (this.#line.length === 0 && this.#admits(isConcurrent)) {
      this.#take(isConcurrent)
      return undefined
    }
    let begin = (): void => {}
    const turn = new Promise<void>((resolve) => (begin = resolve))
    this.#line.push({ turn, begin, isConcurrent })
    return turn
  }

  /** Tells whether nobody is left. */
  leave(isConcurrent: boolean, turn: Promise<void> | undefined): boolean {
    const place = this.#line.findIndex((waiting) => waiting.turn === turn)
    if (place >= 0) this.#line.splice(place, 1)
    else if (isConcurrent) this.#together--
    else this.#alone = false
    for (let next = this.#line[0]; next !== undefined && this.#admits(next.isConcurrent); next = this.#line[0]) {
      this.#line.shift()
      this.#take(next.isConcurrent)
      next.begin()
    }
    return this.#together === 0 && !this.#alone && this.#line.length === 0
  }

  #admits(isConcurrent: boolean): boolean {
    return !this.#alone && (isConcurrent || this.#together === 0)
  }

  #take(isConcurrent: boolean): void {
    if (isConcurrent) this.#together++
    else this.#alone = true
  }
}
