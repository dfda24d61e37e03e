import { createExecutor, type ToolResult } from 'toolwright'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred, type Deferred, never, outcome, pause, sink, soon, text, turn, work } from './_calls.ts'
import { Slots } from './_inside.ts'

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

/** Whether a promise has settled, and what it gave. */
function watched<Value>(promise: Promise<Value>): { value: Value | undefined } {
  const state: { value: Value | undefined } = { value: undefined }
  void promise.then((value) => (state.value = value))
  return state
}

afterEach(() => {
  vi.useRealTimers()
})

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

  test('are shown to the host before any of them starts, and their results once every one is there', async () => {
    const log: string[] = []
    const t = work('t', ({ index }: { index: number }) => {
      log.push(`ran ${index}`)
      if (index === 1) throw new Error('no')
      return 'done'
    })
    const results = await createExecutor({ tools: [t] }).executeToolCalls(calls(3), {
      beforeTurn: async (turnCalls) => {
        await pause(5)
        log.push(`before ${turnCalls.map(({ args }) => JSON.stringify(args)).join(' ')}`)
      },
      afterTurn: async (turnResults) => {
        await pause(5)
        log.push(`after ${turnResults.map(({ status }) => status).join(' ')}`)
      },
    })
    log.push(`given ${results.length}`)
    expect(log).toEqual([
      'before {"index":0} {"index":1} {"index":2}',
      'ran 0',
      'ran 1',
      'ran 2',
      'after ok error ok',
      'given 3',
    ])
  })

  test('do not start where the host refuses the turn, and its end is not told of then', async () => {
    const { tools, began } = gates(2)
    const ended: unknown[] = []
    const refused = createExecutor({ tools }).executeToolCalls(calls(2), {
      beforeTurn: () => Promise.reject(new Error('not now')),
      afterTurn: (results) => void ended.push(results),
    })
    await expect(refused).rejects.toThrow('not now')
    expect([began, ended]).toEqual([[], []])
  })

  test('keep their results where the host fails at the end of the turn, which is reported', async () => {
    const { reports, report } = sink()
    const failure = new Error('no')
    const results = await createExecutor({ tools: [work('t', () => 'done')], report }).executeToolCalls(calls(1), {
      afterTurn: (settled) => {
        ;(settled as unknown[]).length = 0
        throw failure
      },
    })
    expect(results.map(text)).toEqual(['done'])
    expect(reports).toEqual([failure])
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
      'waiting none',
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
    vi.useFakeTimers()
    const tools = [work('t', () => pause(3_000), { timeout: 5_000 })]
    const turned = watched(
      createExecutor({ tools, concurrency: 1 }).executeToolCalls(Array.from({ length: 8 }, () => ({ name: 't' }))),
    )
    await vi.advanceTimersByTimeAsync(24_000)
    expect(turned.value?.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'ok'))
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

describe('a tool that bears no other beside it', () => {
  const alone = { traits: { concurrent: false } }
  const inSession = { session: 's' }

  test('runs alone also if its handlers outlive their deadlines', async () => {
    vi.useFakeTimers()
    let running = 0
    let most = 0
    const handler = async (): Promise<void> => {
      most = Math.max(most, ++running)
      await pause(5_000)
      running--
    }
    const executor = createExecutor({ tools: [work('t', handler, { ...alone, timeout: 1_000 })] })
    const turned = watched(executor.executeToolCalls(Array.from({ length: 3 }, () => ({ name: 't' }))))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(turned.value?.map(outcome)).toEqual([
      'timed_out unknown E_TOOL_TIMEOUT',
      'timed_out none E_TOOL_TIMEOUT',
      'timed_out none E_TOOL_TIMEOUT',
    ])
    expect(most).toBe(1)
  })

  test('waits for work whose own call is over no longer than its own time limit, and may be called again', async () => {
    vi.useFakeTimers()
    const gate = deferred()
    const toolNamed = (name: string): ReturnType<typeof work> =>
      work(name, () => gate.promise, { ...alone, timeout: 50 })
    const executor = createExecutor({ tools: [toolNamed('stuck'), toolNamed('behind')] })
    const first = watched(executor.execute({ name: 'stuck' }, { ...inSession, invocationId: 'first' }))
    const second = watched(executor.execute({ name: 'behind' }, inSession))
    await vi.advanceTimersByTimeAsync(100)
    expect([first.value, second.value].map((result) => result && outcome(result))).toEqual([
      'timed_out unknown E_TOOL_TIMEOUT',
      'timed_out none E_TOOL_TIMEOUT',
    ])
    expect(second.value?.error).toMatchObject({ retryable: true, message: expect.stringContaining('"first"') as never })
    // As soon as that work has ended, the tool runs again.
    gate.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect((await executor.execute({ name: 'behind' }, inSession)).status).toBe('ok')
  })

  test('spends none of its time behind a call that is not over', async () => {
    vi.useFakeTimers()
    const gate = deferred()
    const slow = work('slow', () => gate.promise, { ...alone, timeout: 0 })
    const executor = createExecutor({ tools: [slow, work('quick', () => 1, { ...alone, timeout: 50 })] })
    const started = [{ name: 'slow' }, { name: 'quick' }].map((call) => watched(executor.execute(call, inSession)))
    await vi.advanceTimersByTimeAsync(10_000)
    gate.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(started.map(({ value }) => value?.status)).toEqual(['ok', 'ok'])
  })

  test.each<[string, (began: () => void) => unknown]>([
    [
      'a generator that closes slowly',
      async function* (began) {
        try {
          began()
          await pause(8_000)
          yield 1
        } finally {
          await pause(5_000)
        }
      },
    ],
    [
      'a stream',
      (began) => {
        began()
        return ReadableStream.from(
          (async function* () {
            await pause(5_000)
            yield 'x'
          })(),
        )
      },
    ],
  ])('has the next call wait for %s', async (name, handler) => {
    // What reads streams is loaded by the first of them, in real time.
    await createExecutor({ tools: [work('warm', () => ReadableStream.from(['x']))] }).execute({ name: 'warm' })
    vi.useFakeTimers()
    const began: number[] = []
    const t = work('t', () => handler(() => began.push(performance.now())), { ...alone, timeout: 6_000 })
    const next = work('next', () => void began.push(performance.now()), { ...alone, timeout: 60_000 })
    const executor = createExecutor({ tools: [t, next] })
    const start = performance.now()
    void executor.execute({ name: 't' }, inSession)
    void executor.execute({ name: 'next' }, inSession)
    await vi.advanceTimersByTimeAsync(50_000)
    expect(began.map((at) => at - start)).toEqual([0, name === 'a stream' ? 5_000 : 13_000])
  })

  test('does not begin beside work that outlives the call of a tool that bears others', async () => {
    vi.useFakeTimers()
    const began: string[] = []
    const tools = [
      work('slow', () => pause(5_000), { timeout: 1_000 }),
      work('lonely', () => void began.push('lonely'), alone),
    ]
    const executor = createExecutor({ tools })
    void executor.execute({ name: 'slow' }, inSession)
    await vi.advanceTimersByTimeAsync(2_000)
    void executor.execute({ name: 'lonely' }, inSession)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(began).toEqual([])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(began).toEqual(['lonely'])
  })

  test('is waited for no longer than 30 s after its call has settled, and the host is told', async () => {
    vi.useFakeTimers()
    const { reports, report } = sink()
    let runs = 0
    const stuck = work(
      'stuck',
      () => {
        runs++
        return never
      },
      { ...alone, timeout: 1_000 },
    )
    const patient = work('patient', () => void runs++, { ...alone, timeout: 60_000 })
    const executor = createExecutor({ tools: [stuck, patient], report })
    void executor.execute({ name: 'stuck' }, { ...inSession, invocationId: 'first' })
    void executor.execute({ name: 'patient' }, inSession)
    await vi.advanceTimersByTimeAsync(30_999)
    expect([runs, reports]).toEqual([1, []])
    await vi.advanceTimersByTimeAsync(1)
    expect(runs).toBe(2)
    expect(reports).toMatchObject([{ code: 'E_TOOL_TIMEOUT' }])
    expect(String(reports[0])).toContain('tool "stuck" (invocation "first")')
  })

  test('tells the host nothing of work that no call waits for', async () => {
    vi.useFakeTimers()
    const { reports, report } = sink()
    const executor = createExecutor({ tools: [work('t', () => never, { timeout: 1_000 })], report })
    void executor.execute({ name: 't' }, inSession)
    await vi.advanceTimersByTimeAsync(100_000)
    expect(reports).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that calls itself through the executor is told after 60 s who holds the turn', async () => {
    vi.useFakeTimers()
    const inner: ToolResult[] = []
    const handler = async ({ depth }: { depth: number }): Promise<string> => {
      if (depth > 0) return 'done'
      inner.push(await executor.execute({ name: 't', args: { depth: 1 } }, inSession))
      return 'outer'
    }
    const executor = createExecutor({ tools: [work('t', handler, alone)], timeout: 0 })
    const outer = watched(executor.execute({ name: 't', args: { depth: 0 } }, { ...inSession, invocationId: 'outer' }))
    await vi.advanceTimersByTimeAsync(59_999)
    expect(inner).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(inner.map(outcome)).toEqual(['timed_out none E_TOOL_TIMEOUT'])
    expect(inner[0]?.error?.message).toContain('tool "t" (invocation "outer")')
    expect(outer.value && outcome(outer.value)).toBe('ok completed')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is waited for as long as its line moves, also if that takes minutes', async () => {
    vi.useFakeTimers()
    const executor = createExecutor({ tools: [work('t', () => pause(20_000), alone)] })
    const turned = watched(executor.executeToolCalls(Array.from({ length: 10 }, () => ({ name: 't' }))))
    const singles = Array.from({ length: 10 }, () => watched(executor.execute({ name: 't' })))
    await vi.advanceTimersByTimeAsync(400_000)
    expect(turned.value?.map(outcome)).toEqual(Array.from({ length: 10 }, () => 'ok completed'))
    expect(singles.map(({ value }) => value && outcome(value))).toEqual(
      Array.from({ length: 10 }, () => 'ok completed'),
    )
  })

  test('keeps nothing of a call that is given up while it waits for its turn', async () => {
    vi.useFakeTimers()
    const began: string[] = []
    const gate = deferred()
    const t = work(
      't',
      ({ name }: { name: string }) => {
        began.push(name)
        return gate.promise
      },
      alone,
    )
    const executor = createExecutor({ tools: [t], timeout: 0 })
    const leaving = new AbortController()
    const call = (name: string, signal?: AbortSignal): { value: ToolResult | undefined } =>
      watched(executor.execute({ name: 't', args: { name } }, { ...inSession, ...(signal && { signal }) }))
    const first = call('first')
    const second = call('second', leaving.signal)
    const third = call('third')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(began).toEqual(['first'])
    leaving.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(second.value && outcome(second.value)).toBe('cancelled none E_TOOL_CANCELLED')
    gate.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(began).toEqual(['first', 'third'])
    expect([first, third].map(({ value }) => value && outcome(value))).toEqual(['ok completed', 'ok completed'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('keeps the calls of its own session waiting, and those of no other', async () => {
    const began: string[] = []
    const gate = deferred()
    const t = work(
      't',
      (_, { session }) => {
        began.push(session)
        return gate.promise
      },
      alone,
    )
    const executor = createExecutor({ tools: [t] })
    const running = ['a', 'a', 'b'].map((session) => executor.execute({ name: 't' }, { session }))
    await turn()
    expect(began).toEqual(['a', 'b'])
    gate.resolve()
    await soon(Promise.all(running))
    expect(began).toEqual(['a', 'b', 'a'])
  })

  test('that left the line makes room for what waited behind it', async () => {
    const leaving = new AbortController()
    const gate = deferred()
    const began: string[] = []
    const tools = [
      work('shared', () => {
        began.push('shared')
        return gate.promise
      }),
      work('lonely', () => void began.push('lonely'), alone),
    ]
    const executor = createExecutor({ tools })
    const first = executor.execute({ name: 'shared' }, inSession)
    const lonely = executor.execute({ name: 'lonely' }, { ...inSession, signal: leaving.signal })
    const behind = executor.execute({ name: 'shared' }, inSession)
    await turn()
    expect(began).toEqual(['shared'])
    leaving.abort()
    expect(outcome(await soon(lonely))).toBe('cancelled none E_TOOL_CANCELLED')
    await turn()
    expect(began).toEqual(['shared', 'shared'])
    gate.resolve()
    await soon(Promise.all([first, behind]))
  })
})

describe('slots', () => {
  test('go to whoever came first', async () => {
    const slots = new Slots(1)
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
    const slots = new Slots(1)
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
