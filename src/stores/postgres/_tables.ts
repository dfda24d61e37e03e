import { ArtifactError, InvalidConfigurationError } from '../../index.ts'
import type { Database } from './_database.ts'

/** Bytes of a piece; part of what a version of the tables means. */
export const pieceLength = 262_144

const schemaVersion = 1
const description = 'Toolwright artifacts '
/** Any number that others are unlikely to lock. */
const lock = 7_301_982_155
const namePattern = /^[a-z_][a-z0-9_]{0,39}$/

/** The names of the tables, ready for statements. */
export interface Tables {
  readonly artifacts: string
  readonly contents: string
  readonly pieces: string
  readonly unused: string
}

export function tablesOf(schema: string, prefix: string): Tables {
  const [within, start] = [nameOf('schema', schema), nameOf('prefix', prefix)]
  const table = (name: string): string => `"${within}"."${start}${name}"`
  return {
    artifacts: table('artifacts'),
    contents: table('contents'),
    pieces: table('pieces'),
    unused: `"${start}contents_unused"`,
  }
}

/** Makes the tables where they are not there yet; nobody but who makes them has to be allowed to. */
export async function prepare(database: Database, { artifacts, contents, pieces, unused }: Tables): Promise<void> {
  const versionOf = async (): Promise<string | undefined> => {
    const [row] = await database.ask(`SELECT obj_description(to_regclass($1)::oid, 'pg_class') AS version`, [artifacts])
    const version = row?.['version']
    return typeof version === 'string' ? version.slice(description.length) : undefined
  }
  if ((await versionOf()) === undefined) {
    // One statement, so that it is all or nothing with any pool; the lock, since making a table twice at a time fails.
    await database.ask(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(${lock});
      CREATE TABLE IF NOT EXISTS ${artifacts} (
        handle text COLLATE "C" PRIMARY KEY,
        entry text NOT NULL, -- JSON: its session and its media type
        content text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      CREATE TABLE IF NOT EXISTS ${contents} (
        id text COLLATE "C" PRIMARY KEY,
        sha256 text COLLATE "C" NOT NULL UNIQUE,
        byte_length bigint NOT NULL,
        uses integer NOT NULL -- how many artifacts it is the content of
      );
      CREATE INDEX IF NOT EXISTS ${unused} ON ${contents} (id) WHERE uses = 0;
      CREATE TABLE IF NOT EXISTS ${pieces} (
        content text COLLATE "C" NOT NULL,
        number integer NOT NULL,
        bytes bytea NOT NULL, -- ${pieceLength}, of the last piece fewer
        PRIMARY KEY (content, number)
      );
      ALTER TABLE ${pieces} ALTER COLUMN bytes SET STORAGE EXTERNAL; -- a range is read without what stands before it
      COMMENT ON TABLE ${artifacts} IS '${description}${schemaVersion}';
    END $$`)
  }
  const version = await versionOf()
  if (version !== String(schemaVersion)) {
    throw new ArtifactError(
      `The tables are of version ${version} of this store, which knows ${schemaVersion}. Give it another schema or prefix.`,
    )
  }
}

/** A name that needs no escaping, whatever stands around it. */
function nameOf(option: string, name: string): string {
  if (typeof name === 'string' && namePattern.test(name)) return name
  throw new InvalidConfigurationError(
    `\`${option}\` must be lower-case letters, digits and underscores, 40 at most, got ${JSON.stringify(name)}.`,
  )
}
