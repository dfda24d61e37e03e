import { createExecutor, memoryStore, tool, ToolFailure, type ToolEvent } from 'toolwright'
import { fleet } from 'toolwright/distributed/fleet'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test, vi } from 'vitest'
import { callerOn, cancellable, cancelOn, sqliteGround, toolsOf, workerOn } from './_fleet.ts'

const soon = { timeout: 30_000, interval: 10 }

describe.each([
  ['a dispatcher', memoryDispatcher],
  ['the journal alone', () => undefined],
])('a fleet over %s', (_, dispatcherOf) => {
  test('runs calls on a worker, and gives their results as if they had run here', async () => {
    const ran: string[] = []
    const ground = sqliteGround(toolsOf(ran), dispatcherOf())
    const caller = callerOn(ground)
    workerOn(ground)
    const calls = Array.from({ length: 20 }, (_call, i) => ({
      id: `id ${i}`,
      name: i % 2 ? 'charge' : 'lookup',
      args: { i },
    }))
    const results = await caller.executeToolCalls(calls, { session: 's' })
    const here = await createExecutor({ tools: ground.tools }).executeToolCalls(calls, { session: 's' })
    const outcomeOf = (result: (typeof results)[number]): unknown => {
      const { id, callId, toolName, status, effect, isError, content } = result
      return { id, callId, toolName, status, effect, isError, content }
    }
    expect(results.map(outcomeOf)).toEqual(here.map(outcomeOf))
    expect(results.every(({ status }) => status === 'ok')).toBe(true)
    expect(new Set(ran.slice(0, 20)).size).toBe(20)
    const { auditTrail } = await caller.calls.get(results[0]?.invocationId ?? '')
    expect(auditTrail.map(({ state, note }) => (note === undefined ? state : `${state}/${note}`))).toEqual([
      'PENDING',
      'PENDING/queued',
      'PENDING',
      'EXECUTING',
      'COMPLETED',
    ])
  })

  test('runs the tool that a bridge names on a worker that has no bridge', async () => {
    const seen: unknown[] = []
    const ground = sqliteGround(toolsOf([]), dispatcherOf())
    const bridges = [tool({ name: 'tool_call', description: 'Calls', type: 'bridge', inputSchema: { type: 'object' } })]
    const caller = callerOn(ground, {}, [{ tools: () => bridges }])
    workerOn(ground, {}, [{ policies: [{ name: 'seen', decide: (call) => void seen.push(call.tool.name) }] }])
    const args = { name: 'charge', args: { i: 1 } }
    const bridged = await caller.execute({ id: 'c1', name: 'tool_call', args }, { session: 's', invocationId: 'mine' })
    expect(bridged).toMatchObject({ id: 'c1', status: 'ok', toolName: 'charge', via: 'tool_call' })
    expect(new Set(seen)).toEqual(new Set(['charge']))
    expect(await caller.calls.get('mine')).toMatchObject({ name: 'charge', via: 'tool_call', args: { i: 1 } })
  })

  test('gives the value of a result whose content is whole, and the artifact of one that is too large', async () => {
    const parcel = { from: 'Oslo', weights: [1, 2.5], note: null }
    const weigh = tool('weigh', () => parcel)
    const name = tool('name', () => 'Ada')
    const list = tool({ name: 'list', description: 'Lists', inlineLimit: 200, handler: () => Array(500).fill('Oslo') })
    const fail = tool('fail', () => {
      throw new ToolFailure('no scales')
    })
    const ground = sqliteGround([weigh, name, list, fail], dispatcherOf())
    const caller = callerOn(ground)
    workerOn(ground)
    const [weighed, named, listed, failed] = await Promise.all(
      ['weigh', 'name', 'list', 'fail'].map((of) => caller.execute({ name: of }, { session: 's' })),
    )
    expect(weighed).toMatchObject({ status: 'ok', value: parcel })
    expect(named).toMatchObject({ status: 'ok', value: 'Ada' })
    expect(listed?.status).toBe('ok')
    expect([listed?.value, failed?.status, failed?.value]).toEqual([undefined, 'error', undefined])
    expect(await listed?.artifact?.head(1)).toContain('Oslo')
    expect(JSON.parse(JSON.stringify(weighed))).not.toHaveProperty('value')
  })

  test('asks a person before a call waits for a worker, and holds no worker meanwhile', async () => {
    const ran: string[] = []
    const guarded = tool({
      name: 'guarded',
      description: 'Asks',
      requiresConfirmation: true,
      handler: (_args, { invocationId }) => void ran.push(invocationId),
    })
    const ground = sqliteGround([guarded], dispatcherOf())
    const caller = callerOn(ground)
    const worker = workerOn(ground)
    const first = await caller.execute({ name: 'guarded' }, { session: 's', invocationId: 'a' })
    expect([first.status, await worker.depth(), ran]).toEqual(['waiting', { default: 0 }, []])
    const [waiting] = await caller.calls.waiting()
    const result = await caller.calls.decide(waiting ?? '', 'allow', { decidedBy: 'alice' })
    expect([result.status, ran]).toEqual(['ok', ['a']])
    const { auditTrail, approval } = await caller.calls.get('a')
    expect(auditTrail.map(({ state, note }) => (note === undefined ? state : `${state}/${note}`))).toEqual([
      'PENDING',
      'APPROVAL_REQUIRED',
      'APPROVED',
      'APPROVED/queued',
      'APPROVED',
      'EXECUTING',
      'COMPLETED',
    ])
    expect(approval).toMatchObject({ decision: 'allow', decidedBy: 'alice' })
  })

  test('waits for the same record when another caller asks, and replays it', async () => {
    const ran: string[] = []
    const ground = sqliteGround(toolsOf(ran), dispatcherOf())
    const [one, two] = [callerOn(ground), callerOn(ground)]
    const call = { name: 'charge', args: { i: 1 } }
    const options = { session: 's', invocationId: 'order-1' }
    const asked = [one.execute(call, options)]
    await vi.waitFor(async () => expect((await one.calls.get('order-1')).status).toBe('waiting'), soon)
    asked.push(two.execute(call, options))
    workerOn(ground)
    const results = await Promise.all(asked)
    results.push(await two.execute(call, options))
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
    expect(ran).toEqual(['order-1'])
  })

  test('lists no call that waits for a worker to people', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const caller = callerOn(ground)
    const asked = caller.execute({ name: 'charge' }, { session: 's', invocationId: 'a' })
    await vi.waitFor(async () => expect((await caller.calls.get('a')).status).toBe('waiting'), soon)
    expect(await caller.calls.waiting()).toEqual([])
    expect(await caller.calls.waiting({ invocationId: 'a' })).toEqual([])
    workerOn(ground)
    expect((await asked).status).toBe('ok')
  })

  test('counts the calls that wait in each queue, and none that runs or has settled', async () => {
    let end = (): void => {}
    const held = new Promise<void>((resolve) => (end = resolve))
    const hold = tool('hold', () => held)
    const ground = sqliteGround([hold, ...toolsOf()], dispatcherOf())
    const caller = callerOn(ground, { queueOf: ({ name }) => (name === 'lookup' ? 'seldom' : 'default') })
    const worker = workerOn(ground, { queues: { default: 1 } })
    const names = ['hold', 'charge', 'charge', 'lookup']
    const asked = names.map((name) => caller.execute({ name }, { session: 's' }))
    await vi.waitFor(async () => expect(await worker.depth()).toEqual({ default: 2 }), soon)
    const late = workerOn(ground, { queues: { seldom: 1 } })
    expect((await asked[3])?.status).toBe('ok')
    expect(await late.depth()).toEqual({ seldom: 0 })
    end()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(await worker.depth()).toEqual({ default: 0 })
  })

  test('takes a call back while it waits if its caller cancels it, and nothing has run', async () => {
    const ran: string[] = []
    const ground = sqliteGround(toolsOf(ran), dispatcherOf())
    const caller = callerOn(ground)
    const leaving = new AbortController()
    const asked = caller.execute({ name: 'charge' }, { session: 's', invocationId: 'a', signal: leaving.signal })
    await vi.waitFor(async () => expect((await caller.calls.get('a')).status).toBe('waiting'), soon)
    leaving.abort()
    expect(await asked).toMatchObject({ status: 'cancelled', effect: 'none', error: { code: 'E_TOOL_CANCELLED' } })
    const worker = workerOn(ground)
    await worker.ready
    const next = await caller.execute({ name: 'charge' }, { session: 's', invocationId: 'b' })
    expect([next.status, ran]).toEqual(['ok', ['b']])
  })

  test('releases the caller who cancels a running call, and aborts its handler', async () => {
    const { tools, started, aborted } = cancellable()
    const ground = sqliteGround(tools, dispatcherOf())
    const caller = callerOn(ground)
    workerOn(ground)
    await cancelOn(caller, started, aborted)
  })

  test('ends a call that waits for too long, and says that nothing has run', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const caller = callerOn(ground, { expiry: 50 })
    const result = await caller.execute({ name: 'charge' }, { session: 's' })
    expect(result).toMatchObject({
      status: 'timed_out',
      effect: 'none',
      error: { code: 'E_TOOL_TIMEOUT', retryable: true },
    })
  })

  test('refuses further calls once as many wait as may', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const caller = callerOn(ground, { maximumWaiting: 2 })
    const asked = ['a', 'b'].map((invocationId) => caller.execute({ name: 'charge' }, { session: 's', invocationId }))
    for (const id of ['a', 'b']) {
      await vi.waitFor(async () => expect((await caller.calls.get(id)).status).toBe('waiting'), soon)
    }
    const refused = await caller.execute({ name: 'charge' }, { session: 's' })
    expect(refused).toMatchObject({
      status: 'error',
      effect: 'none',
      error: { code: 'E_UNAVAILABLE', retryable: true },
    })
    workerOn(ground)
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(['ok', 'ok'])
  })

  test('tells a stream of a call what its worker tells, each event once and in order', async () => {
    const counting = tool('count', async function* () {
      yield 1
      yield 2
      return 3
    })
    const ground = sqliteGround([counting], dispatcherOf())
    const caller = callerOn(ground)
    workerOn(ground)
    const events: ToolEvent[] = []
    const stream = caller.stream({ name: 'count' }, { session: 's' })
    for (let step = await stream.next(); ; step = await stream.next()) {
      if (step.done === true) {
        expect(step.value.status).toBe('ok')
        break
      }
      events.push(step.value)
    }
    const numbers = events.map(({ seq }) => seq)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
    const names = events.map(({ event }) => event)
    expect(names.slice(0, 2)).toEqual(['call:received', 'call:waiting'])
    expect(names.filter((name) => name !== 'tool:progress' && name !== 'call:resumed').slice(2)).toEqual([
      'tool:start',
      'tool:end',
      'call:settled',
    ])
  })

  test('gives the errors of handlers as they are', async () => {
    const failing = tool('fail', () => {
      throw new ToolFailure('No seat is free.', { recommendations: ['Ask for another day.'] })
    })
    const ground = sqliteGround([failing], dispatcherOf())
    workerOn(ground)
    const [there, here] = await Promise.all([
      callerOn(ground).execute({ name: 'fail' }, { session: 's' }),
      createExecutor({ tools: [failing] }).execute({ name: 'fail' }, { session: 's' }),
    ])
    expect(there.content).toEqual(here.content)
    expect({ ...there.error?.toJSON(), invocationId: 0 }).toEqual({ ...here.error?.toJSON(), invocationId: 0 })
  })

  test('leaves a call to a worker that has its version of the tool', async () => {
    const of = (description: string, ran: string[]) => [
      tool({ name: 'greet', description, handler: (_args, { invocationId }) => void ran.push(invocationId) }),
    ]
    const [older, newer]: [string[], string[]] = [[], []]
    const ground = sqliteGround(of('new', newer), dispatcherOf())
    workerOn({ ...ground, tools: of('old', older) })
    workerOn({ ...ground, tools: [] })
    const asked = callerOn(ground).execute({ name: 'greet' }, { session: 's', invocationId: 'a' })
    workerOn(ground)
    expect((await asked).status).toBe('ok')
    expect([older, newer]).toEqual([[], ['a']])
  })

  test('carries of the values what the application chooses', async () => {
    const seen: unknown[] = []
    const look = tool('look', (_args, { values, principal }) => void seen.push({ ...values }, principal))
    const ground = sqliteGround([look], dispatcherOf())
    const caller = callerOn(ground, { carry: (values) => ({ tenant: (values as { tenant?: string }).tenant }) })
    workerOn(ground, { receive: (carried, { session }) => ({ ...(carried as object), session }) })
    const values = { tenant: 'acme', connection: () => {} }
    const result = await caller.execute({ name: 'look' }, { session: 's', principal: 'p', invocationId: 'a', values })
    expect([result.status, seen]).toEqual(['ok', [{ tenant: 'acme', session: 's' }, 'p']])
  })

  test('puts back at once what has not ended when its worker closes, if it may run again', async () => {
    const runs: string[] = []
    const patient = tool({
      name: 'patient',
      description: 'Waits in its first run',
      traits: { idempotent: true },
      handler: async (_args, { attempt, signal }) => {
        runs.push(`attempt ${attempt}`)
        if (attempt === 1)
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        return attempt
      },
    })
    const ground = sqliteGround([patient], dispatcherOf())
    const asked = callerOn(ground).execute({ name: 'patient' }, { session: 's' })
    const first = workerOn(ground)
    await vi.waitFor(() => expect(runs).toEqual(['attempt 1']), soon)
    await first.close()
    workerOn(ground)
    expect(await asked).toMatchObject({ status: 'ok', effect: 'completed', content: [{ text: '2' }] })
    expect(runs).toEqual(['attempt 1', 'attempt 2'])
  })

  test('cancels what runs when its worker closes, if it may not run again', async () => {
    let runs = 0
    const careful = tool('careful', (_args, { signal }) => {
      runs++
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const ground = sqliteGround([careful], dispatcherOf())
    const asked = callerOn(ground).execute({ name: 'careful' }, { session: 's' })
    const worker = workerOn(ground)
    await vi.waitFor(() => expect(runs).toBe(1), soon)
    await worker.close()
    expect(await asked).toMatchObject({ status: 'cancelled', effect: 'unknown' })
    expect(runs).toBe(1)
  })

  test('gives handlers a fence that grows with each worker', async () => {
    const fences: number[] = []
    const patient = tool({
      name: 'patient',
      description: 'Waits in its first run',
      traits: { idempotent: true },
      handler: async (_args, { attempt, fence, signal }) => {
        fences.push(fence)
        if (attempt < 3)
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const ground = sqliteGround([patient], dispatcherOf())
    const asked = callerOn(ground).execute({ name: 'patient' }, { session: 's' })
    for (const count of [1, 2]) {
      const worker = workerOn(ground)
      await vi.waitFor(() => expect(fences).toHaveLength(count), soon)
      await worker.close()
    }
    workerOn(ground, { attempts: 5 })
    expect((await asked).status).toBe('ok')
    expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b))
  })

  test('lets the caller close while its call goes on, and another ask for it', async () => {
    const ground = sqliteGround(toolsOf(), dispatcherOf())
    const caller = callerOn(ground)
    const call = { name: 'charge', args: { i: 1 } }
    const asked = caller.execute(call, { session: 's', invocationId: 'a' })
    await vi.waitFor(async () => expect((await caller.calls.get('a')).status).toBe('waiting'), soon)
    await caller.close()
    expect((await asked).status).toBe('waiting')
    workerOn(ground)
    expect((await callerOn(ground).execute(call, { session: 's', invocationId: 'a' })).status).toBe('ok')
  })

  test('runs tools here that have no queue, and those of other types', async () => {
    const ground = sqliteGround(
      [...toolsOf(), tool({ name: 'answer', description: 'Answers', type: 'output', inputSchema: { type: 'object' } })],
      dispatcherOf(),
    )
    const caller = callerOn(ground, { queueOf: ({ name }) => (name === 'charge' ? undefined : 'default') })
    for (const name of ['charge', 'answer'])
      expect((await caller.execute({ name }, { session: 's' })).status).toBe('ok')
  })
})

describe('fleet', () => {
  const { elsewhere } = fleet()
  test.each([
    ['no journal', [{ store: memoryStore() }]],
    ['a journal of one process', [memoryJournal(), { store: memoryStore() }]],
  ])('is refused with %s', (_, use) => {
    expect(() => createExecutor({ use: [...use, { elsewhere }] })).toThrow(
      expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }),
    )
  })

  test('is refused without a store that workers share', () => {
    const { records } = sqliteGround([], undefined).use()[0] ?? {}
    expect(() => createExecutor({ use: [records ? { records } : {}, { elsewhere }] })).toThrow('a store')
  })

  test.each([{ expiry: 0 }, { expiry: Number.NaN }, { maximumWaiting: -1 }, { dispatcher: {} as never }])(
    'refuses %o',
    (options) => {
      expect(() => fleet(options)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
    },
  )

  test.each(['', 'x'.repeat(129), 5, '\ud800'])('ends a call whose queue is %j', async (queue) => {
    const ground = sqliteGround(toolsOf(), memoryDispatcher())
    const result = await callerOn(ground, { queueOf: () => queue as string }).execute({ name: 'charge' })
    expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_CONFIGURATION' } })
  })

  test('ends a call of whose values too much is carried', async () => {
    const ground = sqliteGround(toolsOf(), memoryDispatcher())
    const result = await callerOn(ground, { carry: () => 'é'.repeat(10_000) }).execute({ name: 'charge' })
    expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_CONFIGURATION' } })
  })
})
