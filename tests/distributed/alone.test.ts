import { createExecutor, memoryStore, tool, type Tool } from 'toolwright'
import { bullmq } from 'toolwright/distributed/bullmq'
import type { Dispatcher } from 'toolwright/distributed/fleet'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { memoryJournal } from 'toolwright/journals/memory'
import { postgresJournal } from 'toolwright/journals/postgres'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import { callerOn, sqliteGround, workerOn, type Ground } from './_fleet.ts'

const soon = { timeout: 50_000, interval: 5 }
/** Only what a worker hears lets it take a call: no sweep comes in time. */
const unswept = { sweepEvery: 3_600_000, resendAfter: 3_600_000 }

const [redis, postgres] = [await startRedis(), await startPostgres()]
afterAll(async () => {
  for (const server of [redis, postgres]) if (typeof server !== 'string') await server.stop()
})
let count = 0
const name = (): string => `alone_${process.pid}_${count++}`

function memoryGround(tools: readonly Tool[], dispatcher: Dispatcher): Ground {
  const [journal, store] = [memoryJournal(), memoryStore()]
  return { tools, dispatcher, use: () => [journal, { store }] }
}

function postgresGround(tools: readonly Tool[], dispatcher: Dispatcher | undefined, notify: boolean): Ground {
  const [store, prefix] = [memoryStore(), `${name()}_`]
  const address = typeof postgres === 'string' ? '' : postgres.connectionString
  return { tools, dispatcher, use: () => [postgresJournal(address, { prefix, notify }), { store }] }
}

function carried(dispatcher: Dispatcher): Dispatcher {
  onTestFinished(() => dispatcher.close?.())
  return dispatcher
}

const onRedis = (): Dispatcher =>
  carried(bullmq({ connection: typeof redis === 'string' ? '' : redis.url, prefix: name() }))
const onPostgres = (): Dispatcher =>
  carried(bullmq({ postgres: typeof postgres === 'string' ? '' : postgres.connectionString, prefix: name() }))
const hasServers = typeof redis !== 'string' && typeof postgres !== 'string'

describe.each<[string, boolean, (tools: readonly Tool[]) => Ground]>([
  ['memoryDispatcher and memoryJournal', true, (tools) => memoryGround(tools, memoryDispatcher())],
  ['memoryDispatcher and sqliteJournal', true, (tools) => sqliteGround(tools, memoryDispatcher())],
  ['sqliteJournal alone', true, (tools) => sqliteGround(tools, undefined)],
  ['postgresJournal alone', hasServers, (tools) => postgresGround(tools, undefined, true)],
  ['postgresJournal alone, without NOTIFY', hasServers, (tools) => postgresGround(tools, undefined, false)],
  ['bullmq on Redis and sqliteJournal', hasServers, (tools) => sqliteGround(tools, onRedis())],
  ['bullmq on Redis and postgresJournal', hasServers, (tools) => postgresGround(tools, onRedis(), true)],
  ['bullmq on Postgres, without NOTIFY', hasServers, (tools) => postgresGround(tools, onPostgres(), false)],
])('a fleet over %s', (_, isHere, groundOf) => {
  /** Tools that note what runs when, and end once they may. */
  function noting(): { tools: Tool[]; running: string[]; order: string[]; overlaps: string[][] } {
    const [running, order, overlaps]: [string[], string[], string[][]] = [[], [], []]
    const make = (own: string, concurrent: boolean): Tool =>
      tool({
        name: own,
        description: `Notes that ${own} runs`,
        traits: { concurrent },
        handler: async (_args, { invocationId, session }) => {
          const beside = running.filter((other) => other.startsWith(`${session} `))
          if (beside.some((other) => !concurrent || other.includes(' alone'))) overlaps.push([invocationId, ...beside])
          const me = `${session} ${own} ${invocationId}`
          running.push(me)
          order.push(invocationId)
          await new Promise((resolve) => setTimeout(resolve, 5))
          running.splice(running.indexOf(me), 1)
        },
      })
    return { tools: [make('alone', false), make('beside', true)], running, order, overlaps }
  }

  test.skipIf(!isHere)('runs calls that run alone one at a time over all workers, each as soon as it may', async () => {
    const { tools, order, overlaps } = noting()
    const ground = groundOf(tools)
    const caller = callerOn(ground)
    for (let index = 0; index < 3; index++) workerOn(ground, unswept)
    const calls = Array.from({ length: 36 }, (_call, index) => {
      const session = `session ${index % 3}`
      return caller.execute({ name: index % 4 < 2 ? 'alone' : 'beside' }, { session, invocationId: `call ${index}` })
    })
    const results = await Promise.all(calls)
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'ok'))
    expect(overlaps).toEqual([])
    expect(new Set(order).size).toBe(36)
  })

  test.skipIf(!isHere)(
    'lets a call that waits for its turn hold no place of a worker, and keeps the order',
    async () => {
      const ran: string[] = []
      let go = (): void => {}
      const may = new Promise<void>((resolve) => (go = resolve))
      const alone = tool({
        name: 'alone',
        description: 'Waits in the first session',
        traits: { concurrent: false },
        handler: async (_args, { session, invocationId }) => {
          ran.push(invocationId)
          if (session === 'first') await may
        },
      })
      const ground = groundOf([alone])
      const caller = callerOn(ground)
      const ask = async (session: string, invocationId: string): Promise<string> =>
        (await caller.execute({ name: 'alone' }, { session, invocationId })).status
      const asked: Promise<string>[] = []
      for (let index = 0; index < 4; index++) {
        asked.push(ask('first', `first ${index}`))
        await vi.waitFor(async () => expect((await caller.calls.get(`first ${index}`)).status).toBe('waiting'), soon)
        await new Promise((resolve) => setTimeout(resolve, 2)) // each is made at another time
      }
      for (let index = 0; index < 2; index++) workerOn(ground, { ...unswept, queues: { default: 1 } })
      await vi.waitFor(() => expect(ran).toHaveLength(1), soon)
      // One worker is busy. If the other held a call of the same session, this one would wait for it.
      expect(await ask('second', 'other')).toBe('ok')
      expect(ran).toEqual(['first 0', 'other'])
      go()
      expect(await Promise.all(asked)).toEqual(['ok', 'ok', 'ok', 'ok'])
      expect(ran).toEqual(['first 0', 'other', 'first 1', 'first 2', 'first 3'])
    },
  )

  test.skipIf(!isHere)('goes on with the next call once a worker closed in the middle of one', async () => {
    const runs: string[] = []
    const patient = tool({
      name: 'patient',
      description: 'Waits in its first run',
      traits: { concurrent: false, idempotent: true },
      handler: async (_args, { attempt, invocationId, signal }) => {
        runs.push(`${invocationId} ${attempt}`)
        if (invocationId === 'a' && attempt === 1)
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const ground = groundOf([patient])
    const caller = callerOn(ground)
    const first = workerOn(ground, unswept)
    const one = caller.execute({ name: 'patient' }, { session: 's', invocationId: 'a' })
    await vi.waitFor(() => expect(runs).toEqual(['a 1']), soon)
    workerOn(ground)
    const two = caller.execute({ name: 'patient' }, { session: 's', invocationId: 'b' })
    await vi.waitFor(async () => expect((await caller.calls.get('b')).status).toBe('waiting'), soon)
    await first.close()
    expect([(await one).status, (await two).status]).toEqual(['ok', 'ok'])
    expect(runs).toEqual(['a 1', 'a 2', 'b 1'])
  })
})

test('what runs alone here runs alone there: the same calls have the same order', async () => {
  const log: string[] = []
  const make = (own: string, concurrent: boolean): Tool =>
    tool({
      name: own,
      description: `Notes ${own}`,
      traits: { concurrent },
      handler: async () => {
        log.push(`+${own}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
        log.push(`-${own}`)
      },
    })
  const tools = [make('read', true), make('write', false)]
  const calls = ['read', 'write', 'read'].map((own) => ({ name: own }))
  await createExecutor({ tools }).executeToolCalls(calls, { session: 's' })
  const here = log.splice(0)
  const ground = memoryGround(tools, memoryDispatcher())
  const caller = callerOn(ground)
  workerOn(ground, unswept)
  await caller.executeToolCalls(calls, { session: 's' })
  expect([here, log]).toEqual([here, ['+read', '-read', '+write', '-write', '+read', '-read']])
  expect(log).toEqual(here)
})
