import type { ToolDefinition, ToolResult } from '../index.ts'
import type { Confirmed } from '../extension.ts'

/** A call that runs, and the equal calls that wait for its result. */
export class Flight {
  readonly leader: Confirmed
  readonly #waiting = new Set<(result: ToolResult | undefined) => void>()

  constructor(leader: Confirmed) {
    this.leader = leader
  }

  /** Waits for the result. Gives nothing if the call gives up before, or the leader has none. */
  join({ signal }: { readonly signal: AbortSignal }): Promise<ToolResult | undefined> {
    const unshare = this.leader.deadline.share()
    return new Promise((resolve) => {
      const leave = (result: ToolResult | undefined): void => {
        signal.removeEventListener('abort', giveUp)
        resolve(result)
      }
      const giveUp = (): void => {
        this.#waiting.delete(leave)
        leave(undefined)
        unshare()
      }
      this.#waiting.add(leave)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Gives the result to all that wait for it. */
  land(result: ToolResult | undefined): void {
    for (const leave of this.#waiting) leave(result)
    this.#waiting.clear()
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
  begin(leader: Confirmed, key: string): { leave(result: ToolResult | undefined): void } {
    const { tool } = leader
    const flights = this.#flights.get(tool) ?? new Map<string, Flight>()
    const flight = new Flight(leader)
    this.#flights.set(tool, flights.set(key, flight))
    return {
      leave(result) {
        if (flights.get(key) === flight) flights.delete(key)
        flight.land(result)
      },
    }
  }
}
