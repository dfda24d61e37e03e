import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { crashRounds, rounds } from './_rounds.ts'

test(`${rounds} processes on one SQLite file are killed: nothing runs twice, and nothing that was promised is lost`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-crash-'))
  try {
    const place = { journal: 'sqlite', location: join(directory, 'calls.db'), schema: '' } as const
    const tally = await crashRounds({ place, directory })
    expect(Object.entries(tally).filter(([, count]) => count === 0)).toEqual([])
  } finally {
    rmSync(directory, { recursive: true })
  }
}, 1_800_000)
