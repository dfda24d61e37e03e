import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { crashRounds, rounds } from './_rounds.ts'
import { inSchema } from './_schema.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`No process is killed on Postgres: ${server}.`)

test.skipIf(typeof server === 'string')(
  `${rounds} processes on one Postgres are killed: nothing runs twice, and nothing that was promised is lost`,
  async () => {
    if (typeof server === 'string') return
    await inSchema(server, 'crash', async ({ place, directory, gone }) => {
      const tally = await crashRounds({ place, directory, gone })
      expect(Object.entries(tally).filter(([, count]) => count === 0)).toEqual([])
    })
  },
  1_800_000,
)
