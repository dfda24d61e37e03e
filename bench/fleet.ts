// What it costs that a call runs on a worker: statements a call, throughput, a round trip, and a pass of recovery. Caller and worker
// share a process, a Postgres and, if a queue is named, a Redis.
import { Queue, Worker as BullWorker } from 'bullmq'
import pg from 'pg'
import { createExecutor, memoryStore, tool, type Extension, type ToolExecutor } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { bullmq } from 'toolwright/distributed/bullmq'
import { fleet, type Dispatcher } from 'toolwright/distributed/fleet'
import { createWorker } from 'toolwright/distributed/worker'
import { postgresJournal } from 'toolwright/journals/postgres'
import { startPostgres } from '../tests/servers/postgres.ts'
import { startRedis } from '../tests/servers/redis.ts'
import { printTable, rowsOf } from './_results.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7)
const [calls, sideBySide, few] = [500, 64, 50]
const [postgres, redis] = [await startPostgres(), await startRedis()]
if (typeof postgres === 'string') throw new Error(postgres)
if (typeof redis === 'string') throw new Error(redis)

let statements = 0
/** Counts what is sent to Postgres. */
class CountingClient extends pg.Client {
  override query(...given: never[]): never {
    statements++
    return super.query(...(given as unknown as [string])) as never
  }
}
const pool = new pg.Pool({
  connectionString: postgres.connectionString,
  max: 10,
  Client: CountingClient,
})
const schema = `fleet_${process.pid}`
await pool.query(`CREATE SCHEMA ${schema}`)
const store = memoryStore()
const journal = (): Extension & { readonly journal: { claim(record: ToolCallRecord, owner: string): unknown } } =>
  postgresJournal(pool, { schema })
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } } as const
const tools = [
  tool({ name: 'send', description: 'Sends a text', inputSchema, handler: ({ text }) => ({ sent: text }) }),
]

/** A caller and a worker, with what ends them. */
async function fleetOver(queue: string, dispatcher?: Dispatcher): Promise<[ToolExecutor, () => Promise<void>]> {
  const caller = createExecutor({ tools, use: [journal(), { store }, fleet({ dispatcher, queueOf: () => queue })] })
  const executor = createExecutor({ tools, use: [journal(), { store }] })
  const worker = createWorker({ executor, dispatcher, queues: { [queue]: sideBySide } })
  worker.on('error', (error) => process.stderr.write(`${String(error)}\n`))
  await worker.ready
  const end = async (): Promise<void> => {
    await caller.close()
    await worker.close()
    await dispatcher?.close?.()
  }
  return [caller, end]
}

const local = createExecutor({ tools, use: [journal(), { store }] })
const [carried, endCarried] = await fleetOver('carried', bullmq({ connection: redis.url, prefix: 'bench' }))
const [pulled, endPulled] = await fleetOver('pulled')

// BullMQ by itself: a job of the same size is added, and its worker tells who waits for it.
const connection = { path: new URL(redis.url).pathname, maxRetriesPerRequest: null }
const waiting = new Map<string, () => void>()
const queue = new Queue('raw', { connection, prefix: 'raw' })
const raw = new BullWorker('raw', async ({ data }) => waiting.get(data.id)?.(), {
  connection,
  prefix: 'raw',
  concurrency: sideBySide,
})
await raw.waitUntilReady()
let next = 0

const variants: Record<string, () => Promise<unknown>> = {
  'in this process': () => send(local),
  'on a worker, over the journal alone': () => send(pulled),
  'on a worker, over BullMQ on Redis': () => send(carried),
  'a job of BullMQ on Redis, without a journal': () =>
    new Promise<void>((resolve, reject) => {
      const id = `job-${next++}`
      waiting.set(id, resolve)
      const options = { jobId: id, removeOnComplete: true }
      queue.add('call', { id, text: `Hello ${next}` }, options).catch(reject)
    }),
}

async function send(executor: ToolExecutor): Promise<void> {
  const { status, error } = await executor.execute({ name: 'send', args: { text: `Hello ${next++}` } })
  if (status !== 'ok') throw new Error(`It ended with ${status}.`, { cause: error })
}

/** Runs many calls, some at a time, and returns the nanoseconds that each took of the whole. */
async function timeOf(run: () => Promise<unknown>, total: number, atOnce: number): Promise<number> {
  let left = total
  const lane = async (): Promise<void> => {
    while (left-- > 0) await run()
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: atOnce }, lane))
  return ((performance.now() - start) * 1e6) / total
}

const titles = {
  together: `a call in a journal in Postgres, ${sideBySide} at a time`,
  alone: 'the same, one after the other',
  recover: 'recover({ rerun: true }) with 10,000 calls that wait for workers',
}
const samples: Record<string, Record<string, number[]>> = {}
for (const run of Object.values(variants)) await timeOf(run, calls, sideBySide)
for (let round = 0; round < rounds; round++) {
  const order = Object.entries(variants)
  for (const [name, run] of round % 2 === 0 ? order : order.toReversed()) {
    const [together, alone] = [
      ((samples[titles.together] ??= {})[name] ??= []),
      ((samples[titles.alone] ??= {})[name] ??= []),
    ]
    statements = 0
    together.push(await timeOf(run, calls, sideBySide))
    if (round === 0) process.stdout.write(`${name}: ${(statements / calls).toFixed(2)} statements a call\n`)
    alone.push(await timeOf(run, few, 1))
  }
}
await Promise.all([endCarried(), endPulled(), local.close(), raw.close(), queue.close()])

const many = journal()
const now = Date.now()
for (let start = 0; start < 10_000; start += 200) {
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => many.journal.claim(queued(`call ${start + index}`), 'gone')),
  )
}
const sweeper = createExecutor({ tools, use: [many, { store }] })
await sweeper.calls.recover({ rerun: true, attempts: 3 })
const passes: number[] = []
for (let round = 0; round < 21; round++) {
  passes.push(await timeOf(() => sweeper.calls.recover({ rerun: true, attempts: 3 }), 1, 1))
}
samples[titles.recover] = { Postgres: passes }
await sweeper.close()

function queued(id: string): ToolCallRecord {
  const work = { queue: 'elsewhere', attempts: 0 }
  const pause = {
    digest: 'd'.repeat(64),
    fingerprint: 'f',
    expiresAt: now + 86_400_000,
    text: '{"text":"Hello"}',
    work,
  }
  return {
    id,
    callId: 'c'.repeat(64),
    name: 'send',
    session: 's',
    input: { text: 'Hello' },
    state: 'PENDING',
    approval: { required: false },
    effect: 'none',
    createdAt: now,
    updatedAt: now,
    auditTrail: [{ state: 'PENDING', timestamp: now }],
    seq: 2,
    journal: { caller: 'model', owner: 'gone', fence: 0, awaits: { reason: 'worker', ...pause } },
  }
}

for (const [title, byName] of Object.entries(samples)) printTable(rowsOf(title, byName))
await pool.query(`DROP SCHEMA ${schema} CASCADE`)
await pool.end()
await Promise.all([postgres.stop(), redis.stop()])
