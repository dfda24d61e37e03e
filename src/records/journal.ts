import type { ToolCallRecord } from '../kernel/call/record.ts'

/** Proves the right to write a record: the owner, and the number of the write at which it was read. */
export interface Fence {
  readonly owner: string
  readonly number: number
}

/** A record and its fence. */
export interface Found {
  readonly record: ToolCallRecord
  readonly fence: Fence
}

/** A record that has not settled, and how long its owner has been silent. */
export interface Unfinished extends Found {
  /** Milliseconds since the owner's last beat, by the journal's own clock. */
  readonly idle: number
}

/**
 * Keeps the records of calls, so that they outlive the process. A write is durable once the journal has answered. A journal
 * may answer synchronously, and throw synchronously.
 */
export interface Journal {
  /** Whether records outlive the process. If so, settled records are chained by digests. */
  readonly isDurable: boolean
  /** Writes a new record for its owner. Returns `null` if the invocation already has a record. */
  claim(record: ToolCallRecord, owner: string): Fence | null | Promise<Fence | null>
  /** Replaces a record. Returns `false` if another owner holds it. */
  write(record: ToolCallRecord, fence: Fence): boolean | Promise<boolean>
  /** Returns a record and its present fence, or `null` if there is none. */
  read(invocationId: string): Found | null | Promise<Found | null>
  /**
   * Takes a record over from the owner of `fence`. Returns `null` if the record has settled, or was written since the fence
   * was read. Of many attempts, one succeeds.
   */
  takeOver(invocationId: string, fence: Fence, owner: string): Fence | null | Promise<Fence | null>
  /**
   * Lists every record that has not settled.
   *
   * @param report Called with the error of each damaged record, which is left out. Default: the list ends with the error.
   */
  unfinished(report?: (error: unknown) => void): AsyncIterable<Unfinished>
  /** Records a sign of life of an owner. */
  beat(owner: string): void | Promise<void>
}
