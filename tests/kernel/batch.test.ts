import { createExecutor, type ToolResult } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { TurnSlots } from '../../src/kernel/batch.ts'
import { deferred, never, outcome, pause, soon, text, turn, work, type Deferred } from './_calls.ts'

/** Tools that wait to be let go, and tell how many run at once and in which order they began. */
function gates(count: number): {
  tools: ReturnType<typeof work>[]
  gate: Deferred<void>[]
  began: number[]
  most: () => number
} {
  const gate = Array.from({ length: count }, () => deferred())
  const began: number[] = []
  let running = 0
  let most = 0
  const t = work('t', async ({ index }: { index: number }) => {
    began.push(index)
    most = Math.max(most, ++running)
    await gate[index]?.promise
    running--
    return `result ${index}`
  })
  return { tools: [t], gate, began, most: () => most }
}

const calls = (count: number): { name: string; args: { index: number } }[] =>
  Array.from({ length: count }, (_, index) => ({ name: 't', args: { index } }))

describe('the calls of a turn', () => {
  test('run three at a time, in their order, and their results come in their order', async () => {
    const { tools, gate, began, most } = gates(8)
    const running = createExecutor({ tools }).executeToolCalls(calls(8))
    await turn()
    expect(began).toEqual([0, 1, 2])
    gate[1]?.resolve()
    await turn()
    expect(began).toEqual([0, 1, 2, 3])
    for (const index of [7, 6, 5, 4, 3, 2, 0]) gate[index]?.resolve()
    const results = await soon(running)
    expect(began).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(results.map(text)).toEqual(Array.from({ length: 8 }, (_, index) => `result ${index}`))
    expect(most()).toBe(3)
  })

  test.each([1, 2, 5])('run %d at a time where the executor says so', async (concurrency) => {
    const { tools, gate, most } = gates(6)
    const running = createExecutor({ tools, concurrency }).executeToolCalls(calls(6))
    await turn()
    for (const { resolve } of gate) resolve()
    await soon(running)
    expect(most()).toBe(concurrency)
  })

  test('are not limited by another turn, nor single calls by any', async () => {
    const { tools, gate, most } = gates(8)
    const executor = createExecutor({ tools, concurrency: 2 })
    const [one, two] = [executor.executeToolCalls(calls(2)), executor.executeToolCalls(calls(2))]
    const singles = calls(4).map((call) => executor.execute(call))
    await turn()
    expect(most()).toBe(8)
    for (const { resolve } of gate) resolve()
    await soon(Promise.all([one, two, ...singles]))
  })

  test('touch each other in no way: one bad call never rejects the turn', async () => {
    const tools = [
      work('good', () => 'good'),
      work('throws', () => {
        throw new Error('no')
      }),
      work('stuck', () => never, { timeout: 20 }),
      work('asks', () => 1, { requiresConfirmation: true }),
    ]
    const results = await soon(
      createExecutor({ tools, concurrency: 1 }).executeToolCalls([
        { name: 'throws' },
        { name: 'stuck' },
        { name: 'nope' },
        null as never,
        { name: 'good', args: '{"a":' },
        { name: 'asks' },
        { name: 'good' },
      ]),
    )
    expect(results.map(outcome)).toEqual([
      'error unknown E_TOOL_DOWNSTREAM_ERROR',
      'timed_out unknown E_TOOL_TIMEOUT',
      'error none E_TOOL_NOT_FOUND',
      'error none E_TOOL_NOT_FOUND',
      'error none E_INVALID_TOOL_ARGS',
      'pending none',
      'ok completed',
    ])
  })

  test('may be none', async () => {
    expect(await createExecutor().executeToolCalls([])).toEqual([])
  })

  test('are all identified before any runs: where the host cannot name one, the turn is rejected', async () => {
    let runs = 0
    const executor = createExecutor({ tools: [work('t', () => ++runs)] })
    const turned = executor.executeToolCalls(calls(3), {
      invocationId: (_, index) => {
        if (index === 2) throw new RangeError('no more names')
        return String(index)
      },
    })
    await expect(turned).rejects.toThrow(new RangeError('no more names'))
    await turn()
    expect(runs).toBe(0)
  })

  test('share what is said of the turn, and have an identity each', async () => {
    const seen: unknown[] = []
    const t = work(
      't',
      (_, { session, caller, values, invocationId }) => void seen.push([session, caller, values, invocationId]),
    )
    const values = {}
    await createExecutor({ tools: [t] }).executeToolCalls(
      [
        { id: 'a', name: 't' },
        { id: 'b', name: 't' },
      ],
      {
        session: 's',
        caller: 'user',
        values,
        invocationId: ({ id }, index) => `${String(id)}-${index}`,
      },
    )
    expect(seen).toEqual([
      ['s', 'user', values, 'a-0'],
      ['s', 'user', values, 'b-1'],
    ])
  })

  test('waiting for an approval holds no slot', async () => {
    const person = deferred<{ decision: 'allow' }>()
    const tools = [work('asks', () => 'asked', { requiresConfirmation: true }), work('t', () => 'ran')]
    const executor = createExecutor({ tools, concurrency: 1, use: [{ approver: { ask: () => person.promise } }] })
    const settled: string[] = []
    executor.on('call:settled', ({ toolName }) => void settled.push(toolName))
    const running = executor.executeToolCalls([{ name: 'asks' }, { name: 't' }, { name: 't' }])
    await turn()
    await turn()
    expect(settled).toEqual(['t', 't'])
    person.resolve({ decision: 'allow' })
    expect((await soon(running)).map(text)).toEqual(['asked', 'ran', 'ran'])
  })

  test('waiting for a slot takes no time of the call', async () => {
    const tools = [work('t', () => pause(30), { timeout: 100 })]
    const results = await createExecutor({ tools, concurrency: 1 }).executeToolCalls(
      Array.from({ length: 8 }, () => ({ name: 't' })),
    )
    expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'ok'))
  })

  test('are all given up by one signal, also those that wait for a slot', async () => {
    const leaving = new AbortController()
    let runs = 0
    const t = work('t', () => {
      runs++
      return never
    })
    const running = createExecutor({ tools: [t], concurrency: 2 }).executeToolCalls(
      Array.from({ length: 5 }, () => ({ name: 't' })),
      { signal: leaving.signal },
    )
    await turn()
    leaving.abort()
    const results: ToolResult[] = await soon(running)
    expect(results.map(outcome)).toEqual([
      ...Array.from({ length: 2 }, () => 'cancelled unknown E_TOOL_CANCELLED'),
      ...Array.from({ length: 3 }, () => 'cancelled none E_TOOL_CANCELLED'),
    ])
    expect(runs).toBe(2)
  })

  test('a tool that bears no other beside it runs alone', async () => {
    let running = 0
    let most = 0
    const t = work(
      't',
      async () => {
        most = Math.max(most, ++running)
        await turn()
        running--
      },
      { traits: { concurrent: false } },
    )
    const executor = createExecutor({ tools: [t] })
    await executor.executeToolCalls(Array.from({ length: 6 }, () => ({ name: 't' })))
    expect(most).toBe(1)
  })
})

describe('slots', () => {
  test('go to whoever came first', async () => {
    const slots = new TurnSlots(1)
    expect(slots.enter()).toBeUndefined()
    const order: string[] = []
    const turns = ['a', 'b', 'c'].map((name) => {
      const waiting = slots.enter()
      void waiting?.then(() => order.push(name))
      return waiting
    })
    slots.leave(undefined)
    await turn()
    slots.leave(turns[0])
    await turn()
    expect(order).toEqual(['a', 'b'])
  })

  test('are not lost with one who leaves the line', async () => {
    const slots = new TurnSlots(1)
    void slots.enter()
    const [first, second] = [slots.enter(), slots.enter()]
    slots.leave(first)
    slots.leave(undefined)
    await soon(second as Promise<void>)
    slots.leave(second)
    expect(slots.enter()).toBeUndefined()
    expect(slots.enter()).toBeDefined()
  })
})
