import type { Extension } from '../../index.ts'
import type { Journal } from '../../records/index.ts'
import type { Promising } from './_records.ts'

/** What each part of the suite needs. */
export interface JournalSuite {
  readonly title: string
  readonly isShared: boolean
  readonly newStorage: () => Promise<OpenedStorage>
  readonly newJournal: () => Promise<Promising>
}

/** A place without records. */
export interface OpenedStorage {
  readonly open: () => Pick<Extension, 'close'> & { readonly journal: Promising }
  readonly damage: ((id: string, text: string) => unknown) | undefined
}

/** Returns a method that a journal may leave out. Without it, skips the test. */
export function optionalMethod<Name extends keyof Journal>(
  journal: Promising,
  name: Name,
  skip: (reason: string) => never,
): NonNullable<Journal[Name]> {
  return journal[name] ?? skip(`left out: the journal has no ${name}`)
}
