/**
 * Settled records in the order of arrival. A map has that order too, but finds its first key more slowly after many deletions.
 * The weights are here too, since a read of a record that rested for long is slow.
 */
export class ArrivalOrder {
  #ids: string[] = []
  #weights: number[] = []
  #first = 0

  get length(): number {
    return this.#ids.length - this.#first
  }

  add(id: string, weight: number): void {
    this.#ids.push(id)
    this.#weights.push(weight)
  }

  /** Changes the weight of a record that keeps its place. */
  weigh(id: string, weight: number): void {
    const index = this.#ids.indexOf(id, this.#first)
    if (index >= 0) this.#weights[index] = weight
  }

  /** Removes the oldest record. Returns its weight. @param forget Removes it elsewhere. */
  drop(forget: (id: string) => unknown): number {
    const weight = this.#weights[this.#first] ?? 0
    const id = this.#ids[this.#first] ?? ''
    this.#ids[this.#first++] = '' // it would stay in memory until the places are tidied
    forget(id)
    if (this.#first > 1_000 && this.#first * 2 > this.#ids.length) this.#keep(() => true)
    return weight
  }

  removeAll(ids: ReadonlySet<string>): void {
    this.#keep((id) => !ids.has(id))
  }

  remove(id: string): void {
    const index = this.#ids.indexOf(id, this.#first)
    if (index < 0) return
    this.#ids.splice(index, 1)
    this.#weights.splice(index, 1)
  }

  #keep(isKept: (id: string) => boolean): void {
    const [ids, weights] = [this.#ids, this.#weights]
    const isLeft = (index: number): boolean => index >= this.#first && isKept(ids[index]!)
    this.#ids = ids.filter((_id, index) => isLeft(index))
    this.#weights = weights.filter((_weight, index) => isLeft(index))
    this.#first = 0
  }
}
