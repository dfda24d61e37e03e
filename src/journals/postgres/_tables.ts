import { JournalError } from '../../errors.ts'
import { columnsOf, type Columns } from '../_columns.ts'
import { beatsKept, pageLength, recordOf, type Row } from '../_rows.ts'
import { takeFunctions } from './_take-functions.ts'

/** The names of the tables of a journal, ready for SQL. */
export interface JournalTables {
  readonly calls: string
  readonly owners: string
  readonly cuts: string
  readonly effects: string
  /** Functions: the first takes over calls of a queue, or one by its id, and the second several by their ids. */
  readonly take: string
  readonly takeEach: string
  readonly schema: string
  readonly prefix: string
}

/** Runs one statement. If it is frequent, a connection has the server prepare it once. */
export type RunStatement = (text: string, values?: unknown[], isFrequent?: boolean) => Promise<readonly Row[]>

const journalVersion = '9'
const compressedVersion = '8'
const effectsVersion = '7'
const mergedVersion = '6'
const tooledVersion = '5'
const linedVersion = '4'
const queuedVersion = '3'
const listedVersion = '2'
/** While records of version 1 get the columns of version 2. */
const filling = '2, not complete'
const journalComment = 'Toolwright journal '
/** A number that other programs are unlikely to lock. */
const journalLock = 7_301_982_154

const partOfTables =
  'Some tables of the journal are there, but others are missing, or the comment on `calls` that says of which version they are (`pg_restore --no-comments` leaves it out). Restore what is missing, or give another `schema` or `prefix`, for new tables.'

/** Which statement brings tables of each version on. An empty version is that of no tables. */
const postgresUpgrades: Readonly<Record<string, (ask: RunStatement, tables: JournalTables) => Promise<void>>> = {
  '': createTables,
  1: addListColumns,
  [filling]: fillColumns,
  [listedVersion]: addQueueColumn,
  [queuedVersion]: addLineColumns,
  [linedVersion]: addTools,
  [tooledVersion]: mergeIndexes,
  [mergedVersion]: addEffects,
  [effectsVersion]: setCompression,
  [compressedVersion]: remakeTakes,
}

/**
 * Makes the tables if they are missing, and brings those of an older version on. Only then the user needs the right to make
 * tables. Each statement is atomic, and finds what another process or an earlier attempt has done.
 *
 * @throws `E_JOURNAL` if the tables are of a newer version.
 */
export async function prepareJournal(ask: RunStatement, tables: JournalTables): Promise<void> {
  for (let before: string | undefined; ;) {
    const version = await tablesVersion(ask, tables)
    if (version === journalVersion) break
    if (version === before) {
      throw new JournalError(
        `The tables are still of version ${version || 'none'} after they were brought on. Let this user set comments on them.`,
      )
    }
    before = version
    const step = postgresUpgrades[version]
    if (step === undefined) {
      throw new JournalError(
        `The tables are of version ${version} of this journal, which knows ${journalVersion}. Give it another schema or prefix, or a newer release of this package.`,
      )
    }
    await step(ask, tables).catch((cause: unknown) => {
      throw isMadeAlready(cause) ? new JournalError(partOfTables, { cause }) : cause
    })
  }
  await ask(`DELETE FROM ${tables.owners} WHERE beat_at < clock_timestamp() - interval '1 millisecond' * $1::int`, [
    beatsKept,
  ])
}

/** Whether a statement failed since what it makes is there. */
function isMadeAlready(error: unknown): boolean {
  return (error as { cause?: { code?: unknown } }).cause?.code === '42P07'
}

async function tablesVersion(ask: RunStatement, { calls }: JournalTables): Promise<string> {
  const [row] = await ask(`SELECT obj_description(to_regclass($1)::oid, 'pg_class') AS version`, [calls])
  const version = row?.['version']
  return typeof version === 'string' ? version.slice(journalComment.length) : ''
}

/** Runs statements as one, which is atomic with any pool. Under the lock, one process at a time, if the version is still so. */
function atVersion(
  version: string,
  next: string,
  { calls, schema, prefix }: JournalTables,
  statements: string,
): string {
  // The lock does not make the server forget that there was no such table when it was asked last. A query of the catalog sees it.
  const found = `coalesce((SELECT description FROM pg_description
    JOIN pg_class ON pg_class.oid = objoid AND classoid = 'pg_class'::regclass AND objsubid = 0
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = '${schema}' AND relname = '${prefix}calls'), '${journalComment}')`
  return `DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(${journalLock});
    IF ${found} = '${journalComment}${version}' THEN
      ${statements}
      COMMENT ON TABLE ${calls} IS '${journalComment}${next}';
    END IF;
  END $$`
}

/** The columns by which records are listed. Those of a record that is not filled have no session. */
const listColumns = [
  'session text COLLATE "C"', // or its digest
  'state text', // running, waiting or settled
  'waits text', // for what, if it waits
  'created_at double precision',
  'expires_at double precision', // if it waits
  'settled_at double precision',
  'cancel boolean NOT NULL DEFAULT false', // whether its owner was asked to cancel it
  'changed bigint', // the transaction of its last change that a watch tells
]

async function createTables(ask: RunStatement, tables: JournalTables): Promise<void> {
  const { calls, owners } = tables
  await ask(
    atVersion(
      '',
      journalVersion,
      tables,
      `CREATE TABLE ${calls} (
        id text COLLATE "C" PRIMARY KEY,
        owner text NOT NULL,
        held_since integer NOT NULL, -- the version at which the owner got the record: only fences from then on may write
        version integer NOT NULL, -- the number of writes since the claim
        record text NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        ${listColumns.join(', ')}
      );
      CREATE TABLE ${owners} (
        owner text COLLATE "C" PRIMARY KEY,
        beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      ${completion(tables)}
      ${queueStatements(tables)}
      ${lineStatements(tables)}
      ${toolStatements(tables)}
      ${mergeStatements(tables)}
      ${effectStatements(tables)}
      ${compressionStatement(tables)}`,
    ),
  )
}

/** From then on, processes of the older version cannot write: they would leave the columns empty. */
async function addListColumns(ask: RunStatement, tables: JournalTables): Promise<void> {
  const { calls } = tables
  const columns = listColumns.map((column) => `ADD COLUMN ${column}`)
  const statements = `ALTER TABLE ${calls} RENAME COLUMN settled TO was_settled; ALTER TABLE ${calls} ${columns.join(', ')};`
  await ask(atVersion('1', filling, tables, statements))
}

async function fillColumns(ask: RunStatement, tables: JournalTables): Promise<void> {
  const { calls } = tables
  for (let last = ''; ;) {
    const rows = await ask(
      `SELECT id, record, was_settled, (1000 * extract(epoch FROM updated_at))::float8 AS at
      FROM ${calls} WHERE session IS NULL AND id > $1 ORDER BY id LIMIT ${pageLength}`,
      [last],
    ).catch((error: unknown) => {
      // Another process has just completed the tables, and dropped `was_settled`.
      if ((error as { cause?: { code?: unknown } }).cause?.code === '42703') return []
      throw error
    })
    const filled = rows.map(filledColumns)
    if (filled.length > 0) {
      await ask(
        `UPDATE ${calls} AS calls SET session = f.session, state = f.state, waits = f.waits, created_at = f.created_at,
          expires_at = f.expires_at, settled_at = f.settled_at
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::float8[], $7::float8[])
          AS f (id, session, state, waits, created_at, expires_at, settled_at)
        WHERE calls.id = f.id AND calls.session IS NULL`,
        (['id', 'session', 'state', 'waits', 'createdAt', 'expiresAt', 'settledAt'] as const).map((column) =>
          filled.map((columns) => columns[column]),
        ),
      )
    }
    if (rows.length < pageLength) break
    last = String(rows.at(-1)?.['id'])
  }
  const statements = `DROP INDEX IF EXISTS ${indexName(tables, 'unfinished')};
    ALTER TABLE ${calls} DROP COLUMN was_settled; ${completion(tables)}`
  await ask(atVersion(filling, listedVersion, tables, statements))
}

/** Adds what workers look for calls by. No call of version 2 waits for a worker. */
async function addQueueColumn(ask: RunStatement, tables: JournalTables): Promise<void> {
  await ask(atVersion(listedVersion, queuedVersion, tables, queueStatements(tables)))
}

/** The column and the index of the calls that wait for workers. */
function queueStatements({ calls, prefix }: JournalTables): string {
  return `
    ALTER TABLE ${calls} ADD COLUMN queue text; -- in which it waits for a worker, or its digest
    CREATE INDEX "${prefix}calls_queued" ON ${calls} (queue, updated_at) WHERE waits = 'worker';`
}

/** Adds what some calls run alone by, and fills it from the text of the records. */
async function addLineColumns(ask: RunStatement, tables: JournalTables): Promise<void> {
  const fill = `UPDATE ${tables.calls} SET alone = CASE WHEN strpos(record, '"isAlone":true') > 0 THEN 1 ELSE 0 END
    WHERE state <> 'settled' AND strpos(record, '"work":') > 0;`
  await ask(atVersion(queuedVersion, linedVersion, tables, lineStatements(tables) + fill))
}

/** Adds what workers leave out calls by. Version 5 has a function that takes calls, which is made with the next step. */
async function addTools(ask: RunStatement, tables: JournalTables): Promise<void> {
  await ask(atVersion(linedVersion, mergedVersion, tables, toolStatements(tables) + mergeStatements(tables)))
}

/** The column and the indexes of the calls that have workers or wait for them. */
function lineStatements({ calls, prefix }: JournalTables): string {
  return `
    ALTER TABLE ${calls} ADD COLUMN alone smallint; -- whether it runs beside no other of its session, if it waits for or has a worker
    CREATE INDEX "${prefix}calls_line" ON ${calls} (session, queue, created_at) WHERE waits = 'worker';
    CREATE INDEX "${prefix}calls_beside" ON ${calls} (session, alone, state) WHERE alone IS NOT NULL;`
}

/** Adds the column by which workers leave out calls. What waits already is unknown. */
function toolStatements({ calls }: JournalTables): string {
  return `ALTER TABLE ${calls} ADD COLUMN fingerprint text; -- of its tool, if it waits for a worker`
}

async function mergeIndexes(ask: RunStatement, tables: JournalTables): Promise<void> {
  await ask(atVersion(tooledVersion, mergedVersion, tables, mergeStatements(tables)))
}

async function addEffects(ask: RunStatement, tables: JournalTables): Promise<void> {
  await ask(atVersion(mergedVersion, effectsVersion, tables, effectStatements(tables)))
}

async function setCompression(ask: RunStatement, tables: JournalTables): Promise<void> {
  await ask(atVersion(effectsVersion, compressedVersion, tables, compressionStatement(tables)))
}

/** Those of version 8 could read each call of a queue for each that they took. */
async function remakeTakes(ask: RunStatement, tables: JournalTables): Promise<void> {
  await ask(atVersion(compressedVersion, journalVersion, tables, takeFunctions(tables)))
}

/**
 * Has the server compress records above 2 kB by lz4, which takes it a fraction of the time of its default. What is written already
 * stays as it is. Postgres 12 and 13 do not know the statement, and servers that are built without lz4 refuse it: both go on as before.
 */
function compressionStatement({ calls }: JournalTables): string {
  return `
    BEGIN
      EXECUTE 'ALTER TABLE ${calls} ALTER COLUMN record SET COMPRESSION lz4';
    EXCEPTION WHEN syntax_error OR feature_not_supported OR invalid_parameter_value THEN
      NULL;
    END;`
}

/** The table of which invocation does what. */
function effectStatements({ effects, prefix }: JournalTables): string {
  return `
    CREATE TABLE ${effects} (
      scope text COLLATE "C" NOT NULL,
      effect_key text COLLATE "C" NOT NULL,
      invocation_id text COLLATE "C" NOT NULL, -- at most one for a scope and a key
      PRIMARY KEY (scope, effect_key)
    );
    CREATE INDEX "${prefix}effects_call" ON ${effects} (invocation_id);`
}

/** Merges indexes of which one can serve, since every write costs for each, and makes the functions that take calls anew. */
function mergeStatements(tables: JournalTables): string {
  const { calls, prefix } = tables
  const former = ['running', 'waiting', 'expiring', 'settled', 'line', 'beside']
  return `
    DROP INDEX ${former.map((name) => indexName(tables, name)).join(', ')};
    CREATE INDEX "${prefix}calls_open" ON ${calls} (state, created_at, id) WHERE state <> 'settled';
    CREATE INDEX "${prefix}calls_ends" ON ${calls} (settled_at, expires_at) WHERE state <> 'running';
    CREATE INDEX "${prefix}calls_line" ON ${calls} (session, alone, state, queue, created_at) WHERE alone IS NOT NULL;
    ${takeFunctions(tables)}`
}

/** Returns the columns of a row of version 1. A damaged one keeps what the row says of it, so that lists report it. */
function filledColumns(row: Row): Omit<Columns, 'text'> {
  const isSettled = row['was_settled'] === true
  const at = Number(row['at'])
  const state = isSettled ? 'settled' : 'running'
  const damaged = {
    id: String(row['id']),
    session: '',
    state,
    waits: null,
    createdAt: at,
    expiresAt: null,
    queue: null,
    fingerprint: null,
    alone: null,
  } as const
  try {
    const columns = columnsOf(recordOf(row['record'], row['id']))
    if ((columns.state === 'settled') === isSettled) return columns
    return { ...columns, state, waits: null, expiresAt: null, settledAt: isSettled ? at : null }
  } catch {
    return { ...damaged, settledAt: isSettled ? at : null }
  }
}

/** What tables of version 2 need once every record has its columns. */
function completion(tables: JournalTables): string {
  const { calls, cuts } = tables
  const index = (name: string, columns: string): string =>
    `CREATE INDEX "${tables.prefix}calls_${name}" ON ${calls} ${columns};`
  return `
    ALTER TABLE ${calls} ALTER session SET NOT NULL, ALTER state SET NOT NULL, ALTER created_at SET NOT NULL;
    ${index('created', '(created_at, id)')}
    ${index('session', '(session, created_at, id)')}
    ${index('running', `(created_at, id) WHERE state = 'running'`)}
    ${index('waiting', `(created_at, id) WHERE state = 'waiting'`)}
    ${index('waiting_session', `(session, created_at, id) WHERE state = 'waiting'`)}
    ${index('expiring', `(expires_at) WHERE state = 'waiting'`)}
    ${index('settled', `(settled_at) WHERE state = 'settled'`)}
    ${index('cancelled', '(owner) WHERE cancel')}
    ${index('changed', '(changed) WHERE changed IS NOT NULL')}
    CREATE TABLE ${cuts} (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      digest text NOT NULL UNIQUE -- of a deleted settlement to which one that is left may be chained
    );`
}

function indexName({ calls, prefix }: JournalTables, name: string): string {
  const [schema = ''] = calls.split('.')
  return `${schema}."${prefix}calls_${name}"`
}
