import { Redis } from 'ioredis'
import { tool } from 'toolwright'
import { describeDispatcher } from 'toolwright/conformance/dispatchers'
import { bullmq } from 'toolwright/distributed/bullmq'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import { callerOn, sqliteGround, toolsOf, workerOn } from './_fleet.ts'

describeDispatcher('memoryDispatcher', () => {
  const dispatcher = memoryDispatcher()
  return { open: () => dispatcher }
})

const [redis, postgres] = [await startRedis(), await startPostgres()]
afterAll(async () => {
  for (const server of [redis, postgres]) if (typeof server !== 'string') await server.stop()
})
let count = 0
const prefix = (): string => `toolwright_${process.pid}_${count++}`

describe.skipIf(typeof redis === 'string')('on Redis', () => {
  if (typeof redis === 'string') return console.warn(`bullmq is not tested on Redis: ${redis}.`)
  const { url } = redis
  describeDispatcher('bullmq', () => {
    const own = prefix()
    return { open: () => bullmq({ connection: url, prefix: own }), crash: redis.crash?.bind(redis) }
  })
})

describe.skipIf(typeof postgres === 'string')('on Postgres', () => {
  if (typeof postgres === 'string') return console.warn(`bullmq is not tested on Postgres: ${postgres}.`)
  const { connectionString } = postgres
  describeDispatcher('bullmq', () => {
    const own = prefix()
    return { open: () => bullmq({ postgres: connectionString, prefix: own }), crash: postgres.crash?.bind(postgres) }
  })
})

describe.each([
  ['Redis', typeof redis === 'string' ? undefined : { connection: redis.url }],
  ['Postgres', typeof postgres === 'string' ? undefined : { postgres: postgres.connectionString }],
] as const)('a fleet over bullmq on %s', (_, place) => {
  test.skipIf(place === undefined)('runs each call once, and nothing for a forged job', async () => {
    if (place === undefined) return
    const dispatcher = bullmq({ ...place, prefix: prefix() })
    const ran: string[] = []
    const ground = sqliteGround(toolsOf(ran), dispatcher)
    const caller = callerOn(ground)
    const worker = workerOn(ground)
    const forged = ['never was', 'x'.repeat(2_000), '../../etc', '{"$ne":null}']
    await dispatcher.send(forged.map((invocationId) => ({ invocationId, queue: 'default' })))
    const calls = Array.from({ length: 50 }, (_call, i) => ({ name: i % 2 ? 'charge' : 'lookup', args: { i } }))
    const results = await caller.executeToolCalls(calls, { session: 's' })
    expect(results.every(({ status }) => status === 'ok')).toBe(true)
    expect([ran.length, new Set(ran).size]).toEqual([50, 50])
    await worker.close()
    await caller.close()
    await dispatcher.close?.()
  })
})

test.skipIf(typeof redis === 'string')('keeps nothing of a call in Redis but its id', async () => {
  if (typeof redis === 'string') return
  const own = prefix()
  const dispatcher = bullmq({ connection: redis.url, prefix: own })
  const hide = tool({
    name: 'hide',
    description: 'Takes a secret',
    inputSchema: { type: 'object', properties: { key: { type: 'string' } } },
    secrets: ['/key'],
    handler: () => 'done',
  })
  const ground = sqliteGround([hide], dispatcher)
  const caller = callerOn(ground, { carry: () => ({ tenant: 'carried-7c1d' }) })
  const call = { name: 'hide', args: { key: 'secret-93af' } }
  const asked = caller.execute(call, { session: 'session-5b2e', invocationId: 'a', principal: 'principal-8e40' })
  const client = new Redis({ path: new URL(redis.url).pathname })
  const dump = async (): Promise<string> => {
    const keys = await client.keys('*')
    const values = await Promise.all(keys.map((key) => client.dump(key)))
    const hashes = await Promise.all(keys.map((key) => client.hgetall(key).catch(() => ({}))))
    return JSON.stringify([keys, values, hashes])
  }
  await vi.waitFor(async () => expect(await dispatcher.depth?.('default')).toBe(1), { timeout: 30_000 })
  const waiting = await dump()
  expect(waiting).toContain('invocationId')
  workerOn(ground)
  expect((await asked).status).toBe('ok')
  for (const text of [waiting, await dump()])
    expect(text).not.toMatch(/secret-93af|carried-7c1d|session-5b2e|principal-8e40|hide/)
  client.disconnect()
  await caller.close()
  await dispatcher.close?.()
})

test.each([{}, { connection: 'redis://a', postgres: 'postgres://b' }, { connection: 'redis://a', prefix: 'a:b' }])(
  'bullmq refuses %o',
  (options) => {
    expect(() => bullmq(options)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  },
)
