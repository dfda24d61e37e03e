import type { ToolDefinition, ToolResult } from '../index.ts'
import type { Confirmed } from '../extension.ts'

/** A call that runs, and the equal calls that wait for its result. */
export class Flight {
  readonly leader: Confirmed
  readonly #key: string
  readonly #flights: Map<string, Flight>
  /** Made by the first that waits. */
  #waiting: Set<(result: ToolResult | undefined) => void> | undefined

  /** @param flights The flights of the same tool, which it is among until it ends. */
  constructor(leader: Confirmed, key: string, flights: Map<string, Flight>) {
    this.leader = leader
    this.#key = key
    this.#flights = flights.set(key, this)
  }

  /** Waits for the result. Gives nothing if the call gives up before, or the leader has none. */
  join({ signal }: { readonly signal: AbortSignal }): Promise<ToolResult | undefined> {
    const unshare = this.leader.deadline.share()
    const waiting = (this.#waiting ??= new Set())
    return new Promise((resolve) => {
      const leave = (result: ToolResult | undefined): void => {
        signal.removeEventListener('abort', giveUp)
        resolve(result)
      }
      const giveUp = (): void => {
        waiting.delete(leave)
        leave(undefined)
        unshare()
      }
      waiting.add(leave)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Ends the flight, and gives the result to all that wait for it. */
  leave(result: ToolResult | undefined): void {
    if (this.#flights.get(this.#key) === this) this.#flights.delete(this.#key)
    for (const leave of this.#waiting ?? []) leave(result)
    this.#waiting?.clear()
  }
}

/** The calls that run, by their tools and what makes them equal. */
export class Flights {
  readonly #flights = new WeakMap<ToolDefinition, Map<string, Flight>>()

  /** Returns the flight that an equal call may join. */
  get(tool: ToolDefinition, key: string): Flight | undefined {
    const flight = this.#flights.get(tool)?.get(key)
    return flight?.leader.deadline.signal.aborted === true ? undefined : flight
  }

  /** Begins a flight, which ends by `leave`. */
  begin(leader: Confirmed, key: string): Flight {
    let flights = this.#flights.get(leader.tool)
    if (flights === undefined) this.#flights.set(leader.tool, (flights = new Map()))
    return new Flight(leader, key, flights)
  }
}
