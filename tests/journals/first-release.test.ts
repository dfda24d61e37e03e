import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createExecutor, memoryStore, type Extension, type ToolExecutor } from 'toolwright'
import { createWorker } from 'toolwright/distributed/worker'
import { postgresJournal } from 'toolwright/journals/postgres'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { permissions } from 'toolwright/policies/permissions'
import { digestOf, type Journal } from 'toolwright/records'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { listedBy } from '../conformance/journals.ts'
import { startPostgres } from '../servers/postgres.ts'
import { makeReleasedFile, makeReleasedTables, releasedRecords, releasedTools } from './_first-release.ts'

type Open = () => Extension & { readonly journal: Journal }

async function releasedFile(): Promise<Open> {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-first-release-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'calls.db')
  makeReleasedFile(file)
  return () => sqliteJournal(file)
}

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The rows of release 0.1.0 are not read from Postgres: ${server}.`)

let count = 0

async function releasedTables(connectionString: string): Promise<Open> {
  const schema = `first_release_${process.pid}_${Date.now().toString(36)}_${count++}`
  const pool = new pg.Pool({ connectionString })
  await pool.query(`CREATE SCHEMA "${schema}"`)
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    await pool.end()
  })
  await postgresJournal(pool, { schema }).journal.read('none')
  await makeReleasedTables((text, values) => pool.query(text, values), schema)
  return () => postgresJournal(pool, { schema })
}

const places: readonly (readonly [string, () => Promise<Open>])[] = [
  ['a file', releasedFile],
  ...(typeof server === 'string'
    ? []
    : [['tables of Postgres', () => releasedTables(server.connectionString)] as const]),
]

/** Requires each settlement to follow from the one before, and returns their ids. */
async function requireChains(journal: Journal): Promise<string[]> {
  const settled = (await listedBy(journal, { state: 'settled' })).map(({ record }) => record)
  const digests = new Set(settled.map(({ journal: part }) => part?.digest))
  for (const record of settled) {
    const { digest, previous = 'none' } = record.journal ?? {}
    expect(digestOf(previous, record)).toBe(digest)
    expect(previous === '' || digests.has(previous)).toBe(true)
  }
  return settled.map(({ id }) => id).toSorted()
}

describe.each(places)('%s of release 0.1.0', (_place, make) => {
  async function opened(): Promise<{ executor: ToolExecutor; ran: string[]; journal: Journal }> {
    const open = await make()
    const ran: string[] = []
    const mounted = open()
    const asks = permissions({ mode: 'auto', requireApprovalTools: ['charge'] })
    const executor = createExecutor({
      tools: releasedTools(ran),
      use: [mounted, asks, { store: memoryStore() }],
    })
    onTestFinished(() => executor.close())
    return { executor, ran, journal: mounted.journal }
  }

  test('has calls that were pending', () => {
    const pending = releasedRecords.filter(({ status }) => (status as string) === 'pending')
    expect(pending.map(({ id }) => id).toSorted()).toEqual(['asks', 'asks the client', 'asks too', 'queued'])
  })

  test('lists them as waiting', async () => {
    const { executor } = await opened()
    const waiting = await executor.calls.waiting({ session: 'chat' })
    expect(waiting.map(({ invocationId, reason }) => `${invocationId}: ${reason}`).toSorted()).toEqual([
      'asks the client: client',
      'asks too: approval',
      'asks: approval',
    ])
    const snapshots = await executor.calls.list({ session: 'chat' })
    const statuses = Object.fromEntries(snapshots.map(({ id, status }) => [id, status]))
    expect(statuses).toEqual({
      settled: 'ok',
      failed: 'error',
      denied: 'denied',
      invalid: 'error',
      asks: 'waiting',
      'asks too': 'waiting',
      'asks the client': 'waiting',
      queued: 'waiting',
    })
    expect((await executor.calls.get('queued')).status).toBe('waiting')
    expect(await executor.queue.depth('default', 10)).toBe(1)
  })

  test('gets the answers of people and the client', async () => {
    const { executor, ran } = await opened()
    const waiting = new Map((await executor.calls.waiting()).map((call) => [call.invocationId, call]))
    const allowed = await executor.calls.decide(waiting.get('asks')!, 'allow')
    expect(allowed).toMatchObject({ status: 'ok', id: 'call_3', content: [{ type: 'json', data: { charged: 150 } }] })
    const denied = await executor.calls.decide(waiting.get('asks too')!, 'deny', { note: 'Too much' })
    expect(denied).toMatchObject({ status: 'denied', id: 'call_4' })
    const answered = await executor.calls.respond(waiting.get('asks the client')!, 'medium')
    expect(answered).toMatchObject({ status: 'ok', id: 'call_5', content: [{ type: 'text', text: 'medium' }] })
    expect(ran).toEqual(['asks'])
    expect(await executor.calls.waiting()).toEqual([])
  })

  test('says of a repeated call that it waits, and replays one that settled', async () => {
    const { executor, ran } = await opened()
    const charge = { id: 'call_3', name: 'charge', args: { cents: 150 } }
    const again = await executor.execute(charge, { session: 'chat', invocationId: 'asks' })
    expect(again).toMatchObject({ status: 'waiting', isError: false })
    const add = { id: 'call_1', name: 'add', args: { a: 2, b: 3 } }
    const replayed = await executor.execute(add, { session: 'chat', invocationId: 'settled' })
    expect(replayed).toMatchObject({ status: 'ok', content: [{ type: 'text', text: '5' }] })
    expect(ran).toEqual([])
  })

  test('lets a worker take the call that was queued', async () => {
    const { executor, ran } = await opened()
    const worker = createWorker({ executor, queues: { default: 1 }, sweepEvery: 50, resendAfter: 50 })
    onTestFinished(() => worker.close())
    const status = async (): Promise<unknown> => (await executor.calls.get('queued')).status
    await vi.waitFor(async () => expect(await status()).toBe('ok'), { timeout: 60_000, interval: 10 })
    expect(ran).toEqual(['queued'])
  })

  test('keeps its chain of settlements, and the new ones have theirs', async () => {
    const { executor, journal } = await opened()
    const before = await requireChains(journal)
    expect(before).toEqual(['denied', 'failed', 'invalid', 'settled'])
    for (const call of await executor.calls.waiting()) {
      if (call.reason === 'approval') await executor.calls.decide(call, 'allow')
      else await executor.calls.respond(call, 'small')
    }
    expect(await requireChains(journal)).toEqual([...before, 'asks', 'asks the client', 'asks too'].toSorted())
  })
})
