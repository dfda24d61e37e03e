import { timerLength } from './deadline.ts'
import type { Received } from './parcel.ts'

/** The calls in flight in one executor. */
export class InFlight implements Iterable<Received> {
  // Each call stores its index. A map would allocate again every few calls.
  readonly #calls: Received[] = []
  /** Whether the executor may have made an id. */
  readonly #isOurs: (invocationId: string) => boolean
  /** The calls whose id the host chose. */
  readonly #named = new Map<string, Received>()
  /** The ids of calls that are about to enter, by the promise of their arrival. */
  readonly #arriving = new Map<Promise<void>, string>()
  /** Why calls are cancelled; set when the drain is over. */
  #reason: string | undefined
  /** Callbacks for the end of a call; made on first use. */
  #waiting: Map<Received, (() => void)[]> | undefined

  constructor(isOurs: (invocationId: string) => boolean) {
    this.#isOurs = isOurs
  }

  /** Announces a call that is about to enter. Call the returned function when it has entered or failed. */
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

  /** Returns the call of an invocation, if it is in flight. */
  get(invocationId: string): Received | undefined {
    const named = this.#named.get(invocationId)
    if (named !== undefined || !this.#isOurs(invocationId)) return named
    return this.#calls.find((call) => call.invocationId === invocationId)
  }

  /** Whether an invocation is in flight, or about to be. */
  has(invocationId: string): boolean {
    return this.get(invocationId) !== undefined || [...this.#arriving.values()].includes(invocationId)
  }

  [Symbol.iterator](): Iterator<Received> {
    return this.#calls.values()
  }

  /** Waits until an invocation is no longer in flight. */
  async left(invocationId: string): Promise<void> {
    const call = this.get(invocationId)
    if (call !== undefined) await this.#gone(call)
  }

  /** Waits until all calls have left. Cancels the rest after some milliseconds. */
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
