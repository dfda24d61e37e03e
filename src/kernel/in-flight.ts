import { timerLength } from './deadline.ts'
import type { Received } from './parcel.ts'

/** The calls that are under way in one executor, by their invocation. */
export class InFlight {
  readonly #calls = new Map<string, Received>()
  readonly #waiting = new Map<string, (() => void)[]>()

  has(invocationId: string): boolean {
    return this.#calls.has(invocationId)
  }

  get(invocationId: string): Received | undefined {
    return this.#calls.get(invocationId)
  }

  enter(received: Received): void {
    this.#calls.set(received.invocationId, received)
  }

  leave(invocationId: string): void {
    this.#calls.delete(invocationId)
    if (this.#waiting.size === 0) return
    const waiting = this.#waiting.get(invocationId) ?? []
    this.#waiting.delete(invocationId)
    for (const tell of waiting) tell()
  }

  /** Waits until a call is no longer under way. */
  async left(invocationId: string): Promise<void> {
    if (!this.#calls.has(invocationId)) return
    await new Promise<void>((tell) => {
      this.#waiting.set(invocationId, [...(this.#waiting.get(invocationId) ?? []), tell])
    })
  }

  /** Waits until all have left; those that have not after some milliseconds are cancelled. */
  async drain(milliseconds: number, reason: string): Promise<void> {
    if (this.#calls.size === 0) return
    const timer = setTimeout(() => {
      for (const { deadline } of this.#calls.values()) deadline.cancel(reason)
    }, timerLength(milliseconds))
    await Promise.all([...this.#calls.keys()].map((id) => this.left(id)))
    clearTimeout(timer)
  }
}
