import { clientTool, createExecutor, tool, type ToolExecutor } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { callLog, observe } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { keptLog, longestLog } from '../../src/testing/_log.ts'

const now = tool('now', () => '12:00')
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: { type: 'object', properties: { cents: { type: 'integer' }, card: { type: 'string' } } },
  secrets: ['/card'],
  requiresConfirmation: true,
  handler: () => 'paid',
})
const count = tool('count', async function* () {
  yield 'one'
  return 'two'
})

describe('a log', () => {
  test('has each call with what became of it', async () => {
    const executor = createExecutor({ tools: [now, count] })
    const { calls, events } = observe(executor)
    await executor.execute({ name: 'now', args: '{"zone":"utc"}' }, { session: 's', invocationId: 'i' })
    await executor.execute({ name: 'count' })
    const lost = await executor.execute({ name: 'nothing', args: { a: 1 } })
    expect(calls).toMatchObject([
      { tool: 'now', args: { zone: 'utc' }, session: 's', invocationId: 'i', status: 'ok', effect: 'completed' },
      { tool: 'count', progress: [{ data: 'one' }], content: [{ type: 'text', text: 'two' }], error: undefined },
      { tool: 'nothing', args: { a: 1 }, callId: null, status: 'error', effect: 'none' },
    ])
    expect(calls[2]?.error).toBe(lost.error)
    expect(calls[2]?.content).toBe(lost.content)
    expect(events).toEqual(calls.flatMap((call) => call.events))
    expect(calls.map(({ asked }) => asked)).toEqual([false, false, false])
  })

  test('has calls of one message in the order of the message, and says which still run', async () => {
    const ends: (() => void)[] = []
    const slow = tool('slow', () => new Promise<void>((resolve) => void ends.push(resolve)))
    const executor = createExecutor({ tools: [slow, now] })
    const { calls } = observe(executor)
    const running = executor.executeToolCalls([{ name: 'slow' }, { name: 'now' }])
    await expect.poll(() => calls.map((call) => `${call.tool} ${call.status}`)).toEqual(['slow running', 'now ok'])
    expect(calls[0]).toMatchObject({ effect: 'none', content: undefined })
    ends[0]?.()
    await running
    expect(calls.map((call) => `${call.tool} ${call.status}`)).toEqual(['slow ok', 'now ok'])
  })

  test('has masked args, and those that a person edited', async () => {
    const executor = createExecutor({ tools: [pay] })
    const { calls, events } = observe(executor)
    const { token = '' } = await executor.execute({ name: 'pay', args: { cents: 5, card: '4111' } })
    expect(calls).toMatchObject([{ status: 'waiting', asked: true, args: { cents: 5 } }])
    const before = calls[0]?.callId
    await executor.calls.decide(token, 'allow', { editedArgs: { cents: 4, card: '4222' } })
    expect(calls).toMatchObject([{ status: 'ok', effect: 'completed', args: { cents: 4 } }])
    expect(calls[0]?.callId).not.toBe(before)
    expect(JSON.stringify([calls, events])).not.toMatch(/4111|4222/)
  })

  test('tells a person who was asked, here too, from a client', async () => {
    const locate = clientTool({ name: 'locate', description: 'Locates', requiresResponse: true })
    const approver = { ask: () => Promise.resolve({ decision: 'deny' as const }) }
    const executor = createExecutor({ tools: [pay, locate], use: [{ approver }] })
    const { calls } = observe(executor)
    await executor.execute({ name: 'pay' })
    const { token = '' } = await executor.execute({ name: 'locate' })
    expect(calls).toMatchObject([
      { status: 'denied', asked: true },
      { status: 'waiting', asked: false },
    ])
    await executor.calls.respond(token, { content: 'here' })
    expect(calls[1]).toMatchObject({ status: 'ok', asked: false })
  })

  test('has a call that came in at another executor from where it goes on', async () => {
    const use = [memoryJournal()]
    const { token = '' } = await createExecutor({ tools: [pay], use }).execute({ name: 'pay', args: { cents: 5 } })
    const executor = createExecutor({ tools: [pay], use })
    const { calls } = observe(executor)
    await executor.calls.decide(token, 'allow')
    expect(calls).toMatchObject([{ tool: 'pay', args: { cents: 5 }, status: 'ok', asked: false }])
    expect(calls).toHaveLength(1)
  })

  test('has an id that is used twice as two calls', async () => {
    const executor = createExecutor({ tools: [now] })
    const { calls } = observe(executor)
    await executor.execute({ name: 'now' }, { invocationId: 'i' })
    await executor.execute({ name: 'now', args: { again: true } }, { invocationId: 'i' })
    expect(calls.map(({ args, status }) => [args, status])).toEqual([
      [{}, 'ok'],
      [{ again: true }, 'ok'],
    ])
  })

  test('of an executor is one, until it ends', async () => {
    const executor = createExecutor({ tools: [now] })
    const first = observe(executor)
    expect(observe(executor)).toBe(first)
    await executor.execute({ name: 'now' })
    first.stop()
    await executor.execute({ name: 'now' })
    expect(first.calls).toHaveLength(1)
    const second = observe(executor)
    expect(second).not.toBe(first)
    await executor.execute({ name: 'now' })
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
  })

  test('forgets all so far if it is cleared, and what still runs', async () => {
    const ends: (() => void)[] = []
    const slow = tool('slow', () => new Promise<void>((resolve) => void ends.push(resolve)))
    const executor = createExecutor({ tools: [slow, now, pay] })
    const log = observe(executor)
    const running = executor.execute({ name: 'slow' })
    const { token = '' } = await executor.execute({ name: 'pay', args: { cents: 5 } })
    log.clear()
    expect([log.calls, log.events]).toEqual([[], []])
    ends[0]?.()
    await running
    expect([log.calls, log.events]).toEqual([[], []])
    await executor.execute({ name: 'now' })
    expect(log.calls).toMatchObject([{ tool: 'now', status: 'ok' }])
    await executor.calls.decide(token, 'allow')
    expect(log.calls).toMatchObject([{ tool: 'now' }, { tool: 'pay', args: { cents: 5 }, status: 'ok' }])
  })

  test('is an extension too, of any number of executors', async () => {
    const misused = callLog as (...values: unknown[]) => unknown
    expect(() => misused(createExecutor())).toThrow(
      'callLog takes nothing, and logs the executors that have it in `use`.',
    )
    const log = callLog()
    const make = (): ToolExecutor => createExecutor({ tools: [now], use: [log] })
    await make().execute({ name: 'now' })
    await make().execute({ name: 'now' })
    expect(log.calls).toHaveLength(2)
    log.clear()
    expect(log.events).toEqual([])
    log.stop()
    await make().execute({ name: 'now' })
    expect(log.calls).toEqual([])
  })

  test('keeps the newest 100,000 calls with their events', () => {
    const log = callLog()
    const [observer] = log.observers ?? []
    const envelope = { callId: null, toolName: 'now', session: 's', seq: 0, timestamp: 0 }
    for (let index = 0; index < longestLog + 1_500; index++) {
      observer?.({ ...envelope, event: 'call:received', invocationId: String(index), args: { index } })
    }
    expect(log.calls).toHaveLength(longestLog + 500)
    expect(log.events).toHaveLength(longestLog + 500)
    expect(log.calls[0]?.args).toEqual({ index: 1_000 })
    expect(keptLog(log)?.lost).toBe(1_000)
    log.clear()
    expect(keptLog(log)?.lost).toBe(0)
  })

  test.each([undefined, null, {}, 'executor', { on: true }])('is of an executor, not of %o', (value) => {
    expect(() => observe(value as never)).toThrow(
      expect.objectContaining({
        code: 'E_INVALID_CONFIGURATION',
        message: expect.stringContaining('observe(') as string,
      }),
    )
  })
})
