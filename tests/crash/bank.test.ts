import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { bankRounds, rounds, type BankTally } from './_bank-rounds.ts'
import { applicationName } from './_rounds.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`No payment is cut on Postgres: ${server}.`)

const minute = 60_000

function requireTested(tally: BankTally): void {
  console.log(JSON.stringify(tally))
  expect(Object.entries(tally).filter(([, count]) => count === 0)).toEqual([])
}

test(`${bankRounds} processes that pay are killed over SQLite: nothing is paid twice, and of no payment is it unknown`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-bank-'))
  try {
    const location = join(directory, 'calls.db')
    const age = (): void => {
      const database = new DatabaseSync(location)
      database.exec(`PRAGMA busy_timeout = 5000; UPDATE calls SET updated_at = updated_at - ${minute};
        UPDATE owners SET beat_at = beat_at - ${minute}, beat_uptime = beat_uptime - ${minute}`)
      database.close()
    }
    requireTested(await rounds({ place: { journal: 'sqlite', location, schema: '' }, directory, age }))
  } finally {
    rmSync(directory, { recursive: true })
  }
}, 1_800_000)

test.skipIf(typeof server === 'string')(
  `${bankRounds} processes that pay are killed over Postgres: nothing is paid twice, and of no payment is it unknown`,
  async () => {
    if (typeof server === 'string') return
    const directory = mkdtempSync(join(tmpdir(), 'toolwright-bank-'))
    const schema = `toolwright_bank_${process.pid}_${Date.now().toString(36)}`
    const client = new pg.Client({ connectionString: server.connectionString })
    await client.connect()
    const gone = async (): Promise<void> => {
      const alive = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 LIMIT 1'
      while ((await client.query(alive, [applicationName])).rows.length > 0) await pause(2)
    }
    const age = async (): Promise<void> => {
      const made = await client.query('SELECT 1 FROM pg_tables WHERE schemaname = $1', [schema])
      if (made.rows.length === 0) return
      await client.query(`UPDATE "${schema}".toolwright_calls SET updated_at = updated_at - interval '1 minute'`)
      await client.query(`UPDATE "${schema}".toolwright_owners SET beat_at = beat_at - interval '1 minute'`)
    }
    try {
      await client.query(`CREATE SCHEMA "${schema}"`)
      const place = { journal: 'postgres', location: server.connectionString, schema } as const
      requireTested(await rounds({ place, directory, gone, age }))
    } finally {
      rmSync(directory, { recursive: true })
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
      await client.end()
      await server.stop()
    }
  },
  1_800_000,
)
