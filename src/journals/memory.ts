/**
 * Keeps the records of calls in the memory of one process, and returns copies. It decides nothing about calls, and does not
 * change records.
 *
 * @module
 */
import type { Extension } from '../index.ts'
import { checkOptions, numberFrom } from '../extension.ts'
import { isListed, newestFirst, records, type Fence, type FoundRecord, type Journal } from '../records/index.ts'
import { Listeners } from './_listeners.ts'
import { requireId, requireState } from './_rows.ts'
import { keptRecords } from './memory/_kept-record.ts'
import {
  asRunning,
  ClaimFence,
  recordCopy,
  deletedOf,
  entryFence,
  keptOf,
  textRecord,
  MemoryEntry,
  type StoredRecord,
} from './memory/_kept.ts'
import { MemoryEffects } from './memory/_effects.ts'
import { Entries } from './memory/_entries.ts'
import { ArrivalOrder } from './memory/_order.ts'
import { NewestFirst } from './memory/_newest.ts'
import { leftOut, QueuedCalls } from './memory/_queued.ts'
import { MemoryOrder } from './memory/_queue-order.ts'
import { WaitingCalls } from './memory/_waiting.ts'

/** The most owners whose signs of life are kept. A journal has fewer at a time. */
const mostBeats = 10_000

/** How much a journal in memory keeps. */
export interface MemoryJournalOptions {
  /** The most settled records. The oldest go first. Default: 10,000. */
  readonly settled?: number
  /** The most records that wait. Default: 50,000. */
  readonly waiting?: number
  /** About the most bytes of all records. Default: 67,108,864 (64 MiB). */
  readonly maximumBytes?: number
}

/**
 * Keeps the records of calls in memory. Executors of one process may share it. It ends with the process.
 *
 * If it is full, it drops settled records first, then calls that waited until they expired, then the oldest call of the session
 * whose waiting calls take most: no session pushes out the calls of another. The executor emits `call:settled` for a call that
 * was dropped while it waited. Records of running calls are never dropped.
 *
 * @param options How much it keeps.
 * @throws `E_INVALID_CONFIGURATION` if an option is not a number of at least 0. The journal throws `E_JOURNAL`.
 * @experimental
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { memoryJournal } from 'toolwright/journals/memory'
 *
 * const executor = createExecutor({ tools: [], use: [memoryJournal({ settled: 1_000 })] })
 * ```
 */
export function memoryJournal(options: MemoryJournalOptions = {}): Extension & { readonly journal: Journal } {
  checkOptions('memoryJournal', options, {
    settled: numberFrom(0),
    waiting: numberFrom(0),
    maximumBytes: numberFrom(0),
  })
  const { settled: mostSettled = 10_000, waiting: mostWaiting = 50_000, maximumBytes = 67_108_864 } = options
  const entries = new Entries<MemoryEntry>()
  const newest = new NewestFirst<MemoryEntry>()
  const order = new ArrivalOrder<MemoryEntry>() // settled records, oldest first
  const waiting = new WaitingCalls()
  const queued = new QueuedCalls()
  const sessionOrder = new MemoryOrder()
  const beats = new Map<string, number>()
  const cancelled = new Set<string>()
  const effects = new MemoryEffects()
  const watches = new Listeners()
  const drops = new Listeners<[dropped: FoundRecord]>()
  let bytes = 0

  function claim(facts: StoredRecord, owner: string): Fence | null {
    const entry = new MemoryEntry(facts, owner)
    if (!entries.add(entry, owner)) return null
    newest.add(entry)
    put(entry, facts)
    return new ClaimFence(entry, entries)
  }

  function write(facts: StoredRecord, fence: Fence): boolean {
    const { owner, number } = fence
    const entry = ClaimFence.entryOf(fence, facts.id, entries) ?? entries.get(facts.id)
    if (entry === undefined || entry.owner !== owner || !(entry.heldSince <= number)) return false
    entry.version++
    put(entry, facts)
    return true
  }

  function put(entry: MemoryEntry, facts: StoredRecord): void {
    const { id, standing, weight } = facts
    const before = entry.standing
    bytes += weight - entry.weight
    const isMoved = facts.createdAt !== entry.facts.createdAt
    if (isMoved) newest.delete(entry)
    entry.facts = facts
    if (isMoved) newest.add(entry)
    entry.weight = weight
    entry.standing = standing
    entry.isTaken = false
    if (facts.queue !== undefined) queued.add(facts.queue, id)
    else if (before === 'waiting') queued.delete(id)
    sessionOrder.put(facts)
    if (standing !== 'settled') entry.seenAt = now()
    if (standing === 'waiting') waiting.set(id, facts.session, weight, facts.expiresAt ?? Infinity)
    else if (before === 'waiting') waiting.delete(id)
    if (standing !== before) {
      if (standing === 'settled') {
        order.add(entry, weight)
        if (cancelled.size > 0) cancelled.delete(id)
      } else if (before === 'settled') order.remove(entry)
    } else if (standing === 'settled') order.weigh(entry, weight)
    if (watches.size > 0 && (standing !== 'running' || before === 'waiting')) {
      queueMicrotask(() => watches.tell(id, facts.session, facts.queue === undefined ? standing : 'queued'))
    }
    if (bytes > maximumBytes || order.length > mostSettled || waiting.size > mostWaiting) makeRoom()
  }

  function takeOver(entry: MemoryEntry, owner: string): void {
    entry.owner = owner
    entry.version++
    entry.heldSince = entry.version
    entry.seenAt = now()
  }

  function makeRoom(): void {
    while (order.length > 0 && (bytes > maximumBytes || order.length > mostSettled)) bytes -= order.drop(forget)
    while (waiting.size > 0 && (bytes > maximumBytes || waiting.size > mostWaiting)) {
      const entry = remove(waiting.next(Date.now()) ?? '')
      if (entry === undefined) break
      const { facts } = entry
      // The write that takes the room goes on first.
      if (drops.size > 0) queueMicrotask(() => drops.tell({ record: recordCopy(facts), fence: entryFence(entry) }))
    }
  }

  function forget(entry: MemoryEntry): void {
    entries.delete(entry)
    newest.delete(entry)
    if (effects.size > 0) effects.forget(entry.facts.id)
  }

  function remove(id: string): MemoryEntry | undefined {
    const entry = entries.get(id)
    if (entry === undefined) return undefined
    forget(entry)
    if (entry.standing === 'waiting') waiting.delete(id)
    queued.delete(id)
    sessionOrder.leave(id)
    if (cancelled.size > 0) cancelled.delete(id)
    bytes -= entry.weight
    return entry
  }

  function idleOf({ seenAt, owner }: MemoryEntry): number {
    return now() - Math.max(seenAt, beats.get(owner) ?? 0)
  }

  /** Whether a call waits for a worker and may run now. */
  function isFree({ facts, standing }: MemoryEntry, except?: ReadonlySet<string>): boolean {
    const at = Date.now()
    return standing === 'waiting' && (facts.expiresAt ?? 0) >= at && sessionOrder.has(facts.id, at, except)
  }

  const journal: Journal = {
    isDurable: false,
    claim: (record, owner) => claim(textRecord(record), owner),
    write: (record, fence) => write(textRecord(record), fence),

    read(invocationId) {
      requireId(invocationId)
      const entry = entries.get(invocationId)
      return entry === undefined ? null : { record: recordCopy(entry.facts), fence: entryFence(entry) }
    },

    takeOver(invocationId, fence, owner) {
      requireId(invocationId)
      const entry = entries.get(invocationId)
      if (entry === undefined || entry.standing === 'settled') return null
      if (entry.owner !== fence.owner || entry.version !== fence.number) return null
      takeOver(entry, owner)
      return entryFence(entry)
    },

    async *list(query) {
      requireState(query)
      const { limit = Infinity, state, session, before, reason, expiresBefore } = query
      // Few calls wait, and they are in another order.
      const isOfWaiting = state === 'waiting' || reason !== undefined || expiresBefore !== undefined
      let found: StoredRecord[] = []
      for (const entry of isOfWaiting ? waiting.list(session, entries) : newest.list(before)) {
        if (found.length >= limit && !isOfWaiting) break
        const idle = query.silentFor === undefined ? 0 : idleOf(entry)
        if (isListed(entry.isTaken ? asRunning(entry.facts) : entry.facts, entry.owner, idle, query))
          found.push(entry.facts)
      }
      if (isOfWaiting) found = found.toSorted(newestFirst).slice(0, limit)
      for (const { id } of found) {
        const entry = entries.get(id)
        if (entry !== undefined)
          yield { record: recordCopy(entry.facts), fence: entryFence(entry), idle: idleOf(entry) }
      }
    },

    beat(owner) {
      beats.delete(owner)
      beats.set(owner, now())
      for (const longestSilent of beats.keys()) {
        if (beats.size <= mostBeats) break
        beats.delete(longestSilent)
      }
      return [...cancelled].filter((id) => entries.get(id)?.owner === owner)
    },

    async take(wanted, owner) {
      const ids = 'invocationId' in wanted ? [wanted.invocationId] : queued.list(wanted.queue)
      const except = leftOut(wanted, ids, (id) => entries.get(id)?.facts.fingerprint)
      const takenRecords: FoundRecord[] = []
      for (const id of ids) {
        if (takenRecords.length >= wanted.limit) break
        const entry = entries.get(id)
        if (entry === undefined || except.has(id) || !isFree(entry, except)) continue
        takeOver(entry, owner)
        entry.standing = 'running'
        entry.isTaken = true
        waiting.delete(id)
        queued.delete(id)
        sessionOrder.put(entry.facts, true)
        takenRecords.push({ record: recordCopy(entry.facts), fence: entryFence(entry) })
      }
      return takenRecords
    },

    async unsent({ queues, silentFor, limit }) {
      const found: { invocationId: string; queue: string }[] = []
      for (const queue of queues) {
        for (const invocationId of queued.list(queue)) {
          const entry = entries.get(invocationId)
          if (found.length >= limit || entry === undefined || now() - entry.seenAt < silentFor) break
          if (isFree(entry)) found.push({ invocationId, queue })
        }
      }
      for (const { invocationId, queue } of found) {
        entries.get(invocationId)!.seenAt = now()
        queued.add(queue, invocationId) // in the order of their silence
      }
      return found
    },

    async free(ids) {
      return ids.filter((id) => {
        const entry = entries.get(id)
        return entry !== undefined && isFree(entry)
      })
    },

    depth: async (queue, atMost) => Math.min(atMost, queued.count(queue)),

    async settledOf(ids) {
      return ids.flatMap((id) => {
        const entry = entries.get(id)
        return entry?.standing === 'settled' ? [{ record: recordCopy(entry.facts), fence: entryFence(entry) }] : []
      })
    },

    claimEffect: (scope, effectKey, invocationId, former) => effects.claim(scope, effectKey, invocationId, former),

    watch: (listener) => watches.add(listener),
    onDrop: (listener) => drops.add(listener),

    async requestCancel(invocationId) {
      requireId(invocationId)
      const entry = entries.get(invocationId)
      if (entry === undefined || entry.standing === 'settled') return false
      cancelled.add(invocationId)
      if (watches.size > 0) queueMicrotask(() => watches.tell(invocationId, entry.facts.session, 'cancelled'))
      return true
    },

    async delete({ settledBefore, limit }) {
      const found: MemoryEntry[] = []
      for (const entry of entries.values()) if ((entry.facts.settledAt ?? Infinity) < settledBefore) found.push(entry)
      const oldest = found.toSorted((a, b) => a.facts.settledAt! - b.facts.settledAt!).slice(0, limit)
      order.removeAll(new Set(oldest))
      for (const { facts } of oldest) remove(facts.id)
      return oldest.map(({ facts }) => deletedOf(facts))
    },
  }
  const own: Journal = {
    ...journal,
    claim: (record, owner) => claim(keptOf(record), owner),
    write: (record, fence) => write(keptOf(record), fence),
  }
  return { journal, ...records(own, keptRecords) }
}

/** Returns whole milliseconds of a monotonic clock. */
function now(): number {
  return Math.floor(performance.now())
}
