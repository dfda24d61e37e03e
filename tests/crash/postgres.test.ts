import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { applicationName, crashRounds, rounds } from './_rounds.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`No process is killed on Postgres: ${server}.`)

test.skipIf(typeof server === 'string')(
  `${rounds} processes on one Postgres are killed: nothing runs twice, and nothing that was promised is lost`,
  async () => {
    if (typeof server === 'string') return
    const directory = mkdtempSync(join(tmpdir(), 'toolwright-crash-'))
    const schema = `toolwright_crash_${process.pid}_${Date.now().toString(36)}`
    const client = new pg.Client({ connectionString: server.connectionString })
    await client.connect()
    // What a process had asked for when it died, the server does all the same, and then notices that nobody is there.
    const gone = async (): Promise<void> => {
      const alive = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 LIMIT 1'
      while ((await client.query(alive, [applicationName])).rows.length > 0) await pause(2)
    }
    try {
      await client.query(`CREATE SCHEMA "${schema}"`)
      const place = { journal: 'postgres', location: server.connectionString, schema } as const
      const tally = await crashRounds({ place, directory, gone })
      expect(Object.entries(tally).filter(([, count]) => count === 0)).toEqual([])
    } finally {
      rmSync(directory, { recursive: true })
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
      await client.end()
      await server.stop()
    }
  },
  1_800_000,
)
