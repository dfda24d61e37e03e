import { createExecutor, tool, type ToolEvent, type ToolExecutor } from 'toolwright'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { createWorker } from 'toolwright/distributed/worker'
import { fleet } from 'toolwright/distributed/fleet'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { callerOn, cancellable, sqliteGround, toolsOf, workerOn } from './_fleet.ts'

const soon = { timeout: 30_000, interval: 10 }

/** Hears the events of an executor. */
function eventsOf(executor: ToolExecutor): ToolEvent[] {
  const events: ToolEvent[] = []
  executor.on('*', (event) => void events.push(event))
  return events
}

/** Says what each event is, and requires that their numbers ascend. */
function namesOf(events: readonly ToolEvent[]): string[] {
  const numbers = events.map(({ seq }) => seq)
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  return events.map((event) => (event.event === 'call:settled' ? `settled ${event.status}` : event.event))
}

const waiting = ['call:received', 'call:waiting']

describe.each([
  ['a dispatcher', memoryDispatcher],
  ['the journal alone', () => undefined],
])('the caller of a fleet over %s', (_, dispatcherOf) => {
  test('says `unknown` of the effect if it closes while a worker has its call, and `none` while the call waits', async () => {
    const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const patient = tool('patient', async () => {
      started.resolve()
      await released.promise
    })
    const ground = sqliteGround([patient], dispatcherOf())
    const [caller, other] = [callerOn(ground), callerOn(ground)]
    const asked = caller.execute({ name: 'patient' }, { session: 's', invocationId: 'a' })
    const waits = other.execute({ name: 'patient' }, { session: 's', invocationId: 'b' })
    await vi.waitFor(async () => expect(await other.queue.depth('default', 9)).toBe(2), soon)
    await other.close()
    expect(await waits).toMatchObject({ status: 'waiting', effect: 'none' })
    workerOn(ground)
    await started.promise
    await caller.close()
    expect(await asked).toMatchObject({ status: 'waiting', effect: 'unknown' })
    released.resolve()
    const later = await callerOn(ground).execute({ name: 'patient' }, { session: 's', invocationId: 'a' })
    expect(later).toMatchObject({ status: 'ok', effect: 'completed' })
  })

  test('says `unknown` of a call that a worker has taken and not begun', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const caller = callerOn(ground)
    const asked = caller.execute({ name: 'charge' }, { session: 's', invocationId: 'a' })
    const worker = createExecutor({ tools: ground.tools, use: ground.use() })
    onTestFinished(() => worker.close())
    await vi.waitFor(async () => expect(await worker.queue.take('default', 1)).toEqual(['a']), soon)
    await caller.close()
    expect(await asked).toMatchObject({ status: 'waiting', effect: 'unknown' })
  })

  test('gets no token of a call that waits for a worker, since nobody answers one', async () => {
    const started = Promise.withResolvers<void>()
    const patient = tool({
      name: 'patient',
      description: 'Waits until it is cancelled',
      traits: { readonly: true },
      handler: async (_args, { signal }) => {
        started.resolve()
        await new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
      },
    })
    const ground = sqliteGround([patient], dispatcherOf())
    const caller = callerOn(ground)
    void caller.execute({ name: 'patient' }, { session: 's', invocationId: 'a' })
    await vi.waitFor(async () => expect(await caller.queue.depth('default', 9)).toBe(1), soon)
    const worker = createExecutor({ tools: ground.tools, use: ground.use() })
    const left = worker.queue.run('a')
    await started.promise
    await worker.close()
    const result = await left
    expect([result?.status, Boolean(result?.token)]).toEqual(['waiting', false])
  })

  test('tells its observers how the call ended on a worker, in order and once', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const caller = callerOn(ground)
    const events = eventsOf(caller)
    const worker = workerOn(ground)
    const there = eventsOf(worker.executor)
    expect((await caller.execute({ name: 'charge', args: { i: 1 } }, { session: 's' })).status).toBe('ok')
    expect(namesOf(events)).toEqual([...waiting, 'tool:start', 'tool:end', 'settled ok'])
    const last = there.findLast(({ event }) => event === 'call:settled')
    expect({ ...events.at(-1), durationMs: 0 }).toEqual({ ...last, durationMs: 0 })
  })

  test('tells the observers of a streamed call each event once too', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const caller = callerOn(ground)
    const events = eventsOf(caller)
    workerOn(ground)
    const stream = caller.stream({ name: 'charge', args: { i: 1 } }, { session: 's' })
    const streamed: ToolEvent[] = []
    for await (const event of stream) streamed.push(event)
    expect(namesOf(events)).toEqual([...waiting, 'tool:start', 'tool:end', 'settled ok'])
    expect(namesOf(streamed).filter((name) => name !== 'call:resumed')).toEqual(namesOf(events))
  })

  test('tells its observers how a call ended that waited for another on its worker', async () => {
    const released = Promise.withResolvers<void>()
    const touch = tool('touch', () => released.promise).with({ conflicts: () => ['thing'] })
    const ground = sqliteGround([touch], dispatcherOf())
    const caller = callerOn(ground)
    const events = eventsOf(caller)
    const there = eventsOf(workerOn(ground).executor)
    const calls = ['a', 'b'].map((invocationId) => caller.execute({ name: 'touch' }, { session: 's', invocationId }))
    await vi.waitFor(() => expect(there.map(({ event }) => event)).toContain('call:blocked'), soon)
    released.resolve()
    await Promise.all(calls)
    const { invocationId: blocked } = there.find(({ event }) => event === 'call:blocked')!
    const of = (all: ToolEvent[], ...left: string[]): unknown[] =>
      all
        .filter(({ invocationId, event }) => invocationId === blocked && !left.includes(event))
        .map(({ event, seq }) => [event, seq])
    expect(of(there)).toEqual(
      ['call:resumed', 'call:blocked', 'tool:start', 'tool:end', 'call:settled'].map((name, index) => [
        name,
        index + 2,
      ]),
    )
    expect(of(events, ...waiting)).toEqual(of(there, 'call:resumed', 'call:blocked'))
  })

  test('tells of no start that never was: a call that expires has its end alone, once', async () => {
    const caller = callerOn(sqliteGround(toolsOf(), dispatcherOf()), { expiry: 20 })
    const events = eventsOf(caller)
    expect((await caller.execute({ name: 'charge' }, { session: 's' })).status).toBe('timed_out')
    expect(namesOf(events)).toEqual([...waiting, 'settled timed_out'])
  })

  test('tells how a call ended that it has given up meanwhile', async () => {
    const { tools, started } = cancellable()
    const ground = sqliteGround(tools, dispatcherOf())
    const caller = callerOn(ground)
    const events = eventsOf(caller)
    workerOn(ground)
    const leaving = new AbortController()
    const asked = caller.execute({ name: 'wait' }, { session: 's', signal: leaving.signal })
    await started
    leaving.abort()
    expect(await asked).toMatchObject({ status: 'cancelled', effect: 'unknown' })
    await vi.waitFor(() => {
      expect(namesOf(events)).toEqual([...waiting, 'tool:start', 'tool:end', 'settled cancelled'])
    }, soon)
  })

  test('tells each event once if it is the worker too', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const mounted = fleet(ground.dispatcher === undefined ? {} : { dispatcher: ground.dispatcher })
    const executor = createExecutor({ tools: ground.tools, use: [...ground.use(), mounted] })
    const worker = createWorker({ executor, dispatcher: ground.dispatcher, queues: { default: 8 } })
    onTestFinished(() => worker.close())
    const events = eventsOf(executor)
    expect((await executor.execute({ name: 'charge' }, { session: 's' })).status).toBe('ok')
    expect(namesOf(events)).toEqual([...waiting, 'call:resumed', 'tool:start', 'tool:end', 'settled ok'])
  })
})
