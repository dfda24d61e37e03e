import { timerLength } from './deadline.ts'
import type { Received } from './parcel.ts'

/** The calls that are under way in one executor. */
export class InFlight {
  readonly #calls = new Set<Received>()
  readonly #waiting: { readonly call: Received; readonly tell: () => void }[] = []

  enter(call: Received): void {
    this.#calls.add(call)
  }

  leave(call: Received): void {
    this.#calls.delete(call)
    if (this.#waiting.length === 0) return
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.call === call) waiting.tell()
      else this.#waiting.push(waiting)
    }
  }

  /** The call of an invocation, where it is under way; looked for one by one, since that is asked rarely. */
  get(invocationId: string): Received | undefined {
    for (const call of this.#calls) if (call.invocationId === invocationId) return call
    return undefined
  }

  /** Waits until an invocation is no longer under way. */
  async left(invocationId: string): Promise<void> {
    const call = this.get(invocationId)
    if (call !== undefined) await this.#gone(call)
  }

  /** Waits until all have left; those that have not after some milliseconds are cancelled. */
  async drain(milliseconds: number, reason: string): Promise<void> {
    if (this.#calls.size === 0) return
    const timer = setTimeout(() => {
      for (const { deadline } of this.#calls) deadline.cancel(reason)
    }, timerLength(milliseconds))
    await Promise.all(Array.from(this.#calls, (call) => this.#gone(call)))
    clearTimeout(timer)
  }

  #gone(call: Received): Promise<void> {
    return new Promise((tell) => this.#waiting.push({ call, tell }))
  }
}
