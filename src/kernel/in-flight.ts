import { timerLength } from './deadline.ts'
import type { Received } from './parcel.ts'

/** The calls that are under way in one executor. */
export class InFlight {
  /** Each call knows its place, and the last one takes the place of one that leaves. */
  readonly #calls: Received[] = []
  readonly #waiting: { readonly call: Received; readonly tell: () => void }[] = []

  enter(call: Received): void {
    call.place = this.#calls.push(call) - 1
  }

  leave(call: Received): void {
    const { place } = call
    const last = this.#calls.pop()
    if (last !== undefined && last !== call) {
      this.#calls[place] = last
      last.place = place
    }
    if (this.#waiting.length === 0) return
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.call === call) waiting.tell()
      else this.#waiting.push(waiting)
    }
  }

  /** The call of an invocation, where it is under way; looked for one by one, since that is asked rarely. */
  get(invocationId: string): Received | undefined {
    return this.#calls.find((call) => call.invocationId === invocationId)
  }

  /** Waits until an invocation is no longer under way. */
  async left(invocationId: string): Promise<void> {
    const call = this.get(invocationId)
    if (call !== undefined) await this.#gone(call)
  }

  /** Waits until all have left; those that have not after some milliseconds are cancelled. */
  async drain(milliseconds: number, reason: string): Promise<void> {
    if (this.#calls.length === 0) return
    const timer = setTimeout(() => {
      for (const { deadline } of [...this.#calls]) deadline.cancel(reason)
    }, timerLength(milliseconds))
    await Promise.all(Array.from(this.#calls, (call) => this.#gone(call)))
    clearTimeout(timer)
  }

  #gone(call: Received): Promise<void> {
    return new Promise((tell) => this.#waiting.push({ call, tell }))
  }
}
