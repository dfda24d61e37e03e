import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { PostgresServer } from '../servers/postgres.ts'
import { applicationName } from './_rounds.ts'
import type { Place } from './_work.ts'

/** A schema of a server, for the records of the processes that are killed. */
export interface CrashSchema {
  readonly place: Place
  readonly directory: string
  readonly client: pg.Client
  /** Resolves when the server has done what killed processes had asked for, and notices that they are gone. */
  readonly gone: () => Promise<void>
}

/** Does work in a schema of its own, then drops it and stops the server. */
export async function inSchema(
  server: PostgresServer,
  name: string,
  work: (schema: CrashSchema) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), `toolwright-${name}-`))
  const schema = `toolwright_${name}_${process.pid}_${Date.now().toString(36)}`
  const client = new pg.Client({ connectionString: server.connectionString })
  await client.connect()
  const gone = async (): Promise<void> => {
    const alive = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 LIMIT 1'
    while ((await client.query(alive, [applicationName])).rows.length > 0) await pause(2)
  }
  try {
    await client.query(`CREATE SCHEMA "${schema}"`)
    await work({
      place: { journal: 'postgres', location: server.connectionString, schema },
      directory,
      client,
      gone,
    })
  } finally {
    rmSync(directory, { recursive: true })
    await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    await client.end()
    await server.stop()
  }
}
