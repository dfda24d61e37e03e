/** The most sessions whose state is held. */
const mostSessions = 1_000

/** What the tools remember of each session. The one that was longest unused goes first. */
export class Sessions<State> {
  readonly #states = new Map<string, State>()
  readonly #make: () => State
  readonly #forget: (state: State) => void

  constructor(make: () => State, forget: (state: State) => void = () => {}) {
    this.#make = make
    this.#forget = forget
  }

  of(session: string): State {
    const state = this.#states.get(session) ?? this.#make()
    this.#states.delete(session)
    this.#states.set(session, state)
    for (const [oldest, oldestState] of this.#states) {
      if (this.#states.size <= mostSessions) break
      this.#states.delete(oldest)
      this.#forget(oldestState)
    }
    return state
  }

  clear(): void {
    for (const state of this.#states.values()) this.#forget(state)
    this.#states.clear()
  }
}
