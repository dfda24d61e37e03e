import type { WaitRecord, RecordChange, ToolCallRecord } from '../kernel/call/record.ts'
import type { Bus } from '../kernel/queue-types.ts'

/** Proves the right to write a record: the owner, and the number of the write at which it was read. */
export interface Fence {
  readonly owner: string
  readonly number: number
}

/** A record and its fence. */
export interface FoundRecord {
  readonly record: ToolCallRecord
  readonly fence: Fence
}

/** A record in a list, and how long its owner has been silent. */
export interface ListedRecord extends FoundRecord {
  /** Milliseconds since the owner's last beat or write, by the journal's own clock. */
  readonly idle: number
}

/** Whether a record has settled; if not, whether it waits for an answer. */
export type Standing = Exclude<RecordChange, 'queued' | 'cancelled'>

/** The records that a journal lists. Each field narrows the list. Times are milliseconds since the epoch. */
export interface RecordQuery {
  readonly session?: string | undefined
  readonly state?: Standing | undefined
  /** What the call waits for. Leaves out records that do not wait. */
  readonly reason?: WaitRecord['reason'] | undefined
  /** The owner of the fence. */
  readonly owner?: string | undefined
  /** Leaves out records whose `idle` is below this number of milliseconds. */
  readonly silentFor?: number | undefined
  /** Leaves out records that do not wait, or that expire at this time or later. */
  readonly expiresBefore?: number | undefined
  /** Leaves out records that have not settled, or that were completed at this time or later. */
  readonly settledBefore?: number | undefined
  /** Leaves out this record, and those that the list has before it. */
  readonly before?: Pick<ToolCallRecord, 'createdAt' | 'id'> | undefined
  /** The most records to list. Default: all. */
  readonly limit?: number | undefined
}

/**
 * Keeps the records of calls, so that they outlive the process. A write is durable once the journal has answered. A journal
 * may answer synchronously, and throw synchronously. A journal may leave out its optional methods.
 */
export interface Journal {
  /** Whether records outlive the process. If so, settled records are chained by digests. */
  readonly isDurable: boolean
  /** Writes a new record for its owner. Returns `null` if the invocation already has a record. */
  claim(record: ToolCallRecord, owner: string): Fence | null | Promise<Fence | null>
  /** Replaces a record. Returns `false` if another owner holds it. */
  write(record: ToolCallRecord, fence: Fence): boolean | Promise<boolean>
  /** Returns a record and its present fence, or `null` if there is none. */
  read(invocationId: string): FoundRecord | null | Promise<FoundRecord | null>
  /**
   * Takes a record over from the owner of `fence`. Returns `null` if the record has settled, or was written since the fence
   * was read. Of many attempts, one succeeds.
   */
  takeOver(invocationId: string, fence: Fence, owner: string): Fence | null | Promise<Fence | null>
  /**
   * Lists records, newest first: by `createdAt`, then by `id` in an order of the journal's own. A list may take pages. Records
   * that are written, settled or deleted meanwhile may be missing; no record is listed twice.
   *
   * @param report Called with the error of each damaged record, which is left out. Default: the list ends with the error.
   */
  list(query: RecordQuery, report?: (error: unknown) => void): AsyncIterable<ListedRecord>
  /**
   * Records a sign of life of an owner.
   *
   * @returns The invocations of the owner whose cancellation was requested, at each beat until they settle. Nothing if the
   * journal has no `requestCancel`.
   */
  beat(owner: string): void | readonly string[] | Promise<void | readonly string[]>
  /**
   * Returns those of these invocations that have settled, in one statement. Leaves out those that have not settled, have no
   * record, or have a damaged one.
   */
  settledOf?(invocationIds: readonly string[]): Promise<readonly FoundRecord[]>
  /**
   * Calls the listener after a record was written, here or by another process. It is a hint: a journal may miss a write, and
   * tell one twice or late. A caller that waits for a write also reads the record now and then. A journal may tell what has
   * become of the record, and that its cancellation was requested.
   *
   * @returns A function that ends the watch. A watch does not keep the process alive.
   */
  watch?(listener: (invocationId: string, session: string, change?: RecordChange) => void): () => void
  /**
   * Takes over calls that wait for a worker, have not expired and may run now, in one statement: one by its id, or the first
   * of a queue. Their records say that they wait until they are written. They count as running at once, so that each is taken
   * once.
   *
   * If the work of a call `isAlone`, no other call of its session runs on a worker beside it. In a session and a queue, such a
   * call runs after all calls that were made before it, and before all that were made after it. Calls that are left out
   * and expired calls keep no other waiting.
   */
  take?(wanted: TakeQuery, owner: string): Promise<readonly FoundRecord[]>
  /**
   * Returns calls of some queues that wait for a worker and may run now, and that were not written or returned by this
   * method for so many milliseconds.
   */
  unsent?(query: UnsentQuery): Promise<readonly { readonly invocationId: string; readonly queue: string }[]>
  /** Returns those of these invocations that `take` would take now. */
  free?(invocationIds: readonly string[]): Promise<readonly string[]>
  /** Counts the calls of a queue that wait for a worker, up to a number. */
  depth?(queue: string, atMost: number): Promise<number>
  /** Carries messages between those who share the journal. What it is given may be longer than it can carry. */
  readonly bus?: Bus | undefined
  /** Flags a record, so that `beat` tells its owner to cancel the call. Returns `false` if no such call is unsettled. */
  requestCancel?(invocationId: string): Promise<boolean>
  /**
   * Notes that an invocation does something: if nothing is noted for the scope and the key, or if `former` is. Of several at the
   * same time, one is noted. Returns the invocation that is noted then. When a record is deleted, so is what notes it.
   *
   * @param scope At most 64 characters of ASCII, as `effectKey`.
   */
  claimEffect?(scope: string, effectKey: string, invocationId: string, former?: string): string | Promise<string>
  /**
   * Deletes settled records, oldest first. It never deletes a record that has not settled, and leaves alone what the records
   * name in an artifact store.
   *
   * @returns What was deleted. Its length is below `limit` if nothing more is to be deleted.
   */
  delete?(query: DeleteQuery): Promise<readonly Deleted[]>
  /**
   * Returns the digests at which deletions have cut the chains of settled records. A record whose `previous` is one of them
   * is the first that is left of its chain.
   */
  cuts?(): Promise<readonly string[]>
  /**
   * Calls the listener after the journal dropped a record that had not settled, because it was full.
   *
   * @returns A function that ends it.
   */
  onDrop?(listener: (dropped: FoundRecord) => void): () => void
}

/** Calls that wait for a worker: one by its invocation, or the first of a queue. */
export type TakeQuery =
  | { readonly invocationId: string; readonly limit: number }
  | {
      readonly queue: string
      readonly limit: number
      /** Invocations to leave out. */
      readonly except: readonly string[]
      /** The fingerprints of tools whose calls to leave out. A journal may give such calls all the same. Default: none. */
      readonly lacking?: readonly string[] | undefined
    }

/** Calls that wait for a worker, and of which no worker may know. */
export interface UnsentQuery {
  readonly queues: readonly string[]
  /** Milliseconds. */
  readonly silentFor: number
  readonly limit: number
}

/** The settled records to delete. */
export interface DeleteQuery {
  /** Keeps records that were completed at this time or later, in milliseconds since the epoch. */
  readonly settledBefore: number
  /** The most records to delete. */
  readonly limit: number
}

/** A deleted record, and what it named in the artifact store. */
export interface Deleted {
  readonly invocationId: string
  readonly session: string
  /** The handle of content that was too large for the record. Only the record knew it. */
  readonly stored?: string | undefined
  /** The handle of the result's artifact. The caller may have kept it. */
  readonly handle?: string | undefined
}
