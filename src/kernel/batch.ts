import { progressOf, type Confirmed, type Received, type Slots } from './parcel.ts'
import type { Gates } from './ports.ts'

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
export class SessionGates implements Gates {
  readonly #inFlight: Iterable<Received>
  /** Calls that run alone or wait, in sessions where there are any: where there are none, nothing is asked. */
  readonly #lines = new Map<string, Waiting[]>()

  constructor(inFlight: Iterable<Received>) {
    this.#inFlight = inFlight
  }

  enter(call: Confirmed): Promise<void> | undefined {
    const line = this.#lines.size === 0 ? undefined : this.#lines.get(call.session)
    if (line === undefined && call.tool.traits.concurrent) {
      call.isRunning = true
      return undefined
    }
    let begin = (): void => {}
    const turn = new Promise<void>((resolve) => (begin = resolve))
    if (line === undefined) this.#lines.set(call.session, [{ call, begin }])
    else line.push({ call, begin })
    this.#advance(call.session)
    return turn
  }

  leave(call: Confirmed): void {
    call.isRunning = false
    const line = this.#lines.size === 0 ? undefined : this.#lines.get(call.session)
    if (line === undefined) return
    const place = line.findIndex((waiting) => waiting.call === call)
    if (place >= 0) line.splice(place, 1)
    this.#advance(call.session)
  }

  /** Lets in whoever may come now, and forgets a session in which nobody is particular any more. */
  #advance(session: string): void {
    const line = this.#lines.get(session) ?? []
    let running = 0
    let isAlone = false
    for (const call of this.#inFlight) {
      if (!call.isRunning || call.session !== session) continue
      running++
      isAlone ||= progressOf(call).tool?.traits.concurrent === false
    }
    for (let next = line[0]; next !== undefined && !isAlone; next = line[0]) {
      const { concurrent } = next.call.tool.traits
      if (!concurrent && running > 0) break
      line.shift()
      running++
      next.call.isRunning = true
      isAlone = !concurrent
      next.begin()
    }
    if (line.length === 0 && !isAlone) this.#lines.delete(session)
  }
}

interface Waiting {
  readonly call: Confirmed
  readonly begin: () => void
}
