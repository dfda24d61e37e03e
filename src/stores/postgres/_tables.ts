import { ArtifactError } from '../../errors.ts'
import type { OptionCheck } from '../../extension.ts'
import type { Database } from './_database.ts'

/** Bytes of a piece. To change it, change the version of the tables too. */
export const pieceLength = 262_144

const storeVersion = 1
const storeComment = 'Toolwright artifacts '
/** An arbitrary number that other programs are unlikely to lock. */
const storeLock = 7_301_982_155

/** Takes a name that needs no escaping in SQL. */
export const tableNameOption: OptionCheck = {
  expected: 'lower-case letters, digits and underscores, 40 at most,',
  accepts: (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,39}$/.test(value),
}

/** The names of the tables, ready for statements. */
export interface StoreTables {
  readonly artifacts: string
  readonly contents: string
  readonly pieces: string
  readonly unused: string
}

/** @param schema Checked, as the prefix is. */
export function tablesOf(schema: string, prefix: string): StoreTables {
  const table = (name: string): string => `"${schema}"."${prefix}${name}"`
  return {
    artifacts: table('artifacts'),
    contents: table('contents'),
    pieces: table('pieces'),
    unused: `"${prefix}contents_unused"`,
  }
}

/** Makes the tables if they do not exist. If they exist, the role needs no right to make tables. */
export async function prepareStore(
  database: Database,
  { artifacts, contents, pieces, unused }: StoreTables,
): Promise<void> {
  const versionOf = async (): Promise<string | undefined> => {
    const [row] = await database.ask(`SELECT obj_description(to_regclass($1)::oid, 'pg_class') AS version`, [artifacts])
    const version = row?.['version']
    return typeof version === 'string' ? version.slice(storeComment.length) : undefined
  }
  if ((await versionOf()) === undefined) {
    // One statement, so that it is atomic with any pool. The lock, since two concurrent CREATE TABLE fail.
    await database.ask(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(${storeLock});
      CREATE TABLE IF NOT EXISTS ${artifacts} (
        handle text COLLATE "C" PRIMARY KEY,
        entry text NOT NULL, -- JSON: session and media type
        content text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      CREATE TABLE IF NOT EXISTS ${contents} (
        id text COLLATE "C" PRIMARY KEY,
        sha256 text COLLATE "C" NOT NULL UNIQUE,
        byte_length bigint NOT NULL,
        uses integer NOT NULL -- how many artifacts have this content
      );
      CREATE INDEX IF NOT EXISTS ${unused} ON ${contents} (id) WHERE uses = 0;
      CREATE TABLE IF NOT EXISTS ${pieces} (
        content text COLLATE "C" NOT NULL,
        number integer NOT NULL,
        bytes bytea NOT NULL, -- ${pieceLength}; the last piece may be shorter
        PRIMARY KEY (content, number)
      );
      ALTER TABLE ${pieces} ALTER COLUMN bytes SET STORAGE EXTERNAL; -- a range is read without the bytes before it
      COMMENT ON TABLE ${artifacts} IS '${storeComment}${storeVersion}';
    END $$`)
  }
  const version = await versionOf()
  if (version !== String(storeVersion)) {
    throw new ArtifactError(
      `The tables have version ${version}, but this store needs version ${storeVersion}. Give it another schema or prefix.`,
    )
  }
}
