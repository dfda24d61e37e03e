import type { TakeQuery } from '../../records/index.ts'

/** The calls that wait for workers, by their queues. The one that was silent for longest is first. */
export class QueuedCalls {
  readonly #queues = new Map<string, Set<string>>()
  /** The queues of the calls. */
  readonly #queueOf = new Map<string, string>()

  /** Adds a call at the end of its queue. A call that is in a queue moves there. */
  add(queue: string, id: string): void {
    this.delete(id)
    const calls = this.#queues.get(queue) ?? new Set()
    this.#queues.set(queue, calls.add(id))
    this.#queueOf.set(id, queue)
  }

  delete(id: string): void {
    const queue = this.#queueOf.get(id)
    if (queue === undefined) return
    this.#queueOf.delete(id)
    const calls = this.#queues.get(queue)
    calls?.delete(id)
    if (calls?.size === 0) this.#queues.delete(queue)
  }

  /** Returns the calls of a queue. It may change while they are read. */
  list(queue: string): Iterable<string> {
    return this.#queues.get(queue) ?? []
  }

  count(queue: string): number {
    return this.#queues.get(queue)?.size ?? 0
  }
}

/** Returns those of these calls that a take leaves out. */
export function leftOut(
  wanted: TakeQuery,
  ids: Iterable<string>,
  fingerprintOf: (id: string) => string | undefined,
): ReadonlySet<string> {
  if ('invocationId' in wanted) return new Set()
  const { except, lacking = [] } = wanted
  if (lacking.length === 0) return new Set(except)
  const tools = new Set(lacking)
  return new Set([...except, ...[...ids].filter((id) => tools.has(fingerprintOf(id) ?? ''))])
}
