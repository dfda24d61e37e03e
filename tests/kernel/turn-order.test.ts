import { createExecutor, type ToolResult } from 'toolwright'
import type { Policy } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred, never, notingTool, outcome, pause, soon, turn, work } from './_calls.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A policy that takes as long as the args say. */
const slow: Policy = {
  name: 'slow',
  decide: async ({ args }) => pause((args as { delay?: number }).delay ?? 0),
}

/** Tools that note when they begin and end: two touch one file, one touches nothing, one runs alone. */
function noting(): { readonly tools: ReturnType<typeof work>[]; readonly log: string[] } {
  const log: string[] = []
  const make = (name: string, options: object): ReturnType<typeof work> => notingTool(log, name, options)
  const touching = { conflicts: () => ['file:/a'] }
  const alone = { traits: { concurrent: false } }
  return { tools: [make('write', touching), make('review', touching), make('plain', {}), make('alone', alone)], log }
}

const delayed = (name: string, delay: number): { name: string; args: object } => ({ name, args: { delay } })

describe('the calls of a turn that may touch the same thing', () => {
  test('run in the order of the calls, however long validators and policies take', async () => {
    const { tools, log } = noting()
    const executor = createExecutor({ tools, use: [{ policies: [slow] }] })
    await soon(executor.executeToolCalls([delayed('write', 20), delayed('review', 0)]))
    expect(log).toEqual(['write', 'write ends', 'review', 'review ends'])
  })

  test('run in the order of the calls, however long the schema of one takes', async () => {
    const log: string[] = []
    const taking = (milliseconds: number): object => ({
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value: unknown) => pause(milliseconds).then(() => ({ value })),
      },
    })
    const tools = ['write', 'review'].map((name, index) =>
      work(name, () => void log.push(name), {
        inputSchema: taking(20 - 20 * index),
        jsonSchema: {},
        conflicts: () => ['file:/a'],
      }),
    )
    await soon(createExecutor({ tools }).executeToolCalls([{ name: 'write' }, { name: 'review' }]))
    expect(log).toEqual(['write', 'review'])
  })

  test('end in two turns that cross: each begins with what the other ends with, and has one slot', async () => {
    const log: string[] = []
    const t = work(
      't',
      async ({ key }: { key: string }) => {
        log.push(key)
        await pause(1)
      },
      { conflicts: ({ key }: { key: string }) => [key] },
    )
    const executor = createExecutor({ tools: [t], concurrency: 1, use: [{ policies: [slow] }], waitTimeout: 20_000 })
    const turns = [
      ['a', 'b', 'a'],
      ['b', 'a', 'b'],
    ].map((keys, index) => keys.map((key, place) => ({ name: 't', args: { key, delay: (index + place) % 3 } })))
    const results = await soon(Promise.all(turns.map((calls) => executor.executeToolCalls(calls))), 10_000)
    expect(results.flat().map(outcome)).toEqual(Array.from({ length: 6 }, () => 'ok completed'))
    expect(log.toSorted()).toEqual(['a', 'a', 'a', 'b', 'b', 'b'])
  })

  test('run in the order of the calls behind a tool that runs alone, and before it', async () => {
    const { tools, log } = noting()
    const executor = createExecutor({ tools, use: [{ policies: [slow] }], concurrency: 9 })
    await soon(executor.executeToolCalls([delayed('alone', 20), delayed('plain', 0)]))
    await soon(executor.executeToolCalls([delayed('plain', 20), delayed('alone', 0)]))
    expect(log).toEqual(
      ['alone', 'alone ends', 'plain', 'plain ends', 'plain', 'plain ends', 'alone', 'alone ends'].filter(Boolean),
    )
  })

  test('wait for nothing if they touch nothing', async () => {
    const { tools, log } = noting()
    const executor = createExecutor({ tools, use: [{ policies: [slow] }] })
    await soon(executor.executeToolCalls([delayed('write', 30), delayed('plain', 0)]))
    expect(log.indexOf('plain')).toBeLessThan(log.indexOf('write'))
  })

  test('keep their order with random delays of 30 calls', async () => {
    const began: number[] = []
    const t = work('t', ({ index }: { index: number }) => void began.push(index), { conflicts: () => ['thing'] })
    const executor = createExecutor({ tools: [t], use: [{ policies: [slow] }] })
    const delays = Array.from({ length: 30 }, (_, index) => (index * 7) % 11)
    const calls = delays.map((delay, index) => ({ name: 't', args: { index, delay } }))
    await soon(executor.executeToolCalls(calls))
    expect(began).toEqual(calls.map((_, index) => index))
  })

  test('do not wait for an earlier call that is refused, unknown, invalid, known from its record or a duplicate', async () => {
    const { tools, log } = noting()
    const refusing: Policy = {
      name: 'refusing',
      decide: ({ tool, args }) =>
        tool.name === 'write' && (args as { no?: true }).no ? { decision: 'deny' } : undefined,
    }
    const gate = deferred()
    const held = work('held', () => gate.promise, { conflicts: () => ['other'] })
    const executor = createExecutor({ tools: [...tools, held], use: [{ policies: [refusing] }, memoryJournal()] })
    await executor.execute({ name: 'write' }, { invocationId: 'earlier' })
    const running = executor.execute({ name: 'held' }, { invocationId: 'running' })
    await turn()
    log.length = 0
    const ids = ['earlier', 'running', 'c', 'd', 'e', 'f']
    const results = await soon(
      executor.executeToolCalls(
        [
          { name: 'write' },
          { name: 'held' },
          { name: 'write', args: { no: true } },
          { name: 'unheard_of' },
          { name: 'write', args: '{"a":' },
          { name: 'review' },
        ],
        { invocationId: (_call, index) => ids[index]! },
      ),
    )
    expect(results.map(outcome)).toEqual([
      'ok completed',
      'error unknown E_DUPLICATE_INVOCATION',
      'denied none E_TOOL_DENIED',
      'error none E_TOOL_NOT_FOUND',
      'error none E_INVALID_TOOL_ARGS',
      'ok completed',
    ])
    expect(log).toEqual(['review', 'review ends'])
    gate.resolve()
    await running
  })

  test.each([true, false])('do not wait for an earlier call that waits for a person (an approver: %j)', async (has) => {
    const answer = deferred<{ decision: 'allow' }>()
    const began: string[] = []
    const conflicts = (): string[] => ['file:/a']
    const tools = [
      work('asks', () => void began.push('asks'), { conflicts, requiresConfirmation: true }),
      work('review', () => void began.push('review'), { conflicts }),
    ]
    const use = has ? [{ approver: { ask: () => answer.promise } }] : []
    const executor = createExecutor({ tools, use })
    const running = executor.executeToolCalls([{ name: 'asks' }, { name: 'review' }])
    await vi.waitFor(() => expect(began).toEqual(['review']))
    answer.resolve({ decision: 'allow' })
    expect((await soon(running)).map(({ status }) => status)).toEqual([has ? 'ok' : 'waiting', 'ok'])
  })

  test('wait for an earlier call no longer than `waitTimeout`, which names it', async () => {
    vi.useFakeTimers()
    const { tools, log } = noting()
    const stuck: Policy = { name: 'stuck', decide: ({ tool }) => (tool.name === 'write' ? never : undefined) }
    const executor = createExecutor({ tools, use: [{ policies: [stuck] }], timeout: 0, waitTimeout: 1_000 })
    const leaving = new AbortController()
    let results: ToolResult[] = []
    const options = { invocationId: (_call: unknown, index: number) => `call ${index}`, signal: leaving.signal }
    void executor
      .executeToolCalls([{ name: 'write' }, { name: 'review' }], options)
      .then((settled) => (results = settled))
    await vi.advanceTimersByTimeAsync(1_000)
    leaving.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(results.map(outcome)).toEqual(['cancelled none E_TOOL_CANCELLED', 'timed_out none E_TOOL_TIMEOUT'])
    expect(results[1]?.error?.message).toBe(
      'The call was not started within 1,000 ms: it waited for tool "write" (invocation "call 0"), an earlier call of the same turn that is not ready.',
    )
    expect([log, vi.getTimerCount()]).toEqual([[], 0])
  })

  test('spend no time of their own meanwhile, and leave nothing behind if they are given up', async () => {
    vi.useFakeTimers()
    const began: string[] = []
    const conflicts = (): string[] => ['file:/a']
    const tools = [
      work('first', () => void began.push('first'), { conflicts, timeout: 0 }),
      work('second', () => void began.push('second'), { conflicts, timeout: 50 }),
    ]
    const executor = createExecutor({ tools, use: [{ policies: [slow] }] })
    const running = executor.executeToolCalls([delayed('first', 5_000), delayed('second', 0)])
    await vi.advanceTimersByTimeAsync(5_001)
    expect((await running).map(outcome)).toEqual(['ok completed', 'ok completed'])
    const leaving = new AbortController()
    const abandoned = executor.executeToolCalls([delayed('first', 5_000), delayed('second', 0)], {
      signal: leaving.signal,
    })
    await vi.advanceTimersByTimeAsync(1_000)
    leaving.abort()
    expect((await abandoned).map(outcome)).toEqual([
      'cancelled none E_TOOL_CANCELLED',
      'cancelled none E_TOOL_CANCELLED',
    ])
    expect(began).toEqual(['first', 'second'])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(vi.getTimerCount()).toBe(0)
  })
})
