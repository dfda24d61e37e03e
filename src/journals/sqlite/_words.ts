import { changing, reading, type Statement } from '../sql/_operations.ts'
import type { SqlWords } from '../sql/_statements.ts'
import { uptimeNow } from './_tables.ts'

/** The number of the next change. No other connection writes until the transaction has ended. */
export const next = `(SELECT 1 + coalesce(max(changed), 0) FROM calls WHERE changed IS NOT NULL)`

const seenAt = 'max(updated_at, coalesce(beat_at, 0))'

/** What is particular to the statements of SQLite. The clock is that of the machine, which all its processes share. */
export const sqliteWords: SqlWords = {
  calls: 'calls',
  owners: 'owners',
  cuts: 'cuts',
  effects: 'effects',
  keyOf: (id) => id,
  skipExisting: 'ON CONFLICT (id) DO NOTHING',
  now: (values) => `$${values.push(Date.now())}`,
  next: () => next,

  /**
   * How long an owner has been silent, in milliseconds.
   *
   * The wall clock may have been set since the last beat, and uptime restarts with the machine. A clock behind the beat is
   * ignored. If neither is behind, the shorter time counts, so that no living owner looks dead. If both are behind, the machine
   * was restarted: the owner has ended.
   */
  idle(values) {
    const [now, up] = [`$${values.push(Date.now())}`, `$${values.push(uptimeNow())}`]
    return `CASE
      WHEN beat_uptime <= ${up} AND ${now} < ${seenAt} THEN ${up} - beat_uptime
      WHEN beat_uptime <= ${up} THEN min(${now} - ${seenAt}, ${up} - beat_uptime + 1000)
      WHEN ${now} < ${seenAt} THEN 9e999
      ELSE ${now} - ${seenAt} END`
  },

  *beat(owner) {
    yield changing(
      `INSERT INTO owners VALUES ($1, $2, $3)
      ON CONFLICT (owner) DO UPDATE SET beat_at = excluded.beat_at, beat_uptime = excluded.beat_uptime`,
      [owner, Date.now(), uptimeNow()],
    )
  },
}

/** The change after which a watch looks: the first, if the records that it numbered are deleted, since the numbers begin anew then. */
export const after = 'iif($1 > (SELECT max(changed) FROM calls), 0, $1)'

export const lastChange: Statement = reading(`SELECT ${next} - 1 AS last`, [])

/** Gives a number that differs once another connection has changed the file. */
export const dataVersion: Statement = reading('PRAGMA data_version', [])
