import { Queue } from 'bullmq'
import { createExecutor, tool, type ToolEvent } from 'toolwright'
import { UnavailableError } from 'toolwright/errors'
import { bullmq } from 'toolwright/distributed/bullmq'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { fleet, type Dispatcher } from 'toolwright/distributed/fleet'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { callerOn, sqliteGround, workerOn } from './_fleet.ts'

const soon = { timeout: 30_000, interval: 10 }
const redis = await startRedis()
if (typeof redis === 'string') console.warn(`Fleets over Redis are not tested: ${redis}.`)
afterAll(async () => {
  if (typeof redis !== 'string') await redis.stop()
})

describe.skipIf(typeof redis === 'string')('a fleet over Redis', () => {
  const connection = typeof redis === 'string' ? '' : redis.url
  let count = 0

  function opened(prefix = `fresh_${process.pid}_${count++}`): Dispatcher {
    const dispatcher = bullmq({ connection, prefix })
    onTestFinished(() => dispatcher.close?.())
    return dispatcher
  }

  test('carries the first message of a process, and those that follow it in their order', async () => {
    const { bus } = opened()
    const heard: string[] = []
    bus?.subscribe('topic', (message) => void heard.push(message))
    const sent = Array.from({ length: 20 }, (_, index) => `message ${index}`)
    for (const message of sent) bus?.publish('topic', message)
    await vi.waitFor(() => expect(heard).toContain(sent.at(-1)), soon)
    expect(heard).toEqual(sent)
  })

  test('tells the first stream of a process its progress while the handler runs, in order', async () => {
    const [heard, prefix] = [Promise.withResolvers<void>(), `stream_${process.pid}`]
    const counting = tool('count', async function* () {
      yield 1
      await heard.promise // it would wait for ever if nothing were told before the end
      return 2
    })
    const ground = sqliteGround([counting], undefined)
    const worker = workerOn({ ...ground, dispatcher: opened(prefix) })
    await worker.ready
    const events: ToolEvent[] = []
    const caller = callerOn({ ...ground, dispatcher: opened(prefix) })
    for await (const event of caller.stream({ name: 'count' }, { session: 's' })) {
      events.push(event)
      if (event.event === 'tool:progress') heard.resolve()
    }
    const numbers = events.map(({ seq }) => seq)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
    expect(events.map(({ event }) => event).filter((name) => name !== 'call:resumed')).toEqual([
      'call:received',
      'call:waiting',
      'tool:start',
      'tool:progress',
      'tool:end',
      'call:settled',
    ])
    await worker.close()
    await caller.close()
  })

  test('carries calls of the same moment in few jobs, and runs what an earlier release or a forger has added', async () => {
    const prefix = `jobs_${process.pid}`
    const dispatcher = opened(prefix)
    const ids = Array.from({ length: 80 }, (_, index) => `call ${index}`)
    await Promise.all(ids.map((invocationId) => dispatcher.send([{ invocationId, queue: 'default' }])))
    const queue = new Queue('default', { connection: { path: new URL(connection).pathname }, prefix })
    expect(await queue.getJobCountByTypes('waiting')).toBe(2)
    await queue.add('call', { invocationId: 'of an earlier release' })
    const forged = [{}, [], 'text', { invocationId: 1, others: 'text' }, { others: [null, {}, 'x'.repeat(2_000)] }]
    for (const data of forged) await queue.add('call', data)
    await queue.add('call', { others: ['forged', 'forged'], tries: 'many' })
    expect(await dispatcher.depth?.('default')).toBe(82)
    const delivered: string[] = []
    const delivery = await dispatcher.work('default', { concurrency: 8 }, async (id) => void delivered.push(id))
    await vi.waitFor(async () => expect(await queue.getJobCountByTypes('waiting', 'active')).toBe(0), soon)
    await delivery.close()
    expect(delivered.toSorted()).toEqual([...ids, 'of an earlier release', 'forged'].toSorted())
    await queue.close()
  })

  test('delivers a call again within 2 s, however many workers have refused it', async () => {
    const prefix = `refused_${process.pid}`
    const dispatcher = opened(prefix)
    let refusals = 0
    const delivery = await dispatcher.work('default', { concurrency: 1 }, async () => {
      refusals++
      throw new UnavailableError('This worker has another version of the tool.')
    })
    await dispatcher.send([{ invocationId: 'a', queue: 'default' }])
    await vi.waitFor(() => expect(refusals).toBe(4), soon)
    await delivery.close()
    const queue = new Queue('default', { connection: { path: new URL(connection).pathname }, prefix })
    const [job] = await queue.getDelayed()
    expect(job?.delay).toBeLessThanOrEqual(2_000)
    expect(job?.delay).toBeGreaterThanOrEqual(500)
    await queue.close()
  })
})

describe('a worker closes, and its dispatcher', () => {
  const timeout = 200

  test('although its Redis was never there', async () => {
    const reported = Promise.withResolvers<unknown>()
    const connection = `unix:///tmp/toolwright-no-redis-${process.pid}`
    const dispatcher = bullmq({ connection, timeout, report: reported.resolve })
    const worker = workerOn({ ...sqliteGround([tool('now', () => 'now')], undefined), dispatcher })
    const errors: unknown[] = []
    worker.on('error', (error) => errors.push(error))
    await reported.promise
    await worker.close()
    await dispatcher.close?.()
    expect(errors).toEqual([])
    await expect(worker.ready).rejects.toThrow()
  })

  test.skipIf(typeof redis === 'string')('although its Redis is gone, and puts back what runs', async () => {
    const own = await startRedis()
    if (typeof own === 'string') throw new Error(own)
    const started = Promise.withResolvers<void>()
    const slow = tool({
      name: 'slow',
      description: 'Waits',
      inputSchema: { type: 'object' },
      traits: { idempotent: true },
      handler: (_args, { signal }) => {
        started.resolve()
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
    })
    const ground = sqliteGround([slow], undefined)
    const opened = (): Dispatcher => bullmq({ connection: own.url, prefix: `gone_${process.pid}`, timeout })
    const [sending, taking] = [opened(), opened()]
    const worker = workerOn({ ...ground, dispatcher: taking })
    const caller = callerOn({ ...ground, dispatcher: sending })
    const asked = caller.execute({ name: 'slow' }, { session: 's', invocationId: 'a' })
    await started.promise
    await own.stop()
    await worker.close()
    expect(await caller.queue.depth('default', 9)).toBe(1)
    await caller.close()
    expect((await asked).status).toBe('waiting')
    await sending.close?.()
    await taking.close?.()
  })
})

test('an application is told once of calls that Redis does not take together, and what becomes of them', async () => {
  const reported: unknown[] = []
  const dispatcher = bullmq({ connection: `unix:///tmp/toolwright-no-redis-${process.pid}`, timeout: 200 })
  onTestFinished(() => dispatcher.close?.())
  const ground = sqliteGround([tool('now', () => 'now')], undefined)
  const executor = createExecutor({
    tools: ground.tools,
    use: [...ground.use(), fleet({ dispatcher })],
    report: (error) => void reported.push(error),
  })
  const asked = ['a', 'b', 'c'].map((invocationId) => executor.execute({ name: 'now' }, { session: 's', invocationId }))
  await vi.waitFor(() => expect(reported).not.toEqual([]), soon)
  expect(await executor.queue.depth('default', 9)).toBe(3)
  // A worker that needs no Redis runs them.
  workerOn(ground)
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
  await executor.close()
  expect(reported).toHaveLength(1)
  expect(reported[0]).toMatchObject({ code: 'E_UNAVAILABLE', retryable: true })
  expect(String(reported[0])).toContain('They wait in the journal, and a worker sends them again')
})

test('tells the start of a call before its end, also if the bus has lost the start', async () => {
  const own = memoryDispatcher()
  const lossy: Dispatcher = {
    ...own,
    bus: {
      publish: (topic, message) => message.includes('"tool:start"') || own.bus?.publish(topic, message),
      subscribe: (topic, listener) => own.bus?.subscribe(topic, listener) ?? (() => {}),
    },
  }
  const counting = tool('count', async function* () {
    for (let index = 0; index < 9; index++) yield index
  })
  const ground = sqliteGround([counting], lossy)
  workerOn(ground)
  const events: ToolEvent[] = []
  for await (const event of callerOn(ground).stream({ name: 'count' }, { session: 's' })) events.push(event)
  const numbers = events.map(({ seq }) => seq)
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  expect(events.slice(-3).map(({ event }) => event)).toEqual(['tool:start', 'tool:end', 'call:settled'])
})
