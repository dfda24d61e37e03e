import { KeptRecord } from './kept-record.ts'
import type { Settlement } from '../kernel/ports.ts'
import type { Journaled, ToolCallRecord } from './record.ts'
import { ownJson } from '../kernel/json/written.ts'

/** What a journal is told beside the events of a call, while it is put together. */
export type OpenJournaled = { -readonly [Field in keyof Journaled]: Journaled[Field] }

/** The record of a call as it is written down. */
export function plainRecord(record: ToolCallRecord, journal: OpenJournaled, settlement?: Settlement): ToolCallRecord {
  if (settlement !== undefined) {
    describe(settlement, journal, asItIs)
    if (settlement.awaits === undefined) journal.result = settlement.result.content
  }
  return { ...record, journal }
}

/**
 * The same for journals that keep it.
 *
 * @throws `E_JOURNAL` where something of it is no JSON.
 */
export function keptRecord(record: ToolCallRecord, journal: OpenJournaled, settlement?: Settlement): KeptRecord {
  if (typeof journal.caller === 'object') journal.caller = ownJson(journal.caller)
  if (settlement === undefined) return new KeptRecord(record, journal)
  describe(settlement, journal, ownJson)
  return new KeptRecord(record, journal, settlement.awaits === undefined ? settlement.result.content : undefined)
}

/** Adds what the call needs to go on, or of its outcome what a replay needs beside the content. */
function describe(
  { result, artifact, awaits, stored }: Settlement,
  journal: OpenJournaled,
  own: <Value extends object>(value: Value) => Value,
): void {
  if (awaits !== undefined) {
    journal.awaits = awaits
    return
  }
  const { handle, error, skipped } = result
  if (artifact !== undefined) journal.artifact = ownDescription(artifact)
  if (handle !== undefined) journal.handle = handle
  if (stored !== undefined) journal.stored = stored
  if (error !== undefined) journal.failure = own(error.toJSON())
  if (skipped !== undefined) journal.skipped = skipped
}

/** What a replay needs of what an artifact said of itself, in a copy: who watches is given the same. */
function ownDescription(artifact: NonNullable<Settlement['artifact']>): NonNullable<Journaled['artifact']> {
  const { kind, mediaType, byteLength } = artifact
  const isPlain = typeof kind === 'string' && typeof mediaType === 'string' && typeof byteLength === 'number'
  return isPlain ? { kind, mediaType, byteLength } : ownJson(artifact) // one of the handler's own making may say anything
}

function asItIs<Value>(value: Value): Value {
  return value
}
