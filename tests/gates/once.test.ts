import { createExecutor, type Extension, type Tool, type ToolExecutor, type ToolResult } from 'toolwright'
import { ToolFailure } from 'toolwright/errors'
import type { Middleware } from 'toolwright/extension'
import { once } from 'toolwright/gates/once'
import { coalesce } from 'toolwright/gates/coalesce'
import { memoryJournal } from 'toolwright/journals/memory'
import { records, type Journal } from 'toolwright/records'
import { describe, expect, test, vi } from 'vitest'
import { deferred, outcome, pause, soon, text, turn, work } from '../kernel/_calls.ts'

const orderOf = (input: unknown): string => `refund:${(input as { order: number }).order}`

/** A tool that refunds orders, and tells which it has refunded. */
function refunds(options: object = {}): { readonly tool: Tool; readonly done: string[] } {
  const done: string[] = []
  const handler = (input: unknown): string => {
    done.push(orderOf(input))
    return `Refunded ${orderOf(input)}: ${done.length}.`
  }
  return { tool: work('refund', handler, { effectKey: orderOf, ...options }), done }
}

/** A journal of another package, of before there were gates. */
function withoutClaims(): Extension {
  const journal: Journal = { ...memoryJournal().journal }
  delete journal.claimEffect
  return records(journal)
}

const call = (order: number, why = ''): { name: string; args: object } => ({ name: 'refund', args: { order, why } })

const refusal =
  /^Not run again: refund:1 was done \d+ s ago \(effect completed\)\. Its result is below\. If it is meant/

/** Takes the report that no journal notes what is done. */
const unheard = (): void => {}

/** With a journal, another process could have done it, so that is asked. */
const places: readonly [string, () => readonly Extension[]][] = [
  ['without a journal', () => []],
  ['with a journal', () => [memoryJournal()]],
]

describe.each(places)('a thing that is asked for again, %s,', (_, journal) => {
  const executorWith = (tool: Tool, ...use: readonly Extension[]): ToolExecutor =>
    createExecutor({ tools: [tool], use: [...journal(), ...use], report: unheard })

  test('is done once however the args are worded, and the result of the first is told', async () => {
    const { tool, done } = refunds()
    const executor = executorWith(tool, once())
    const first = await executor.execute(call(1))
    const second = await executor.execute(call(1, 'in other words'))
    expect([outcome(first), outcome(second)]).toEqual(['ok completed', 'ok none skipped'])
    expect(second.callId).not.toBe(first.callId)
    expect(text(second)).toMatch(refusal)
    expect(text(second)).toContain('Refunded refund:1: 1.')
    expect(done).toEqual(['refund:1'])
    expect(outcome(await executor.execute(call(2)))).toBe('ok completed')
  })

  test('is done again if the caller insists, and told again after that', async () => {
    const { tool, done } = refunds()
    const executor = executorWith(tool, once())
    const outcomes: string[] = []
    for (let count = 0; count < 6; count++) outcomes.push(outcome(await executor.execute(call(1, `${count}`))))
    const pair = ['ok completed', 'ok none skipped']
    expect(outcomes).toEqual([...pair, ...pair, ...pair])
    expect(done).toHaveLength(3)
  })

  test('is done once in one turn, of which no call has read what was told', async () => {
    const slow: Middleware = async (_call, _context, next) => (await pause(2), next())
    const { tool, done } = refunds({ middleware: [slow] })
    const executor = executorWith(tool, once())
    const results = await soon(executor.executeToolCalls([call(1, 'a'), call(1, 'b'), call(1, 'c'), call(1, 'd')]))
    expect(results.map(outcome)).toEqual(['ok completed', ...Array.from({ length: 3 }, () => 'ok none skipped')])
    expect(done).toHaveLength(1)
    expect(outcome(await executor.execute(call(1, 'e')))).toBe('ok completed')
  })

  test('is done if it failed without an effect, and asked about if that is not known', async () => {
    let ran = 0
    const tool = work(
      'refund',
      () => {
        throw ran++ === 2 ? new Error('cut') : new ToolFailure('no', { effect: 'none' })
      },
      { effectKey: orderOf },
    )
    const executor = executorWith(tool, once())
    const outcomes: string[] = []
    for (let count = 0; count < 4; count++) outcomes.push(outcome(await executor.execute(call(1, `${count}`))))
    const failed = 'error none E_TOOL_DOWNSTREAM_ERROR'
    expect(outcomes).toEqual([failed, failed, 'error unknown E_TOOL_DOWNSTREAM_ERROR', 'waiting none'])
    const [waiting] = await executor.calls.waiting()
    expect(waiting?.why).toMatch(/^refund:1 was tried \d+ s ago \(effect unknown\)\.$/)
    expect(waiting?.meta).toMatchObject({ earlier: { status: 'error', effect: 'unknown' } })
    expect(outcome(await executor.calls.decide(waiting!, 'allow'))).toBe(failed)
    // What failed without an effect changes nothing of what was known before.
    expect((await executor.execute(call(1, 'again'))).status).toBe('waiting')
  })

  test('is asked about, if `repeat` says so: an approval runs it, a denial does not', async () => {
    const { tool, done } = refunds()
    const executor = executorWith(tool, once({ repeat: 'ask' }))
    await executor.execute(call(1))
    for (const decision of ['deny', 'allow'] as const) {
      const { token = '', status } = await executor.execute(call(1, decision))
      expect(status).toBe('waiting')
      expect((await executor.calls.decide(token, decision)).status).toBe(decision === 'deny' ? 'denied' : 'ok')
    }
    expect(done).toHaveLength(2)
    const ask = async (): Promise<{ decision: 'allow' }> => ({ decision: 'allow' })
    const attended = executorWith(tool, { approver: { ask } }, once({ repeat: 'ask' }))
    expect(outcome(await attended.execute(call(3)))).toBe('ok completed')
    expect(outcome(await attended.execute(call(3, 'again')))).toBe('ok completed')
  })

  test('is denied, if `repeat` says so, with the result of the first', async () => {
    const { tool, done } = refunds()
    const executor = executorWith(tool, once({ repeat: 'deny' }))
    await executor.execute(call(1))
    for (let count = 0; count < 3; count++) {
      const denied = await executor.execute(call(1, `${count}`))
      expect(outcome(denied)).toBe('denied none E_TOOL_DENIED')
      expect(text(denied)).toContain('Refunded refund:1: 1.')
    }
    expect(done).toHaveLength(1)
  })

  test('is another thing in another session, unless the scope is the principal', async () => {
    for (const [options, expected] of [
      [{}, 2],
      [{ scope: 'principal' }, 1],
    ] as const) {
      const { tool, done } = refunds()
      const executor = executorWith(tool, once(options))
      await executor.execute(call(1), { session: 'a', principal: 'ada' })
      const second = await executor.execute(call(1, 'again'), { session: 'b', principal: 'ada' })
      expect([done.length, second.handle]).toEqual([expected, undefined])
      // Ada was told in that session alone.
      await executor.execute(call(1, 'once more'), { session: 'c', principal: 'ada' })
      expect(done).toHaveLength(expected === 2 ? 3 : 1)
      await executor.execute(call(1), { session: 'a', principal: 'bob' })
      expect(done.length).toBe(expected === 2 ? 3 : 2)
    }
  })

  test('is done again after the window', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] })
    try {
      const { tool, done } = refunds()
      const executor = executorWith(tool, once({ window: 1_000 }))
      await executor.execute(call(1))
      vi.advanceTimersByTime(900)
      await executor.execute(call(1, 'early'))
      vi.advanceTimersByTime(200)
      expect(outcome(await executor.execute(call(1, 'late')))).toBe('ok completed')
      expect(done).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  test('is done by other callers without a question, and counts as done then', async () => {
    const { tool, done } = refunds({ audience: 'all' })
    const executor = executorWith(tool, once())
    await executor.execute(call(1), { caller: 'user' })
    await executor.execute(call(1), { caller: 'user' })
    expect(done).toHaveLength(2)
    expect(outcome(await executor.execute(call(1)))).toBe('ok none skipped')
    const users = executorWith(tool, once({ callers: ['user', 'app'] }))
    for (const expected of ['ok completed', 'ok none skipped']) {
      expect(outcome(await users.execute(call(2, expected), { caller: 'user' }))).toBe(expected)
    }
  })

  test('is done once by equal calls too', async () => {
    const { tool, done } = refunds()
    const executor = executorWith(tool, coalesce({ tools: () => true }), once())
    const results = await soon(Promise.all([1, 2, 3].map(() => executor.execute(call(1)))))
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
    expect(done).toHaveLength(1)
  })

  test('is part of the call within which it is made again', async () => {
    let runs = 0
    const handler: Parameters<typeof work>[1] = async (_input, context) =>
      runs++ > 0 ? 'inner' : text(await executor.execute(call(1, 'inside'), { parent: context }))
    const executor = executorWith(work('refund', handler, { effectKey: orderOf }), once())
    expect(text(await soon(executor.execute(call(1))))).toBe('inner')
    expect([outcome(await executor.execute(call(1, 'again'))), runs]).toEqual(['ok none skipped', 2])
  })

  test('does not keep a call waiting that gives up', async () => {
    const door = deferred<string>()
    const tool = work('refund', () => door.promise, { effectKey: orderOf })
    const executor = executorWith(tool, once())
    const first = executor.execute(call(1))
    await pause(2)
    const controller = new AbortController()
    const second = executor.execute(call(1, 'b'), { signal: controller.signal })
    await pause(2)
    controller.abort()
    expect(outcome(await soon(second))).toBe('cancelled none E_TOOL_CANCELLED')
    door.resolve('done')
    expect(outcome(await soon(first))).toBe('ok completed')
    expect(outcome(await soon(executor.execute(call(1, 'c'))))).toBe('ok none skipped')
  })

  test('lets the next do it if the first is cancelled before it began', async () => {
    const { tool, done } = refunds({ conflicts: () => ['order'] })
    const door = deferred()
    const holder = work('hold', () => door.promise, { conflicts: () => ['order'] })
    const executor = createExecutor({ tools: [tool, holder], use: [...journal(), once()], report: unheard })
    const held = executor.execute({ name: 'hold', args: {} })
    const controller = new AbortController()
    const first = executor.execute(call(1), { signal: controller.signal })
    const second = executor.execute(call(1, 'b'))
    await pause(5)
    controller.abort()
    expect(outcome(await soon(first))).toBe('cancelled none E_TOOL_CANCELLED')
    door.resolve()
    expect(outcome(await soon(second))).toBe('ok completed')
    await held
    expect(done).toHaveLength(1)
  })
})

describe('what is not known', () => {
  const cases = [
    ['completed', 'ok none skipped'],
    ['none', 'error unknown E_TOOL_DOWNSTREAM_ERROR'],
    ['unknown', 'waiting none'],
  ] as const
  test.each(cases)('is found out by `reconcile` before a repeated call: %s', async (effect, expected) => {
    const tool = work('refund', () => Promise.reject(new Error('cut')), {
      effectKey: orderOf,
      reconcile: () => ({ effect, result: 'Refunded at the bank.' }),
    })
    const executor = createExecutor({ tools: [tool], use: [memoryJournal(), once()] })
    await executor.execute(call(1))
    const second = await executor.execute(call(1, 'again'))
    expect(outcome(second)).toBe(expected)
    if (effect === 'completed') expect(text(second)).toContain('Refunded at the bank.')
  })

  test('is what a client does until it has answered; then its answer is told', async () => {
    const page = { type: 'client', requiresResponse: true, handler: undefined, effectKey: orderOf }
    const executor = createExecutor({ tools: [work('refund', () => 1, page)], use: [memoryJournal(), once()] })
    const first = await executor.execute(call(1))
    const second = await executor.execute(call(1, 'again'))
    expect([first.status, second.status]).toEqual(['waiting', 'waiting'])
    const reasons = (await executor.calls.waiting()).map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(new Set(['client', 'approval']))
    expect(outcome(await executor.calls.respond(first.token ?? '', 'Refunded on the page.'))).toBe('ok completed')
    const third = await executor.execute(call(1, 'once more'))
    expect(outcome(third)).toBe('ok none skipped')
    expect(text(third)).toContain('Refunded on the page.')
  })

  test('is refused if `repeat` denies', async () => {
    const tool = work('refund', () => Promise.reject(new Error('cut')), { effectKey: orderOf })
    const executor = createExecutor({ tools: [tool], use: [once({ repeat: 'deny' })], report: unheard })
    await executor.execute(call(1))
    expect(outcome(await executor.execute(call(1, 'again')))).toBe('denied none E_TOOL_DENIED')
  })
})

test('500 retries in other words do 50 things once each', async () => {
  const { tool, done } = refunds()
  const executor = createExecutor({ tools: [tool], use: [once({ repeat: 'deny' })], report: unheard, concurrency: 8 })
  const calls = Array.from({ length: 500 }, (_, index) => call(index % 50, `wording ${index}`))
  for (let start = 0; start < calls.length; start += 25) await executor.executeToolCalls(calls.slice(start, start + 25))
  expect(done.toSorted((a, b) => a.localeCompare(b))).toEqual([...new Set(done)].toSorted((a, b) => a.localeCompare(b)))
  expect(done).toHaveLength(50)
})

test('a loop of 50 edits and tests has no call withheld: tools without a key are repeated', async () => {
  const ran: string[] = []
  const tools = ['edit', 'test'].map((name) => work(name, () => void ran.push(name)))
  const executor = createExecutor({ tools, use: [coalesce(), once()] })
  for (let count = 0; count < 50; count++) {
    for (const name of ['edit', 'test']) await executor.executeToolCalls([{ name, args: { file: 'a.ts' } }])
  }
  expect(ran).toHaveLength(100)
})

describe('a journal that does not note what is done', () => {
  const faultsOf = async (use: readonly Extension[], tools: readonly Tool[]): Promise<readonly unknown[]> => {
    const faults: unknown[] = []
    const executor = createExecutor({ tools, use, report: (fault) => void faults.push(fault) })
    expect(faults).toEqual([])
    for (const { name } of tools) await executor.execute({ name, args: { order: 1 } })
    for (const { name } of tools) await executor.execute({ name, args: { order: 2 } })
    return faults.map((fault) => (fault as Error).message)
  }

  test('is reported once for each executor, with what to do', async () => {
    const gate = once()
    const words =
      /in this process alone.* such as `sqliteJournal\(file\)`.*`memoryJournal\(\)`, if one process is enough/
    for (const use of [[gate], [gate], [gate, withoutClaims()]]) {
      expect(await faultsOf(use, [refunds().tool])).toEqual([expect.stringMatching(words)])
    }
  })

  test('is not reported of journals that do, nor if no tool names what it does', async () => {
    expect(await faultsOf([once(), memoryJournal()], [refunds().tool])).toEqual([])
    expect(await faultsOf([once()], [work('plain', () => 1)])).toEqual([])
  })
})

describe('a call that waited too long for one that does the same', () => {
  const waitedFor = async (...use: readonly Extension[]): Promise<string> => {
    const door = deferred()
    const { tool } = refunds({ handler: () => door.promise })
    const executor = createExecutor({ tools: [tool], use: [...use, once()], waitTimeout: 20, report: unheard })
    const first = executor.execute(call(1), { invocationId: 'first' })
    await pause(5)
    const second = await soon(executor.execute(call(1, 'again')))
    door.resolve()
    await first
    expect(outcome(second)).toBe('timed_out none E_TOOL_TIMEOUT')
    return text(second)
  }

  test.each(places)('says which that is, %s', async (_, journal) => {
    expect(await waitedFor(...journal())).toContain(
      'it waited at the gate "once" for "refund:1", which invocation "first" has begun. If the process of that has died',
    )
  })

  test('names no call of another session', async () => {
    const door = deferred()
    const { tool } = refunds({ handler: () => door.promise })
    const use = [once({ scope: 'principal' })]
    const executor = createExecutor({ tools: [tool], use, waitTimeout: 20, report: unheard })
    const first = executor.execute(call(1), { principal: 'ada', session: 'a', invocationId: 'first' })
    await pause(5)
    const second = await soon(executor.execute(call(1, 'again'), { principal: 'ada', session: 'b' }))
    door.resolve()
    await first
    expect(text(second)).toContain('for "refund:1", which another call has begun.')
    expect(text(second)).not.toContain('first')
  })

  test('in another process too', async () => {
    const { journal } = memoryJournal()
    const door = deferred()
    const { tool } = refunds({ handler: () => door.promise })
    const [one, other] = [1, 2].map(() =>
      createExecutor({ tools: [tool], use: [records(journal), once()], waitTimeout: 100 }),
    )
    const first = one!.execute(call(1), { session: 'a', invocationId: 'first' })
    await pause(5)
    const second = await soon(other!.execute(call(1, 'again'), { session: 'a' }))
    door.resolve()
    await first
    expect(text(second)).toContain('for "refund:1", which invocation "first" has begun.')
  })
})

test('without a journal, the gate answers at once', async () => {
  const { tool } = refunds()
  const executor = createExecutor({ tools: [tool], use: [once()], report: unheard })
  const blocked: unknown[] = []
  executor.on('call:blocked', (event) => void blocked.push(event))
  await executor.execute(call(1))
  await executor.execute(call(1, 'again'))
  expect(blocked).toEqual([])
})

test('a large result of the first is told by its handle', async () => {
  const tool = work('report', () => 'line\n'.repeat(40_000), { effectKey: () => 'report' })
  const executor = createExecutor({ tools: [tool], use: [once()], report: unheard })
  const first = await executor.execute({ name: 'report', args: {} })
  const second = await executor.execute({ name: 'report', args: { again: true } })
  expect(second.handle).toBe(first.handle)
  expect(await second.artifact?.lineCount()).toBe(await first.artifact?.lineCount())
})

describe('`effectKey` of a tool', () => {
  test('is in events and records as its SHA-256, and only if it is set', async () => {
    const { tool } = refunds()
    const executor = createExecutor({ tools: [tool, work('plain', () => 1)], use: [memoryJournal(), once()] })
    const seen: unknown[] = []
    executor.on('*', (event) => void seen.push([event.event, 'effectKey' in event ? event.effectKey : undefined]))
    const { invocationId } = await executor.execute(call(1))
    const digest = 'aa8e684c5fd9d9d26c3afe927d892448d87387d7af1b0eb1f6795f25e9dcda74'
    expect(seen).toContainEqual(['tool:start', digest])
    expect(seen).toContainEqual(['call:settled', digest])
    expect(await executor.calls.get(invocationId)).toMatchObject({ effectKey: digest })
    const withheld = await executor.execute(call(1, 'again'))
    expect(await executor.calls.get(withheld.invocationId)).toMatchObject({ effectKey: digest })
    const plain = await executor.execute({ name: 'plain', args: {} })
    expect('effectKey' in (await executor.calls.get(plain.invocationId))).toBe(false)
  })

  test('that throws, or is no short text, refuses the call without an effect', async () => {
    const keys: readonly (() => unknown)[] = [
      () => {
        throw new Error('no')
      },
      () => 7,
      () => '',
      () => 'x'.repeat(1_025),
      async () => 'later',
    ]
    for (const effectKey of keys) {
      const executor = createExecutor({ tools: [work('refund', () => 1, { effectKey })] })
      const result = await executor.execute(call(1))
      expect(outcome(result)).toBe('error none E_TOOL_DOWNSTREAM_ERROR')
      expect(result.error?.message).toMatch(/^`effectKey` of tool "refund" failed: (Error: no|TypeError: )/)
    }
    for (const effectKey of [() => undefined, () => null, () => 'x'.repeat(1_024)]) {
      const executor = createExecutor({
        tools: [work('refund', () => 1, { effectKey })],
        use: [once()],
        report: unheard,
      })
      expect(outcome(await executor.execute(call(1)))).toBe('ok completed')
    }
  })

  test('is told with the secrets of the call masked', async () => {
    const tool = work('refund', () => 1, {
      effectKey: (input: unknown) => `refund:${(input as { card: string }).card}`,
      secrets: ['/card'],
    })
    const executor = createExecutor({ tools: [tool], use: [once()], report: unheard })
    await executor.execute({ name: 'refund', args: { card: '4929-1111' } })
    const second = await executor.execute({ name: 'refund', args: { card: '4929-1111', again: true } })
    expect(text(second)).toContain('refund:[secret] was done')
    expect(text(second)).not.toContain('4929')
  })
})

test('the options are checked', () => {
  for (const options of [{ window: -1 }, { scope: 'all' }, { callers: ['me'] }, { repeat: 'run' }, { key: 1 }, null]) {
    expect(() => once(options as never)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  }
})

test('keys are forgotten one by one, and none that is under way', async () => {
  const door = deferred<string>()
  const tool = work('refund', (input) => (orderOf(input) === 'refund:-1' ? door.promise : 'done'), {
    effectKey: orderOf,
  })
  const executor = createExecutor({ tools: [tool], use: [once()], report: unheard })
  const slow = executor.execute(call(-1))
  for (let order = 0; order < 10_005; order++) await executor.execute(call(order))
  const again: Promise<ToolResult> = executor.execute(call(-1, 'again'))
  await turn()
  door.resolve('slow')
  expect([outcome(await slow), outcome(await again)]).toEqual(['ok completed', 'ok none skipped'])
  expect(outcome(await executor.execute(call(0, 'again')))).toBe('ok completed')
  expect(outcome(await executor.execute(call(10_000, 'again')))).toBe('ok none skipped')
})
