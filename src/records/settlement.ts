import type { Journaled, ToolCallRecord } from '../kernel/call/record.ts'
import { copyOf } from '../kernel/json/copy.ts'
import type { Settlement } from '../kernel/recorder.ts'
import { ownJson } from './own-json.ts'

// What else a format of records is made with.
export { ownJson, type Journaled }
export { readText } from '../kernel/json/json-text.ts'
export { keptText } from '../kernel/result/encode.ts'

/** The journal's part of a record, while it is built. */
export type OpenJournaled = { -readonly [Field in keyof Journaled]: Journaled[Field] }

/** The outcome in a record. Large content is in the store. */
export interface RecordedSettlement extends Settlement {
  readonly stored?: Journaled['stored'] | undefined
}

/** Converts records for a journal. */
export interface RecordFormat {
  /**
   * Returns the args for the record. The call keeps using its own.
   *
   * @param text Their canonical JSON, if they have one and no secrets.
   */
  args(args: unknown, text: string | undefined): unknown
  /**
   * Returns the whole record.
   *
   * @throws `E_JOURNAL` if a part of it is not JSON.
   */
  complete(record: ToolCallRecord, journal: OpenJournaled, settlement?: RecordedSettlement): ToolCallRecord
}

/** The format of plain objects. */
export const plainRecords: RecordFormat = {
  args: (args) => copyOf(args),
  complete(record, journal, settlement) {
    if (settlement !== undefined) {
      settlementFields(settlement, journal, (value) => value)
      journal.result = settlement.result.content
    }
    return { ...record, journal }
  },
}

/**
 * Adds what a replay needs beside the content. `own` copies an object as the format keeps it.
 * @example settlementFields(settlement, journal, structuredClone)
 */
export function settlementFields(
  { result, artifact, stored }: RecordedSettlement,
  journal: OpenJournaled,
  own: <Value extends object>(value: Value) => Value,
): void {
  const { handle, error, skipped } = result
  if (artifact !== undefined) journal.artifact = ownDescription(artifact)
  if (handle !== undefined) journal.handle = handle
  if (stored !== undefined) journal.stored = stored
  if (error !== undefined) journal.failure = own(error.toJSON())
  if (skipped !== undefined) journal.skipped = skipped
}

/** Copies an artifact's description, since observers get the original. */
function ownDescription(artifact: NonNullable<Settlement['artifact']>): NonNullable<Journaled['artifact']> {
  const { kind, mediaType, byteLength } = artifact
  const isPlain = typeof kind === 'string' && typeof mediaType === 'string' && typeof byteLength === 'number'
  return isPlain ? { kind, mediaType, byteLength } : ownJson(artifact) // a handler's own class may return anything
}
