import type { Bus } from '../../extension.ts'
import type { SqlValue } from './_operations.ts'

export type { SqlValue } from './_operations.ts'

/** A row of an answer, by the names of its columns. Numbers may be texts of digits. */
export type SqlRow = Readonly<Record<string, unknown>>

/** Runs statements. It may answer at once. */
export interface SqlConnection {
  /** Runs a statement that reads, and returns its rows. */
  read(text: string, values: readonly SqlValue[]): readonly SqlRow[] | Promise<readonly SqlRow[]>
  /** Runs a statement that changes something, and returns how many rows it has inserted, changed or deleted. */
  change(text: string, values: readonly SqlValue[]): number | Promise<number>
}

/** A database, as its driver gives it: what the author of a journal writes. Outside of a transaction, any connection will do. */
export interface SqlDatabase extends SqlConnection {
  /**
   * Runs statements in one transaction, on one connection. Commits if the promise of `run` fulfils, and resolves once the commit
   * is durable. Rolls back if the promise rejects, and rejects with its error.
   *
   * A row that a transaction has changed is locked until the transaction ends, and a statement behind that lock reads what was
   * committed before. READ COMMITTED of every database does so, REPEATABLE READ of MySQL, and BEGIN IMMEDIATE of SQLite.
   */
  transaction<Value>(run: (connection: SqlConnection) => Promise<Value>): Promise<Value>
  /** The words of the database. */
  readonly dialect: SqlDialect
  /**
   * Returns whether the same may succeed later, since the database was busy, ended a deadlock or could not be reached. The journal
   * then tries again until its `timeout`. Default: never.
   */
  isRetryable?(error: unknown): boolean
  /** Carries messages between the processes of the database, if it can. Changes of other processes are then told at once. */
  readonly bus?: Bus | undefined
  /** Closes what the journal alone uses. */
  close?(): void | Promise<void>
}

/** The words in which databases differ. They stand in statements as they are: no input may be part of them. */
export interface SqlDialect {
  /** The types of columns. Texts are equal if they are the same byte by byte, also with blanks at their ends. */
  readonly types: {
    /** Text of at most 200 characters, which indexes hold: `VARCHAR(200)`. */
    readonly key: string
    /** Text of any length, without limit: `LONGTEXT`. */
    readonly text: string
    /** Floating-point numbers of 64 bits: `DOUBLE`. */
    readonly number: string
  }
  /** The expression of the server's time, in milliseconds since 1970, UTC. */
  readonly now: string
  /** Returns the parameter of a number, from 1 on: `$1`. Default: each is `?`, and the values stand in the order of the text. */
  readonly placeholder?: ((number: number) => string) | undefined
  /**
   * Ends an `INSERT` whose row may exist, so that it changes nothing and counts no row: `ON CONFLICT DO NOTHING`. Default: the journal
   * asks first, which costs a statement for each call.
   */
  readonly skipExisting?: string | undefined
  /**
   * Whether indexes are part of `CREATE TABLE`, as MySQL has it. Default: `false`, they are made by
   * `CREATE INDEX IF NOT EXISTS`.
   */
  readonly hasInlineIndexes?: boolean | undefined
}
