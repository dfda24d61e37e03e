/** The topic of requests to cancel. A message is an `invocationId`. */
export const cancelTopic = 'cancel'

/** The topic of calls whose events a caller wants. A message is an `invocationId`. */
export const followTopic = 'follow'

/** The topic of a call's events. A message is an event as JSON. */
export function eventsTopic(invocationId: string): string {
  return `events:${invocationId}`
}

/** The listeners of one process, by topic. */
export class Topics {
  readonly #listeners = new Map<string, Set<(message: string) => void>>()

  has(topic: string): boolean {
    return this.#listeners.has(topic)
  }

  /** Adds a listener. Returns a function that removes it, and tells whether the topic has none left. */
  add(topic: string, listener: (message: string) => void): () => boolean {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => {
      const isLast = listeners.delete(listener) && listeners.size === 0
      if (isLast) this.#listeners.delete(topic)
      return isLast
    }
  }

  tell(topic: string, message: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(message)
  }
}
