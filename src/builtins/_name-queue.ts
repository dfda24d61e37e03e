/** Work on the same name happens one after another. Work on several names waits until it is first for all of them. */
export class NameQueue {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * Does a work once those before it are over. It is over with its end, or with the abort of its signal: a work that hangs does
   * not keep the next one waiting for good. So a work asks the signal before it changes anything.
   */
  async take<Value>(
    names: readonly string[],
    signal: AbortSignal | undefined,
    work: () => Promise<Value>,
  ): Promise<Value> {
    signal?.throwIfAborted()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const before = Promise.all(names.map((name) => this.#last.get(name) ?? Promise.resolve()))
    // Those before have to end too: a call that is aborted while it waits lets no other pass.
    const last = before.then(() => ended)
    for (const name of names) this.#last.set(name, last)
    const forget = (): void => names.forEach((name) => this.#last.get(name) === last && this.#last.delete(name))
    void last.then(forget)
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    aborted.catch(() => {}) // it may come when nothing waits any more
    const leave = (): void => {
      end()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    try {
      await Promise.race([before, aborted])
      signal?.throwIfAborted()
      return await Promise.race([work(), aborted]) // so that the call's locks are free too
    } finally {
      signal?.removeEventListener('abort', leave)
      end()
    }
  }
}
