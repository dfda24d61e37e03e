import { InvalidConfigurationError } from '../kernel/errors.ts'
import type { Extension } from '../kernel/ports.ts'
import type { Journal } from './journal.ts'
import { JournalRecorder } from './recorder.ts'
import type { RecordFormat } from './settlement.ts'

export type {
  Deleted,
  DeleteQuery,
  Fence,
  FoundRecord,
  Journal,
  ListedRecord,
  RecordQuery,
  Standing,
  TakeQuery,
  UnsentQuery,
} from './journal.ts'
export { factsOf, isListed, newestFirst, standingOf, type RecordFacts } from './facts.ts'
export { foldEvent } from './fold.ts'
export { digestOf, isSettled } from './record.ts'
export { settlementFields, type OpenJournaled, type RecordFormat } from './settlement.ts'

/**
 * Records every call in a journal.
 *
 * @param journal Keeps the records.
 * @param format Converts records for the journal. Default: plain objects that nothing else changes.
 * @returns The extension for `use`.
 * @throws `E_INVALID_CONFIGURATION` if the journal has no `list`.
 * @example
 * const { journal } = memoryJournal()
 * const traced: Journal = { ...journal, beat: (owner) => console.log(`${owner} lives`) }
 * createExecutor({ use: [records(traced)] })
 */
export function records(journal: Journal, format?: RecordFormat): Required<Pick<Extension, 'records'>> {
  if (typeof journal?.list !== 'function') {
    throw new InvalidConfigurationError(
      'The journal has no `list`: give it a method `list(query)` that lists records, newest first.',
    )
  }
  return { records: (kernel) => new JournalRecorder(journal, kernel, format) }
}
