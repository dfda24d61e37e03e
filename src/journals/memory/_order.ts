/**
 * Settled records in the order of arrival. A map has that order too, but finds its first key more slowly after many deletions.
 * The weights are here too, since a read of a record that rested for long is slow.
 */
export class ArrivalOrder<Entry> {
  #entries: (Entry | undefined)[] = []
  #weights: number[] = []
  #first = 0

  get length(): number {
    return this.#entries.length - this.#first
  }

  add(entry: Entry, weight: number): void {
    this.#entries.push(entry)
    this.#weights.push(weight)
  }

  /** Changes the weight of a record that keeps its place. */
  weigh(entry: Entry, weight: number): void {
    const index = this.#entries.indexOf(entry, this.#first)
    if (index >= 0) this.#weights[index] = weight
  }

  /** Removes the oldest record. Returns its weight. @param forget Removes it elsewhere. */
  drop(forget: (entry: Entry) => void): number {
    const weight = this.#weights[this.#first] ?? 0
    const entry = this.#entries[this.#first]
    this.#entries[this.#first++] = undefined // it would stay in memory until the places are tidied
    if (entry !== undefined) forget(entry)
    if (this.#first > 1_000 && this.#first * 2 > this.#entries.length) this.#tidy()
    return weight
  }

  removeAll(entries: ReadonlySet<Entry>): void {
    this.#keep((entry) => !entries.has(entry))
  }

  remove(entry: Entry): void {
    const index = this.#entries.indexOf(entry, this.#first)
    if (index < 0) return
    this.#entries.splice(index, 1)
    this.#weights.splice(index, 1)
  }

  #tidy(): void {
    this.#entries = this.#entries.slice(this.#first)
    this.#weights = this.#weights.slice(this.#first)
    this.#first = 0
  }

  #keep(isKept: (entry: Entry) => boolean): void {
    const [entries, weights] = [this.#entries, this.#weights]
    const isLeft = (index: number): boolean => index >= this.#first && isKept(entries[index]!)
    this.#entries = entries.filter((_entry, index) => isLeft(index))
    this.#weights = weights.filter((_weight, index) => isLeft(index))
    this.#first = 0
  }
}
