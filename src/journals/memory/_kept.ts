import type { ToolCallRecord } from '../../extension.ts'
import { factsOf, type Deleted, type Fence, type RecordFacts, type Standing } from '../../records/index.ts'
import { KeptRecord, RunningRecord } from './_kept-record.ts'
import { recordOf, requireId, recordText } from '../_rows.ts'

/** A record as the journal keeps it. It never changes. A `KeptRecord` or `RunningRecord` of the recorder is one. */
export interface StoredRecord extends RecordFacts {
  /** About how many bytes it takes. */
  readonly weight: number
}

/** A record, and what the journal knows of it. A class, since an object with parts of two literals would be two objects. */
export class MemoryEntry {
  facts: StoredRecord
  /** That of the record, which is computed on each reading. */
  weight = 0
  owner: string
  /** The version at which the owner got the record. Only fences from then on may write. */
  heldSince = 0
  /** The number of writes since the claim. */
  version = 0
  standing: Standing = 'running'
  /** Whether a worker has taken it since it was written: it counts as running. */
  isTaken = false
  /** When it was last claimed or written without being settled, in whole milliseconds. */
  seenAt = 0

  constructor(facts: StoredRecord, owner: string) {
    this.facts = facts
    this.owner = owner
  }
}

export function entryFence({ owner, version }: MemoryEntry): Fence {
  return { owner, number: version }
}

/** The fence of a claim. It leads to the entry, so that the writes of a running call search for none. */
export class ClaimFence implements Fence {
  /** For the reason that `kernel/shapes.ts` gives. */
  static readonly kept: ClaimFence = new ClaimFence(new MemoryEntry({ id: '' } as StoredRecord, ''), undefined)
  readonly owner: string
  readonly number: number
  readonly #entry: MemoryEntry
  readonly #journal: object | undefined

  /** @param journal What tells the journal from others. */
  constructor(entry: MemoryEntry, journal: object | undefined) {
    this.owner = entry.owner
    this.number = entry.version
    this.#entry = entry
    this.#journal = journal
  }

  /** Returns the entry of a record, if a claim in this journal has made the fence, and the call still runs: it is kept so long. */
  static entryOf(fence: Fence, id: string, journal: object): MemoryEntry | undefined {
    if (!(#entry in fence) || fence.#journal !== journal) return undefined
    const entry = fence.#entry
    return entry.standing === 'running' && entry.facts.id === id ? entry : undefined
  }
}

/** A record that another caller wrote than a recorder: its JSON text. */
export class TextRecord implements StoredRecord {
  readonly text: string
  readonly id: string
  readonly session: string
  readonly createdAt: number
  readonly standing: RecordFacts['standing']
  readonly reason: RecordFacts['reason']
  readonly expiresAt: number | undefined
  readonly settledAt: number | undefined
  readonly queue: string | undefined
  readonly fingerprint: string | undefined
  readonly isAlone: boolean | undefined

  constructor(record: ToolCallRecord) {
    this.text = recordText(record)
    const facts = factsOf(record)
    this.id = facts.id
    this.session = facts.session
    this.createdAt = facts.createdAt
    this.standing = facts.standing
    this.reason = facts.reason
    this.expiresAt = facts.expiresAt
    this.settledAt = facts.settledAt
    this.queue = facts.queue
    this.fingerprint = facts.fingerprint
    this.isAlone = facts.isAlone
  }

  get weight(): number {
    return this.text.length + 200
  }
}

/** Returns the record, as a new object each time. */
export function recordCopy(facts: StoredRecord): ToolCallRecord {
  return recordOf(facts instanceof TextRecord ? facts.text : JSON.stringify(facts), facts.id)
}

/** Returns the facts of a waiting record that a worker has taken and not written yet. */
export function asRunning({ id, session, createdAt }: StoredRecord): RecordFacts {
  const nothing = {
    reason: undefined,
    expiresAt: undefined,
    settledAt: undefined,
    queue: undefined,
    fingerprint: undefined,
    isAlone: undefined,
  }
  return { id, session, createdAt, standing: 'running', ...nothing }
}

/** Keeps a record of the recorder itself, since it never changes. Of ids that applications chose, `read` has refused wrong ones. */
export function keptOf(record: object): StoredRecord {
  return record instanceof KeptRecord || record instanceof RunningRecord ? record : textRecord(record as ToolCallRecord)
}

/** Refuses a record with a wrong id before it is read. */
export function textRecord(record: ToolCallRecord): TextRecord {
  requireId(record.id)
  return new TextRecord(record)
}

/** Returns what a deleted record named in the store. */
export function deletedOf(facts: StoredRecord): Deleted {
  const { stored, handle } = recordCopy(facts).journal ?? {}
  const { id: invocationId, session } = facts
  return { invocationId, session, ...(stored && { stored: stored.handle }), ...(handle !== undefined && { handle }) }
}
