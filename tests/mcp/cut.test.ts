import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tool } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { expect, test } from 'vitest'
import { cutCalls, cutTool } from '../servers/cuts.ts'
import { seeded } from '../testing/_world.ts'
import { closing, eras, start } from './_server.ts'

/** `npm run bench cut` cuts 2,000 answers, and those of other servers. */
const calls = Number(process.env['CUT_CALLS'] ?? 100)
const seed = Number(process.env['CUT_SEED'] ?? Date.now() % 1_000_000_007)

test.each(eras)(
  `${calls} calls whose answers are cut at a random byte run once each (%s)`,
  async (protocol) => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-cut-'))
    closing(() => rmSync(folder, { recursive: true }))
    const runs = new Map<string, string[]>()
    const pay = tool(cutTool, async ({ order }: { order: string }) => {
      const receipt = crypto.randomUUID()
      runs.set(order, [...(runs.get(order) ?? []), receipt])
      await new Promise((resolve) => setTimeout(resolve, runs.size % 3)) // some answers break off while it runs
      return receipt
    })
    const { url, reports } = await start(
      { tools: [pay], use: [sqliteJournal(join(folder, 'calls.db'))] },
      {},
      { token: 'secret' },
    )
    const headers = { authorization: 'Bearer secret' }
    const tally = await cutCalls({ url, protocol, headers, runs }, calls, seeded(seed))
    console.log(`CUT_SEED=${seed} ${JSON.stringify(tally)}`)
    expect(tally).toEqual({ calls, cuts: calls, runs: calls, same: calls, sameBytes: calls })
    expect(reports).toEqual([])
  },
  600_000,
)
