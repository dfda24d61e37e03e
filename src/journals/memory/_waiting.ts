/** How often expired calls are looked for, in milliseconds. It takes a walk over all that wait. */
const walkInterval = 1_000
/** Of how many sessions that hold about the most the one that holds most is found. */
const compared = 100

/** A call that waits. */
interface WaitEntry {
  readonly id: string
  readonly session: string
  expiresAt: number
  weight: number
  hasLeft: boolean
}

/** The calls of a session that wait, in order. Those that have left stay in the line until half of it has left. */
interface WaitingLine {
  calls: WaitEntry[]
  first: number
  count: number
  weight: number
}

/** The calls that wait, by session. It finds the one to drop in constant time on average. */
export class WaitingCalls {
  readonly #calls = new Map<string, WaitEntry>()
  readonly #lines = new Map<string, WaitingLine>()
  /** Lines by the logarithm of their weight. */
  readonly #byWeight: Set<WaitingLine>[] = Array.from({ length: 64 }, () => new Set())
  #expired: WaitEntry[] = []
  #walkedAt = -Infinity

  get size(): number {
    return this.#calls.size
  }

  /** Adds a call at the end of its line. A call that waits already keeps its place. */
  set(id: string, session: string, weight: number, expiresAt: number): void {
    const entry = this.#calls.get(id)
    const call = entry ?? { id, session, expiresAt, weight: 0, hasLeft: false }
    const line = this.#lineOf(session)
    if (entry === undefined) {
      this.#calls.set(id, call)
      line.calls.push(call)
      line.count++
    }
    call.expiresAt = expiresAt
    this.#weigh(line, weight - call.weight)
    call.weight = weight
  }

  delete(id: string): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#calls.delete(id)
    call.hasLeft = true
    const line = this.#lineOf(call.session)
    line.count--
    this.#weigh(line, -call.weight)
    if (line.count === 0) {
      this.#shelfOf(line).delete(line)
      this.#lines.delete(call.session)
    } else if (line.calls.length > 2 * line.count + 16) {
      line.calls = line.calls.filter(({ hasLeft }) => !hasLeft)
      line.first = 0
    }
  }

  /** Yields what a map has of the calls that wait, of one session or of all. */
  *list<Entry>(
    session: string | undefined,
    entries: { get(id: string): Entry | undefined },
  ): Generator<Entry, void, undefined> {
    const calls = session === undefined ? this.#calls.values() : (this.#lines.get(session)?.calls ?? [])
    for (const { id, hasLeft } of calls) {
      const entry = hasLeft ? undefined : entries.get(id)
      if (entry !== undefined) yield entry
    }
  }

  /** Returns the call to drop first: one that has expired, else the oldest of the session that holds most. */
  next(now: number): string | undefined {
    const expired = this.#nextExpired(now)
    if (expired !== undefined) return expired.id
    const line = this.#heaviest()
    if (line === undefined) return undefined
    while (line.calls[line.first]?.hasLeft === true) line.first++
    return line.calls[line.first]?.id
  }

  #nextExpired(now: number): WaitEntry | undefined {
    if (this.#expired.length === 0 && Math.abs(now - this.#walkedAt) >= walkInterval) {
      this.#walkedAt = now
      this.#expired = [...this.#calls.values()].filter(({ expiresAt }) => expiresAt <= now)
    }
    let call = this.#expired.pop()
    while (call?.hasLeft === true) call = this.#expired.pop()
    return call
  }

  #heaviest(): WaitingLine | undefined {
    const shelf = this.#byWeight.findLast(({ size }) => size > 0) ?? []
    let heaviest: WaitingLine | undefined
    let count = 0
    for (const line of shelf) {
      if (heaviest === undefined || line.weight > heaviest.weight) heaviest = line
      if (++count === compared) break
    }
    return heaviest
  }

  #lineOf(session: string): WaitingLine {
    let line = this.#lines.get(session)
    if (line === undefined) this.#lines.set(session, (line = { calls: [], first: 0, count: 0, weight: 0 }))
    return line
  }

  #weigh(line: WaitingLine, more: number): void {
    this.#shelfOf(line).delete(line)
    line.weight += more
    this.#shelfOf(line).add(line)
  }

  #shelfOf({ weight }: WaitingLine): Set<WaitingLine> {
    const [lightest = new Set<WaitingLine>()] = this.#byWeight
    return this.#byWeight[Math.floor(Math.log2(weight + 1))] ?? lightest
  }
}
