import { createExecutor, type Extension, type ToolResult } from 'toolwright'
import { ToolDeniedError, UnavailableError } from 'toolwright/errors'
import { Known, type Entry, type Gate } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import {
  deferred,
  heard,
  hostile,
  names,
  never,
  outcome,
  pause,
  revoked,
  sink,
  soon,
  text,
  turn,
  work,
} from './_calls.ts'

type Enter = Gate['enter']

function gated(...enters: readonly Enter[]): Required<Pick<Extension, 'gates'>> {
  return { gates: enters.map((enter, index) => ({ name: `gate-${index}`, enter })) }
}

const known = { status: 'ok', effect: 'none', content: [{ type: 'text', text: 'known' }] } as const

describe('a gate', () => {
  test('is asked after policies and people, before locks, the slot and the run', async () => {
    const log: string[] = []
    const tool = work('pay', () => void log.push('run'), {
      requiresConfirmation: true,
      conflicts: () => (log.push('locks'), ['order']),
    })
    const executor = createExecutor({
      tools: [tool],
      use: [
        { policies: [{ name: 'log', decide: () => void log.push('policy') }] },
        { approver: { ask: async () => (log.push('person'), { decision: 'allow', decidedBy: 'me' }) } },
        gated(({ approval }) => void log.push(`gate ${approval?.decidedBy}`)),
      ],
    })
    expect(outcome(await executor.execute({ name: 'pay', args: {} }))).toBe('ok completed')
    expect(log).toEqual(['policy', 'person', 'gate me', 'locks', 'run'])
  })

  test('that answers at once makes no promise: the handler begins as early as without it', async () => {
    const begins = async (use: readonly Extension[]): Promise<number> => {
      let turns = 0
      const ran: string[] = []
      const executor = createExecutor({ tools: [work('pay', () => void ran.push('pay'))], use })
      await executor.execute({ name: 'pay', args: {} }) // the first loads what asks gates
      void executor.execute({ name: 'pay', args: {} })
      for (; ran.length === 1; turns++) await Promise.resolve()
      return turns
    }
    const leave = (): void => {}
    expect(
      await begins([
        gated(
          () => {},
          () => ({ leave }),
          () => undefined,
        ),
      ]),
    ).toBe(await begins([gated()]))
  })

  test('is asked about nothing that is done already, and not at all by `evaluate`', async () => {
    let asked = 0
    const client = work('page', () => 1, { type: 'client', requiresResponse: true, handler: undefined })
    const provider = work('search', () => 1, { type: 'provider', handler: undefined })
    const executor = createExecutor({
      tools: [work('pay', () => 1), client, provider],
      use: [
        { policies: [{ name: 'stop', decide: ({ name }) => (name === 'pay' ? { result: 'stopped' } : undefined) }] },
        gated(() => void asked++),
      ],
    })
    expect(text(await executor.execute({ name: 'pay', args: {} }))).toBe('stopped')
    expect(outcome(await executor.execute({ name: 'search', args: {}, result: 'found' }))).toBe('ok completed')
    expect((await executor.evaluate({ name: 'page', args: {} })).decision).toBe('allow')
    expect(asked).toBe(0)
    const waiting = await executor.execute({ name: 'page', args: {} })
    expect([waiting.status, asked]).toEqual(['waiting', 1])
    expect(outcome(await executor.calls.respond(waiting.token ?? '', 'answer'))).toBe('ok completed')
    expect(asked).toBe(1)
  })

  test('settles a call with an outcome that it knows, also before a client is asked', async () => {
    const client = work('page', () => 1, { type: 'client', requiresResponse: true, handler: undefined })
    const executor = createExecutor({ tools: [work('pay', () => 1), client], use: [gated(() => ({ outcome: known }))] })
    const events = heard(executor)
    for (const name of ['pay', 'page']) {
      const result = await executor.execute({ name, args: {} })
      expect([outcome(result), text(result)]).toEqual(['ok none skipped', 'known'])
    }
    expect(names(events)).toBe('call:received call:settled call:received call:settled')
  })

  test('that throws refuses the call without an effect: its own errors stand, others deny', async () => {
    const thrown: readonly [unknown, string][] = [
      [new UnavailableError('The book is closed.'), 'error none E_UNAVAILABLE'],
      [new ToolDeniedError('Not now.'), 'denied none E_TOOL_DENIED'],
      [new Error('lost'), 'denied none E_TOOL_DENIED'],
      [new Known(known), 'denied none E_TOOL_DENIED'],
      [undefined, 'denied none E_TOOL_DENIED'],
      [hostile(), 'denied none E_TOOL_DENIED'],
      [revoked(), 'denied none E_TOOL_DENIED'],
    ]
    for (const [error, expected] of thrown) {
      const fail = (): never => {
        throw error // oxlint-disable-line typescript/only-throw-error -- gates may throw anything
      }
      for (const enter of [fail, async () => pause(1).then(fail)]) {
        const executor = createExecutor({ tools: [work('pay', () => 1)], use: [gated(enter)] })
        expect(outcome(await executor.execute({ name: 'pay', args: {} }))).toBe(expected)
      }
    }
  })

  test('that answers nonsense refuses the call', async () => {
    const answers: readonly unknown[] = ['in', true, 7, hostile(), { ask: 'why' }, { ask: { reason: 7 } }, { ask: 7 }]
    for (const answer of [
      ...answers,
      { ask: { meta: { big: 1n } } },
      { outcome: hostile() },
      { outcome: { status: 'ok' } },
    ]) {
      for (const enter of [() => answer, async () => answer]) {
        const executor = createExecutor({ tools: [work('pay', () => 1)], use: [gated(enter as Enter)] })
        const { status, effect } = await executor.execute({ name: 'pay', args: {} })
        expect([status === 'denied' || status === 'error', effect]).toEqual([true, 'none'])
      }
    }
    for (const answer of [null, undefined, {}]) {
      const executor = createExecutor({ tools: [work('pay', () => 1)], use: [gated(() => answer as Entry)] })
      expect(outcome(await executor.execute({ name: 'pay', args: {} }))).toBe('ok completed')
    }
  })
})

describe('waiting at a gate', () => {
  test('spends no deadline, and ends when the caller gives up', async () => {
    const executor = createExecutor({
      tools: [work('pay', async () => pause(5), { timeout: 40 })],
      use: [gated(async () => pause(80))],
    })
    expect(outcome(await executor.execute({ name: 'pay', args: {} }))).toBe('ok completed')
    const closed = createExecutor({ tools: [work('pay', () => 1)], use: [gated(() => never)] })
    const controller = new AbortController()
    const result = closed.execute({ name: 'pay', args: {} }, { signal: controller.signal })
    await turn()
    controller.abort()
    expect(outcome(await soon(result))).toBe('cancelled none E_TOOL_CANCELLED')
    expect(await closed.calls.list()).toEqual([])
  })

  test('ends after `waitTimeout`, and the error names the gate', async () => {
    const executor = createExecutor({ tools: [work('pay', () => 1)], use: [gated(() => never)], waitTimeout: 20 })
    const result = await soon(executor.execute({ name: 'pay', args: {} }))
    expect([outcome(result), result.error?.retryable]).toEqual(['timed_out none E_TOOL_TIMEOUT', true])
    expect(result.error?.message).toContain('"gate-0"')
  })

  const reasons: readonly [string, Gate['waitsFor'], string][] = [
    ['says', ({ name }) => `for another ${name}`, '"slow" for another pay.'],
    ['does not say', () => undefined, '"slow".'],
    ['says in no text', () => 7 as never, '"slow".'],
    [
      'throws instead of saying',
      () => {
        throw new Error('lost')
      },
      '"slow".',
    ],
  ]
  test.each(reasons)('that ends names for what it waited, if the gate %s so', async (answer, waitsFor, words) => {
    const faults: unknown[] = []
    const slow: Gate = { name: 'slow', enter: () => never, ...(waitsFor && { waitsFor }) }
    const executor = createExecutor({
      tools: [work('pay', () => 1)],
      use: [{ gates: [slow] }],
      waitTimeout: 5,
      report: (fault) => void faults.push(fault),
    })
    const result = await executor.execute({ name: 'pay', args: {} })
    expect(result.error?.message).toBe(`The call was not started within 5 ms: it waited at the gate ${words}`)
    expect(faults).toHaveLength(answer.startsWith('throws') ? 1 : 0)
  })

  test('is told by `call:blocked`, and is in the list of calls', async () => {
    const door = deferred()
    const executor = createExecutor({
      tools: [work('pay', () => 1)],
      use: [memoryJournal(), gated(() => door.promise)],
    })
    const events = heard(executor)
    const result = executor.execute({ name: 'pay', args: {} }, { invocationId: 'first' })
    await turn()
    expect(await executor.calls.get('first')).toMatchObject({ blocked: { by: 'gate', gate: 'gate-0' } })
    door.resolve()
    await result
    expect(names(events)).toBe('call:received call:blocked tool:start tool:end call:settled')
    expect(events[1]).toMatchObject({ by: 'gate', gate: 'gate-0' })
  })

  test('holds up no other call of the turn, and keeps neither a lock nor a slot', async () => {
    const door = deferred()
    const log: string[] = []
    const touching = { conflicts: () => ['order'] }
    const executor = createExecutor({
      tools: ['slow', 'fast', 'last'].map((name) => work(name, () => void log.push(name), touching)),
      use: [gated(({ name }) => (name === 'slow' ? door.promise : undefined))],
      concurrency: 1,
    })
    const results = executor.executeToolCalls(['slow', 'fast', 'last'].map((name) => ({ name, args: {} })))
    while (log.length < 2) await turn()
    door.resolve()
    await soon(results)
    expect(log).toEqual(['fast', 'last', 'slow'])
  })

  test('ends in the order of the turn: what comes from a gate waits for earlier calls that have not asked', async () => {
    const log: string[] = []
    const door = deferred()
    const touching = { conflicts: () => ['order'] }
    const executor = createExecutor({
      tools: ['first', 'second'].map((name) => work(name, () => void log.push(name), touching)),
      use: [
        { policies: [{ name: 'slow', decide: async ({ name }) => void (name === 'first' && (await door.promise)) }] },
        gated(({ name }) => (name === 'second' ? pause(1) : undefined)),
      ],
    })
    const results = executor.executeToolCalls(['first', 'second'].map((name) => ({ name, args: {} })))
    await pause(10)
    expect(log).toEqual([])
    door.resolve()
    await soon(results)
    expect(log).toEqual(['first', 'second'])
  })

  test('lets the gates after it be asked once it is over', async () => {
    const log: string[] = []
    const executor = createExecutor({
      tools: [work('pay', () => 1)],
      use: [
        gated(
          async () => void log.push('a'),
          () => void log.push('b'),
          async () => void log.push('c'),
        ),
      ],
    })
    await executor.execute({ name: 'pay', args: {} })
    expect(log).toEqual(['a', 'b', 'c'])
  })
})

describe('`leave`', () => {
  const outcomes: readonly [string, () => unknown, object, string][] = [
    ['a result', () => 1, {}, 'ok completed'],
    ['a failure', () => Promise.reject(new Error('no')), {}, 'error unknown E_TOOL_DOWNSTREAM_ERROR'],
    ['a timeout', () => never, { timeout: 5 }, 'timed_out unknown E_TOOL_TIMEOUT'],
    ['locks that are not to be had', () => 1, { conflicts: () => [''] }, 'error none E_TOOL_DOWNSTREAM_ERROR'],
    [
      'a client that is asked',
      () => 1,
      { type: 'client', requiresResponse: true, handler: undefined },
      'waiting unknown',
    ],
  ]
  test.each(outcomes)('is told once, with what came of the call: %s', async (_, handler, options, expected) => {
    const endings: string[] = []
    const leave = (result: ToolResult | undefined): void => void endings.push(result ? outcome(result) : 'nothing')
    for (const enter of [() => ({ leave }), async () => ({ leave })]) {
      for (const use of [[gated(enter)], [gated(enter), memoryJournal()]]) {
        const executor = createExecutor({ tools: [work('pay', handler, options)], use })
        const result = await soon(executor.execute({ name: 'pay', args: {} }))
        expect([outcome(result), ...endings.splice(0)]).toEqual([expected, expected])
      }
    }
  })

  test('is told if a later gate refuses, the last gate first; what it throws is reported', async () => {
    const gateNames: string[] = []
    const { reports, report } = sink()
    const entry = (name: string): Entry => ({
      leave: () => {
        gateNames.push(name)
        throw new Error(name)
      },
    })
    const refusing = (): never => {
      throw new ToolDeniedError('Not now.')
    }
    const use = [
      gated(
        () => entry('a'),
        async () => entry('b'),
        refusing,
      ),
    ]
    const executor = createExecutor({ tools: [work('pay', () => 1)], use, report })
    expect(outcome(await executor.execute({ name: 'pay', args: {} }))).toBe('denied none E_TOOL_DENIED')
    expect([gateNames, reports.map(String)]).toEqual([
      ['b', 'a'],
      ['Error: b', 'Error: a'],
    ])
  })

  test('is told of nothing if the gate answers when the call is over', async () => {
    const door = deferred<Entry>()
    const results: unknown[] = []
    const executor = createExecutor({ tools: [work('pay', () => 1)], use: [gated(() => door.promise)], waitTimeout: 5 })
    expect((await executor.execute({ name: 'pay', args: {} })).status).toBe('timed_out')
    door.resolve({ leave: (result) => void results.push(result) })
    await turn()
    expect(results).toEqual([undefined])
  })

  test('is told when the result is in the records', async () => {
    const journal = memoryJournal()
    const states: unknown[] = []
    const executor = createExecutor({
      tools: [work('pay', () => 1)],
      use: [
        journal,
        gated(({ invocationId }) => ({
          leave: () => void executor.calls.get(invocationId).then(({ state }) => states.push(state)),
        })),
      ],
    })
    await executor.execute({ name: 'pay', args: {} })
    await turn()
    expect(states).toEqual(['COMPLETED'])
  })
})

describe('a gate that asks a person', () => {
  const asking: Enter = () => ({ ask: { reason: 'Paid before.', meta: { earlier: 'one' } } })

  test('lets the call wait, and the approved call passes it', async () => {
    for (const use of [
      [gated(asking)],
      [memoryJournal(), gated(asking)],
      [gated(async (...call) => asking(...call))],
    ]) {
      const executor = createExecutor({ tools: [work('pay', () => 'paid')], use })
      const events = heard(executor)
      const waiting = await executor.execute({ name: 'pay', args: {} })
      expect(waiting.status).toBe('waiting')
      expect(events.find(({ event }) => event === 'call:waiting')).toMatchObject({
        why: 'Paid before.',
        meta: { earlier: 'one' },
      })
      expect(text(await executor.calls.decide(waiting.token ?? '', 'allow'))).toBe('paid')
      const denied = await executor.execute({ name: 'pay', args: {} })
      expect(outcome(await executor.calls.decide(denied.token ?? '', 'deny'))).toBe('denied none E_TOOL_DENIED')
    }
  })

  test('asks the approver of the executor, if there is one', async () => {
    for (const decision of ['allow', 'deny'] as const) {
      const ask = async (): Promise<{ decision: typeof decision }> => ({ decision })
      const executor = createExecutor({ tools: [work('pay', () => 1)], use: [{ approver: { ask } }, gated(asking)] })
      expect((await executor.execute({ name: 'pay', args: {} })).status).toBe(decision === 'allow' ? 'ok' : 'denied')
    }
  })

  test('is told that the call has left when it waits, and of the rest when it comes back', async () => {
    const statuses: (string | undefined)[] = []
    const enter: Enter = () => ({ ask: {}, leave: (result) => void statuses.push(result?.status) })
    const executor = createExecutor({ tools: [work('pay', () => 1)], use: [gated(enter)] })
    const { token = '' } = await executor.execute({ name: 'pay', args: {} })
    await executor.calls.decide(token, 'allow')
    expect(statuses).toEqual(['waiting', 'ok'])
  })
})

describe('the calls before', () => {
  test('are known to a gate by their ids, also while they run', async () => {
    for (const use of [[], [memoryJournal()]]) {
      const door = deferred<string>()
      const seen: (string | undefined)[] = []
      const asked: Enter = async ({ args }, { signal }, calls) => {
        const { of } = args as { readonly of?: string }
        const result = of === undefined ? undefined : await calls.settled(of, { signal })
        seen.push(result && text(result))
      }
      const executor = createExecutor({ tools: [work('pay', () => door.promise)], use: [...use, gated(asked)] })
      const first = executor.execute({ name: 'pay', args: {} }, { invocationId: 'first' })
      const second = executor.execute({ name: 'pay', args: { of: 'first' } })
      const third = executor.execute({ name: 'pay', args: { of: 'nothing' } })
      await turn()
      door.resolve('paid')
      await soon(Promise.all([first, second, third]))
      expect(new Set(seen)).toEqual(new Set(['paid', undefined]))
    }
  })
})

describe('work that is shared', () => {
  test('goes on if its caller gives up, whose result says that it is not known what happens', async () => {
    const door = deferred<string>()
    let undo = (): void => {}
    let signal: AbortSignal | undefined
    const tool = work('pay', (_, context) => ((signal = context.signal), door.promise))
    const use = [memoryJournal(), gated(({ deadline }) => void (undo = deadline.share()))]
    const executor = createExecutor({ tools: [tool], use })
    const controller = new AbortController()
    const options = { signal: controller.signal, invocationId: 'first' }
    const result = executor.execute({ name: 'pay', args: {} }, options)
    await turn()
    controller.abort()
    expect(outcome(await soon(result))).toBe('cancelled unknown E_TOOL_CANCELLED')
    expect(signal?.aborted).toBe(false)
    door.resolve('paid')
    expect(text(await executor.calls.settled('first'))).toBe('paid')
    undo()
  })

  test('ends when the last that waits for it gives up', async () => {
    const undos: (() => void)[] = []
    let signal: AbortSignal | undefined
    const tool = work('pay', (_, context) => ((signal = context.signal), never))
    const use = [memoryJournal(), gated(({ deadline }) => void undos.push(deadline.share(), deadline.share()))]
    const executor = createExecutor({ tools: [tool], use })
    const controller = new AbortController()
    const options = { signal: controller.signal, invocationId: 'first' }
    const result = executor.execute({ name: 'pay', args: {} }, options)
    await turn()
    controller.abort()
    await soon(result)
    undos[0]?.()
    undos[0]?.()
    expect(signal?.aborted).toBe(false)
    undos[1]?.()
    expect(signal?.aborted).toBe(true)
    expect(outcome(await executor.calls.settled('first'))).toBe('cancelled unknown E_TOOL_CANCELLED')
  })

  test('ends with its caller if nothing waits for it any more', async () => {
    const use = [gated(({ deadline }) => deadline.share()())]
    const executor = createExecutor({ tools: [work('pay', () => never)], use })
    const controller = new AbortController()
    const result = executor.execute({ name: 'pay', args: {} }, { signal: controller.signal })
    await turn()
    controller.abort()
    expect(outcome(await soon(result))).toBe('cancelled unknown E_TOOL_CANCELLED')
  })

  test('has the deadline of its own call', async () => {
    const use = [gated(({ deadline }) => void deadline.share())]
    const executor = createExecutor({ tools: [work('pay', () => never, { timeout: 10 })], use })
    expect(outcome(await soon(executor.execute({ name: 'pay', args: {} })))).toBe('timed_out unknown E_TOOL_TIMEOUT')
  })

  test('is cancelled when the executor closes', async () => {
    const use = [gated(({ deadline }) => void deadline.share())]
    const executor = createExecutor({ tools: [work('pay', () => never)], use })
    const result = executor.execute({ name: 'pay', args: {} })
    await turn()
    await executor.close()
    expect(outcome(await soon(result))).toBe('cancelled unknown E_TOOL_CANCELLED')
  })
})

describe('a call that a person has approved', () => {
  test('takes its place in the turn again', async () => {
    const log: string[] = []
    const door = deferred()
    const touching = { conflicts: () => ['order'] }
    const executor = createExecutor({
      tools: [
        work('asked', () => void log.push('asked'), { ...touching, requiresConfirmation: true }),
        work('slow', () => void log.push('slow'), touching),
      ],
      use: [
        { approver: { ask: async () => ({ decision: 'allow' }) } },
        { policies: [{ name: 'slow', decide: async ({ name }) => void (name === 'slow' && (await door.promise)) }] },
      ],
    })
    const results = executor.executeToolCalls(['asked', 'slow'].map((name) => ({ name, args: {} })))
    await pause(20)
    expect(log).toEqual(['asked'])
    door.resolve()
    await soon(results)
  })
})
