// Journals as older releases left them: their own tables, with records in every state.
import { DatabaseSync } from 'node:sqlite'
import type { ToolCallRecord } from 'toolwright'
import { isSettled, type RecordQuery } from 'toolwright/records'
import { recordOf, settledOf, waitingOf } from '../conformance/journals.ts'

const longSession = 'long '.repeat(1_000)

/** What an older journal has, newest first. */
export const olderRecords: readonly ToolCallRecord[] = [
  recordOf('running', { createdAt: 9_000 }),
  waitingOf('asking', { createdAt: 8_000 }, { expiresAt: 20_000 }),
  waitingOf('client', { createdAt: 7_000, state: 'EXECUTING', session: 'two' }, { reason: 'client' }),
  settledOf('settled', { createdAt: 6_000, completedAt: 6_500 }),
  recordOf('odd', { createdAt: 5_000, session: 'a\ud800\0' }),
  settledOf('long', { createdAt: 4_000, completedAt: 4_500, session: longSession }),
]

/** The text of a record that a fault of a disk has cut off. */
export const damagedText: string = JSON.stringify(recordOf('damaged')).slice(0, 80)

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
