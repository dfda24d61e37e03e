import type { Deleted, Fence, RecordQuery, TakeQuery, UnsentQuery } from '../../records/index.ts'
import { conditionsOf, deletedRow, rowId, longestIndexed, sessionKey, mayRunNow, type Columns } from '../_columns.ts'
import { cutsKept, mostCounted, type KeyOf, type Row } from '../_rows.ts'
import { changing, reading, type Operation } from './_operations.ts'

/** The most parameters of one list. Databases limit those of a statement. */
const longestList = 512

/** A row that waits for a worker, in the statements that take it. `call` is a word of MySQL. */
const waiter = 'waiter'

/** What differs between databases. */
export interface SqlWords {
  /** The names of the tables, ready for SQL. */
  readonly calls: string
  readonly owners: string
  readonly cuts: string
  readonly effects: string
  /** What columns keep of an id. */
  readonly keyOf: KeyOf
  /** Ends an INSERT, so that it leaves an existing row alone. If it is empty, a claim asks first. */
  readonly skipExisting: string
  /** Each of these returns an expression, and appends the parameters that it needs. `$1` is the first. */
  readonly now: (values: unknown[]) => string
  /** The number of the next change. Transactions that end later have higher numbers. */
  readonly next: (values: unknown[]) => string
  /** How long an owner has been silent, in milliseconds. */
  readonly idle: (values: unknown[]) => string
  /** Writes that an owner lives. */
  readonly beat: (owner: string) => Operation<void>
}

/** What a journal asks of its tables. The caller holds a transaction that keeps out every other that writes. */
export class SqlStatements {
  readonly #words: SqlWords
  /** The texts of what every call needs. */
  readonly #texts = new Map<string, string>()

  constructor(words: SqlWords) {
    this.#words = words
  }

  *claim(columns: Columns, owner: string): Operation<boolean> {
    const { calls, skipExisting, keyOf, now, next } = this.#words
    const { id, text, session, state, waits, createdAt, expiresAt, settledAt, queue, fingerprint, alone } = columns
    const key = keyOf(id)
    if (skipExisting === '' && (yield reading(`SELECT id FROM ${calls} WHERE id = $1`, [key])).rows.length > 0)
      return false
    // In the order of the text, so that the values need not be put in order for `?`.
    const values: unknown[] = [key, owner, text]
    const at = now(values)
    const first = values.push(session, state, waits, createdAt, expiresAt, settledAt, queue, fingerprint, alone) - 8
    const change = state === 'running' ? 'NULL' : next(values)
    const statement = this.#text(state === 'running' ? 'claim' : 'claim with a change', () => {
      const rest = Array.from({ length: 9 }, (_, index) => `$${first + index}`).join(', ')
      return `INSERT INTO ${calls} (id, owner, held_since, version, record, updated_at, session, state, waits, created_at,
        expires_at, settled_at, queue, fingerprint, alone, cancel, changed)
      VALUES ($1, $2, 0, 0, $3, ${at}, ${rest}, 0, ${change}) ${skipExisting}`
    })
    const { changes } = yield changing(statement, values)
    return changes === 1
  }

  *write(columns: Columns, { owner, number }: Fence): Operation<boolean> {
    const { calls, keyOf, now, next } = this.#words
    const { id, text, state, waits, expiresAt, settledAt, queue, fingerprint, alone } = columns
    const key = keyOf(id)
    const set = `UPDATE ${calls} SET version = version + 1, record = $1, updated_at =`
    const held = (first: number): string =>
      `WHERE id = $${first} AND owner = $${first + 1} AND held_since <= $${first + 2}`
    if (state === 'running') {
      // What runs on changes no column that an index has.
      const values: unknown[] = [text]
      const at = now(values)
      const first = values.push(key, owner, number) - 2
      const statement = this.#text('write on', () => `${set} ${at} ${held(first)} AND state = 'running'`)
      const { changes } = yield changing(statement, values)
      if (changes === 1) return true
    }
    const values: unknown[] = [text]
    const at = now(values)
    const first = values.push(state, waits, expiresAt, settledAt, queue, fingerprint, alone) - 6
    const change = next(values)
    const last = values.push(key, owner, number) - 2
    const statement = this.#text('write', () => {
      const names = ['state', 'waits', 'expires_at', 'settled_at', 'queue', 'fingerprint', 'alone']
      const written = names.map((column, index) => `${column} = $${first + index}`).join(', ')
      return `${set} ${at}, ${written}, changed = ${change} ${held(last)}`
    })
    const { changes } = yield changing(statement, values)
    return changes === 1
  }

  *read(id: string): Operation<Row | undefined> {
    const { calls, keyOf } = this.#words
    const { rows } = yield reading(`SELECT record, owner, version FROM ${calls} WHERE id = $1`, [keyOf(id)])
    return rows[0]
  }

  *takeOver(id: string, fence: Fence, owner: string): Operation<boolean> {
    const { calls, keyOf, now } = this.#words
    const values: unknown[] = [owner, keyOf(id), fence.owner, fence.number]
    const { changes } = yield changing(
      `UPDATE ${calls} SET owner = $1, held_since = version + 1, version = version + 1, updated_at = ${now(values)}
      WHERE id = $2 AND owner = $3 AND version = $4 AND state <> 'settled'`,
      values,
    )
    return changes === 1
  }

  /** Takes over calls that wait for a worker. They count as running, although their records are as they were. */
  *take(wanted: TakeQuery, owner: string): Operation<Row[]> {
    const { calls, keyOf, now } = this.#words
    const isOne = 'invocationId' in wanted
    const values: unknown[] = [isOne ? keyOf(wanted.invocationId) : sessionKey(wanted.queue), Date.now()]
    const except = isOne ? [] : wanted.except.map(keyOf)
    const lacking = isOne ? [] : (wanted.lacking ?? []).map(sessionKey)
    const [withoutIds, withoutTools] = [parameterList(except, values), parameterList(lacking, values)]
    const isNotExcepted = (call: string): string =>
      [
        'true',
        ...(except.length > 0 ? [`${call}.id NOT IN ${withoutIds}`] : []),
        ...(lacking.length > 0 ? [`coalesce(${call}.fingerprint, '') NOT IN ${withoutTools}`] : []),
      ].join(' AND ')
    const which = isOne ? 'id = $1' : `queue = $1 AND ${isNotExcepted(waiter)}`
    const { rows } = yield reading(
      `SELECT id, record, version FROM ${calls} AS ${waiter}
      WHERE waits = 'worker' AND ${which} AND expires_at >= $2 AND ${mayRunNow(calls, '$2', { counts: isNotExcepted('other'), call: waiter })}
      ORDER BY updated_at LIMIT ${integerText(wanted.limit)}`,
      values,
    )
    for (const ids of lists(rows.map(({ id }) => id))) {
      const changed: unknown[] = [owner]
      yield changing(
        `UPDATE ${calls} SET owner = $1, held_since = version + 1, version = version + 1, updated_at = ${now(changed)},
          state = 'running', waits = NULL, queue = NULL, expires_at = NULL WHERE id IN ${parameterList(ids, changed)}`,
        changed,
      )
    }
    return rows.map((row) => ({ ...row, owner, version: Number(row['version']) + 1 }))
  }

  /**
   * Returns calls that wait for a worker, may run now and were silent. They count as written, so that no other worker gets
   * them.
   */
  *unsent({ queues, silentFor, limit }: UnsentQuery): Operation<Row[]> {
    const { calls, keyOf, now } = this.#words
    if (queues.length === 0) return []
    const values: unknown[] = [Date.now(), silentFor]
    const at = now(values)
    const { rows } = yield reading(
      `SELECT id, queue, ${recordOfDigest} FROM ${calls} AS ${waiter} WHERE waits = 'worker'
        AND queue IN ${parameterList(queues.map(sessionKey), values)} AND updated_at < ${at} - $2
        AND ${mayRunNow(calls, '$1', { call: waiter })} ORDER BY updated_at LIMIT ${integerText(limit)}`,
      values,
    )
    for (const ids of lists(rows.map(({ id }) => id))) {
      const changed: unknown[] = []
      const set = `UPDATE ${calls} SET updated_at = ${now(changed)}`
      yield changing(`${set} WHERE id IN ${parameterList(ids, changed)}`, changed)
    }
    return rows.flatMap((row) => {
      const id = rowId(row, keyOf)
      return id === undefined ? [] : [{ ...row, id }]
    })
  }

  /** Returns those of these calls that wait for a worker and may run now. */
  *free(ids: readonly string[]): Operation<string[]> {
    const { calls, keyOf } = this.#words
    const names = new Map(ids.map((id) => [keyOf(id), id]))
    const found: string[] = []
    for (const keys of lists([...names.keys()])) {
      const values: unknown[] = [Date.now()]
      const { rows } = yield reading(
        `SELECT id FROM ${calls} AS ${waiter} WHERE id IN ${parameterList(keys, values)} AND waits = 'worker'
          AND expires_at >= $1 AND ${mayRunNow(calls, '$1', { call: waiter })}`,
        values,
      )
      found.push(...rows.flatMap(({ id }) => names.get(String(id)) ?? []))
    }
    return found
  }

  *depth(queue: string, atMost: number): Operation<number> {
    const { calls } = this.#words
    const { rows } = yield reading(
      `SELECT count(*) AS count FROM
        (SELECT id FROM ${calls} WHERE waits = 'worker' AND queue = $1 LIMIT ${integerText(atMost)}) AS ${waiter}`,
      [sessionKey(queue)],
    )
    return Number(rows[0]?.['count'])
  }

  /** Lists a page. The `before` of the query has a key. Its rows have `id`, `record`, `owner`, `version`, `created_at` and `idle`. */
  *list(query: RecordQuery, limit: number): Operation<readonly Row[]> {
    const { calls, owners } = this.#words
    const values: unknown[] = []
    const idle = this.#words.idle(values)
    const { rows } = yield reading(
      `SELECT id, record, calls.owner AS owner, version, created_at, ${idle} AS idle
      FROM ${calls} AS calls LEFT JOIN ${owners} AS owners ON owners.owner = calls.owner
      WHERE ${conditionsOf(query, idle, values)} ORDER BY created_at DESC, id DESC LIMIT ${integerText(limit)}`,
      values,
    )
    return rows
  }

  *settledOf(ids: readonly string[]): Operation<Row[]> {
    const { calls, keyOf } = this.#words
    const found: Row[] = []
    for (const keys of lists(ids.map(keyOf))) {
      const values: unknown[] = []
      const { rows } = yield reading(
        `SELECT id, record, owner, version FROM ${calls} WHERE state = 'settled' AND id IN ${parameterList(keys, values)}`,
        values,
      )
      found.push(...rows)
    }
    return found
  }

  /** Records a sign of life. Returns the invocations that the owner was asked to cancel. */
  *beat(owner: string): Operation<string[]> {
    const { calls, keyOf } = this.#words
    yield* this.#words.beat(owner)
    const { rows } = yield reading(
      `SELECT id, ${recordOfDigest} FROM ${calls} WHERE owner = $1 AND cancel = 1 AND state <> 'settled'`,
      [owner],
    )
    return rows.flatMap((row) => rowId(row, keyOf) ?? [])
  }

  *requestCancel(id: string): Operation<boolean> {
    const { calls, keyOf, next } = this.#words
    const values: unknown[] = [keyOf(id)]
    const { changes } = yield changing(
      `UPDATE ${calls} SET cancel = 1, changed = ${next(values)} WHERE id = $1 AND state <> 'settled'`,
      values,
    )
    return changes === 1
  }

  /** Notes that an invocation does something, if nothing is noted, or `former` is. Returns the invocation that is noted then. */
  *claimEffect(scope: string, effectKey: string, id: string, former: string | undefined): Operation<string> {
    const { effects, keyOf } = this.#words
    const { rows } = yield reading(`SELECT invocation_id FROM ${effects} WHERE scope = $1 AND effect_key = $2`, [
      scope,
      effectKey,
    ])
    const [row] = rows
    if (row === undefined) {
      yield changing(`INSERT INTO ${effects} (scope, effect_key, call_id, invocation_id) VALUES ($1, $2, $3, $4)`, [
        scope,
        effectKey,
        keyOf(id),
        id,
      ])
      return id
    }
    const holder = String(row['invocation_id'])
    if (holder !== former) return holder
    yield changing(`UPDATE ${effects} SET call_id = $1, invocation_id = $2 WHERE scope = $3 AND effect_key = $4`, [
      keyOf(id),
      id,
      scope,
      effectKey,
    ])
    return id
  }

  /** Deletes settled records, and keeps where that cuts their chains. */
  *delete(settledBefore: number, limit: number): Operation<Deleted[]> {
    const { calls, cuts, effects, keyOf } = this.#words
    const found = yield reading(
      `SELECT id, session, record FROM ${calls} WHERE state = 'settled' AND settled_at < $1
      ORDER BY settled_at LIMIT ${integerText(limit)}`,
      [settledBefore],
    )
    for (const ids of lists(found.rows.map(({ id }) => id))) {
      const values: unknown[] = []
      const list = parameterList(ids, values)
      yield changing(`DELETE FROM ${calls} WHERE id IN ${list}`, values)
      yield changing(`DELETE FROM ${effects} WHERE call_id IN ${list}`, values)
    }
    const rows = found.rows.map(({ id, session, record }) => deletedRow(id, session, record, keyOf))
    const previous = new Set(rows.flatMap((row) => row.previous ?? []))
    // What is longer is no digest, but what a fault of a disk left of one.
    const digests = rows.flatMap(({ digest = '' }) => (digest === '' || digest.length > longestIndexed ? [] : digest))
    const ends = new Set(digests.filter((digest) => !previous.has(digest)))
    for (const some of lists([...previous, ...ends])) {
      const values: unknown[] = []
      yield changing(`DELETE FROM ${cuts} WHERE digest IN ${parameterList(some, values)}`, values)
    }
    const last = ends.size === 0 ? undefined : yield reading(`SELECT max(number) AS last FROM ${cuts}`, [])
    let number = Number(last?.rows[0]?.['last'] ?? 0)
    for (const digest of ends)
      yield changing(`INSERT INTO ${cuts} (number, digest) VALUES ($1, $2)`, [++number, digest])
    if (number > cutsKept) yield changing(`DELETE FROM ${cuts} WHERE number <= $1`, [number - cutsKept])
    return rows.map(({ deleted }) => deleted)
  }

  /** Returns a text that is made once. */
  #text(name: string, make: () => string): string {
    let text = this.#texts.get(name)
    if (text === undefined) this.#texts.set(name, (text = make()))
    return text
  }

  *cuts(): Operation<string[]> {
    const { rows } = yield reading(`SELECT digest FROM ${this.#words.cuts} ORDER BY number`, [])
    return rows.map(({ digest }) => String(digest))
  }

  /**
   * Returns the records that were changed after a change. Its rows have the record only if it alone has the id or the session.
   *
   * @param after The expression of the change.
   */
  *changed(after: string, values: readonly unknown[]): Operation<readonly Row[]> {
    const { rows } = yield reading(
      `SELECT changed, id, session, state, waits, cancel,
        CASE WHEN session LIKE 'sha256:%' OR id LIKE 'sha256:%' THEN record END AS record
      FROM ${this.#words.calls} WHERE changed > ${after} ORDER BY changed`,
      values,
    )
    return rows
  }
}

const recordOfDigest = `CASE WHEN id LIKE 'sha256:%' THEN record END AS record`

/** Returns a whole number for the text of a statement. */
function integerText(value: number): number {
  return value > 0 ? Math.min(Math.floor(value), mostCounted) : 0
}

/** Splits a list, so that each part fits into a statement. */
function* lists<Value>(values: readonly Value[]): Generator<readonly Value[], void, undefined> {
  for (let start = 0; start < values.length; start += longestList) yield values.slice(start, start + longestList)
}

/**
 * Returns a list of parameters in SQL, with its last value again and again: texts of few lengths are prepared once. Nothing, if the
 * list is empty: SQL has no such list.
 */
function parameterList(list: readonly unknown[], values: unknown[]): string {
  if (list.length === 0) return ''
  const length = 2 ** Math.ceil(Math.log2(list.length))
  const places = Array.from({ length }, (_, index) => `$${values.push(list[Math.min(index, list.length - 1)])}`)
  return `(${places.join(', ')})`
}
