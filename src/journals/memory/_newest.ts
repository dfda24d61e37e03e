import { newestFirst, type RecordFacts } from '../../records/index.ts'

type Place = Pick<RecordFacts, 'createdAt' | 'id'>

interface Placed {
  /** While a record is here, its place does not change. */
  readonly facts: Place
}

/** How many records a chunk has at most. */
const largest = 512

/**
 * Records in the order of lists, so that a list of the newest walks over no others. The order is kept in chunks: a record that
 * comes late, or goes, moves only those of its chunk.
 */
export class NewestFirst<Entry extends Placed> {
  /** Oldest first, since most records come at the end. None is empty. */
  readonly #chunks: Entry[][] = []
  /** How many of the first places of the oldest chunk are empty. To move the rest for each record that goes would be slow. */
  #empty = 0
  /** Records that no list has needed yet, in the order of their arrival. Most go before one does, and are never compared. */
  #unplaced: (Entry | undefined)[] = []
  /** How many of the first of them have gone. */
  #gone = 0

  add(entry: Entry): void {
    this.#unplaced.push(entry)
  }

  /** Gives each record its place. */
  #placeAll(): void {
    if (this.#gone === this.#unplaced.length) return
    const entries = this.#unplaced
    const first = this.#gone
    this.#unplaced = []
    this.#gone = 0
    for (let index = first; index < entries.length; index++) this.#place(entries[index]!)
  }

  #place(entry: Entry): void {
    const last = this.#chunks.at(-1)
    const isNewest = last === undefined || newestFirst(entry.facts, last.at(-1)!.facts) < 0
    if (!isNewest) this.#insert(entry)
    else if (last === undefined || last.length === largest) this.#chunks.push([entry])
    else last.push(entry)
  }

  /** Removes the empty places. */
  #tidy(): void {
    this.#chunks[0]?.splice(0, this.#empty)
    this.#empty = 0
  }

  #insert(entry: Entry): void {
    this.#tidy()
    const index = this.#chunkOf(entry.facts)
    const chunk = this.#chunks[index]!
    chunk.splice(
      countUpTo(entry.facts, chunk, (other) => other.facts),
      0,
      entry,
    )
    if (chunk.length > largest) this.#chunks.splice(index + 1, 0, chunk.splice(largest / 2))
  }

  delete(entry: Entry): void {
    // Mostly the oldest goes. A search would read records that have rested for long, which is slow.
    const oldest: (Entry | undefined)[] | undefined = this.#chunks[0]
    if (oldest?.[this.#empty] === entry) {
      oldest[this.#empty++] = undefined
      if (this.#empty < oldest.length) return
      this.#chunks.shift()
      this.#empty = 0
      return
    }
    if (this.#chunks.length === 0 && this.#unplaced[this.#gone] === entry) return this.#forgetFirst()
    this.#placeAll()
    this.#tidy()
    const index = this.#chunkOf(entry.facts)
    const chunk = this.#chunks[index] ?? []
    const place = countUpTo(entry.facts, chunk, (other) => other.facts) - 1
    if (chunk[place] !== entry) return
    chunk.splice(place, 1)
    if (chunk.length === 0) this.#chunks.splice(index, 1)
  }

  #forgetFirst(): void {
    this.#unplaced[this.#gone++] = undefined
    if (this.#gone < largest || this.#gone * 2 < this.#unplaced.length) return
    this.#unplaced.splice(0, this.#gone)
    this.#gone = 0
  }

  /** Yields the newest first. @param from Leaves out what is newer than this place. */
  *list(from?: Place): Generator<Entry, void, undefined> {
    this.#placeAll()
    this.#tidy()
    const first = from === undefined ? this.#chunks.length - 1 : this.#chunkOf(from)
    for (let index = first; index >= 0; index--) {
      const chunk = this.#chunks[index] ?? []
      const end = from === undefined ? chunk.length : countUpTo(from, chunk, (entry) => entry.facts)
      for (let place = end - 1; place >= 0; place--) yield chunk[place]!
    }
  }

  /** Returns the index of the chunk that has a place: the last that begins before it, or the first. */
  #chunkOf(place: Place): number {
    return Math.max(0, countUpTo(place, this.#chunks, (chunk) => chunk[0]!.facts) - 1)
  }
}

/** Returns how many of the items have this place, or an older one. They are in order. */
function countUpTo<Item>(place: Place, items: readonly Item[], placeOf: (item: Item) => Place): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (newestFirst(place, placeOf(items[middle]!)) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
