import type { RecordChange } from '../extension.ts'
import { changeOf, isDigest, type Columns } from './_columns.ts'
import { recordOf, type KeyOf, type Row } from './_rows.ts'

/** What a watch is given. */
export type RecordHint = readonly [invocationId: string, session: string, change?: RecordChange]

/** What is done for listeners, as long as there are any. */
interface Source {
  /** Called before the first listener is added. If it throws, none is. */
  readonly begin: () => void
  /** Called after the last one was taken away. */
  readonly end: () => void
}

/** Listeners to what changes in a journal. One that throws keeps nothing from the others. */
export class Listeners<Values extends readonly unknown[] = RecordHint> {
  readonly #listeners = new Set<(...values: Values) => void>()
  readonly #source: Source | undefined

  constructor(source?: Source) {
    this.#source = source
  }

  get size(): number {
    return this.#listeners.size
  }

  /** Returns a function that takes the listener away. The same listener may be added twice. */
  add(listener: (...values: Values) => void): () => void {
    const own = (...values: Values): void => listener(...values)
    if (this.size === 0) this.#source?.begin()
    this.#listeners.add(own)
    return () => {
      if (this.#listeners.delete(own) && this.size === 0) this.#source?.end()
    }
  }

  clear(): void {
    this.#listeners.clear()
  }

  tell(...values: Values): void {
    for (const listener of this.#listeners) {
      try {
        listener(...values)
      } catch {
        // It is the listener's own error.
      }
    }
  }
}

/**
 * Tells of a row with `id`, `session`, `state`, `waits` and, if `session` or `id` is a digest, `record`. Nothing is told of a
 * damaged record.
 */
export function tellRow(listeners: Listeners, row: Row, keyOf?: KeyOf): void {
  let id = String(row['id'])
  let session = String(row['session'])
  try {
    if (isDigest(session) || (keyOf !== undefined && keyOf(id) !== id))
      ({ id, session } = recordOf(row['record'], id, keyOf))
  } catch {
    return
  }
  const isCancelled = row['state'] === 'running' && Boolean(row['cancel'])
  listeners.tell(id, session, isCancelled ? 'cancelled' : changeOf(row as unknown as Columns))
}
