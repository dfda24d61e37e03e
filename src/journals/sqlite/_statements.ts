import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Fence, RecordQuery, TakeQuery, UnsentQuery } from '../../records/index.ts'
import { conditionsOf, deletedRow, sessionKey, turnOf, type Columns, type DeletedRow } from '../_columns.ts'
import { uptimeNow } from './_tables.ts'

/** How many cuts of chains are kept. An executor leaves one, if all its records are deleted. */
const cutsKept = 100_000

/** The most calls of a queue that are counted. */
const mostCounted = 1_000_000

export type Row = Record<string, unknown>

const next = `(SELECT 1 + coalesce(max(changed), 0) FROM calls WHERE changed IS NOT NULL)`

const seenAt = 'max(updated_at, coalesce(beat_at, 0))'
/**
 * How long an owner has been silent, in milliseconds.
 *
 * The wall clock may have been set since the last beat, and uptime restarts with the machine. A clock behind the beat is
 * ignored. If neither is behind, the shorter time counts, so that no living owner looks dead. If both are behind, the machine
 * was restarted: the owner has ended.
 */
const idle = `CASE
  WHEN beat_uptime <= $2 AND $1 < ${seenAt} THEN $2 - beat_uptime
  WHEN beat_uptime <= $2 THEN min($1 - ${seenAt}, $2 - beat_uptime + 1000)
  WHEN $1 < ${seenAt} THEN 9e999
  ELSE $1 - ${seenAt} END`

/** What the journal asks of its tables. Each method is one statement or few, in the caller's transaction. */
export class Statements {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  claim(columns: Columns, owner: string): boolean {
    const { id, text, session, state, waits, createdAt, expiresAt, settledAt, queue, fingerprint, alone } = columns
    const { changes } = this.#prepare(
      `INSERT INTO calls (id, owner, held_since, version, record, updated_at, session, state, waits, created_at, expires_at,
        settled_at, queue, fingerprint, alone, changed)
      VALUES (?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${state === 'running' ? 'NULL' : next})
      ON CONFLICT (id) DO NOTHING`,
    ).run(
      id,
      owner,
      text,
      Date.now(),
      session,
      state,
      waits,
      createdAt,
      expiresAt,
      settledAt,
      queue,
      fingerprint,
      alone,
    )
    return changes === 1
  }

  write(columns: Columns, { owner, number }: Fence): boolean {
    const { id, text, state, waits, expiresAt, settledAt, queue, fingerprint, alone } = columns
    // What runs on changes no column that an index has.
    if (state === 'running' && this.#writeRunning(text, id, owner, number)) return true
    const { changes } = this.#prepare(
      `UPDATE calls SET version = version + 1, record = ?, updated_at = ?, state = ?, waits = ?, expires_at = ?,
        settled_at = ?, queue = ?, fingerprint = ?, alone = ?, changed = ${next}
      WHERE id = ? AND owner = ? AND held_since <= ?`,
    ).run(text, Date.now(), state, waits, expiresAt, settledAt, queue, fingerprint, alone, id, owner, number)
    return changes === 1
  }

  #writeRunning(text: string, id: string, owner: string, number: number): boolean {
    const { changes } = this.#prepare(
      `UPDATE calls SET version = version + 1, record = ?, updated_at = ?
      WHERE id = ? AND owner = ? AND held_since <= ? AND state = 'running'`,
    ).run(text, Date.now(), id, owner, number)
    return changes === 1
  }

  read(id: string): Row | undefined {
    return this.#prepare('SELECT record, owner, version FROM calls WHERE id = ?').get(id)
  }

  takeOver(id: string, fence: Fence, owner: string): boolean {
    const { changes } = this.#prepare(
      `UPDATE calls SET owner = ?, held_since = version + 1, version = version + 1, updated_at = ?
      WHERE id = ? AND owner = ? AND version = ? AND state <> 'settled'`,
    ).run(owner, Date.now(), id, fence.owner, fence.number)
    return changes === 1
  }

  /** Takes over calls that wait for a worker. They count as running, although their records are as they were. */
  take(wanted: TakeQuery, owner: string): Row[] {
    const isOne = 'invocationId' in wanted
    const kept = (call: string): string => `${call}.id NOT IN (SELECT value FROM json_each($except))
      AND coalesce(${call}.fingerprint, '') NOT IN (SELECT value FROM json_each($lacking))`
    const turn = turnOf('calls', '$now', kept('other'))
    const which = isOne ? 'id = $first' : `queue = $first AND ${kept('call')}`
    return this.#prepare(
      `UPDATE calls SET owner = $owner, held_since = version + 1, version = version + 1, updated_at = $now, state = 'running',
        waits = NULL, queue = NULL, expires_at = NULL
      WHERE id IN (SELECT id FROM calls AS call WHERE waits = 'worker' AND ${which} AND expires_at >= $now AND ${turn}
        ORDER BY updated_at LIMIT $limit)
      RETURNING id, record, owner, version`,
    ).all({
      $owner: owner,
      $now: Date.now(),
      $first: isOne ? wanted.invocationId : sessionKey(wanted.queue),
      $except: JSON.stringify(isOne ? [] : wanted.except),
      $lacking: JSON.stringify(isOne ? [] : (wanted.lacking ?? []).map(sessionKey)),
      $limit: wanted.limit,
    })
  }

  /**
   * Returns calls that wait for a worker, have their turn and were silent. They count as written, so that no other worker gets
   * them.
   */
  unsent({ queues, silentFor, limit }: UnsentQuery): Row[] {
    const now = Date.now()
    return this.#prepare(
      `UPDATE calls SET updated_at = $now WHERE id IN (SELECT id FROM calls AS call WHERE waits = 'worker'
        AND queue IN (SELECT value FROM json_each($queues)) AND updated_at < $before AND ${turnOf('calls', '$now')}
        ORDER BY updated_at LIMIT $limit)
      RETURNING id, queue`,
    ).all({ $now: now, $queues: JSON.stringify(queues.map(sessionKey)), $before: now - silentFor, $limit: limit })
  }

  /** Returns those of these calls that wait for a worker and have their turn. */
  free(ids: readonly string[]): string[] {
    const rows = this.#prepare(
      `SELECT id FROM calls AS call WHERE id IN (SELECT value FROM json_each($ids)) AND waits = 'worker'
        AND expires_at >= $now AND ${turnOf('calls', '$now')}`,
    ).all({ $ids: JSON.stringify(ids), $now: Date.now() })
    return rows.map(({ id }) => String(id))
  }

  depth(queue: string, atMost: number): number {
    const row = this.#prepare(
      `SELECT count(*) AS count FROM (SELECT 1 FROM calls WHERE waits = 'worker' AND queue = ? LIMIT ?)`,
    ).get(sessionKey(queue), Math.min(atMost, mostCounted))
    return Number(row?.['count'])
  }

  /** Lists a page. Its rows have `id`, `record`, `owner`, `version`, `created_at` and `idle`. */
  list(query: RecordQuery, limit: number): Row[] {
    const values: unknown[] = [Date.now(), uptimeNow()]
    const conditions = conditionsOf(query, idle, values)
    const text = `SELECT id, record, calls.owner AS owner, version, created_at, ${idle} AS idle
      FROM calls LEFT JOIN owners ON owners.owner = calls.owner
      WHERE ${conditions} ORDER BY created_at DESC, id DESC LIMIT $${values.push(limit)}`
    const named = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value as SQLInputValue]))
    return this.#prepare(text).all(named)
  }

  settledOf(ids: readonly string[]): Row[] {
    return this.#prepare(
      `SELECT id, record, owner, version FROM calls
      WHERE state = 'settled' AND id IN (SELECT value FROM json_each(?))`,
    ).all(JSON.stringify(ids))
  }

  /** Records a sign of life. Returns the invocations that the owner was asked to cancel. */
  beat(owner: string): string[] {
    this.#prepare(
      `INSERT INTO owners VALUES (?, ?, ?)
      ON CONFLICT (owner) DO UPDATE SET beat_at = excluded.beat_at, beat_uptime = excluded.beat_uptime`,
    ).run(owner, Date.now(), uptimeNow())
    const rows = this.#prepare(`SELECT id FROM calls WHERE owner = ? AND cancel = 1 AND state <> 'settled'`).all(owner)
    return rows.map(({ id }) => String(id))
  }

  requestCancel(id: string): boolean {
    const { changes } = this.#prepare(
      `UPDATE calls SET cancel = 1, changed = ${next} WHERE id = ? AND state <> 'settled'`,
    ).run(id)
    return changes === 1
  }

  delete(settledBefore: number, limit: number): DeletedRow[] {
    const rows = this.#prepare(
      `DELETE FROM calls WHERE id IN
        (SELECT id FROM calls WHERE state = 'settled' AND settled_at < ? ORDER BY settled_at LIMIT ?)
      RETURNING id, session, record`,
    )
      .all(settledBefore, limit)
      .map(({ id, session, record }) => deletedRow(id, session, record))
    const cut = this.#prepare('INSERT OR IGNORE INTO cuts (digest) VALUES (?)')
    const join = this.#prepare('DELETE FROM cuts WHERE digest = ?')
    for (const { digest } of rows) if (digest !== undefined) cut.run(digest)
    for (const { previous } of rows) if (previous !== undefined) join.run(previous)
    this.#prepare('DELETE FROM cuts WHERE number <= (SELECT max(number) FROM cuts) - ?').run(cutsKept)
    return rows
  }

  cuts(): string[] {
    return this.#prepare('SELECT digest FROM cuts ORDER BY number')
      .all()
      .map(({ digest }) => String(digest))
  }

  /**
   * Returns the records that were changed after a change: all, if the records that it numbered are deleted, since the numbers
   * begin anew then. Its rows have the record only if it alone has the
   * session.
   */
  changed(after: number): Row[] {
    return this.#prepare(
      `SELECT changed, id, session, state, waits, cancel, CASE WHEN session LIKE 'sha256:%' THEN record END AS record FROM calls
      WHERE changed > iif($1 > (SELECT max(changed) FROM calls), 0, $1) ORDER BY changed`,
    ).all({ $1: after })
  }

  lastChange(): number {
    return Number(this.#prepare(`SELECT ${next} - 1 AS last`).get()?.['last'])
  }

  /** Returns a number that differs once another connection has changed the file. */
  version(): unknown {
    return this.#prepare('PRAGMA data_version').get()?.['data_version']
  }

  #prepare(text: string): StatementSync {
    let statement = this.#prepared.get(text)
    if (statement === undefined) this.#prepared.set(text, (statement = this.#database.prepare(text)))
    return statement
  }
}
