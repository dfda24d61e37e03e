import { timerLength } from './deadline.ts'
import type { Received } from './parcel.ts'

/** The calls that are under way in one executor. */
export class InFlight {
  readonly #calls = new Map<string, Received>()
  /** Who waits for a call to leave; made when somebody does. */
  #waiting: Map<Received, (() => void)[]> | undefined

  enter(call: Received): void {
    this.#calls.set(call.invocationId, call)
  }

  leave(call: Received): void {
    this.#calls.delete(call.invocationId)
    if (this.#waiting === undefined) return
    for (const tell of this.#waiting.get(call) ?? []) tell()
    this.#waiting.delete(call)
  }

  /** The call of an invocation, where it is under way. */
  get(invocationId: string): Received | undefined {
    return this.#calls.get(invocationId)
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
      for (const { deadline } of this.#calls.values()) deadline.cancel(reason)
    }, timerLength(milliseconds))
    await Promise.all(Array.from(this.#calls.values(), (call) => this.#gone(call)))
    clearTimeout(timer)
  }

  #gone(call: Received): Promise<void> {
    const waiting = (this.#waiting ??= new Map())
    return new Promise((tell) => waiting.set(call, [...(waiting.get(call) ?? []), tell]))
  }
}
