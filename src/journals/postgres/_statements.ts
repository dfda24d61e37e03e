import { sha256 } from '#sha256'
import { JournalError } from '../../errors.ts'
import type { Deleted, Fence, RecordQuery, TakeQuery, UnsentQuery } from '../../records/index.ts'
import { changeOf, conditionsOf, deletedRow, sessionKey, mayRunNow, type Columns } from '../_columns.ts'
import type { RecordHint } from '../_listeners.ts'
import { cutsKept, mostCounted, type Row } from '../_rows.ts'
import { ServerClock } from '../_server-clock.ts'
import type { Rows } from '../sql/_journal.ts'
import { Gathered } from './_gathered.ts'
import type { RunStatement, JournalTables } from './_tables.ts'
import { placeInLine } from './_take-functions.ts'
import { betweenRecords, serverNow, serverTime, statementTexts, type StatementTexts } from './_texts.ts'

/** The payload of a notification is shorter, in bytes. */
export const limitOfPayload = 8_000
/** The longest payload that is certain to fit, in characters. */
const longestPayload = 2_500

/** The parameters of a statement that changes a row. */
type RowValues = readonly [id: string, ...others: unknown[]]
/** A statement that changes one row, with its parameters. */
type OneChange = readonly [text: string, values: readonly unknown[]]
type TakeById = readonly [id: string, owner: string]

/** What the journal asks of its tables. A change is one statement, as are changes that are asked for at the same time. */
export class PostgresStatements implements Rows {
  readonly channel: string
  readonly #ask: RunStatement
  readonly #tables: JournalTables
  readonly #notifies: boolean
  readonly #texts: StatementTexts
  readonly #clock = new ServerClock()
  #asking: Promise<number> | undefined
  readonly #claims: Gathered<RowValues, boolean>
  readonly #writes: Gathered<RowValues, boolean>
  readonly #takeOvers: Gathered<RowValues, boolean>
  readonly #takes = new Gathered<TakeById, Row | undefined>({
    keyOf: ([id, owner]) => `${owner} ${id}`,
    one: async (wanted) => (await this.#takeEach([wanted]))[0],
    all: (wanted) => this.#takeEach(wanted),
    canShare: ([first, ...others]) => others.every(([, owner]) => owner === first?.[1]),
    isKept: true,
  })

  constructor(ask: RunStatement, tables: JournalTables, notifies: boolean) {
    this.#ask = ask
    this.#tables = tables
    this.#notifies = notifies
    this.channel = `toolwright_${sha256(tables.calls).slice(0, 32)}`
    const texts = statementTexts(tables, notifies ? this.channel : undefined)
    this.#texts = texts
    this.#claims = this.#changes((values) => claimOf(values, texts), texts.claimEach, 2)
    this.#writes = this.#changes((values) => writeOf(values, texts), texts.writeEach, 3)
    this.#takeOvers = this.#changes((values) => [texts.takeOver, values], texts.takeOverEach)
  }

  claim(columns: Columns, owner: string, session: string): Promise<boolean> {
    const { id, text, session: key, state, waits, createdAt, expiresAt, settledAt, queue, fingerprint, alone } = columns
    const payload = payloadOf(id, session, changeOf(columns))
    const rest = [state, waits, createdAt, expiresAt, settledAt, payload, queue, alone, fingerprint]
    return this.#claims.ask([id, owner, text, key, ...rest])
  }

  write(columns: Columns, { owner, number }: Fence, session: string): Promise<boolean> {
    const { id, text, state, waits, expiresAt, settledAt, queue, fingerprint, alone } = columns
    const payload = payloadOf(id, session, changeOf(columns))
    const rest = [state, waits, expiresAt, settledAt, payload, queue, alone, fingerprint]
    return this.#writes.ask([id, owner, number, text, ...rest])
  }

  async read(id: string): Promise<Row | undefined> {
    const [row] = await this.#ask(this.#texts.read, [id], true)
    return row
  }

  takeOver(id: string, { owner: former, number }: Fence, owner: string): Promise<boolean> {
    return this.#takeOvers.ask([id, former, number, owner])
  }

  /** Takes over calls that wait for a worker. They count as running, although their records are as they were. */
  async take(wanted: TakeQuery, owner: string): Promise<readonly Row[]> {
    if ('invocationId' in wanted) {
      const row = await this.#takes.ask([wanted.invocationId, owner])
      return row === undefined ? [] : [row]
    }
    const { queue, limit, except, lacking = [] } = wanted
    const values = [owner, sessionKey(queue), except, limit, lacking.map(sessionKey)]
    return this.#ask(this.#texts.take, values, true)
  }

  /** Takes calls of one owner by their ids. */
  async #takeEach(wanted: readonly TakeById[]): Promise<(Row | undefined)[]> {
    const values = [wanted[0]?.[1], wanted.map(([id]) => id)]
    const rows = await this.#ask(this.#texts.takeEach, values, true)
    return wanted.map(([id]) => rows.find((row) => row['id'] === id))
  }

  /**
   * Changes a row by a statement that returns it, or several by one that returns their ids.
   *
   * @param recordAt Which of the parameters is the text of a record, if one is.
   */
  #changes(one: (values: RowValues) => OneChange, each: string, recordAt?: number): Gathered<RowValues, boolean> {
    return new Gathered<RowValues, boolean>({
      keyOf: ([id]) => id,
      lengthOf: (values) =>
        values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0),
      one: async (values) => {
        const [text, own] = one(values)
        return (await this.#ask(text, [...own], true)).length === 1
      },
      all: async (all) => {
        const lists: unknown[] = all[0]?.map((_, column) => all.map((values) => values[column])) ?? []
        if (recordAt !== undefined) lists[recordAt] = (lists[recordAt] as string[]).join(betweenRecords)
        const ids = new Set((await this.#ask(each, lists)).map(({ id }) => id))
        return all.map(([id]) => ids.has(id))
      },
    })
  }

  /** Waits for what was asked for and is not answered. */
  async ended(): Promise<void> {
    await Promise.all([this.#claims, this.#writes, this.#takeOvers, this.#takes].map((gathered) => gathered.ended()))
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
          AND updated_at < clock_timestamp() - interval '1 millisecond' * $2::float8 AND ${mayRunNow(calls, serverNow, placeInLine)}
        ORDER BY updated_at LIMIT $3 FOR UPDATE SKIP LOCKED))
      RETURNING id, queue`,
      [queues.map(sessionKey), silentFor, limit],
    )
  }

  /** Returns those of these calls that wait for a worker and may run now. */
  async free(ids: readonly string[]): Promise<string[]> {
    const { calls } = this.#tables
    const rows = await this.#ask(
      `SELECT id FROM ${calls} AS call WHERE id = ANY ($1::text[]) AND waits = 'worker' AND expires_at >= ${serverNow}
        AND ${mayRunNow(calls, serverNow, placeInLine)}`,
      [ids],
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
    const seenAt = '1000 * extract(epoch FROM greatest(updated_at, beat_at))::float8'
    // Since a moment, the server's clock has gone on by more than the own clock: it was set ahead.
    const ahead = `${serverTime} - $1::float8 - $2::float8`
    const step = `CASE WHEN ${ahead} > 1000 THEN ${ahead} ELSE 0 END`
    const idle = `(${serverTime} - ${seenAt} - ${step})`
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

  /** Notes that an invocation does something, if nothing is noted, or `former` is. Returns the invocation that is noted then. */
  async claimEffect(scope: string, effectKey: string, id: string, former: string | undefined): Promise<string> {
    const [row] = await this.#ask(
      `INSERT INTO ${this.#tables.effects} AS noted (scope, effect_key, invocation_id) VALUES ($1, $2, $3)
      ON CONFLICT (scope, effect_key) DO UPDATE SET invocation_id =
        CASE WHEN noted.invocation_id = $4 THEN excluded.invocation_id ELSE noted.invocation_id END
      RETURNING invocation_id`,
      [scope, effectKey, id, former ?? null],
    )
    return String(row?.['invocation_id'])
  }

  /** Returns by how many milliseconds the server's clock is ahead of that of this process. */
  ahead(): number | Promise<number> {
    return this.#clock.ahead ?? (this.#asking ??= this.#askAhead().finally(() => (this.#asking = undefined)))
  }

  async #askAhead(): Promise<number> {
    const [row] = await this.#ask(`SELECT ${serverNow} AS at`)
    this.#clock.remember(Number(row?.['at']))
    return this.#clock.ahead ?? 0
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
    const { calls, cuts, effects } = this.#tables
    const found = await this.#ask(
      `SELECT id, session, record FROM ${calls} WHERE state = 'settled' AND settled_at < $1 ORDER BY settled_at LIMIT $2`,
      [settledBefore, limit],
    )
    const rows = found.map(({ id, session, record }) => deletedRow(id, session, record))
    const previous = new Set(rows.flatMap((row) => row.previous ?? []))
    const digests = rows.flatMap((row) => row.digest ?? []).filter((digest) => !previous.has(digest))
    const gone = await this.#ask(
      `WITH gone AS (DELETE FROM ${calls} WHERE id = ANY($1::text[]) AND state = 'settled' RETURNING id),
        freed AS (DELETE FROM ${effects} WHERE invocation_id IN (SELECT id FROM gone)),
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

/** Returns the statement of one claim. */
function claimOf(values: RowValues, texts: StatementTexts): OneChange {
  const [id, owner, record, session, state, , createdAt, , , , , alone] = values
  if (state !== 'running' || alone !== null) return [texts.claim, values]
  return [texts.claimRunning, [id, owner, record, session, createdAt]]
}

/** Returns the statement of one write. */
function writeOf(values: RowValues, texts: StatementTexts): OneChange {
  const [id, owner, number, record, state, , , settledAt, payload] = values
  if (state !== 'settled') return [texts.write, values]
  return [texts.settle, [id, owner, number, record, settledAt, payload]]
}

/** Returns what a notification says of a record: nothing, if it could be too long. */
function payloadOf(...notification: RecordHint): string {
  const payload = JSON.stringify(notification)
  return payload.length > longestPayload ? '' : payload
}
