/**
 * Keeps the records of calls in a Postgres database, for several machines. It decides nothing about calls, and does not
 * change records. Its SQL has no input except the checked names of its tables. It does not close a pool of the host.
 *
 * @module
 */
import { InvalidConfigurationError, JournalError, type Extension } from '../index.ts'
import { isSettled, type Journal, records } from '../records/index.ts'
import { beatsKept, closed, journalError, listedRows, recordOf, requireId, textOf } from './_rows.ts'

const schemaVersion = 1
const description = 'Toolwright journal '
/** A number that other programs are unlikely to lock. */
const lock = 7_301_982_154
const namePattern = /^[a-z_][a-z0-9_]{0,39}$/

type Row = Record<string, unknown>

/** The part of a pool that the journal needs. `pg.Pool` and others have it. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Row[] }>
}

export interface PostgresJournalOptions {
  /** The schema of the tables, which must exist: lower-case letters, digits and underscores. Default: `public`. */
  readonly schema?: string
  /** The prefix of the table names, in the same characters. Default: `toolwright_`. */
  readonly prefix?: string
  /** How long the server may take to answer, in milliseconds. Default: 10,000. */
  readonly timeout?: number
}

/** A Postgres journal, for `use`. */
export interface PostgresJournal extends Extension {
  readonly journal: Journal
  /** Closes the journal after pending writes. The executor calls it when it closes. */
  readonly close: () => Promise<void>
}

/**
 * Keeps the records of calls in Postgres (12 or newer), for any number of machines.
 *
 * The tables are made on first use. Every change is one statement. Only the server's clock counts, so a step of a client's
 * clock changes nothing. If the server's clock is set ahead, owners look silent until their next sign of life, within 5
 * seconds.
 *
 * @param pool A `pg.Pool` or the like, which the host configures and closes. Or a connection string: the journal then loads
 * the package `pg`, and closes its pool with the executor.
 * @throws `E_INVALID_CONFIGURATION` if an argument is wrong. The journal throws `E_JOURNAL`.
 * @experimental
 * @see https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { postgresJournal } from 'toolwright/journals/postgres'
 *
 * const executor = createExecutor({ tools: [], use: [postgresJournal('postgres://localhost/agents')] })
 * ```
 */
export function postgresJournal(pool: PostgresPool | string, options: PostgresJournalOptions = {}): PostgresJournal {
  if (typeof pool === 'string' ? pool === '' : typeof pool?.query !== 'function') {
    throw new InvalidConfigurationError('postgresJournal takes a pool with a `query` method, or a connection string.')
  }
  const schema = nameOf('schema', options.schema ?? 'public')
  const prefix = nameOf('prefix', options.prefix ?? 'toolwright_')
  const calls = `"${schema}"."${prefix}calls"`
  const owners = `"${schema}"."${prefix}owners"`
  const { timeout = 10_000 } = options
  if (typeof timeout !== 'number' || !(timeout > 0 && timeout < 2 ** 31)) {
    throw new InvalidConfigurationError(`\`timeout\` must be a number of milliseconds above 0, got ${String(timeout)}.`)
  }
  let connection: Promise<OwnPool> | undefined
  let preparation: Promise<void> | undefined
  let isClosed = false

  async function connected(): Promise<PostgresPool> {
    if (typeof pool !== 'string') return pool
    connection ??= connect(pool, timeout)
    return connection
  }

  /** Runs one statement. Retries it if the server undid it because of other statements. */
  async function ask(text: string, values?: unknown[]): Promise<readonly Row[]> {
    if (isClosed) throw closed()
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows } = await within(timeout, async () => (await connected()).query(text, values))
        return rows
      } catch (error) {
        if (attempt === 5 || !isUndone(error)) throw refusal(error)
      }
    }
  }

  async function query(text: string, values: unknown[]): Promise<readonly Row[]> {
    const prepared = (preparation ??= prepare(ask, calls, owners, prefix))
    try {
      await prepared
    } catch (error) {
      if (preparation === prepared) preparation = undefined // the next query tries again
      throw error
    }
    return ask(text, values)
  }

  const journal: Journal = {
    isDurable: true,

    async claim(record, owner) {
      const rows = await query(
        `INSERT INTO ${calls} (id, owner, held_since, version, settled, record) VALUES ($1, $2, 0, 0, $3, $4)
        ON CONFLICT (id) DO NOTHING RETURNING version`,
        [record.id, owner, isSettled(record.state), textOf(record)],
      )
      return rows.length === 1 ? { owner, number: 0 } : null
    },

    async write(record, { owner, number }) {
      const rows = await query(
        `UPDATE ${calls} SET version = version + 1, settled = $4, record = $5, updated_at = clock_timestamp()
        WHERE id = $1 AND owner = $2 AND held_since <= $3 RETURNING version`,
        [record.id, owner, number, isSettled(record.state), textOf(record)],
      )
      return rows.length === 1
    },

    async read(invocationId) {
      requireId(invocationId)
      const [row] = await query(`SELECT record, owner, version FROM ${calls} WHERE id = $1`, [invocationId])
      return row === undefined ? null : { record: recordOf(row['record'], invocationId), fence: fenceOf(row) }
    },

    async takeOver(invocationId, fence, owner) {
      requireId(invocationId)
      const [row] = await query(
        `UPDATE ${calls} SET owner = $4, held_since = version + 1, version = version + 1, updated_at = clock_timestamp()
        WHERE id = $1 AND owner = $2 AND version = $3 AND NOT settled RETURNING owner, version`,
        [invocationId, fence.owner, fence.number, owner],
      )
      return row === undefined ? null : fenceOf(row)
    },

    async *list(wanted, report) {
      const hasSettled = (wanted.state ?? 'settled') === 'settled'
      const rows = await query(
        `SELECT id, record, settled, calls.owner, version,
          (1000 * extract(epoch FROM clock_timestamp() - greatest(updated_at, beat_at)))::float8 AS idle
        FROM ${calls} AS calls LEFT JOIN ${owners} AS owners ON owners.owner = calls.owner
        WHERE settled <= $1`,
        [hasSettled],
      )
      const all = rows.map((row) => ({
        id: row['id'],
        text: row['record'],
        isSettled: row['settled'] === true,
        fence: fenceOf(row),
        idle: Math.max(0, Number(row['idle'])),
      }))
      yield* listedRows(all, wanted, report)
    },

    async beat(owner) {
      await query(
        `INSERT INTO ${owners} (owner) VALUES ($1) ON CONFLICT (owner) DO UPDATE SET beat_at = clock_timestamp()`,
        [owner],
      )
    },
  }

  return {
    journal,
    ...records(journal),
    async close() {
      isClosed = true
      const own = await connection?.catch(() => undefined)
      connection = undefined
      await own?.end()
    },
  }
}

/** A pool that the journal made. */
interface OwnPool extends PostgresPool {
  end(): Promise<void>
}

async function connect(connectionString: string, timeout: number): Promise<OwnPool> {
  const { default: pg } = await import('#pg').catch((cause: unknown) => {
    throw new JournalError('A connection string needs the package pg: install it, or give postgresJournal a pool.', {
      cause,
    })
  })
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: timeout,
    query_timeout: timeout,
    allowExitOnIdle: true, // signs of life do not keep the process alive
  })
  pool.on('error', () => {}) // an idle connection failed: the next statement opens another, or fails with the reason
  return pool
}

/** Makes the tables if they are missing. Only then the user needs the right to make tables. */
async function prepare(
  ask: (text: string, values?: unknown[]) => Promise<readonly Row[]>,
  calls: string,
  owners: string,
  prefix: string,
): Promise<void> {
  const versionOf = async (): Promise<string | undefined> => {
    const [row] = await ask(`SELECT obj_description(to_regclass($1)::oid, 'pg_class') AS version`, [calls])
    const version = row?.['version']
    return typeof version === 'string' ? version.slice(description.length) : undefined
  }
  if ((await versionOf()) === undefined) {
    // One statement, so that it is atomic with any pool. The lock prevents two servers from making the tables at once.
    await ask(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(${lock});
      CREATE TABLE IF NOT EXISTS ${calls} (
        id text COLLATE "C" PRIMARY KEY,
        owner text NOT NULL,
        held_since integer NOT NULL, -- the version at which the owner got the record: only fences from then on may write
        version integer NOT NULL, -- the number of writes since the claim
        settled boolean NOT NULL,
        record text NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      CREATE INDEX IF NOT EXISTS "${prefix}calls_unfinished" ON ${calls} (id) WHERE NOT settled;
      CREATE TABLE IF NOT EXISTS ${owners} (
        owner text COLLATE "C" PRIMARY KEY,
        beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      COMMENT ON TABLE ${calls} IS '${description}${schemaVersion}';
    END $$`)
  }
  const version = await versionOf()
  if (version !== String(schemaVersion)) {
    throw new JournalError(
      `The tables are of version ${version} of this journal, which knows ${schemaVersion}. Give it another schema or prefix.`,
    )
  }
  await ask(`DELETE FROM ${owners} WHERE beat_at < clock_timestamp() - interval '1 millisecond' * $1::int`, [beatsKept])
}

/** Returns a name that needs no escaping in SQL. */
function nameOf(option: string, name: string): string {
  if (typeof name === 'string' && namePattern.test(name)) return name
  throw new InvalidConfigurationError(
    `\`${option}\` must be lower-case letters, digits and underscores, 40 at most, got ${JSON.stringify(name)}.`,
  )
}

function fenceOf(row: Row): { owner: string; number: number } {
  return { owner: String(row['owner']), number: Number(row['version']) }
}

/** Waits for a limited time. A late write may still succeed: then the fence decides. */
async function within<Value>(timeout: number, run: () => Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new JournalError(`The journal's server did not answer within ${timeout} ms.`, { retryable: true }))
    }, timeout)
  })
  try {
    return await Promise.race([run(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether an error is a serialization failure or a deadlock. The server then undid the statement. */
function isUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === '40001' || code === '40P01'
}

function refusal(error: unknown): JournalError {
  const { code } = (error ?? {}) as { code?: unknown }
  const kind = typeof code === 'string' ? code : 'no connection'
  // Classes 08 (connection), 53 (resources), 57 (shut down), and the codes of Node, which begin with a letter.
  return journalError(error, kind, typeof code !== 'string' || /^(?:08|53|57|[A-Z])/.test(code))
}
