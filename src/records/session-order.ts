import type { OrderedCall } from '../kernel/queue-types.ts'
import type { ToolCallRecord } from '../kernel/call/record.ts'
import type { Journal } from './journal.ts'

/** The most calls that are kept. Of the others the workers are told again. */
const mostOrdered = 10_000
/** How often to ask a journal that tells no changes, in milliseconds. */
const orderInterval = 250

/** The calls that came to a worker while others of their session kept them from running. It tells when they may run. */
export class SessionOrder {
  readonly #journal: Journal
  /** The queues of the calls, by their sessions. */
  readonly #kept = new Map<string, Map<string, string>>()
  readonly #changed = new Set<string>()
  readonly #owner: () => string
  #listener: ((calls: readonly OrderedCall[]) => void) | undefined
  #count = 0
  #place = 0
  #isAsking = false

  constructor(journal: Journal, owner: () => string) {
    this.#journal = journal
    this.#owner = owner
  }

  /** Returns an unsubscribe function. */
  on(listener: (calls: readonly OrderedCall[]) => void): () => void {
    if (this.#journal.free === undefined) return () => {}
    this.#listener = listener
    const unwatch = this.#journal.watch?.((id, session, change) => change !== 'cancelled' && this.#hear(id, session))
    const timer = unwatch === undefined ? setInterval(() => this.#ask(this.#kept.keys()), orderInterval) : undefined
    return () => {
      this.#listener = undefined
      clearInterval(timer)
      unwatch?.()
    }
  }

  /** Keeps a call that waits for a worker. Returns `false` if nothing listens. */
  add({ id, session, journal }: ToolCallRecord): boolean {
    const queue = journal?.awaits?.work?.queue
    if (this.#listener === undefined || queue === undefined) return false
    const calls = this.#kept.get(session) ?? new Map<string, string>()
    if (!calls.has(id)) this.#count++
    this.#kept.set(session, calls.set(id, queue))
    for (const [oldest, { size }] of this.#kept) {
      if (this.#count <= mostOrdered) break
      this.#count -= size
      this.#kept.delete(oldest)
    }
    return true
  }

  #hear(invocationId: string, session: string): void {
    if (!this.#kept.has(session)) return
    this.#drop(session, invocationId) // it has settled, or who let it wait again tells the workers
    this.#ask([session])
  }

  #drop(session: string, invocationId: string): void {
    const calls = this.#kept.get(session)
    if (calls?.delete(invocationId)) this.#count--
    if (calls?.size === 0) this.#kept.delete(session)
  }

  #ask(sessions: Iterable<string>): void {
    for (const session of sessions) this.#changed.add(session)
    if (this.#isAsking || this.#changed.size === 0) return
    this.#isAsking = true
    void this.#tellFree().finally(() => {
      this.#isAsking = false
      this.#ask([]) // what has changed at the last moment
    })
  }

  async #tellFree(): Promise<void> {
    for (const session of this.#changed) {
      this.#changed.delete(session)
      const calls = this.#kept.get(session) ?? new Map<string, string>()
      // If the journal fails, the sweep tells the workers.
      const free = await Promise.resolve(this.#journal.free?.([...calls.keys()])).catch(() => [])
      const turned = (free ?? []).flatMap((invocationId) => {
        const queue = calls.get(invocationId)
        this.#drop(session, invocationId)
        return queue === undefined ? [] : [{ invocationId, queue, place: `${this.#owner()} ${this.#place++}` }]
      })
      if (turned.length > 0) this.#listener?.(turned)
    }
  }
}
