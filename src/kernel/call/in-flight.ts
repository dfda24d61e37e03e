import { timerLength } from './deadline.ts'
import type { Received } from './parcel.ts'

/** The calls that are under way in one executor. */
export class InFlight implements Iterable<Received> {
  // Each call knows its place: entering and leaving make nothing, where a map would be built anew every few calls.
  readonly #calls: Received[] = []
  /** Whether an id may be one that the executor made. */
  readonly #isOurs: (invocationId: string) => boolean
  /** Those that the host identified. */
  readonly #named = new Map<string, Received>()
  /** Calls that are about to enter, by what has to be done before. */
  readonly #arriving = new Map<Promise<void>, string>()
  /** Why no call may go on, once those that were left have been cancelled. */
  #reason: string | undefined
  /** Who waits for a call to leave; made when somebody does. */
  #waiting: Map<Received, (() => void)[]> | undefined

  constructor(isOurs: (invocationId: string) => boolean) {
    this.#isOurs = isOurs
  }

  /** Says that a call is about to enter; gives what says that it has, or never will. */
  expect(invocationId: string): () => void {
    let arrived = (): void => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    this.#arriving.set(arrival, invocationId)
    return () => {
      this.#arriving.delete(arrival)
      arrived()
    }
  }

  enter(call: Received, isNamed: boolean): void {
    if (this.#reason !== undefined) call.deadline.cancel(this.#reason)
    call.place = this.#calls.push(call) - 1
    if (isNamed) this.#named.set(call.invocationId, call)
  }

  leave(call: Received): void {
    const { place } = call
    if (this.#calls[place] !== call) return
    const last = this.#calls.pop()
    if (last !== undefined && last !== call) {
      this.#calls[place] = last
      last.place = place
    }
    if (this.#named.size > 0) this.#named.delete(call.invocationId)
    if (this.#waiting === undefined) return
    for (const tell of this.#waiting.get(call) ?? []) tell()
    this.#waiting.delete(call)
  }

  /** The call of an invocation, where it is under way. */
  get(invocationId: string): Received | undefined {
    const named = this.#named.get(invocationId)
    if (named !== undefined || !this.#isOurs(invocationId)) return named
    return this.#calls.find((call) => call.invocationId === invocationId)
  }

  /** Whether the call of an invocation is under way, or about to be. */
  has(invocationId: string): boolean {
    return this.get(invocationId) !== undefined || [...this.#arriving.values()].includes(invocationId)
  }

  [Symbol.iterator](): Iterator<Received> {
    return this.#calls.values()
  }

  /** Waits until an invocation is no longer under way. */
  async left(invocationId: string): Promise<void> {
    const call = this.get(invocationId)
    if (call !== undefined) await this.#gone(call)
  }

  /** Waits until all have left; those that have not after some milliseconds are cancelled. */
  async drain(milliseconds: number, reason: string): Promise<void> {
    if (this.#calls.length === 0 && this.#arriving.size === 0) return
    const timer = setTimeout(() => {
      this.#reason = reason
      for (const { deadline } of this.#calls) deadline.cancel(reason)
    }, timerLength(milliseconds))
    await Promise.all(this.#arriving.keys())
    await Promise.all(this.#calls.map((call) => this.#gone(call)))
    clearTimeout(timer)
  }

  #gone(call: Received): Promise<void> {
    const waiting = (this.#waiting ??= new Map())
    return new Promise((tell) => waiting.set(call, [...(waiting.get(call) ?? []), tell]))
  }
}
