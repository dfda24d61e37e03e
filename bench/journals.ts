// What journals cost: a write, a list among many records, and recovery. The first line of each table is the journal in memory, and
// Postgres is measured too if a server is at hand.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createExecutor, tool, type Extension } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { postgresJournal } from 'toolwright/journals/postgres'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import type { Journal, RecordQuery } from 'toolwright/records'
import { startPostgres } from '../tests/servers/postgres.ts'
import { isQuick, printTable, rowsOf } from './_results.ts'

type Mounted = Extension & { readonly journal: Journal }

const directory = mkdtempSync(join(tmpdir(), 'toolwright-bench-'))
const server = await startPostgres()
const pool = typeof server === 'string' ? undefined : new pg.Pool({ connectionString: server.connectionString })
let count = 0

const places: Record<string, () => Promise<Mounted>> = {
  memory: async () => memoryJournal({ settled: 100_000 }),
  SQLite: async () => sqliteJournal(join(directory, `${count++}.db`)),
  ...(pool && {
    Postgres: async () => {
      const schema = `bench_${count++}`
      await pool.query(`CREATE SCHEMA ${schema}`)
      return postgresJournal(pool, { schema })
    },
  }),
}

function record(id: string, changes: Partial<ToolCallRecord> = {}): ToolCallRecord {
  const journal = { caller: 'model', owner: 'dead', fence: 0 } as const
  return {
    id,
    callId: 'c'.repeat(64),
    name: 'send',
    session: `session ${id.length % 7}`,
    input: { to: 'Oslo', text: 'x'.repeat(400) },
    state: 'EXECUTING',
    approval: { required: false },
    effect: 'unknown',
    createdAt: Date.now(),
    updatedAt: Date.now(),
    auditTrail: [{ state: 'EXECUTING', timestamp: Date.now() }],
    seq: 2,
    journal,
    ...changes,
  }
}

function waits(id: string, session: string): ToolCallRecord {
  const expiresAt = Date.now() + 86_400_000
  const awaits = { reason: 'approval', digest: 'd'.repeat(64), fingerprint: 'f', expiresAt, text: '{}' } as const
  return record(id, {
    session,
    state: 'APPROVAL_REQUIRED',
    journal: { caller: 'model', owner: 'dead', fence: 0, awaits },
  })
}

function settled(id: string, changes: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return record(id, { state: 'COMPLETED', status: 'ok', effect: 'completed', completedAt: Date.now(), ...changes })
}

/** Runs many at a time, as a busy process would. */
async function each(total: number, run: (index: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < total; start += 200) {
    await Promise.all(Array.from({ length: Math.min(200, total - start) }, (_, index) => run(start + index)))
  }
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return (performance.now() - start) * 1e6
}

async function listed(journal: Journal, query: RecordQuery): Promise<number> {
  let found = 0
  for await (const { fence } of journal.list(query)) if (fence.number >= 0) found++
  return found
}

async function rounds(times: number, run: (round: number) => Promise<number>): Promise<number[]> {
  const samples: number[] = []
  for (let round = 0; round < times; round++) samples.push(await run(round))
  return samples
}

const samples: Record<string, Record<string, number[]>> = {}
const keep = (title: string, name: string, taken: number[]): void => void ((samples[title] ??= {})[name] = taken)
const titles = {
  alone: 'a call in a journal: claim, write and settlement, one after the other',
  together: 'a call in a journal: claim, write and settlement, 200 at a time',
  newest: 'the newest 50 of a session among 20,000 settled records',
  waiting: 'what waits in one session, among 10,000 that wait',
  recover: 'recover() with 10,000 calls that wait, and no dead executor',
  seal: 'recover() that closes 10,000 calls of a dead executor',
  prune: 'deleting 10,000 of 20,000 settled records',
}

async function life(journal: Journal, id: string): Promise<void> {
  const fence = await journal.claim(record(id), 'mine')
  if (fence === null) throw new Error('The record is there already.')
  await journal.write(record(id), fence)
  await journal.write(settled(id), fence)
}

/**
 * Prints what a call takes of the processor of Postgres, beside an INSERT and an UPDATE of the same record by hand. All use one
 * connection, whose process the system tells the time of. Only Linux does, and only of its own processes. The table by hand has no index
 * but that of its key, and is compressed as the server does it by default.
 */
async function printTimesOfServer(connectionString: string): Promise<void> {
  if (!existsSync('/proc/self/schedstat') || process.env['POSTGRES_URL']) return
  const connection = new pg.Pool({ connectionString, max: 1 })
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const taken = (): number => Number(readFileSync(`/proc/${rows[0]?.pid}/schedstat`, 'utf8').split(' ')[0])
  const schema = `bench_${count++}`
  await connection.query(`CREATE SCHEMA ${schema}
    CREATE TABLE by_hand (id text PRIMARY KEY, owner text, record text, state text, version integer)`)
  const notifyingJournal = postgresJournal(connection, { schema })
  const silentJournal = postgresJournal(connection, { schema, prefix: 'silent_', notify: false })
  const insert = `INSERT INTO ${schema}.by_hand VALUES ($1, 'mine', $2, 'running', 0) ON CONFLICT (id) DO NOTHING RETURNING version`
  const update = `UPDATE ${schema}.by_hand SET record = $2, state = 'settled', version = version + 1
    WHERE id = $1 AND owner = 'mine' AND version >= $3 RETURNING version`
  for (const [title, length] of [
    ['a record of 1 kB', 0],
    ['a record of 10 kB', 9_000],
  ] as const) {
    const value = Array.from({ length: length / 9 }, (_, index) => (index * 2_654_435_761) % 90_000_000).join(' ')
    const journaled = { caller: 'model', owner: 'mine', fence: 0, result: [{ type: 'text', text: value }] } as const
    const ends = (id: string): ToolCallRecord => settled(id, { journal: journaled })
    const recorded = async ({ journal }: Mounted, id: string): Promise<void> => {
      const fence = await journal.claim(record(id), 'mine')
      if (fence === null || !(await journal.write(ends(id), fence))) throw new Error('It was not recorded.')
    }
    const variants: Record<string, (id: string) => Promise<unknown>> = {
      'INSERT and UPDATE by hand': async (id) => {
        await connection.query({ name: 'insert', text: insert, values: [id, JSON.stringify(record(id))] })
        await connection.query({ name: 'update', text: update, values: [id, JSON.stringify(ends(id)), 0] })
      },
      'Postgres without `notify`': (id) => recorded(silentJournal, id),
      Postgres: (id) => recorded(notifyingJournal, id),
    }
    const times: Record<string, number[]> = {}
    // Short rounds, since some of them are left alone by what else the machine does.
    for (let round = 0; round < (isQuick ? 30 : 150); round++) {
      for (const [name, run] of Object.entries(variants)) {
        const before = taken()
        for (let index = 0; index < 50; index++) await run(`${title}, ${name} ${round} ${index}`)
        if (round > 4) (times[name] ??= []).push((taken() - before) / 50)
      }
    }
    printTable(rowsOf(`time of the processor of Postgres for a call: claim and settlement, ${title}`, times))
  }
  await notifyingJournal.close()
  await silentJournal.close()
  await connection.end()
}

for (const [name, open] of Object.entries(places)) {
  const busy = await open()
  await each(2_000, (index) => life(busy.journal, `warm ${index}`))
  const few = 100
  const alone = await rounds(21, (round) =>
    timeOf(async () => {
      for (let index = 0; index < few; index++) await life(busy.journal, `alone ${round} ${index}`)
    }),
  )
  keep(
    titles.alone,
    name,
    alone.map((sample) => sample / few),
  )
  const together = await rounds(21, (round) =>
    timeOf(() => each(1_000, (index) => life(busy.journal, `together ${round} ${index}`))),
  )
  keep(
    titles.together,
    name,
    together.map((sample) => sample / 1_000),
  )
  await busy.close?.()

  // Journals of earlier releases have no lists: only their writes are compared.
  if (busy.journal.list === undefined) continue

  const full = await open()
  await each(20_000, async (index) =>
    full.journal.claim(
      settled(`call ${index}`, { session: `session ${index % 10}`, createdAt: index, completedAt: index }),
      'mine',
    ),
  )
  const newest = { session: 'session 3', limit: 50 }
  keep(titles.newest, name, await rounds(21, () => timeOf(() => listed(full.journal, newest))))
  keep(titles.prune, name, [
    await timeOf(async () => {
      if ((await full.journal.delete?.({ settledBefore: 10_000, limit: 20_000 }))?.length !== 10_000)
        throw new Error('It deleted others.')
    }),
  ])
  await full.close?.()

  const pausing = await open()
  await each(10_000, async (index) => pausing.journal.claim(waits(`call ${index}`, `session ${index % 100}`), 'dead'))
  const session = { state: 'waiting', session: 'session 3' } as const
  keep(titles.waiting, name, await rounds(21, () => timeOf(() => listed(pausing.journal, session))))
  const executor = createExecutor({ tools: [tool('send', () => 1)], use: [pausing] })
  keep(titles.recover, name, await rounds(11, () => timeOf(() => executor.calls.recover())))
  await executor.close()

  const dead = await open()
  await each(10_000, async (index) => dead.journal.claim(record(`call ${index}`), 'dead'))
  const successor = createExecutor({ tools: [tool('send', () => 1)], use: [dead] })
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
  keep(titles.seal, name, [
    await timeOf(async () => {
      const { sealed } = await successor.calls.recover({ staleAfter: 0 })
      if (sealed.length !== 10_000) throw new Error(`It closed ${sealed.length} calls.`)
    }),
  ])
  clearInterval(watch)
  process.stdout.write(
    `${name}: closing 10,000 calls took ${((most - before) / 1_048_576).toFixed(0)} MiB more memory.\n`,
  )
  await successor.close()
}

for (const [title, byName] of Object.entries(samples)) printTable(rowsOf(title, byName))
if (typeof server !== 'string') await printTimesOfServer(server.connectionString)
if (pool !== undefined) {
  for (let index = 0; index < count; index++) await pool.query(`DROP SCHEMA IF EXISTS bench_${index} CASCADE`)
  await pool.end()
}
if (typeof server !== 'string') await server.stop()
rmSync(directory, { recursive: true })
