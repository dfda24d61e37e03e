/**
 * The records of calls in the memory of one process. This leaf keeps records and hands out copies: it decides about no call,
 * changes nothing in a record, and outlives nothing.
 *
 * @module
 */
import {
  InvalidConfigurationError,
  isSettled,
  type Extension,
  type Fence,
  type Journal,
  type ToolCallRecord,
} from '../index.ts'
import { recordOf, requireId, textOf } from './_rows.ts'

/** Signs of life that are remembered; the journal is not in use by so many executors at a time. */
const beatsKept = 10_000

interface Entry {
  readonly text: string
  readonly owner: string
  /** How often it had been written when its owner came by it; only fences from then on may write. */
  readonly heldSince: number
  /** How often it has been written since its claim. */
  readonly version: number
  readonly writtenAt: number
}

/**
 * Keeps the records of calls in memory: every unfinished one, and the newest of those that are settled.
 *
 * Executors of one process may share it; none of it outlives the process.
 *
 * @param options `settled`: how many settled records are kept, the oldest going first. Default: 10,000.
 * @throws `E_INVALID_CONFIGURATION` where `settled` is not a number of at least 0. The journal throws `E_JOURNAL`.
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
  const open = new Map<string, Entry>()
  const settled = new Map<string, Entry>() // in the order in which they settled
  const beats = new Map<string, number>()

  function put(record: ToolCallRecord, entry: Entry): void {
    const { id } = record
    if (!isSettled(record.state)) {
      settled.delete(id)
      open.set(id, entry)
      return
    }
    open.delete(id)
    settled.set(id, entry)
    for (const oldest of settled.keys()) {
      if (settled.size <= room) break
      settled.delete(oldest)
    }
  }

  const journal: Journal = {
    isDurable: false,

    async claim(record, owner) {
      const text = textOf(record)
      if (open.has(record.id) || settled.has(record.id)) return null
      put(record, { text, owner, heldSince: 0, version: 0, writtenAt: performance.now() })
      return { owner, number: 0 }
    },

    async write(record, { owner, number }) {
      const text = textOf(record)
      const entry = open.get(record.id) ?? settled.get(record.id)
      if (entry === undefined || entry.owner !== owner || !(entry.heldSince <= number)) return false
      put(record, { ...entry, text, version: entry.version + 1, writtenAt: performance.now() })
      return true
    },

    async read(invocationId) {
      requireId(invocationId)
      const entry = open.get(invocationId) ?? settled.get(invocationId)
      return entry === undefined ? null : { record: recordOf(entry.text), fence: fenceOf(entry) }
    },

    async takeOver(invocationId, fence, owner) {
      requireId(invocationId)
      const entry = open.get(invocationId)
      if (entry === undefined || entry.owner !== fence.owner || entry.version !== fence.number) return null
      const version = entry.version + 1
      open.set(invocationId, { ...entry, owner, heldSince: version, version, writtenAt: performance.now() })
      return { owner, number: version }
    },

    async *unfinished() {
      for (const entry of open.values()) {
        const { text, owner, writtenAt } = entry
        const seenAt = Math.max(writtenAt, beats.get(owner) ?? writtenAt)
        yield { record: recordOf(text), fence: fenceOf(entry), idle: performance.now() - seenAt }
      }
    },

    async beat(owner) {
      beats.delete(owner)
      beats.set(owner, performance.now())
      for (const longestSilent of beats.keys()) {
        if (beats.size <= beatsKept) break
        beats.delete(longestSilent)
      }
    },
  }
  return { journal }
}

function fenceOf({ owner, version }: Entry): Fence {
  return { owner, number: version }
}
