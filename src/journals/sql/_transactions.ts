import { within } from '../_within.ts'
import { JournalError } from '../../errors.ts'
import { groupLength, type Changing, type Outcome } from './_changes.ts'
import type { SqlConnection, SqlDatabase, SqlValue } from './_database.ts'
import {
  bound,
  valuesInOrder,
  runLater,
  TextCache,
  type StatementResult,
  type Bound,
  type Operation,
  type Statement,
} from './_operations.ts'
import type { TableNames } from './_tables.ts'

/** How many numbers a transaction takes: each of its changes needs one at most. */
const numbersTaken = 2 * groupLength

/** How long the first wait before another attempt is, in milliseconds, and the longest. */
const [shortestBackoff, longestBackoff] = [1, 64]

/** Runs operations on a database: those that read on any connection, and groups of those that change, each in a transaction. */
export class Transactions implements Pick<Changing, 'commit'> {
  readonly #database: SqlDatabase
  readonly #names: TableNames
  readonly #texts: TextCache<Bound>
  readonly #changed: () => void
  #number = 0
  #isNumbered = false

  /** @param changed Called after each transaction that changed what a watch tells. */
  constructor(database: SqlDatabase, names: TableNames, changed: () => void) {
    this.#database = database
    this.#names = names
    this.#texts = new TextCache((text) => bound(text, database.dialect.placeholder))
    this.#changed = changed
  }

  /** Returns the number of the next change of the present transaction. */
  next(): number {
    this.#isNumbered = true
    return ++this.#number
  }

  /** Runs an operation that reads, again and again until a time of `performance.now()` if it may succeed later. */
  read<Value>(operation: () => Operation<Value>, giveUpAt: number): Promise<Value> {
    return this.#insistently(giveUpAt, (left) =>
      within(left, () => runLater(operation(), (statement) => this.#answer(this.#database, statement))),
    )
  }

  async commit(operations: readonly (() => Operation<unknown>)[], giveUpAt: number): Promise<Outcome> {
    const attempt = { isOver: false, isApplied: false }
    try {
      const values = await this.#insistently(
        giveUpAt,
        (left) => {
          attempt.isApplied = false
          return within(left, () =>
            this.#database.transaction((connection) => this.#apply(connection, operations, attempt)),
          )
        },
        () => !attempt.isApplied,
      )
      if (this.#isNumbered) this.#changed()
      return { values }
    } catch (error) {
      // If it was applied, it may be committed. If the time is over, there is none for each change alone.
      const isUndone = !attempt.isApplied && performance.now() < giveUpAt
      attempt.isOver = true
      return { error, isUndone }
    }
  }

  async #apply(
    connection: SqlConnection,
    operations: readonly (() => Operation<unknown>)[],
    attempt: { readonly isOver: boolean; isApplied: boolean },
  ): Promise<readonly unknown[]> {
    const answer = (statement: Statement): Promise<StatementResult> => {
      // Its callers were told that it failed: it must not be committed later.
      if (attempt.isOver) throw new JournalError('The transaction was given up.')
      return this.#answer(connection, statement)
    }
    const first = await runLater(this.#begin(), answer)
    if (attempt.isOver) throw new JournalError('The transaction was given up.')
    this.#number = first
    this.#isNumbered = false
    const values: unknown[] = []
    for (const operation of operations) values.push(await runLater(operation(), answer))
    if (attempt.isOver) throw new JournalError('The transaction was given up.')
    attempt.isApplied = true
    return values
  }

  /** Takes numbers for changes. All who write wait here for the one before, until it has ended. */
  *#begin(): Operation<number> {
    const { state } = this.#names
    const text = `UPDATE ${state} SET value = value + $1 WHERE name = 'changes'`
    const { changes } = yield { text, values: [numbersTaken], isRead: false }
    const { rows } = yield { text: `SELECT value FROM ${state} WHERE name = 'changes'`, values: [], isRead: true }
    const last = Number(rows[0]?.['value'])
    if (changes !== 1 || !Number.isSafeInteger(last)) {
      throw new JournalError(
        `The table ${state} has no row \`changes\`. Restore it from a backup, or give the journal another prefix.`,
      )
    }
    return last - numbersTaken
  }

  async #answer(connection: SqlConnection, { text, values, isRead }: Statement): Promise<StatementResult> {
    const { text: written, order } = this.#texts.get(text)
    const parameters = valuesInOrder(values, order).map(sqlValue)
    if (isRead) return { rows: await connection.read(written, parameters), changes: 0 }
    return { rows: [], changes: await connection.change(written, parameters) }
  }

  async #insistently<Value>(
    giveUpAt: number,
    run: (left: number) => Promise<Value>,
    mayRepeat: () => boolean = () => true,
  ): Promise<Value> {
    for (let pause = shortestBackoff; ; pause = Math.min(pause * 2, longestBackoff)) {
      try {
        return await run(Math.max(1, giveUpAt - performance.now()))
      } catch (error) {
        if (performance.now() >= giveUpAt || !mayRepeat() || this.#database.isRetryable?.(error) !== true) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))
    }
  }
}

/** Returns a value as databases take it: none has infinite numbers. */
function sqlValue(value: unknown): SqlValue {
  if (typeof value === 'string' || value === null) return value
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new JournalError('A value of a statement is no text and no number.')
  return Math.max(-Number.MAX_VALUE, Math.min(value, Number.MAX_VALUE))
}
