import { describeCall, notStarted } from './blocker.ts'
import { timerLength } from './deadline.ts'

/** The part of a call that the order of its turn needs. */
export interface TurnCall {
  readonly name: string
  readonly invocationId: string
  /** Set once the tool is resolved. */
  readonly tool?: { readonly conflicts?: unknown; readonly traits: { readonly concurrent: boolean } } | undefined
  /** Whether the call has asked for its locks, waits for a person or at a gate, or is over: no later call waits for it. */
  hasAsked: boolean
}

interface OrderWait {
  readonly call: TurnCall
  readonly begin: () => void
}

/**
 * Lets the calls of a turn ask for their locks in the order of the calls, whatever validators and policies take. Only calls that
 * may touch the same thing wait for each other.
 */
export class TurnOrder {
  readonly #calls: TurnCall[] = []
  /** Made by the first that waits. */
  #waiting: Set<OrderWait> | undefined
  /** How many calls at the beginning have all asked. */
  #passed = 0

  /** Adds the next call of the turn. */
  add(call: TurnCall): void {
    this.#calls.push(call)
  }

  /** Returns what a call has to wait for before it asks for its locks. */
  before(call: TurnCall): TurnCall | undefined {
    while (this.#calls[this.#passed]?.hasAsked === true) this.#passed++
    if (this.#calls[this.#passed] === call) return undefined
    const { conflicts, traits } = call.tool ?? { traits: { concurrent: true } }
    const isPlain = traits.concurrent && conflicts === undefined
    for (let index = this.#passed; index < this.#calls.length; index++) {
      const earlier = this.#calls[index]!
      if (earlier === call) return undefined
      if (earlier.hasAsked) continue
      const { tool } = earlier
      // A plain call waits for no more than what it has to: for a tool that takes the whole session.
      if (tool === undefined ? !isPlain : !tool.traits.concurrent || !traits.concurrent) return earlier
      if (conflicts !== undefined && tool?.conflicts !== undefined) return earlier
    }
    return undefined
  }

  /** Resolves when a call may ask for its locks. Rejects with `E_TOOL_TIMEOUT` after some milliseconds; `0` or `Infinity` for no limit. */
  wait(call: TurnCall, milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const place: OrderWait = {
        call,
        begin: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting = (this.#waiting ?? new Set()).add(place)
      if (milliseconds === 0 || milliseconds === Infinity) return
      timer = setTimeout(() => {
        const who = describeCall(this.before(call) ?? call)
        reject(notStarted(milliseconds, `it waited for ${who}, an earlier call of the same turn that is not ready.`))
      }, timerLength(milliseconds))
    })
  }

  /** Lets later calls wait for a call again: it has waited for a person or at a gate, and now asks for its locks. */
  rejoin(call: TurnCall): void {
    call.hasAsked = false
    this.#passed = Math.min(this.#passed, this.#calls.indexOf(call))
  }

  /** Lets later calls ask: this one has asked, waits for a person or at a gate, or is over. */
  pass(call: TurnCall): void {
    if (call.hasAsked) return
    call.hasAsked = true
    if (this.#waiting === undefined) return
    for (const place of this.#waiting) {
      if (!place.call.hasAsked && this.before(place.call) !== undefined) continue
      this.#waiting.delete(place)
      place.begin() // one that is over begins nothing
    }
  }
}
