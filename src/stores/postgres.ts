/**
 * Stores artifacts in a Postgres database, for several machines. It stores and returns bytes: it knows no tools and no calls,
 * puts no caller's text into SQL except the checked names of its tables, and closes no pool that the application passed in.
 *
 * @module
 */
import { createSha256 } from '#sha256'
import type { Extension } from '../index.ts'
import { ArtifactError, InvalidConfigurationError } from '../errors.ts'
import {
  checkOptions,
  isPostgresAddress,
  numberFrom,
  timerOption,
  type ArtifactStore,
  type SpoolReader,
} from '../extension.ts'
import { isHandle, newHandle, noArtifact, tooLargeSource } from './_handles.ts'
import { piecesOf } from './_source.ts'
import { openDatabase, type PostgresStorePool, type StoreRow, type Transaction } from './postgres/_database.ts'
import { tableNameOption, pieceLength, prepareStore, tablesOf } from './postgres/_tables.ts'

export type { PostgresConnection, PostgresStorePool } from './postgres/_database.ts'

/** Pieces that one statement reads. */
const piecesAtOnce = 16
/** Milliseconds, about a hundred years: an interval can hold it, and no artifact is older. */
const oldest = 3e12

/** The options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** The schema of the tables, which must exist: lower-case letters, digits and underscores. Default: `public`. */
  readonly schema?: string
  /** The prefix of the tables' names, with the same characters as `schema`. Default: `toolwright_`. */
  readonly prefix?: string
  /** How long the server may take to answer, in milliseconds. Default: 10,000. */
  readonly timeout?: number
  /** The most bytes that one artifact may have. Default: 268,435,456 (256 MiB). */
  readonly maximumBytes?: number
}

/** A store in Postgres, for `use`. */
export interface PostgresStore extends Extension {
  readonly store: ArtifactStore
  /**
   * Removes artifacts by age, and contents that no artifact needs any more.
   *
   * @param options `olderThan`: the age in milliseconds, by the server's clock, beyond which artifacts are removed. Default:
   * no artifact is.
   * @returns How many artifacts were removed.
   * @throws `E_ARTIFACT` if the server refuses, `E_INVALID_CONFIGURATION` if `olderThan` is not a number of milliseconds.
   */
  readonly collect: (options?: { readonly olderThan?: number }) => Promise<{ readonly artifacts: number }>
  /** Closes the pool that the store made from a connection string. The executor calls it when it closes. */
  readonly close: () => Promise<void>
}

/**
 * Makes a store in Postgres (12 or newer), for any number of machines. Artifacts outlive the process.
 *
 * Equal bytes are stored once, in pieces, so that no write or read holds a large artifact in memory. One piece takes one
 * statement; more take one transaction, which holds a connection of the pool until the stream ends. The first use makes the
 * tables if they do not exist.
 *
 * @param pool A `pg.Pool` or a pool like it, which the application configures and closes; or a connection string. A string needs the
 * package `pg`, and its pool is closed with the executor.
 * @param options The names of the tables, and the largest artifact.
 * @throws `E_INVALID_CONFIGURATION` if an argument is wrong. The store throws `E_ARTIFACT`.
 * @experimental
 * @see https://www.postgresql.org/docs/current/storage-toast.html
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { postgresStore } from 'toolwright/stores/postgres'
 *
 * const executor = createExecutor({ tools: [], use: [postgresStore('postgres://localhost/agents')] })
 * ```
 */
export function postgresStore(pool: PostgresStorePool | string, options: PostgresStoreOptions = {}): PostgresStore {
  if (
    typeof pool === 'string'
      ? !isPostgresAddress(pool)
      : typeof pool?.query !== 'function' || typeof pool.connect !== 'function'
  ) {
    throw new InvalidConfigurationError(
      'postgresStore takes a pool with the methods `query` and `connect`, or a connection string that begins with postgres://.',
    )
  }
  checkOptions('postgresStore', options, {
    schema: tableNameOption,
    prefix: tableNameOption,
    timeout: timerOption,
    maximumBytes: numberFrom(1),
  })
  const { schema = 'public', prefix = 'toolwright_', timeout = 10_000, maximumBytes = 268_435_456 } = options
  const tables = tablesOf(schema, prefix)
  const { artifacts, contents, pieces } = tables
  const database = openDatabase(pool, timeout)
  let preparation: Promise<void> | undefined

  async function prepared(): Promise<void> {
    const preparing = (preparation ??= prepareStore(database, tables))
    try {
      await preparing
    } catch (error) {
      if (preparation === preparing) preparation = undefined // the next call tries again
      throw error
    }
  }

  async function query(text: string, values: unknown[]): Promise<readonly StoreRow[]> {
    await prepared()
    return database.ask(text, values)
  }

  const insertPiece = `INSERT INTO ${pieces} (content, number, bytes) VALUES ($1, $2, $3)`
  // Uses an existing content with equal bytes instead of the one that was written, and returns its id.
  const insertArtifact = `
    WITH kept AS (
      INSERT INTO ${contents} (id, sha256, byte_length, uses) VALUES ($3, $4, $5, 1)
      ON CONFLICT (sha256) DO UPDATE SET uses = ${contents}.uses + 1 RETURNING id
    ), last AS (
      INSERT INTO ${pieces} (content, number, bytes) SELECT id, $6, $7 FROM kept WHERE id = $3
    )
    INSERT INTO ${artifacts} (handle, entry, content) SELECT $1, $2, id FROM kept RETURNING content`
  const dropUnused = `
    WITH dead AS (DELETE FROM ${contents} WHERE uses = 0 RETURNING id)
    DELETE FROM ${pieces} USING dead WHERE content = dead.id`

  async function remove(condition: string, value: unknown): Promise<number> {
    const [row] = await query(
      `WITH gone AS (DELETE FROM ${artifacts} WHERE ${condition} RETURNING content),
      counted AS (SELECT content, count(*) AS number FROM gone GROUP BY content),
      released AS (UPDATE ${contents} SET uses = uses - number FROM counted WHERE id = content)
      SELECT count(*) AS number FROM gone`,
      [value],
    )
    // A separate statement sees concurrent changes. If it never runs, the next removal does its work.
    await query(dropUnused, [])
    return Number(row?.['number'])
  }

  const store: ArtifactStore = {
    async write(source, { session, mediaType, signal }) {
      const handle = newHandle()
      const content = newHandle()
      const hash = createSha256()
      let byteLength = 0
      let number = 0
      let last: Uint8Array = new Uint8Array()
      let transaction: Transaction | undefined
      await prepared()
      try {
        for await (const piece of piecesOf(source, pieceLength, signal)) {
          if (byteLength > 0) {
            transaction ??= await database.begin()
            await transaction.ask(insertPiece, [content, number++, bytea(last)])
          }
          byteLength += piece.byteLength
          if (byteLength > maximumBytes) throw tooLargeSource(maximumBytes)
          hash.update(piece)
          last = piece
        }
        signal?.throwIfAborted()
        const sha256 = hash.digest()
        const entry = JSON.stringify({ session, mediaType }) // JSON escapes what `text` cannot hold, such as NUL
        const values = [handle, entry, content, sha256, byteLength, number, bytea(last)]
        const [row] = await (transaction ?? database).ask(insertArtifact, values)
        if (transaction !== undefined) {
          if (row?.['content'] !== content) await transaction.ask(`DELETE FROM ${pieces} WHERE content = $1`, [content])
          signal?.throwIfAborted()
          await transaction.commit()
        }
        return { handle, sha256, byteLength }
      } finally {
        await transaction?.rollBack() // does nothing after a commit
      }
    },

    async open(handle, { session }) {
      const [row] = isHandle(handle)
        ? await query(
            `SELECT entry, byte_length FROM ${artifacts} JOIN ${contents} ON id = content WHERE handle = $1`,
            [handle],
          )
        : []
      const entry = row === undefined ? undefined : entryOf(row)
      if (entry?.session !== session) throw noArtifact(handle)
      return reader(handle, Number(row?.['byte_length']), entry.mediaType)
    },

    async delete(handle) {
      if (isHandle(handle)) await remove('handle = $1', handle)
    },
  }

  const selectPieces = `
    SELECT substring(bytes FROM greatest($2 - number::bigint * ${pieceLength}, 0)::integer + 1
      FOR (least($3 - number::bigint * ${pieceLength}, ${pieceLength}) - greatest($2 - number::bigint * ${pieceLength}, 0))::integer) AS bytes
    FROM ${artifacts} AS artifacts JOIN ${pieces} AS pieces ON pieces.content = artifacts.content
    WHERE handle = $1 AND number BETWEEN $2::bigint / ${pieceLength} AND ($3::bigint - 1) / ${pieceLength} ORDER BY number`

  function reader(handle: string, byteLength: number, mediaType: string): SpoolReader {
    return {
      byteLength,
      mediaType,
      async read(start, end) {
        const range = new Uint8Array(Math.max(0, end - start))
        for (let offset = 0; offset < range.byteLength;) {
          const from = start + offset
          const border = (Math.floor(from / pieceLength) + piecesAtOnce) * pieceLength
          const rows = await query(selectPieces, [handle, from, Math.min(end, border)])
          if (rows.length === 0) throw noArtifact(handle)
          const before = offset
          for (const { bytes } of rows) {
            if (!(bytes instanceof Uint8Array))
              throw new ArtifactError('The pool returned something other than bytes for a bytea column.')
            range.set(bytes, offset)
            offset += bytes.byteLength
          }
          if (offset - before !== Math.min(end, border) - from) {
            throw new ArtifactError('The artifact in the database is shorter than it was written.')
          }
        }
        return range
      },
    }
  }

  return {
    store,
    async collect(collectOptions = {}) {
      checkOptions('collect', collectOptions, { olderThan: numberFrom(0) })
      const { olderThan = Infinity } = collectOptions
      const condition = `created_at < clock_timestamp() - interval '1 millisecond' * $1::float8`
      return { artifacts: await remove(condition, Math.min(olderThan, oldest)) }
    },
    close: () => database.close(),
  }
}

function entryOf(row: StoreRow): { readonly session: string; readonly mediaType: string } {
  try {
    return JSON.parse(String(row['entry'])) as { session: string; mediaType: string }
  } catch (cause) {
    throw new ArtifactError('The artifact cannot be read: its metadata is damaged.', { cause })
  }
}

/** Returns the bytes as drivers take them: a view, since the bytes do not change before the statement ends. */
function bytea(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
