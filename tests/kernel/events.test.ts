import { createExecutor, type ToolDefinition, type ToolEvent, type ToolResult } from 'toolwright'
import type { Observer } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { heard, hostile, names, never, outcome, sink, soon, turn, work } from './_calls.ts'

const busy = work(
  'busy',
  async function* ({ password }: { password?: string }, { emit }) {
    yield 'one'
    emit('two')
    return { password }
  },
  { secrets: ['/password'] },
)

describe('the events of a call', () => {
  test('come in order, without gaps, and carry what the call is', async () => {
    const executor = createExecutor({ tools: [busy] })
    const events = heard(executor)
    const before = Date.now()
    const { callId } = await executor.execute({ id: 7, name: 'busy', args: {} }, { session: 's', invocationId: 'i' })
    expect(names(events)).toBe('call:received tool:start tool:progress tool:progress tool:end call:settled')
    for (const [index, event] of events.entries()) {
      expect(event).toMatchObject({ callId, invocationId: 'i', id: 7, toolName: 'busy', session: 's', seq: index })
      expect(event.timestamp).toBeGreaterThanOrEqual(before)
      expect(event.timestamp).toBeLessThanOrEqual(Date.now())
    }
    expect(events.at(-1)).toMatchObject({
      status: 'ok',
      effect: 'completed',
      result: { mediaType: 'application/json' },
    })
  })

  test('come with the tool, also where the call never starts, and without one where there is none', async () => {
    const refused = work('refused', () => 'never', { requiresConfirmation: true })
    const lines: string[] = []
    const use = [
      { observers: [(event: ToolEvent, tool?: ToolDefinition) => void lines.push(`${event.event} ${tool?.name}`)] },
    ]
    const executor = createExecutor({ tools: [refused], use })
    await executor.execute({ name: 'refused', args: '{"a":1,"a":2}' })
    await executor.execute({ name: 'unheard_of' })
    expect(lines).toEqual([
      'call:received refused',
      'call:settled refused',
      'call:received undefined',
      'call:settled undefined',
    ])
  })

  test('end with the result that the caller gets, for observers and listeners, and none of them has it before', async () => {
    const pay = work('pay', () => 'paid', { requiresConfirmation: true })
    const fails = work('fails', () => Promise.reject(new Error('no')))
    const observed: [string, ToolResult | undefined][] = []
    const listened: typeof observed = []
    const observers: Observer[] = [({ event }, _tool, result) => void observed.push([event, result])]
    const executor = createExecutor({ tools: [busy, fails, pay], use: [{ observers }] })
    executor.on('*', ({ event }, _tool, result) => void listened.push([event, result]))
    const named: unknown[] = []
    executor.on('call:settled', (_event, tool, result) => void named.push([tool?.name, result]))
    const results = [
      await executor.execute({ name: 'busy' }),
      await executor.execute({ name: 'fails' }),
      await executor.execute({ name: 'unheard_of' }),
    ]
    const { token = '' } = await executor.execute({ name: 'pay' })
    results.push(await executor.calls.decide(token, 'allow'))
    const settled = observed.filter(([, result]) => result !== undefined)
    expect(settled.map(([event]) => event)).toEqual(Array(4).fill('call:settled'))
    for (const [index, result] of results.entries()) expect(settled[index]?.[1]).toBe(result)
    expect(listened).toEqual(observed)
    expect(named).toEqual(results.map((result, index) => [['busy', 'fails', undefined, 'pay'][index], result]))
  })

  test('are the same for every way to hear them', async () => {
    const observed: ToolEvent[] = []
    const streamed: ToolEvent[] = []
    const executor = createExecutor({ tools: [busy], use: [{ observers: [(event) => void observed.push(event)] }] })
    const listened = heard(executor)
    const stream = executor.stream({ name: 'busy' })
    let step = await stream.next()
    while (step.done !== true) {
      streamed.push(step.value)
      step = await stream.next()
    }
    expect(step.value.status).toBe('ok')
    expect(observed).toHaveLength(6)
    expect(listened).toEqual(observed)
    expect(streamed).toEqual(observed)
  })

  test('of calls at once are told apart by their invocation, and each has its own count', async () => {
    const executor = createExecutor({ tools: [busy] })
    const events = heard(executor)
    await executor.executeToolCalls(Array.from({ length: 20 }, () => ({ id: 'same', name: 'busy' })))
    const groups = Map.groupBy(events, ({ invocationId }) => invocationId)
    expect(groups.size).toBe(20)
    for (const group of groups.values()) expect(group.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('a start has its end, whatever comes of the run', async () => {
    const tools = [
      work('throws', () => {
        throw new Error('no')
      }),
      work('stuck', () => never, { timeout: 10 }),
      work('good', () => 1),
    ]
    for (const { name } of tools) {
      const executor = createExecutor({ tools })
      const events = heard(executor)
      await soon(executor.execute({ name }))
      expect(names(events)).toBe('call:received tool:start tool:end call:settled')
      expect(events[2]).toMatchObject({ isError: name !== 'good' })
    }
  })

  test('of a second call under a running id leave those of the first as they are', async () => {
    const executor = createExecutor({ tools: [work('t', () => turn())] })
    const events = heard(executor)
    const [first, second] = await Promise.all([
      executor.execute({ name: 't' }, { invocationId: 'i' }),
      executor.execute({ name: 't' }, { invocationId: 'i' }),
    ])
    expect([outcome(first), outcome(second)]).toEqual(['ok completed', 'error unknown E_DUPLICATE_INVOCATION'])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ event }) => event === 'call:settled')).toHaveLength(1)
  })

  test('show no secret', async () => {
    const executor = createExecutor({ tools: [busy] })
    const events = heard(executor)
    await executor.execute({ name: 'busy', args: { password: 'canary' } })
    await executor.execute({ name: 'busy', args: '{"password":"canary","password":"canary"}' })
    await executor.execute({ name: 'busy', args: '{"password":"canary"' })
    await executor.execute({ name: 'busy', args: { password: 'canary', more: 1n } })
    expect(events.filter(({ event }) => event === 'call:received')).toHaveLength(4)
    expect(JSON.stringify(events, (_, value: unknown) => (typeof value === 'bigint' ? 'canary' : value))).not.toContain(
      'canary',
    )
  })
})

describe('observers watch and cannot steer', () => {
  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws something hostile',
      () => {
        throw hostile()
      },
    ],
    [
      'gives a thenable that throws',
      () => ({
        then() {
          throw new Error('no')
        },
      }),
    ],
    ['never ends', () => never],
  ])('one that %s: the call goes on, the others hear all, and it is reported', async (name, observer) => {
    const { report, reports } = sink()
    const others: ToolEvent[] = []
    const use = [{ observers: [observer, (event: ToolEvent) => void others.push(event)] }]
    const executor = createExecutor({ tools: [work('t', () => 1)], use, report })
    executor.on('tool:start', observer)
    const result = await soon(executor.execute({ name: 't' }))
    await turn()
    expect(outcome(result)).toBe('ok completed')
    expect(names(others)).toBe('call:received tool:start tool:end call:settled')
    expect(reports).toHaveLength(name === 'never ends' ? 0 : 5)
  })

  test('what one does to the input of an event changes nothing of what runs', async () => {
    const inputs: unknown[] = []
    const spoil = (event: ToolEvent): void => {
      if (event.event === 'tool:start') (event.input as { a: number }).a = 2
      if (event.event === 'call:received') (event.args as { a: number }).a = 3
    }
    const executor = createExecutor({
      tools: [work('t', (input) => void inputs.push(input))],
      use: [{ observers: [spoil] }],
    })
    await executor.execute({ name: 't', args: '{"a":1}' })
    expect(inputs).toEqual([{ a: 1 }])
  })

  test.each<[string, (args: Record<string, unknown>) => unknown]>([
    ['the same', (args) => args],
    ['equal', (args) => structuredClone(args)],
    ['with a default', (args) => ({ ...args, limit: 10 })],
    ['with a member less', ({ list }) => ({ list })],
    ['with another name', ({ list }) => ({ list, minos: undefined })],
    [
      'with an own `__proto__`',
      ({ list }) => JSON.parse(JSON.stringify({ list, p: {} }).replace('"p"', '"__proto__"')),
    ],
    ['with another element', (args) => ({ ...args, list: [1, 2, { deep: 'y' }] })],
    ['with an element more', (args) => ({ ...args, list: [1, 2, { deep: 'x' }, undefined] })],
    ['with a date', (args) => ({ ...args, list: new Date(0) })],
    ['a map', () => new Map([['a', 1]])],
    ['text', () => 'text'],
  ])('what a start shows is what validation gave, before the handler changed it: %s', async (_, validate) => {
    const inputs: unknown[] = []
    const search = work(
      't',
      (input) => {
        inputs.push(structuredClone(input))
        if (typeof input === 'object' && input !== null && 'list' in input) Object.assign(input, { list: 'changed' })
      },
      {
        inputSchema: {
          '~standard': { version: 1, vendor: 'own', validate: (args: never) => ({ value: validate(args) }) },
        },
        jsonSchema: {},
      },
    )
    const executor = createExecutor({ tools: [search] })
    const events = heard(executor)
    await executor.execute({ name: 't', args: { list: [1, 2, { deep: 'x' }], minus: -0 } })
    const shown = events.find((event) => event.event === 'tool:start')
    expect(shown).toHaveProperty('input')
    expect(shown?.event === 'tool:start' && shown.input).toStrictEqual(inputs[0])
  })

  test('a listener hears its own events until it is taken off', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)] })
    const seen: string[] = []
    const undo = executor.on('call:settled', ({ event, status }) => void seen.push(`${event} ${status}`))
    const other = executor.on('tool:start', ({ event }) => void seen.push(event))
    await executor.execute({ name: 't' })
    undo()
    undo()
    await executor.execute({ name: 't' })
    other()
    await executor.execute({ name: 't' })
    expect(seen).toEqual(['tool:start', 'call:settled ok', 'tool:start'])
  })

  test('without a listener, progress costs nothing and is no error', async () => {
    const { report, reports } = sink()
    expect(outcome(await createExecutor({ tools: [busy], report }).execute({ name: 'busy' }))).toBe('ok completed')
    expect(reports).toEqual([])
  })
})

describe('a stream of events', () => {
  test('ends with the result, also of a call that fails at once', async () => {
    const stream = createExecutor().stream({ name: 'nope' })
    const seen: string[] = []
    let step = await stream.next()
    while (step.done !== true) {
      seen.push(step.value.event)
      step = await stream.next()
    }
    expect([seen, outcome(step.value)]).toEqual([['call:received', 'call:settled'], 'error none E_TOOL_NOT_FOUND'])
  })

  test('that is left gives its call up', async () => {
    let signal: AbortSignal | undefined
    const stuck = work('t', (_, context) => {
      signal = context.signal
      return never
    })
    const executor = createExecutor({ tools: [stuck] })
    const events = heard(executor)
    for await (const { event } of executor.stream({ name: 't' })) if (event === 'tool:start') break
    await turn()
    expect(signal?.aborted).toBe(true)
    expect(events.at(-1)).toMatchObject({ event: 'call:settled', status: 'cancelled' })
  })

  test("is given up by the caller's own signal too", async () => {
    const leaving = new AbortController()
    const stream = createExecutor({ tools: [work('t', () => never)] }).stream({ name: 't' }, { signal: leaving.signal })
    let last: string = ''
    for await (const { event } of stream) {
      last = event
      if (event === 'tool:start') leaving.abort()
    }
    expect(last).toBe('call:settled')
  })

  test('keeps everything for a slow reader that is less than 1,000 events behind', async () => {
    const chatty = work('t', (_, { emit }) => {
      for (let index = 0; index < 900; index++) emit('step', index)
    })
    let count = 0
    for await (const { event } of createExecutor({ tools: [chatty] }).stream({ name: 't' })) {
      if (event === 'tool:progress') count++
      if (count % 100 === 0) await turn()
    }
    expect(count).toBe(900)
  })

  test('that is not read leaves out progress after 1,000 events, and says how many it has left out', async () => {
    const over = Promise.withResolvers<void>()
    const flood = work('t', (_, { emit }) => {
      for (let index = 0; index < 50_000; index++) emit('step', index)
      return 'done'
    })
    const executor = createExecutor({ tools: [flood] })
    executor.on('call:settled', () => over.resolve())
    const stream = executor.stream({ name: 't' })
    const first = await stream.next()
    await over.promise
    const events: ToolEvent[] = first.done === true ? [] : [first.value]
    let step = await stream.next()
    for (; step.done !== true; step = await stream.next()) events.push(step.value)
    const progress = events.filter(({ event }) => event === 'tool:progress')
    const end = events.find(({ event }) => event === 'tool:end')
    expect(progress.length).toBeLessThanOrEqual(1_000)
    expect(end?.omitted).toBe(50_000 - progress.length)
    expect(events.filter(({ omitted }) => omitted !== undefined)).toEqual([end])
    expect(names(events.filter(({ event }) => event !== 'tool:progress'))).toBe(
      'call:received tool:start tool:end call:settled',
    )
    expect(step.value).toMatchObject({ status: 'ok' })
  })
})
