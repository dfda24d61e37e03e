import pg from 'pg'
import { Redis } from 'ioredis'
import { startPostgres } from '../tests/servers/postgres.ts'
import { startRedis } from '../tests/servers/redis.ts'
import { timeOfProcesses } from './_process-times.ts'
const side = 64
const rounds = Number(process.argv[2] ?? 10)
const mode = process.argv[3] ?? 'carried'
const [postgres, redis] = [await startPostgres(), await startRedis()] as any
const admin = new Redis(new URL(redis.url).pathname)
await admin.config('SET', 'appendfsync', 'everysec'); admin.disconnect()
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } } as const
const ends: (() => Promise<unknown>)[] = []
let next = 0
async function make(root: string, name: string) {
  const load = (p: string) => import(`${root}/src/${p}`)
  const { createExecutor, memoryStore, tool } = await load('index.ts')
  const { bullmq } = await load('distributed/bullmq.ts')
  const { fleet } = await load('distributed/fleet.ts')
  const { createWorker } = await load('distributed/worker.ts')
  const { postgresJournal } = await load('journals/postgres.ts')
  const pool = new pg.Pool({ connectionString: postgres.connectionString, max: 10 })
  const schema = `s_${name}`
  await pool.query(`CREATE SCHEMA ${schema}`)
  const store = memoryStore()
  const tools = [tool({ name: 'send', description: 'Sends a text', inputSchema, handler: ({ text }: any) => ({ sent: text }) })]
  let executor: any
  if (mode === 'local') { executor = createExecutor({ tools, use: [postgresJournal(pool, { schema }), { store }] }); ends.push(() => executor.close()) }
  else {
    const dispatcher = mode === 'carried' ? bullmq({ connection: redis.url, prefix: name }) : undefined
    executor = createExecutor({ tools, use: [postgresJournal(pool, { schema }), { store }, fleet({ dispatcher, queueOf: () => 'q' })] })
    const worker = createWorker({ executor: createExecutor({ tools, use: [postgresJournal(pool, { schema }), { store }] }), dispatcher, queues: { q: side } })
    await worker.ready
    ends.push(async () => { await executor.close(); await worker.close(); await dispatcher?.close?.() })
  }
  ends.push(() => pool.end())
  return async (total: number) => {
    let left = total
    const lane = async () => { while (left-- > 0) { const r = await executor.execute({ name: 'send', args: { text: `Hello ${next++}` } }); if (r.status !== 'ok') throw r.error } }
    await Promise.all(Array.from({ length: side }, lane))
  }
}
const variants: Record<string, (n: number) => Promise<void>> = { base: await make('/tmp/w/ne-base', 'base'), now: await make('/tmp/w/ne', 'now') }
for (const run of Object.values(variants)) await run(2000)
const s: Record<string, { cpu: number[]; wall: number[]; node: number[] }> = { base: { cpu: [], wall: [], node: [] }, now: { cpu: [], wall: [], node: [] } }
for (let r = 0; r < rounds; r++) for (const name of r % 2 ? ['now', 'base'] : ['base', 'now']) {
  const c0 = timeOfProcesses(), u0 = process.cpuUsage(), t0 = performance.now()
  await variants[name]!(1000)
  const u = process.cpuUsage(u0)
  s[name]!.wall.push(performance.now() - t0); s[name]!.node.push((u.user + u.system) / 1000); s[name]!.cpu.push((timeOfProcesses() - c0) / 1e6)
}
const q = (a: number[], p: number) => a.toSorted((x, y) => x - y)[Math.round((a.length - 1) * p)]!
for (const k of ['wall', 'cpu', 'node'] as const) {
  console.log(k.padEnd(5), ...['base', 'now'].map((n) => `${n} median ${q(s[n]![k], 0.5).toFixed(0)} p10 ${q(s[n]![k], 0.1).toFixed(0)}`), 'paired', q(s.now![k].map((v, i) => v / s.base![k][i]!), 0.5).toFixed(3))
}
for (const e of ends.slice().reverse()) await Promise.race([e(), new Promise((r) => setTimeout(r, 3000))])
await Promise.all([postgres.stop(), redis.stop()])
process.exit(0)
