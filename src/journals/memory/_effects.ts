/** Which invocations do what, by scopes and keys. */
export class MemoryEffects {
  readonly #ids = new Map<string, string>()
  readonly #effects = new Map<string, Set<string>>()

  /** Notes an invocation, if nothing is noted, or `former` is. Returns the invocation that is noted then. */
  claim(scope: string, effectKey: string, id: string, former: string | undefined): string {
    const effect = `${scope} ${effectKey}`
    const holder = this.#ids.get(effect)
    if (holder !== undefined && holder !== former) return holder
    if (holder !== undefined) this.#effects.get(holder)?.delete(effect)
    this.#ids.set(effect, id)
    const own = this.#effects.get(id) ?? new Set()
    this.#effects.set(id, own.add(effect))
    return id
  }

  /** How many invocations are noted. */
  get size(): number {
    return this.#effects.size
  }

  /** Forgets what an invocation does. */
  forget(id: string): void {
    for (const effect of this.#effects.get(id) ?? []) this.#ids.delete(effect)
    this.#effects.delete(id)
  }
}
