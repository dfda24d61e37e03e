import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { crashRounds, rounds } from './_rounds.ts'

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
    try {
      await client.query(`CREATE SCHEMA "${schema}"`)
      const place = { journal: 'postgres', location: server.connectionString, schema } as const
      const tally = await crashRounds(place, join(directory, 'traces'))
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
