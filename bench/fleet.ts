// What it costs that a call runs on a worker: statements a call, throughput, a round trip, and a pass of recovery. Caller and worker
// share a process, a Postgres and, if a queue is named, a Redis. Each variant has tables of its own. No server waits for its disk.
import { Queue, Worker as BullWorker } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'
import { createExecutor, memoryStore, tool, type Extension, type ToolExecutor } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { bullmq } from 'toolwright/distributed/bullmq'
import { fleet, type Dispatcher } from 'toolwright/distributed/fleet'
import { createWorker } from 'toolwright/distributed/worker'
import { postgresJournal } from 'toolwright/journals/postgres'
import { startPostgres } from '../tests/servers/postgres.ts'
import { startRedis } from '../tests/servers/redis.ts'
import { timeOfProcesses } from './_process-times.ts'
import { isQuick, printTable, quantile, rowsOf } from './_results.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? (isQuick ? 3 : 11))
/** How many calls a slice of a round has, and how many slices of each variant there are in it. */
const [calls, slices] = [500, 4]
const [sideBySide, few] = [64, 50]
const [postgres, redis] = [await startPostgres(), await startRedis()]
if (typeof postgres === 'string') throw new Error(postgres)
if (typeof redis === 'string') throw new Error(redis)

let statements = 0
/** Counts what is sent to Postgres. */
class CountingClient extends pg.Client {
  override query(...parameters: never[]): never {
    statements++
    return super.query(...(parameters as unknown as [string])) as never
  }
}
const pool = new pg.Pool({
  connectionString: postgres.connectionString,
  max: 10,
  Client: CountingClient,
})
// Postgres was started without `fsync`: Redis is not to wait for its disk either.
if (!process.env['REDIS_URL']) {
  const administrator = new Redis(new URL(redis.url).pathname)
  await administrator.config('SET', 'appendfsync', 'everysec')
  administrator.disconnect()
}
const store = memoryStore()
const schemas: string[] = []

/** Makes a schema, in which the journals of one variant share their tables. */
async function schemaOf(name: string): Promise<string> {
  const schema = `fleet_${process.pid}_${name}`
  await pool.query(`CREATE SCHEMA ${schema}`)
  schemas.push(schema)
  return schema
}

const journal = (
  schema: string,
): Extension & { readonly journal: { claim(record: ToolCallRecord, owner: string): unknown } } =>
  postgresJournal(pool, { schema })
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } } as const
const tools = [
  tool({ name: 'send', description: 'Sends a text', inputSchema, handler: ({ text }) => ({ sent: text }) }),
]

/** A caller and a worker, with what ends them. */
async function fleetOver(queue: string, dispatcher?: Dispatcher): Promise<[ToolExecutor, () => Promise<void>]> {
  const schema = await schemaOf(queue)
  const caller = createExecutor({
    tools,
    use: [journal(schema), { store }, fleet({ dispatcher, queueOf: () => queue })],
  })
  const executor = createExecutor({ tools, use: [journal(schema), { store }] })
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

const local = createExecutor({ tools, use: [journal(await schemaOf('local')), { store }] })
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

/** Runs many calls, some at a time. */
async function runMany(run: () => Promise<unknown>, total: number, atOnce: number): Promise<void> {
  let left = total
  const lane = async (): Promise<void> => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

/** What some work took: nanoseconds of the wall's clock and of the processors, and statements. */
interface Cost {
  wall: number
  processor: number
  statements: number
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = timeOfProcesses()
  statements = 0
  const start = performance.now()
  await work()
  const wall = (performance.now() - start) * 1e6
  return { wall, processor: timeOfProcesses() - before, statements }
}

const titles = {
  together: `a call in a journal in Postgres, ${sideBySide} at a time`,
  processor: 'the same: time of the processors for caller, worker, Postgres and Redis',
  alone: 'the same, one after the other',
  recover: 'recover({ rerun: true }) with 10,000 calls that wait for workers',
}
const [inProcess = '', ...onWorkers] = Object.keys(variants)
const samples: Record<string, Record<string, number[]>> = {}
const statementsOf: Record<string, number> = {}

function keep(title: string, name: string, figure: number): void {
  ;((samples[title] ??= {})[name] ??= []).push(figure)
}

for (const run of Object.values(variants)) await runMany(run, 4 * calls, sideBySide)
for (let round = 0; round < rounds; round++) {
  // In short slices, there and back, so that what slows the machine for a while slows all variants alike.
  const sums = new Map(Object.keys(variants).map((name) => [name, { wall: 0, processor: 0, statements: 0 }]))
  for (let slice = 0; slice < slices; slice++) {
    const order = Object.entries(variants)
    for (const [name, run] of slice % 2 === 0 ? order : order.toReversed()) {
      const cost = await costOf(() => runMany(run, calls, sideBySide))
      const sum = sums.get(name)!
      for (const part of ['wall', 'processor', 'statements'] as const) sum[part] += cost[part]
    }
  }
  const total = slices * calls
  for (const [name, sum] of sums) {
    keep(titles.together, name, sum.wall / total)
    keep(titles.processor, name, sum.processor / total)
    statementsOf[name] = (statementsOf[name] ?? 0) + sum.statements / total / rounds
  }
  for (const [name, run] of Object.entries(variants)) {
    keep(titles.alone, name, (await costOf(() => runMany(run, few, 1))).wall / few)
  }
}
await Promise.all([endCarried(), endPulled(), local.close(), raw.close(), queue.close()])
for (const [name, count] of Object.entries(statementsOf))
  process.stdout.write(`${name}: ${count.toFixed(2)} statements a call\n`)
for (const name of onWorkers) {
  // Of each round, whose slices lay side by side.
  const throughput = (samples[titles.together]?.[inProcess] ?? []).map(
    (taken, round) => taken / (samples[titles.together]?.[name]?.[round] ?? NaN),
  )
  const [median, p10, p90] = [0.5, 0.1, 0.9].map((share) => quantile(throughput, share).toFixed(2))
  process.stdout.write(`${name}: ${median} of the throughput in this process (${p10} … ${p90} by rounds)\n`)
}
process.stdout.write('\n')

await Promise.all([endCarried(), endPulled(), local.close(), raw.close(), queue.close()])

const many = journal(await schemaOf('recover'))
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
  passes.push((await costOf(() => sweeper.calls.recover({ rerun: true, attempts: 3 }))).wall)
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
for (const schema of schemas) await pool.query(`DROP SCHEMA ${schema} CASCADE`)
await pool.end()
await Promise.all([postgres.stop(), redis.stop()])
