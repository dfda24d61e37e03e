import { uptime } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { InvalidConfigurationError } from '../../index.ts'
import { beatsKept } from '../_rows.ts'

const schemaVersion = 2
const schema = `
  CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    held_since INTEGER NOT NULL, -- the version at which its owner came by it: only fences from then on may write
    version INTEGER NOT NULL,    -- how often it has been written since its claim
    settled INTEGER NOT NULL,
    record TEXT NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX calls_unfinished ON calls (id) WHERE settled = 0;
  CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    beat_at INTEGER NOT NULL,
    beat_uptime INTEGER -- the machine's uptime at that beat, in milliseconds; a step of the wall clock does not change it
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${schemaVersion};
`

const upgrade = `
  ALTER TABLE owners ADD COLUMN beat_uptime INTEGER;
  PRAGMA user_version = ${schemaVersion};
`

/** Makes the tables if the file is new, brings those of an older version up, and forgets owners that ended long ago. */
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

/** The machine's uptime in milliseconds: all its processes share it, and it goes on evenly. Some systems count whole seconds. */
export function uptimeNow(): number {
  return Math.round(uptime() * 1000)
}

/**
 * How long an owner has been silent, in milliseconds.
 *
 * The wall clock may have been set since its last beat, and uptime begins anew with the machine. A clock that is behind the beat
 * tells nothing; of two that are not, the shorter time counts, so that no living owner is taken for dead.
 *
 * @returns `Infinity` if both are behind it: the machine was started since, and its owner has ended.
 */
export function silence(row: Readonly<Record<string, unknown>>, time: number, up: number): number {
  const byWall = time - Number(row['seen_at'])
  const byUptime = row['beat_uptime'] === null ? -1 : up - Number(row['beat_uptime'])
  if (byUptime < 0) return byWall < 0 ? Infinity : byWall
  return byWall < 0 ? byUptime : Math.min(byWall, byUptime + 1_000)
}
