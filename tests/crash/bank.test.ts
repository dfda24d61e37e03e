import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { bankRounds, rounds, type BankTally } from './_bank-rounds.ts'
import { inSchema } from './_schema.ts'

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
    await inSchema(server, 'bank', async ({ place, directory, gone, client }) => {
      const { schema } = place
      const age = async (): Promise<void> => {
        const made = await client.query('SELECT 1 FROM pg_tables WHERE schemaname = $1', [schema])
        if (made.rows.length === 0) return
        await client.query(`UPDATE "${schema}".toolwright_calls SET updated_at = updated_at - interval '1 minute'`)
        await client.query(`UPDATE "${schema}".toolwright_owners SET beat_at = beat_at - interval '1 minute'`)
      }
      requireTested(await rounds({ place, directory, gone, age }))
    })
  },
  1_800_000,
)
