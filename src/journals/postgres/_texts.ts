import type { JournalTables } from './_tables.ts'

export type StatementTexts = Readonly<Record<RowChange | PlainChange | RowQuestion, string>>
type RowChange = 'claim' | 'write' | 'takeOver' | 'claimEach' | 'writeEach' | 'takeOverEach'
type PlainChange = 'claimRunning' | 'settle'
type RowQuestion = 'read' | 'take' | 'takeEach' | 'settled' | 'beat'

/**
 * What is between the records of several changes: JSON has it only escaped. A list of records would take longer to write and to read,
 * since each of their quotes is escaped in it.
 */
export const betweenRecords = '\u001e'

/** The time of the server, in milliseconds. */
export const serverTime = '1000 * extract(epoch FROM clock_timestamp())::float8'

/** The same, for which a statement asks once, so that it can look in an index for it. */
export const serverNow: string = `(SELECT ${serverTime})`

/** The parameters of a claim and of a write, in their order, with their types. */
const claimedColumns = {
  id: 'text',
  owner: 'text',
  record: 'text',
  session: 'text',
  state: 'text',
  waits: 'text',
  created_at: 'float8',
  expires_at: 'float8',
  settled_at: 'float8',
  payload: 'text',
  queue: 'text',
  alone: 'smallint',
  fingerprint: 'text',
}
const writtenColumns = {
  id: 'text',
  owner: 'text',
  number: 'integer',
  record: 'text',
  state: 'text',
  waits: 'text',
  expires_at: 'float8',
  settled_at: 'float8',
  payload: 'text',
  queue: 'text',
  alone: 'smallint',
  fingerprint: 'text',
}

/**
 * Returns the statements that every call or every owner needs.
 *
 * @param channel On which watches are told of changes, if they are.
 */
export function statementTexts(
  { calls, owners, take, takeEach }: JournalTables,
  channel: string | undefined,
): StatementTexts {
  /** Tells watches of a change, in the same statement. The parameter has its type from the cast also if nothing is told. */
  const notified = (payload: string): string =>
    channel === undefined ? `${payload}::text` : `pg_notify('${channel}', ${payload}::text)::text`
  /** The same, if it is a change that watches are told of. */
  const telling = (payload: string): string => `CASE WHEN changed = txid_current() THEN ${notified(payload)} END`
  /** Several rows, from a list of each of their columns, and their records as one text. */
  const rowsAsked = (columns: Readonly<Record<string, string>>): string => {
    const lists = Object.entries(columns).map(([name, type], index) =>
      name === 'record' ? `string_to_array($${index + 1}::text, chr(30))` : `$${index + 1}::${type}[]`,
    )
    return `unnest(${lists.join(', ')}) AS asked (${Object.keys(columns).join(', ')})`
  }
  const insert = `INSERT INTO ${calls} (id, owner, held_since, version, record, session, state, waits, created_at,
        expires_at, settled_at, queue, alone, fingerprint, changed)`
  return {
    claim: `${insert}
      VALUES ($1, $2, 0, 0, $3, $4, $5, $6, $7, $8, $9, $11, $12, $13, CASE WHEN $5 <> 'running' THEN txid_current() END)
      ON CONFLICT (id) DO NOTHING RETURNING ${telling('$10')}`,
    claimEach: `WITH asked AS MATERIALIZED (SELECT * FROM ${rowsAsked(claimedColumns)}),
        change AS (${insert}
          SELECT id, owner, 0, 0, record, session, state, waits, created_at, expires_at, settled_at, queue, alone,
            fingerprint, CASE WHEN state <> 'running' THEN txid_current() END FROM asked
          ON CONFLICT (id) DO NOTHING RETURNING id, changed)
      SELECT change.id, ${telling('asked.payload')} FROM change JOIN asked ON asked.id = change.id`,
    // The two changes of a call that neither waits nor has a worker: the server reads and writes what they need, and no more.
    claimRunning: `INSERT INTO ${calls} (id, owner, held_since, version, record, session, state, created_at)
      VALUES ($1, $2, 0, 0, $3, $4, 'running', $5) ON CONFLICT (id) DO NOTHING RETURNING id`,
    settle: `UPDATE ${calls} SET version = version + 1, record = $4, updated_at = clock_timestamp(), state = 'settled',
        waits = NULL, expires_at = NULL, settled_at = $5, queue = NULL, alone = NULL, fingerprint = NULL,
        changed = txid_current()
      WHERE id = $1 AND owner = $2 AND held_since <= $3 RETURNING ${notified('$6')}`,
    write: `UPDATE ${calls} SET version = version + 1, record = $4, updated_at = clock_timestamp(), state = $5,
        waits = $6, expires_at = $7, settled_at = $8, queue = $10, alone = $11, fingerprint = $12,
        changed = CASE WHEN state = 'waiting' OR $5 <> 'running' THEN txid_current() ELSE changed END
      WHERE id = $1 AND owner = $2 AND held_since <= $3 RETURNING ${telling('$9')}`,
    writeEach: `UPDATE ${calls} AS calls SET version = calls.version + 1, record = asked.record,
        updated_at = clock_timestamp(), state = asked.state, waits = asked.waits, expires_at = asked.expires_at,
        settled_at = asked.settled_at, queue = asked.queue, alone = asked.alone, fingerprint = asked.fingerprint,
        changed = CASE WHEN calls.state = 'waiting' OR asked.state <> 'running' THEN txid_current() ELSE calls.changed END
      FROM ${rowsAsked(writtenColumns)}
      WHERE calls.id = asked.id AND calls.owner = asked.owner AND calls.held_since <= asked.number
      RETURNING calls.id, ${telling('asked.payload')}`,
    read: `SELECT record, owner, version FROM ${calls} WHERE id = $1`,
    takeOver: `UPDATE ${calls} SET owner = $4, held_since = version + 1, version = version + 1,
        updated_at = clock_timestamp()
      WHERE id = $1 AND owner = $2 AND version = $3 AND state <> 'settled' RETURNING version`,
    takeOverEach: `UPDATE ${calls} AS calls SET owner = asked.taker, held_since = version + 1, version = version + 1,
        updated_at = clock_timestamp()
      FROM ${rowsAsked({ id: 'text', owner: 'text', number: 'integer', taker: 'text' })}
      WHERE calls.id = asked.id AND calls.owner = asked.owner AND version = asked.number AND state <> 'settled'
      RETURNING calls.id`,
    take: `SELECT id, record, owner, version FROM ${take}($1::text, ${serverNow}, NULL, $2::text, $3::text[], $4::integer, $5::text[])`,
    takeEach: `SELECT id, record, owner, version FROM ${takeEach}($1::text, ${serverNow}, $2::text[])`,
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
