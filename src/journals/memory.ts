/**
 * Keeps the records of calls in the memory of one process, and returns copies. It decides nothing about calls, and does not
 * change records.
 *
 * @module
 */
import { InvalidConfigurationError, type Extension, type ToolCallRecord } from '../index.ts'
import {
  factsOf,
  isListed,
  isSettled,
  newestFirst,
  records,
  type Fence,
  type Journal,
  type RecordFacts,
  type RecordQuery,
} from '../records/index.ts'
import { keptRecords, type KeptRecord } from '../records/kept-record.ts'
import { recordOf, requireId, textOf } from './_rows.ts'

/** The most owners whose signs of life are kept. A journal has fewer at a time. */
const beatsKept = 10_000

interface Entry {
  kept: Kept
  owner: string
  /** The version at which the owner got the record. Only fences from then on may write. */
  heldSince: number
  /** The number of writes since the claim. */
  version: number
  isSettled: boolean
  /** When it was last claimed or written without being settled, in whole milliseconds. */
  seenAt: number
}

/**
 * Keeps the records of calls in memory: every record that has not settled, and the newest settled ones.
 *
 * Executors of one process may share it. It ends with the process.
 *
 * @param options `settled`: how many settled records to keep. The oldest go first. Default: 10,000.
 * @throws `E_INVALID_CONFIGURATION` if `settled` is not a number of at least 0. The journal throws `E_JOURNAL`.
 * @experimental
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { memoryJournal } from 'toolwright/journals/memory'
 *
 * const executor = createExecutor({ tools: [], use: [memoryJournal({ settled: 1_000 })] })
 * ```
 */
export function memoryJournal(options: { readonly settled?: number } = {}): Extension & { readonly journal: Journal } {
  const room = options.settled ?? 10_000
  if (typeof room !== 'number' || !(room >= 0)) {
    throw new InvalidConfigurationError(`\`settled\` must be a number of at least 0, got ${String(room)}.`)
  }
  const entries = new Map<string, Entry>()
  const order = new Queue() // settled records, oldest first
  const beats = new Map<string, number>()

  function claim(id: string, owner: string, isOver: boolean, kept: Kept): Fence | null {
    if (entries.has(id)) return null
    const entry: Entry = { kept, owner, heldSince: 0, version: 0, isSettled: false, seenAt: 0 }
    entries.set(id, entry)
    put(id, entry, isOver, kept)
    return { owner, number: 0 }
  }

  function write(id: string, { owner, number }: Fence, isOver: boolean, kept: Kept): boolean {
    const entry = entries.get(id)
    if (entry === undefined || entry.owner !== owner || !(entry.heldSince <= number)) return false
    entry.version++
    put(id, entry, isOver, kept)
    return true
  }

  function put(id: string, entry: Entry, isOver: boolean, kept: Kept): void {
    const wasOver = entry.isSettled
    entry.kept = kept
    entry.isSettled = isOver
    if (!isOver) {
      entry.seenAt = now()
      if (wasOver) order.remove(id)
    } else if (!wasOver) {
      order.add(id)
      while (order.length > room) entries.delete(order.next())
    }
  }

  function idleOf({ seenAt, owner }: Entry): number {
    return now() - Math.max(seenAt, beats.get(owner) ?? 0)
  }

  const journal: Journal = {
    isDurable: false,
    claim: (record, owner) => claim(record.id, owner, isSettled(record.state), textOf(record)),
    write: (record, fence) => write(record.id, fence, isSettled(record.state), textOf(record)),

    read(invocationId) {
      requireId(invocationId)
      const entry = entries.get(invocationId)
      return entry === undefined ? null : { record: copyOf(entry.kept, invocationId), fence: fenceOf(entry) }
    },

    takeOver(invocationId, fence, owner) {
      requireId(invocationId)
      const entry = entries.get(invocationId)
      if (entry === undefined || entry.isSettled) return null
      if (entry.owner !== fence.owner || entry.version !== fence.number) return null
      entry.owner = owner
      entry.version++
      entry.heldSince = entry.version
      entry.seenAt = now()
      return fenceOf(entry)
    },

    async *list(query) {
      const found: RecordFacts[] = []
      for (const [id, entry] of entries) {
        const facts = entry.isSettled && !mayHaveSettled(query) ? undefined : factsOf(copyOf(entry.kept, id))
        if (facts !== undefined && isListed(facts, entry.owner, idleOf(entry), query)) found.push(facts)
      }
      for (const { id } of found.toSorted(newestFirst).slice(0, query.limit)) {
        const entry = entries.get(id)
        if (entry !== undefined) yield { record: copyOf(entry.kept, id), fence: fenceOf(entry), idle: idleOf(entry) }
      }
    },

    beat(owner) {
      beats.delete(owner)
      beats.set(owner, now())
      for (const longestSilent of beats.keys()) {
        if (beats.size <= beatsKept) break
        beats.delete(longestSilent)
      }
    },
  }
  // A `KeptRecord` never changes, so it is kept itself. Ids of hosts were checked by `read`.
  const kept = {
    ...journal,
    claim: (record: KeptRecord, owner: string) => claim(record.id, owner, record.isSettled, record),
    write: (record: KeptRecord, fence: Fence) => write(record.id, fence, record.isSettled, record),
  }
  return { journal, ...records(kept as unknown as Journal, keptRecords) }
}

function mayHaveSettled({ state, reason, expiresBefore }: RecordQuery): boolean {
  return (state ?? 'settled') === 'settled' && reason === undefined && expiresBefore === undefined
}

function fenceOf({ owner, version }: Entry): Fence {
  return { owner, number: version }
}

/** Returns whole milliseconds of a monotonic clock. */
function now(): number {
  return Math.floor(performance.now())
}

/** Ids in the order of arrival. A map has that order too, but finds its first key more slowly after many deletions. */
class Queue {
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

  remove(id: string): void {
    const index = this.#ids.indexOf(id, this.#first)
    if (index >= 0) this.#ids.splice(index, 1)
  }
}

/** A record as it is kept: its JSON text, or an object that never changes. */
type Kept = KeptRecord | string

/** Returns a new object each time. */
function copyOf(kept: Kept, id: string): ToolCallRecord {
  return recordOf(typeof kept === 'string' ? kept : JSON.stringify(kept), id)
}
