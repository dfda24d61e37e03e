/** Ids in the order of arrival. A map has that order too, but finds its first key more slowly after many deletions. */
export class ArrivalOrder {
  #ids: string[] = []
  #first = 0

  get length(): number {
    return this.#ids.length - this.#first
  }

  add(id: string): void {
    this.#ids.push(id)
  }

  next(): string {
    const id = this.#ids[this.#first++] ?? ''
    if (this.#first > 1_000 && this.#first * 2 > this.#ids.length) {
      this.#ids = this.#ids.slice(this.#first)
      this.#first = 0
    }
    return id
  }

  removeAll(ids: ReadonlySet<string>): void {
    this.#ids = this.#ids.slice(this.#first).filter((id) => !ids.has(id))
    this.#first = 0
  }

  remove(id: string): void {
    const index = this.#ids.indexOf(id, this.#first)
    if (index >= 0) this.#ids.splice(index, 1)
  }
}
