import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createExecutor, tool, type ToolResult } from 'toolwright'
import { postgresJournal } from 'toolwright/journals/postgres'
import { fileStore } from 'toolwright/stores/file'
import { cassette, cassetteOf, writeCassette } from 'toolwright/testing/cassettes'
import { afterAll, describe, expect, it } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { filesOf, runWithTape, tapeFolder } from './_tapes.ts'
import { callsOf, executorOf, World } from './_world.ts'

const newPath = tapeFolder()
const server = await startPostgres()
if (typeof server === 'string') console.warn(`The test of a tape of Postgres is skipped: ${server}.`)
afterAll(async () => typeof server === 'object' && server.stop())

const outcomeOf = ({ status, effect, content, error }: ToolResult): string =>
  JSON.stringify([status, effect, content, error?.code])

/** Returns the most memory of the process while something runs. */
async function highestDuring(work: () => Promise<unknown>): Promise<number> {
  let highest = process.memoryUsage.rss()
  const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 10)
  await work()
  clearInterval(timer)
  return highest
}

/** Makes pieces and throws them away. What these leave to the collector is no tape's. */
async function discard(): Promise<void> {
  for (let count = 0; count < 8_000; count++) {
    new Uint8Array(65_536).fill(count)
    if (count % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a tape', () => {
  it.skipIf(typeof server === 'string')('of a journal of Postgres tells models the same', async () => {
    const pool = new pg.Pool({ connectionString: typeof server === 'string' ? '' : server.connectionString })
    const journal = postgresJournal(pool)
    const executor = executorOf(new World().tools(), journal)
    const before: string[] = []
    for (const call of callsOf(98)) before.push(outcomeOf(await executor.execute(call, { session: 'main' })))
    const path = newPath()
    await writeCassette(path, cassetteOf(journal, { session: 'main' }))
    await executor.close()
    await pool.end()
    const world = new World()
    const other = executorOf(world.tools(), cassette(path, { mode: 'replay' }))
    const after: string[] = []
    for (const call of callsOf(98)) after.push(outcomeOf(await other.execute(call, { session: 'main' })))
    expect(after).toEqual(before)
    expect(world.ran).toEqual({})
  })

  it('replays 11,000 calls with no handler, the same results and the same events', async () => {
    const path = newPath()
    const calls = callsOf(10_000)
    const recorded = await runWithTape(path, { mode: 'record' }, new World().tools(), calls)
    const world = new World()
    const replayed = await runWithTape(path, { mode: 'replay', strict: true }, world.tools(), calls)
    expect(recorded.events.length).toBeGreaterThan(10_000)
    expect(world.ran).toEqual({})
    expect(replayed.results).toEqual(recorded.results)
    expect(replayed.events).toEqual(recorded.events)
    replayed.tape.verify()
  })

  it('takes a stream of 1 GB through 64 MB of memory, and gives it again', { timeout: 300_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'large-tape-'))
    try {
      const path = join(folder, 'tape.jsonl')
      const piece = new Uint8Array(1_048_576).fill(97)
      const floods = tool({
        name: 'floods',
        description: 'Gives a gigabyte',
        timeout: 0,
        handler: () => {
          async function* pieces() {
            for (let count = 0; count < 1_000; count++) yield piece
          }
          return { [Symbol.asyncIterator]: pieces } as unknown as ReadableStream
        },
      })
      const run = async (mode: 'record' | 'replay'): Promise<readonly [string, number]> => {
        const { store } = fileStore(join(folder, mode))
        const executor = createExecutor({ tools: [floods], use: [cassette(path, { mode, store })], timeout: 0 })
        const before = await highestDuring(discard)
        let handle: string | undefined
        const highest = await highestDuring(async () => {
          const result = await executor.execute({ name: 'floods' }, { session: 's' })
          expect(result.artifact?.byteLength()).toBe(1_048_576_000)
          handle = result.handle
        })
        await executor.close()
        return [handle ?? '', highest - before]
      }
      const [recorded, memory] = await run('record')
      expect(memory).toBeLessThan(64_000_000)
      const [replayed, replayMemory] = await run('replay')
      expect(replayed).toBe(recorded)
      expect(replayMemory).toBeLessThan(64_000_000)
      expect(filesOf(path).map((file) => statSync(file).size)[1]).toBe(1_048_576_000)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
