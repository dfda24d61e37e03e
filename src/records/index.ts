import type { Extension } from '../kernel/ports.ts'
import type { Journal } from './journal.ts'
import { JournalRecorder } from './recorder.ts'
import type { RecordFormat } from './settlement.ts'

export type { Fence, Found, Journal, Unfinished } from './journal.ts'
export { foldEvent } from './fold.ts'
export { digestOf, isSettled } from './record.ts'
export { settlementFields, type OpenJournaled, type RecordFormat } from './settlement.ts'

/**
 * Records every call in a journal.
 *
 * @param journal Keeps the records.
 * @param format Converts records for the journal. Default: plain objects that nothing else changes.
 * @returns The extension for `use`.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { memoryJournal } from 'toolwright/journals/memory'
 * import { records, type Journal } from 'toolwright/records'
 *
 * const { journal } = memoryJournal()
 * const traced: Journal = { ...journal, beat: (owner) => console.log(`${owner} lives`) }
 * const executor = createExecutor({ use: [records(traced)] })
 * ```
 */
export function records(journal: Journal, format?: RecordFormat): Required<Pick<Extension, 'records'>> {
  return { records: (kernel) => new JournalRecorder(journal, kernel, format) }
}
