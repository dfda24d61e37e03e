// Journals as older releases left them: their own tables, with records in every state.
import { DatabaseSync } from 'node:sqlite'
import type { ToolCallRecord } from 'toolwright/extension'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { isSettled, type Journal, type RecordQuery } from 'toolwright/records'
import { fixtureRecord, settledOf, waitingOf } from '../conformance/journals.ts'

const longSession = 'long '.repeat(1_000)

/** What an older journal has, newest first. */
export const olderRecords: readonly ToolCallRecord[] = [
  fixtureRecord('running', { createdAt: 9_000 }),
  waitingOf('asking', { createdAt: 8_000 }, { expiresAt: 20_000 }),
  waitingOf('client', { createdAt: 7_000, state: 'EXECUTING', session: 'two' }, { reason: 'client' }),
  settledOf('settled', { createdAt: 6_000, completedAt: 6_500 }),
  fixtureRecord('odd', { createdAt: 5_000, session: 'a\ud800\0' }),
  settledOf('long', { createdAt: 4_000, completedAt: 4_500, session: longSession }),
]

/** The text of a record that a fault of a disk has cut off. */
export const damagedText: string = JSON.stringify(fixtureRecord('damaged')).slice(0, 80)

/** What the queries of the present journal have to find in it. */
export const expectedLists: readonly (readonly [RecordQuery, readonly string[]])[] = [
  [{}, ['running', 'asking', 'client', 'settled', 'odd', 'long']],
  [{ state: 'running' }, ['running', 'odd']],
  [{ state: 'waiting' }, ['asking', 'client']],
  [{ reason: 'client' }, ['client']],
  [{ expiresBefore: 20_000 }, ['client']],
  [{ settledBefore: 6_500 }, ['long']],
  [{ session: 'two' }, ['client']],
  [{ session: longSession }, ['long']],
  [{ session: 'a\ud800\0' }, ['odd']],
]

const work = { queue: 'default', attempts: 0 }
const pause = { reason: 'worker', digest: 'd', fingerprint: 'f', expiresAt: 8e12, text: '{}' } as const

/** Calls for workers of a release that had none that run alone: one that runs, one that waits for it, one that waits for none. */
export const workerRecords: readonly ToolCallRecord[] = [
  fixtureRecord('has a worker', {
    createdAt: 100,
    session: 'alone',
    journal: { caller: 'model', owner: 'mine', fence: 0, work: { ...pause, work: { ...work, isAlone: true } } },
  }),
  waitingOf('comes next', { createdAt: 200, session: 'alone', state: 'PENDING' }, { ...pause, work }),
  waitingOf(
    'comes alone',
    { createdAt: 300, session: 'two', state: 'PENDING' },
    { ...pause, work: { ...work, isAlone: true } },
  ),
  waitingOf('comes last', { createdAt: 400, session: 'two', state: 'PENDING' }, { ...pause, work }),
]

/** What takes from a file of version 7 what it has more than the versions before, the newest first. */
const lessInFiles = [
  'DROP TABLE effects; PRAGMA user_version = 6',
  'ALTER TABLE calls DROP COLUMN fingerprint; PRAGMA user_version = 5',
  'DROP INDEX calls_line; DROP INDEX calls_beside; ALTER TABLE calls DROP COLUMN alone; PRAGMA user_version = 4',
  'DROP INDEX calls_queued; ALTER TABLE calls DROP COLUMN queue; PRAGMA user_version = 3',
]
/** The same of tables of version 9. Servers before Postgres 14 have no compression to set back. */
export const lessInTables = (schema: string): string[] => [
  `CREATE OR REPLACE FUNCTION "${schema}".toolwright_take_each(taker text, now_at float8, ids text[])
    RETURNS TABLE (id text, record text, owner text, version integer) LANGUAGE sql AS $$ SELECT '', '', '', 0 LIMIT 0 $$;
  COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 8'`,
  `DO $$ BEGIN
    EXECUTE 'ALTER TABLE "${schema}".toolwright_calls ALTER COLUMN record SET COMPRESSION default';
  EXCEPTION WHEN syntax_error THEN
    NULL;
  END $$;
  COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 7'`,
  `DROP TABLE "${schema}".toolwright_effects;
  COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 6'`,
  `DROP FUNCTION "${schema}".toolwright_take_each;
  DROP INDEX "${schema}".toolwright_calls_open, "${schema}".toolwright_calls_ends, "${schema}".toolwright_calls_line;
  CREATE INDEX toolwright_calls_running ON "${schema}".toolwright_calls (created_at, id) WHERE state = 'running';
  CREATE INDEX toolwright_calls_waiting ON "${schema}".toolwright_calls (created_at, id) WHERE state = 'waiting';
  CREATE INDEX toolwright_calls_expiring ON "${schema}".toolwright_calls (expires_at) WHERE state = 'waiting';
  CREATE INDEX toolwright_calls_settled ON "${schema}".toolwright_calls (settled_at) WHERE state = 'settled';
  CREATE INDEX toolwright_calls_line ON "${schema}".toolwright_calls (session, queue, created_at) WHERE waits = 'worker';
  CREATE INDEX toolwright_calls_beside ON "${schema}".toolwright_calls (session, alone, state) WHERE alone IS NOT NULL;
  COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 5'`,
  `DROP FUNCTION "${schema}".toolwright_take;
  ALTER TABLE "${schema}".toolwright_calls DROP COLUMN fingerprint;
  COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 4'`,
  `ALTER TABLE "${schema}".toolwright_calls DROP COLUMN alone;
  DROP INDEX "${schema}".toolwright_calls_line;
  COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 3'`,
  `ALTER TABLE "${schema}".toolwright_calls DROP COLUMN queue;
  COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 2'`,
]

/** Makes a journal as a former release left it: one before the last by each step. */
export async function makeFormerFile(file: string, steps: 0 | 1 | 2 | 3): Promise<void> {
  const { journal, close } = sqliteJournal(file)
  await fill(journal, steps)
  await close()
  const database = new DatabaseSync(file)
  for (const statement of lessInFiles.slice(0, steps + 1)) database.exec(statement)
  database.prepare('UPDATE calls SET record = ? WHERE id = ?').run(damagedText, 'damaged')
  database.close()
}

/** Makes tables as a former release left them, of version 8, 7, 6, 5, 4, 3 or 2. */
export async function makeFormerTables(
  query: (text: string, values?: unknown[]) => Promise<unknown>,
  journal: Journal,
  schema: string,
  version: 2 | 3 | 4 | 5 | 6 | 7 | 8,
): Promise<void> {
  await fill(journal, version === 2 ? 3 : 1)
  for (const statement of lessInTables(schema).slice(0, 9 - version)) await query(statement)
  const damage = `UPDATE "${schema}".toolwright_calls SET record = $1 WHERE id = $2`
  await query(damage, [damagedText, 'damaged'])
}

async function fill(journal: Journal, steps: 0 | 1 | 2 | 3): Promise<void> {
  for (const record of olderRecords) await journal.claim(record, 'mine')
  await journal.claim(fixtureRecord('damaged', { createdAt: 1 }), 'mine')
  if (steps < 3) for (const record of workerRecords) await journal.claim(record, 'mine')
}

export function makeOlderFile(file: string, version: 1 | 2): void {
  const database = new DatabaseSync(file)
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE calls (
      id TEXT PRIMARY KEY,
      owner TEXT NOT NULL,
      held_since INTEGER NOT NULL,
      version INTEGER NOT NULL,
      settled INTEGER NOT NULL,
      record TEXT NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX calls_unfinished ON calls (id) WHERE settled = 0;
    CREATE TABLE owners (
      owner TEXT PRIMARY KEY,
      beat_at INTEGER NOT NULL
      ${version === 2 ? ', beat_uptime INTEGER' : ''}
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = ${version};
  `)
  const insert = database.prepare('INSERT INTO calls VALUES (?, ?, 0, 0, ?, ?, ?)')
  for (const record of olderRecords) {
    insert.run(record.id, 'mine', Number(isSettled(record.state)), JSON.stringify(record), record.updatedAt)
  }
  insert.run('damaged', 'mine', 0, damagedText, 1)
  database.prepare('INSERT INTO owners (owner, beat_at) VALUES (?, ?)').run('mine', Date.now())
  database.close()
}

export async function makeOlderTables(
  query: (text: string, values?: unknown[]) => Promise<unknown>,
  schema: string,
): Promise<void> {
  const calls = `"${schema}"."toolwright_calls"`
  await query(`
    CREATE TABLE ${calls} (
      id text COLLATE "C" PRIMARY KEY,
      owner text NOT NULL,
      held_since integer NOT NULL,
      version integer NOT NULL,
      settled boolean NOT NULL,
      record text NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX "toolwright_calls_unfinished" ON ${calls} (id) WHERE NOT settled;
    CREATE TABLE "${schema}"."toolwright_owners" (
      owner text COLLATE "C" PRIMARY KEY,
      beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    COMMENT ON TABLE ${calls} IS 'Toolwright journal 1';
  `)
  const insert = `INSERT INTO ${calls} (id, owner, held_since, version, settled, record) VALUES ($1, $2, 0, 0, $3, $4)`
  for (const record of olderRecords) {
    await query(insert, [record.id, 'mine', isSettled(record.state), JSON.stringify(record)])
  }
  await query(insert, ['damaged', 'mine', false, damagedText])
}
