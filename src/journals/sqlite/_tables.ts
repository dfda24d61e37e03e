import { uptime } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { InvalidConfigurationError } from '../../index.ts'
import { beatsKept } from '../_rows.ts'

const schemaVersion = 2
const schema = `
  CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    held_since INTEGER NOT NULL, -- the version at which the owner got the record: only fences from then on may write
    version INTEGER NOT NULL,    -- the number of writes since the claim
    settled INTEGER NOT NULL,
    record TEXT NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX calls_unfinished ON calls (id) WHERE settled = 0;
  CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    beat_at INTEGER NOT NULL,
    beat_uptime INTEGER -- the machine's uptime at that beat, in milliseconds; steps of the wall clock do not change it
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${schemaVersion};
`

const upgrade = `
  ALTER TABLE owners ADD COLUMN beat_uptime INTEGER;
  PRAGMA user_version = ${schemaVersion};
`

/** Makes the tables of a new file, upgrades those of an older version, and deletes owners that ended long ago. */
export function prepareTables(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version === schemaVersion) {
    const up = uptimeNow()
    database
      .prepare('DELETE FROM owners WHERE beat_at < ? AND coalesce(beat_uptime NOT BETWEEN ? AND ?, true)')
      .run(Date.now() - beatsKept, up - beatsKept, up)
    return
  }
  if (version === 1) return database.exec(upgrade)
  if (version !== 0 || database.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined) {
    throw new InvalidConfigurationError(
      `The file is a database of something else, or of a newer version of this journal: it has version ${version}, and this journal knows ${schemaVersion}.`,
    )
  }
  database.exec(schema)
}

/** Returns the machine's uptime in milliseconds. All its processes share it. Some systems count whole seconds. */
export function uptimeNow(): number {
  return Math.round(uptime() * 1000)
}

/**
 * Returns how long an owner has been silent, in milliseconds.
 *
 * The wall clock may have been set since the last beat, and uptime restarts with the machine. A clock behind the beat is
 * ignored. If neither is behind, the shorter time counts, so that no living owner looks dead.
 *
 * @returns `Infinity` if both are behind the beat: the machine was restarted, so the owner has ended.
 */
export function silence(row: Readonly<Record<string, unknown>>, time: number, up: number): number {
  const byWall = time - Number(row['seen_at'])
  const byUptime = row['beat_uptime'] === null ? -1 : up - Number(row['beat_uptime'])
  if (byUptime < 0) return byWall < 0 ? Infinity : byWall
  return byWall < 0 ? byUptime : Math.min(byWall, byUptime + 1_000)
}
