import { JournalError } from '../../errors.ts'
import { beatsKept } from '../_rows.ts'
import type { SqlConnection, SqlDatabase, SqlDialect } from './_database.ts'
import { bound } from './_operations.ts'

/** The version of the tables. */
const sqlVersion = 2

/** How often it is tried to make the tables. Some databases fail if other processes make them at the same time. */
const attempts = 8

/** The names of the tables of a journal. */
export interface TableNames {
  readonly calls: string
  readonly owners: string
  readonly cuts: string
  readonly effects: string
  /** Its rows are `version`, and `changes`: the number of the last change. Who changes that row keeps out all others who write. */
  readonly state: string
}

/** @param prefix Checked. */
export function namesOf(prefix: string): TableNames {
  return {
    calls: `${prefix}calls`,
    owners: `${prefix}owners`,
    cuts: `${prefix}cuts`,
    effects: `${prefix}effects`,
    state: `${prefix}state`,
  }
}

/** Returns the statements that make the tables. Each leaves alone what is there. */
export function createTableStatements(names: TableNames, { types, hasInlineIndexes = false }: SqlDialect): string[] {
  const { key, text, number } = types
  const table = (
    name: string,
    columns: readonly string[],
    indexes: Readonly<Record<string, string>> = {},
  ): string[] => {
    const listed = Object.entries(indexes).map(([title, list]) => [`${name}_${title}`, `(${list})`] as const)
    const inline = hasInlineIndexes ? listed.map(([index, list]) => `INDEX ${index} ${list}`) : []
    const apart = hasInlineIndexes ? [] : listed
    return [
      `CREATE TABLE IF NOT EXISTS ${name} (${[...columns, ...inline].join(', ')})`,
      ...apart.map(([index, list]) => `CREATE INDEX IF NOT EXISTS ${index} ON ${name} ${list}`),
    ]
  }
  return [
    ...table(
      names.calls,
      [
        `id ${key} NOT NULL PRIMARY KEY`, // or its digest
        `owner ${text} NOT NULL`,
        `held_since ${number} NOT NULL`, // the version at which the owner got the record: only fences from then on may write
        `version ${number} NOT NULL`, // the number of writes since the claim
        `record ${text} NOT NULL`,
        `updated_at ${number} NOT NULL`,
        `session ${key} NOT NULL`, // or its digest
        `state ${key} NOT NULL`, // running, waiting or settled
        `waits ${key}`, // for what, if it waits
        `created_at ${number} NOT NULL`,
        `expires_at ${number}`, // if it waits
        `settled_at ${number}`,
        `cancel ${number} NOT NULL`, // whether its owner was asked to cancel it
        `changed ${number}`, // the number of its last change that a watch tells
        `queue ${key}`, // the name or the digest of that in which it waits for a worker
        `fingerprint ${key}`, // of its tool, if it waits for a worker
        `alone ${number}`, // whether it runs beside no other of its session, if it waits for or has a worker
      ],
      {
        created: 'created_at, id',
        session: 'session, created_at, id',
        state: 'state, created_at, id',
        expiring: 'state, expires_at',
        settled: 'state, settled_at',
        cancelled: 'cancel, state',
        changed: 'changed',
        queued: 'queue, updated_at',
        line: 'session, queue, created_at',
        beside: 'session, alone, state',
      },
    ),
    ...table(names.owners, [`owner ${text} NOT NULL`, `beat_at ${number} NOT NULL`]),
    ...table(
      names.cuts,
      [`number ${number} NOT NULL PRIMARY KEY`, `digest ${key} NOT NULL`], // of a deleted settlement to which one that is left may be chained
      { digest: 'digest' },
    ),
    ...table(
      names.effects, // which invocation does what: at most one for a scope and a key
      [
        `scope ${key} NOT NULL`,
        `effect_key ${key} NOT NULL`,
        `call_id ${key} NOT NULL`, // the id of its record, or the digest of that
        `invocation_id ${text} NOT NULL`,
        'PRIMARY KEY (scope, effect_key)',
      ],
      { call: 'call_id' },
    ),
    ...table(names.state, [`name ${key} NOT NULL PRIMARY KEY`, `value ${number} NOT NULL`]),
  ]
}

/**
 * Makes the tables if they are missing, and deletes owners that ended long ago. Only then the user needs the right to make tables.
 *
 * @param giveUpAt A time of `performance.now()`.
 * @throws `E_JOURNAL` if the tables are of a newer version, and what the database throws.
 */
export async function prepareSqlTables(database: SqlDatabase, names: TableNames, giveUpAt: number): Promise<void> {
  const { dialect } = database
  for (let attempt = 1; ; attempt++) {
    const version = await stateVersion(database, names, dialect).catch(() => undefined)
    if (version === sqlVersion) break
    if (version !== undefined && version > sqlVersion) {
      throw new JournalError(
        `The tables are of version ${version} of this journal, which knows ${sqlVersion}. Give it another prefix, or a newer release of this package.`,
      )
    }
    try {
      for (const statement of createTableStatements(names, dialect)) await database.change(statement, [])
      await database.transaction(async (connection) => {
        await addStateRow(connection, names, dialect, 'changes', 0)
        await addStateRow(connection, names, dialect, 'version', sqlVersion)
        // Tables of version 1 lack that of the effects, which is made now.
        const { text } = bound(
          `UPDATE ${names.state} SET value = $1 WHERE name = 'version' AND value < $2`,
          dialect.placeholder,
        )
        await connection.change(text, [sqlVersion, sqlVersion])
      })
    } catch (error) {
      if (performance.now() >= giveUpAt) throw error
      if (attempt >= attempts && database.isRetryable?.(error) !== true) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.min(64, 2 ** attempt) * Math.random()))
    }
  }
  const silent = bound(`DELETE FROM ${names.owners} WHERE beat_at < ${dialect.now} - $1`, dialect.placeholder)
  try {
    await database.change(silent.text, [beatsKept])
  } catch {
    // The next process does it.
  }
}

async function stateVersion(
  connection: SqlConnection,
  { state }: TableNames,
  { placeholder }: SqlDialect,
  name = 'version',
): Promise<number | undefined> {
  const { text } = bound(`SELECT value FROM ${state} WHERE name = $1`, placeholder)
  const [row] = await connection.read(text, [name])
  return row === undefined ? undefined : Number(row['value'])
}

/** Writes a row of the state if there is none. */
async function addStateRow(
  connection: SqlConnection,
  names: TableNames,
  dialect: SqlDialect,
  name: string,
  value: number,
): Promise<void> {
  if ((await stateVersion(connection, names, dialect, name)) !== undefined) return
  const { text } = bound(`INSERT INTO ${names.state} (name, value) VALUES ($1, $2)`, dialect.placeholder)
  await connection.change(text, [name, value])
}
