interface Recorded {
  readonly facts: { readonly id: string }
}

/** The entries of the ids that one executor made: its name, and numbers that grow. */
interface Sequence<Entry> {
  readonly owner: string
  /** Its name, with the `-` before the number. */
  readonly prefix: string
  /** The number of the first place. */
  base: number
  /** By their numbers. */
  readonly places: (Entry | undefined)[]
  /** How many of the first places are empty. The next is not, unless all are. */
  empty: number
  /** How many places are not empty. */
  count: number
}

/** How many executors have places of their own. */
const mostSequences = 8
/** How many places may be left empty for calls that start late. */
const largestGap = 256
/** How many more places may be empty than four times those that are not. */
const mostEmptyPlaces = 1_000
const largestNumber = 2 ** 30

/**
 * The entries of a journal by their ids. A map of as many texts is slow: each search reads the texts of other ids, which have
 * rested for long. Those that an executor made are found by their number.
 */
export class Entries<Entry extends Recorded> {
  readonly #sequences: Sequence<Entry>[] = []
  readonly #others = new Map<string, Entry>()

  get(id: string): Entry | undefined {
    for (const { prefix, base, places } of this.#sequences) {
      if (!id.startsWith(prefix)) continue
      const place = callNumberOf(id, prefix.length) - base
      const entry = place >= 0 && place < places.length ? places[place] : undefined
      if (entry !== undefined) return entry
    }
    return this.#others.size === 0 ? undefined : this.#others.get(id)
  }

  /** Adds an entry. Returns `false` if another has its id. @param owner The executor that adds it. */
  add(entry: Entry, owner: string): boolean {
    const { id } = entry.facts
    const sequence = this.#sequenceOf(id, owner)
    const place = sequence === undefined ? -1 : callNumberOf(id, sequence.prefix.length) - sequence.base
    if (sequence === undefined || place < 0 || place > sequence.places.length + largestGap) {
      if (this.get(id) !== undefined) return false
      this.#others.set(id, entry)
      return true
    }
    const { places } = sequence
    if (places[place] !== undefined || (this.#others.size > 0 && this.#others.has(id))) return false
    while (places.length < place) places.push(undefined)
    places[place] = entry
    if (place < sequence.empty || places[sequence.empty] === undefined) sequence.empty = place
    sequence.count++
    if (places.length - sequence.empty > mostEmptyPlaces + sequence.count * 4) this.#narrow(sequence)
    return true
  }

  delete(entry: Entry): void {
    // Mostly the oldest goes, and is not read.
    for (const sequence of this.#sequences) if (sequence.places[sequence.empty] === entry) return this.#shift(sequence)
    const { id } = entry.facts
    for (const sequence of this.#sequences) {
      const { prefix, base, places } = sequence
      const place = id.startsWith(prefix) ? callNumberOf(id, prefix.length) - base : -1
      if (places[place] !== entry) continue
      places[place] = undefined
      sequence.count--
      return
    }
    if (this.#others.get(id) === entry) this.#others.delete(id)
  }

  *values(): Generator<Entry, void, undefined> {
    for (const { places } of this.#sequences) for (const entry of places) if (entry !== undefined) yield entry
    yield* this.#others.values()
  }

  /** Returns the places of an executor, if the id is of its making. */
  #sequenceOf(id: string, owner: string): Sequence<Entry> | undefined {
    for (const sequence of this.#sequences) {
      if (sequence.owner === owner) return id.startsWith(sequence.prefix) ? sequence : undefined
    }
    const prefix = `${owner}-`
    return id.startsWith(prefix) ? this.#begin(owner, prefix, callNumberOf(id, prefix.length)) : undefined
  }

  #begin(owner: string, prefix: string, base: number): Sequence<Entry> | undefined {
    const sequences = this.#sequences
    const isFull = sequences.length === mostSequences
    const free = isFull ? sequences.findIndex(({ places, empty }) => empty === places.length) : 0
    if (base < 0 || free < 0) return undefined
    if (isFull) sequences.splice(free, 1)
    const sequence: Sequence<Entry> = { owner, prefix, base, places: [], empty: 0, count: 0 }
    sequences.push(sequence)
    return sequence
  }

  /** Takes the first entries out, if they have stayed for so long that most places behind them are empty. */
  #narrow(sequence: Sequence<Entry>): void {
    const { places } = sequence
    while (sequence.count > 0 && places.length - sequence.empty > mostEmptyPlaces + sequence.count * 4) {
      const first = places[sequence.empty]!
      this.#others.set(first.facts.id, first)
      this.#shift(sequence)
    }
  }

  #shift(sequence: Sequence<Entry>): void {
    const { places } = sequence
    sequence.count--
    places[sequence.empty++] = undefined
    while (sequence.empty < places.length && places[sequence.empty] === undefined) sequence.empty++
    if (sequence.empty < mostEmptyPlaces || sequence.empty * 2 < places.length) return
    places.splice(0, sequence.empty)
    sequence.base += sequence.empty
    sequence.empty = 0
  }
}

/** Returns the number that a text ends with, from a place on, or -1 if it is not written as a number is. */
function callNumberOf(text: string, from: number): number {
  let number = 0
  for (let index = from; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 48
    if (digit < 0 || digit > 9 || number >= largestNumber / 10) return -1
    if (number === 0 && index > from) return -1 // it begins with 0
    number = number * 10 + digit
  }
  return text.length === from ? -1 : number
}
