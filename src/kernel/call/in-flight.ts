import type { CallsInFlight } from '../executor-context.ts'
import type { ToolResult } from './call.ts'
import { timerLength } from './deadline.ts'
import type { Received } from './parcel.ts'

export class InFlight implements CallsInFlight {
  // Each call stores its index. A map would allocate again every few calls.
  readonly #calls: Received[] = []
  /** Whether the executor may have made an id. */
  readonly #isOurs: (invocationId: string) => boolean
  /** The calls whose id the application chose. */
  readonly #named = new Map<string, Received>()
  /** The ids of calls that are about to enter, by the promise of their arrival. */
  readonly #arriving = new Map<Promise<void>, string>()
  /** Why calls are cancelled; set when the drain is over. */
  #reason: string | undefined
  isEnding = false
  /** Listeners for the end of a call, by its id; made on first use. */
  #waiting: Map<string, Set<(result?: ToolResult) => void>> | undefined

  constructor(isOurs: (invocationId: string) => boolean) {
    this.#isOurs = isOurs
  }

  get isClosing(): boolean {
    return this.#reason !== undefined
  }

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

  leave(call: Received, result?: ToolResult): void {
    call.order?.pass(call)
    const { place } = call
    if (this.#calls[place] !== call) return
    const last = this.#calls.pop()
    if (last !== undefined && last !== call) {
      this.#calls[place] = last
      last.place = place
    }
    if (this.#named.size > 0) this.#named.delete(call.invocationId)
    if (this.#waiting !== undefined) this.tell(call.invocationId, result)
  }

  tell(invocationId: string, result?: ToolResult): void {
    const listeners = this.#waiting?.get(invocationId)
    this.#waiting?.delete(invocationId)
    for (const listener of listeners ?? []) listener(result)
  }

  next(invocationId: string, listener: (result?: ToolResult) => void): () => void {
    const waiting = (this.#waiting ??= new Map())
    const listeners = waiting.get(invocationId) ?? new Set()
    waiting.set(invocationId, listeners.add(listener))
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) waiting.delete(invocationId)
    }
  }

  get(invocationId: string): Received | undefined {
    const named = this.#named.get(invocationId)
    if (named !== undefined || !this.#isOurs(invocationId)) return named
    return this.#calls.find((call) => call.invocationId === invocationId)
  }

  has(invocationId: string): boolean {
    return this.get(invocationId) !== undefined || [...this.#arriving.values()].includes(invocationId)
  }

  [Symbol.iterator](): Iterator<Received> {
    return this.#calls.values()
  }

  async left(invocationId: string): Promise<ToolResult | undefined> {
    return this.get(invocationId) && new Promise((resolve) => this.next(invocationId, resolve))
  }

  /** Waits until all calls have left. Cancels the rest after some milliseconds. */
  async drain(milliseconds: number, reason: string): Promise<void> {
    this.isEnding = true
    if (this.#calls.length === 0 && this.#arriving.size === 0) return
    const timer = setTimeout(() => {
      this.#reason = reason
      for (const { deadline } of this.#calls) deadline.cancel(reason)
    }, timerLength(milliseconds))
    await Promise.all(this.#arriving.keys())
    await Promise.all(this.#calls.map(({ invocationId }) => this.left(invocationId)))
    clearTimeout(timer)
  }
}
