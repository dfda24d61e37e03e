import { sha256 } from '#sha256'
import { JournalError } from '../../errors.ts'
import type { Deleted, Fence, RecordQuery, TakeQuery, UnsentQuery } from '../../records/index.ts'
import { changeOf, conditionsOf, deletedRow, sessionKey, mayRunNow, type Columns } from '../_columns.ts'
import type { RecordHint } from '../_listeners.ts'
import { cutsKept, mostCounted, type Row } from '../_rows.ts'
import { ServerClock } from '../_server-clock.ts'
import type { Rows } from '../sql/_journal.ts'
import type { RunStatement, JournalTables } from './_tables.ts'
import { isInLine } from './_take-functions.ts'

/** The payload of a notification is shorter, in bytes. */
export const limitOfPayload = 8_000
/** The longest payload that is certain to fit, in characters. */
const longestPayload = 2_500

type StatementTexts = Readonly<
  Record<'claim' | 'write' | 'read' | 'takeOver' | 'take' | 'takeEach' | 'settled' | 'beat', string>
>

/** What the journal asks of its tables. Each change is one statement. */
export class PostgresStatements implements Rows {
  readonly channel: string
  readonly #ask: RunStatement
  readonly #tables: JournalTables
  readonly #notifies: boolean
  readonly #texts: StatementTexts
  readonly #clock = new ServerClock()

  constructor(ask: RunStatement, tables: JournalTables, notifies: boolean) {
    this.#ask = ask
    this.#tables = tables
    this.#notifies = notifies
    this.channel = `toolwright_${sha256(tables.calls).slice(0, 32)}`
    this.#texts = statementTexts(tables, notifies ? this.channel : undefined)
  }

  async claim(columns: Columns, owner: string, session: string): Promise<boolean> {
    const { id, text, session: key, state, waits, createdAt, expiresAt, settledAt, queue, fingerprint, alone } = columns
    const payload = payloadOf(id, session, changeOf(columns))
    const rows = await this.#ask(
      this.#texts.claim,
      [id, owner, text, key, state, waits, createdAt, expiresAt, settledAt, payload, queue, alone, fingerprint],
      true,
    )
    return rows.length === 1
  }

  async write(columns: Columns, { owner, number }: Fence, session: string): Promise<boolean> {
    const { id, text, state, waits, expiresAt, settledAt, queue, fingerprint, alone } = columns
    const payload = payloadOf(id, session, changeOf(columns))
    const rows = await this.#ask(
      this.#texts.write,
      [id, owner, number, text, state, waits, expiresAt, settledAt, payload, queue, alone, fingerprint],
      true,
    )
    return rows.length === 1
  }

  async read(id: string): Promise<Row | undefined> {
    const [row] = await this.#ask(this.#texts.read, [id], true)
    return row
  }

  async takeOver(id: string, { owner: former, number }: Fence, owner: string): Promise<boolean> {
    const rows = await this.#ask(this.#texts.takeOver, [id, former, number, owner], true)
    return rows.length === 1
  }

  /** Takes over calls that wait for a worker. They count as running, although their records are as they were. */
  take(wanted: TakeQuery, owner: string): Promise<readonly Row[]> {
    const now = Date.now()
    if ('invocationId' in wanted) return this.#ask(this.#texts.takeEach, [owner, now, [wanted.invocationId]], true)
    const { queue, limit, except, lacking = [] } = wanted
    return this.#ask(this.#texts.take, [owner, now, sessionKey(queue), except, limit, lacking.map(sessionKey)], true)
  }

  /**
   * Returns calls that wait for a worker, may run now and were silent. They count as written, so that no other worker gets
   * them.
   */
  unsent({ queues, silentFor, limit }: UnsentQuery): Promise<readonly Row[]> {
    const { calls } = this.#tables
    return this.#ask(
      `UPDATE ${calls} SET updated_at = clock_timestamp() WHERE id = ANY (ARRAY(
        SELECT id FROM ${calls} AS call WHERE waits = 'worker' AND queue = ANY ($1::text[])
          AND updated_at < clock_timestamp() - interval '1 millisecond' * $2::float8 AND ${mayRunNow(calls, '$4::float8', { waiting: isInLine })}
        ORDER BY updated_at LIMIT $3 FOR UPDATE SKIP LOCKED))
      RETURNING id, queue`,
      [queues.map(sessionKey), silentFor, limit, Date.now()],
    )
  }

  /** Returns those of these calls that wait for a worker and may run now. */
  async free(ids: readonly string[]): Promise<string[]> {
    const { calls } = this.#tables
    const rows = await this.#ask(
      `SELECT id FROM ${calls} AS call WHERE id = ANY ($1::text[]) AND waits = 'worker' AND expires_at >= $2::float8
        AND ${mayRunNow(calls, '$2::float8', { waiting: isInLine })}`,
      [ids, Date.now()],
    )
    return rows.map(({ id }) => String(id))
  }

  async depth(queue: string, atMost: number): Promise<number> {
    const [row] = await this.#ask(
      `SELECT count(*)::int AS count FROM (SELECT 1 FROM ${this.#tables.calls}
        WHERE waits = 'worker' AND queue = $1 LIMIT $2) AS waiting`,
      [sessionKey(queue), Math.min(atMost, mostCounted)],
    )
    return Number(row?.['count'])
  }

  list(query: RecordQuery, limit: number): Promise<readonly Row[]> {
    const { server = null, ago = null } = this.#clock.former() ?? {}
    const values: unknown[] = [server, ago]
    const now = '1000 * extract(epoch FROM clock_timestamp())::float8'
    const seenAt = '1000 * extract(epoch FROM greatest(updated_at, beat_at))::float8'
    // Since a moment, the server's clock has gone on by more than the own clock: it was set ahead.
    const ahead = `${now} - $1::float8 - $2::float8`
    const step = `CASE WHEN ${ahead} > 1000 THEN ${ahead} ELSE 0 END`
    const idle = `(${now} - ${seenAt} - ${step})`
    const { calls, owners } = this.#tables
    const conditions = [conditionsOf(query, idle, values)]
    if (query.expiresBefore !== undefined) conditions.push('settled_at IS NULL') // begins the index of expiries
    return this.#ask(
      `SELECT id, record, calls.owner, version, created_at, ${idle} AS idle
      FROM ${calls} AS calls LEFT JOIN ${owners} AS owners ON owners.owner = calls.owner
      WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT $${values.push(limit)}`,
      values,
    )
  }

  settledOf(ids: readonly string[]): Promise<readonly Row[]> {
    return this.#ask(this.#texts.settled, [ids], true)
  }

  /** Records a sign of life. Returns the invocations that the owner was asked to cancel. */
  async beat(owner: string): Promise<string[]> {
    const [row] = await this.#ask(this.#texts.beat, [owner], true)
    this.#clock.remember(Number(row?.['at']))
    const ids = row?.['ids']
    return typeof ids === 'string' ? (JSON.parse(ids) as string[]) : []
  }

  async requestCancel(id: string): Promise<boolean> {
    const payload = `json_build_array(id, session, 'cancelled')::text`
    // The owner of a call whose names are too long, or are digests, hears of it at its next sign of life.
    const notification = this.#notifies
      ? `CASE WHEN octet_length(${payload}) < ${limitOfPayload} AND session NOT LIKE 'sha256:%'
          THEN pg_notify('${this.channel}', ${payload})::text END`
      : 'NULL'
    const rows = await this.#ask(
      `WITH change AS (
        UPDATE ${this.#tables.calls} SET cancel = true WHERE id = $1 AND state <> 'settled' RETURNING id, session)
      SELECT ${notification} FROM change`,
      [id],
    )
    return rows.length === 1
  }

  /** Deletes settled records and keeps where that cuts their chains, in one statement. */
  async delete(
    settledBefore: number,
    limit: number,
  ): Promise<{ readonly deleted: Deleted[]; readonly isEnd: boolean }> {
    const { calls, cuts } = this.#tables
    const found = await this.#ask(
      `SELECT id, session, record FROM ${calls} WHERE state = 'settled' AND settled_at < $1 ORDER BY settled_at LIMIT $2`,
      [settledBefore, limit],
    )
    const rows = found.map(({ id, session, record }) => deletedRow(id, session, record))
    const previous = new Set(rows.flatMap((row) => row.previous ?? []))
    const digests = rows.flatMap((row) => row.digest ?? []).filter((digest) => !previous.has(digest))
    const gone = await this.#ask(
      `WITH gone AS (DELETE FROM ${calls} WHERE id = ANY($1::text[]) AND state = 'settled' RETURNING id),
        cut AS (INSERT INTO ${cuts} (digest) SELECT unnest($2::text[]) ON CONFLICT DO NOTHING),
        joined AS (DELETE FROM ${cuts} WHERE digest = ANY($3::text[])
          OR number <= (SELECT max(number) FROM ${cuts}) - ${cutsKept})
      SELECT id FROM gone`,
      [rows.map(({ deleted }) => deleted.invocationId), digests, [...previous]],
    )
    const ids = new Set(gone.map(({ id }) => id))
    const deleted = rows.map((row) => row.deleted).filter(({ invocationId }) => ids.has(invocationId))
    return { deleted, isEnd: found.length < limit }
  }

  async cuts(): Promise<string[]> {
    const rows = await this.#ask(`SELECT digest FROM ${this.#tables.cuts} ORDER BY number`)
    return rows.map(({ digest }) => String(digest))
  }

  /** Returns what was changed by transactions from `since` on, and the first transaction that may not have ended. */
  async changed(since: string): Promise<{ rows: readonly Row[]; next: string }> {
    const [row] = await this.#ask('SELECT txid_snapshot_xmin(txid_current_snapshot())::text AS next')
    const next = row?.['next']
    if (typeof next !== 'string') throw new JournalError('The server did not tell its transaction.')
    if (since === '') return { rows: [], next }
    const rows = await this.#ask(
      `SELECT id, version, session, state, waits, CASE WHEN session LIKE 'sha256:%' THEN record END AS record
      FROM ${this.#tables.calls}
      WHERE changed >= $1::bigint AND changed < txid_snapshot_xmax(txid_current_snapshot()) ORDER BY changed`,
      [since],
    )
    return { rows, next }
  }
}

/**
 * Returns the statements that every call or every owner needs.
 *
 * @param channel On which watches are told of changes, if they are.
 */
function statementTexts({ calls, owners, take, takeEach }: JournalTables, channel: string | undefined): StatementTexts {
  /** Tells watches of a change, in the same statement. */
  const telling = (change: string, payload: string): string => {
    // The parameter has its type from the cast also if nothing is told.
    const notification = channel === undefined ? `${payload}::text` : `pg_notify('${channel}', ${payload}::text)::text`
    return `${change} RETURNING version, CASE WHEN changed = txid_current() THEN ${notification} END`
  }
  return {
    claim: telling(
      `INSERT INTO ${calls} (id, owner, held_since, version, record, session, state, waits, created_at,
        expires_at, settled_at, queue, alone, fingerprint, changed)
      VALUES ($1, $2, 0, 0, $3, $4, $5, $6, $7, $8, $9, $11, $12, $13, CASE WHEN $5 <> 'running' THEN txid_current() END)
      ON CONFLICT (id) DO NOTHING`,
      '$10',
    ),
    write: telling(
      `UPDATE ${calls} SET version = version + 1, record = $4, updated_at = clock_timestamp(), state = $5,
        waits = $6, expires_at = $7, settled_at = $8, queue = $10, alone = $11, fingerprint = $12,
        changed = CASE WHEN state = 'waiting' OR $5 <> 'running' THEN txid_current() ELSE changed END
      WHERE id = $1 AND owner = $2 AND held_since <= $3`,
      '$9',
    ),
    read: `SELECT record, owner, version FROM ${calls} WHERE id = $1`,
    takeOver: `UPDATE ${calls} SET owner = $4, held_since = version + 1, version = version + 1,
        updated_at = clock_timestamp()
      WHERE id = $1 AND owner = $2 AND version = $3 AND state <> 'settled' RETURNING version`,
    take: `SELECT id, record, owner, version FROM ${take}($1::text, $2::float8, NULL, $3::text, $4::text[], $5::integer, $6::text[])`,
    takeEach: `SELECT id, record, owner, version FROM ${takeEach}($1::text, $2::float8, $3::text[])`,
    settled: `SELECT id, record, owner, version FROM ${calls} WHERE id = ANY($1::text[]) AND state = 'settled'`,
    beat: `WITH beat AS (
        INSERT INTO ${owners} (owner) VALUES ($1)
        ON CONFLICT (owner) DO UPDATE SET beat_at = clock_timestamp() RETURNING beat_at
      )
      SELECT 1000 * extract(epoch FROM beat_at)::float8 AS at,
        (SELECT json_agg(id)::text FROM ${calls} WHERE owner = $1 AND cancel AND state <> 'settled') AS ids
      FROM beat`,
  }
}

/** Returns what a notification says of a record: nothing, if it could be too long. */
function payloadOf(...notification: RecordHint): string {
  const payload = JSON.stringify(notification)
  return payload.length > longestPayload ? '' : payload
}
