import { uptime } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { InvalidConfigurationError } from '../../errors.ts'
import type { ToolCallRecord } from '../../extension.ts'
import { columnsOf } from '../_columns.ts'
import { beatsKept, recordOf } from '../_rows.ts'

const sqliteVersion = 7

const indexes = `
  CREATE INDEX calls_created ON calls (created_at, id);
  CREATE INDEX calls_session ON calls (session, created_at, id);
  CREATE INDEX calls_running ON calls (created_at, id) WHERE state = 'running';
  CREATE INDEX calls_waiting ON calls (created_at, id) WHERE state = 'waiting';
  CREATE INDEX calls_waiting_session ON calls (session, created_at, id) WHERE state = 'waiting';
  CREATE INDEX calls_expiring ON calls (expires_at) WHERE state = 'waiting';
  CREATE INDEX calls_settled ON calls (settled_at) WHERE state = 'settled';
  CREATE INDEX calls_cancelled ON calls (owner) WHERE cancel = 1;
  CREATE INDEX calls_changed ON calls (changed) WHERE changed IS NOT NULL;
  CREATE TABLE cuts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE -- of a deleted settlement to which one that is left may be chained
  ) STRICT;
`

const queued = `CREATE INDEX calls_queued ON calls (queue, updated_at) WHERE waits = 'worker'`

const lineIndexes = `
  CREATE INDEX calls_line ON calls (session, queue, created_at) WHERE waits = 'worker';
  CREATE INDEX calls_beside ON calls (session, alone, state) WHERE alone IS NOT NULL;
`

const effectsTable = `
  CREATE TABLE effects (
    scope TEXT NOT NULL,
    effect_key TEXT NOT NULL,
    call_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL, -- the one that does this: at most one for a scope and a key
    PRIMARY KEY (scope, effect_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX effects_call ON effects (call_id);
`

const createStatements = `
  CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    held_since INTEGER NOT NULL,       -- the version at which the owner got the record: only fences from then on may write
    version INTEGER NOT NULL,          -- the number of writes since the claim
    record TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    session TEXT NOT NULL,             -- or its digest
    state TEXT NOT NULL,               -- running, waiting or settled
    waits TEXT,                        -- for what, if it waits
    created_at REAL NOT NULL,
    expires_at REAL,                   -- if it waits
    settled_at REAL,
    cancel INTEGER NOT NULL DEFAULT 0, -- whether its owner was asked to cancel it
    changed INTEGER,                   -- the number of its last change that a watch tells
    queue TEXT,                        -- the name or the digest of that in which it waits for a worker
    fingerprint TEXT,                  -- of its tool, if it waits for a worker
    alone INTEGER                      -- whether it runs beside no other of its session, if it waits for or has a worker
  ) STRICT;
  CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    beat_at INTEGER NOT NULL,
    beat_uptime INTEGER -- the machine's uptime at that beat, in milliseconds; steps of the wall clock do not change it
  ) STRICT, WITHOUT ROWID;
  ${indexes}
  ${queued};
  ${lineIndexes}
  ${effectsTable}
`

/** What brings a file of each version to the next. */
const upgrades: Readonly<Record<number, (database: DatabaseSync) => void>> = {
  0: (database) => database.exec(createStatements),
  1: (database) => database.exec('ALTER TABLE owners ADD COLUMN beat_uptime INTEGER'),
  2: addColumns,
  3: addQueues,
  4: addLines,
  5: (database) => database.exec('ALTER TABLE calls ADD COLUMN fingerprint TEXT'), // what waits already is unknown
  6: (database) => database.exec(effectsTable),
}

/**
 * Makes the tables of a new file, upgrades those of an older version step by step, and deletes owners that ended long ago. The
 * caller holds the transaction.
 */
export function prepareTables(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  const isForeign = version === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined
  if (isForeign || version < 0 || version > sqliteVersion) {
    throw new InvalidConfigurationError(
      `The file is a database of something else, or of a newer version of this journal: it has version ${version}, and this journal knows ${sqliteVersion}. Give it another file, or a newer release of this package.`,
    )
  }
  if (version === sqliteVersion) return deleteOwners(database)
  for (let step = version; step < sqliteVersion; step = step === 0 ? sqliteVersion : step + 1)
    upgrades[step]?.(database)
  database.exec(`PRAGMA user_version = ${sqliteVersion}`)
}

function deleteOwners(database: DatabaseSync): void {
  const up = uptimeNow()
  database
    .prepare('DELETE FROM owners WHERE beat_at < ? AND coalesce(beat_uptime NOT BETWEEN ? AND ?, true)')
    .run(Date.now() - beatsKept, up - beatsKept, up)
}

const listColumnStatements = [
  'DROP INDEX calls_unfinished',
  `ALTER TABLE calls ADD COLUMN session TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE calls ADD COLUMN state TEXT NOT NULL DEFAULT 'running'`,
  'ALTER TABLE calls ADD COLUMN waits TEXT',
  'ALTER TABLE calls ADD COLUMN created_at REAL NOT NULL DEFAULT 0',
  'ALTER TABLE calls ADD COLUMN expires_at REAL',
  'ALTER TABLE calls ADD COLUMN settled_at REAL',
  'ALTER TABLE calls ADD COLUMN cancel INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE calls ADD COLUMN changed INTEGER',
  `UPDATE calls SET state = iif(settled, 'settled', 'running'), settled_at = iif(settled, updated_at, NULL),
    created_at = updated_at`,
  'ALTER TABLE calls DROP COLUMN settled',
]

/** Adds the columns by which records are listed, and fills them from the records. */
function addColumns(database: DatabaseSync): void {
  for (const statement of listColumnStatements) database.exec(statement)
  const fill = database.prepare(
    `UPDATE calls SET session = ?, waits = ?, created_at = ?, expires_at = ?,
      state = CASE WHEN state = 'running' AND ? IS NOT NULL THEN 'waiting' ELSE state END,
      settled_at = CASE WHEN state = 'settled' THEN ? END
    WHERE id = ?`,
  )
  const ids = database.prepare('SELECT id FROM calls')
  const select = database.prepare('SELECT record FROM calls WHERE id = ?')
  for (const { id } of ids.all()) {
    const record = readable(select.get(String(id))?.['record'], id)
    if (record === undefined) continue // damaged: lists report it by its state
    const { session, waits, createdAt, expiresAt, settledAt } = columnsOf(record)
    fill.run(session, waits, createdAt, expiresAt, waits, settledAt, String(id))
  }
  database.exec(indexes)
}

/** Adds the column and the index of the calls that wait for workers. */
function addQueues(database: DatabaseSync): void {
  database.exec('ALTER TABLE calls ADD COLUMN queue TEXT')
  database.exec(queued)
}

/** Adds the column by which some calls run alone, and fills it from the records. */
function addLines(database: DatabaseSync): void {
  database.exec('ALTER TABLE calls ADD COLUMN alone INTEGER')
  const fill = database.prepare('UPDATE calls SET alone = ? WHERE id = ?')
  const found = database.prepare(`SELECT id, record FROM calls WHERE state <> 'settled' AND record LIKE '%"work":%'`)
  for (const { id, record } of found.all()) {
    const text = readable(record, id)
    if (text !== undefined) fill.run(columnsOf(text).alone, String(id))
  }
  database.exec(lineIndexes)
}

function readable(text: unknown, id: unknown): ToolCallRecord | undefined {
  try {
    return recordOf(text, id)
  } catch {
    return undefined
  }
}

/** Returns the machine's uptime in milliseconds. All its processes share it. Some systems count whole seconds. */
export function uptimeNow(): number {
  return Math.round(uptime() * 1000)
}
