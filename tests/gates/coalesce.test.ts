import { createExecutor, tool, type Extension, type Tool, type ToolExecutor, type ToolResult } from 'toolwright'
import { ToolDeniedError, ToolFailure } from 'toolwright/errors'
import type { Gate } from 'toolwright/extension'
import { coalesce } from 'toolwright/gates/coalesce'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { definitionOf, fingerprint } from '../kernel/_inside.ts'
import { deferred, never, outcome, pause, soon, text, turn, work } from '../kernel/_calls.ts'

const once = { traits: { idempotent: true } }

/** A tool that counts its runs and ends when it is told. */
function counting(options: object = once): {
  readonly tool: Tool
  readonly runs: AbortSignal[]
  readonly door: ReturnType<typeof deferred<unknown>>
} {
  const door = deferred<unknown>()
  const runs: AbortSignal[] = []
  const handler = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<unknown> => {
    runs.push(signal)
    return door.promise
  }
  return { tool: work('pay', handler, options), runs, door }
}

const use = [coalesce()]

describe('equal calls at the same time', () => {
  test('do not wait for each other if one is made within the other', async () => {
    let runs = 0
    const again = work(
      'again',
      async (_input: object, context) => {
        if (runs++ > 0) return 'inner'
        const calls = [1, 2, 3].map(() => executor.execute({ name: 'again' }, { parent: context }))
        return (await Promise.all(calls)).map(text)
      },
      once,
    )
    const executor: ToolExecutor = createExecutor({ tools: [again], use, timeout: 10_000 })
    const { value } = await soon(executor.execute({ name: 'again' }))
    expect([value, runs]).toEqual([['inner', 'inner', 'inner'], 4])
  })

  test('run once: the effect is the first one’s, and all get its result with ids of their own', async () => {
    const { tool: pay, runs, door } = counting()
    const executor = createExecutor({ tools: [pay], use: [memoryJournal(), ...use] })
    const args = ['{"a":1,"b":2.0}', { b: 2, a: 1 }, '{ "b": 2, "a": 1e0 }']
    const results = args.map((own, id) => executor.execute({ id, name: 'pay', args: own }))
    await turn()
    door.resolve({ paid: true })
    const settled = await soon(Promise.all(results))
    expect(settled.map(outcome)).toEqual(['ok completed', 'ok none skipped', 'ok none skipped'])
    expect(settled.map(({ value }) => value)).toEqual([{ paid: true }, { paid: true }, { paid: true }])
    expect(settled.map(({ id }) => id)).toEqual([0, 1, 2])
    expect(new Set(settled.map(({ invocationId }) => invocationId)).size).toBe(3)
    expect(runs).toHaveLength(1)
    for (const { invocationId } of settled) expect((await executor.calls.get(invocationId)).state).toBe('COMPLETED')
  })

  test('in one turn run once, and take no slot of it', async () => {
    const { tool: pay, runs, door } = counting()
    const executor = createExecutor({ tools: [pay, work('other', () => door.resolve('paid'))], use, concurrency: 2 })
    const calls = [...Array.from({ length: 5 }, () => ({ name: 'pay', args: {} })), { name: 'other', args: {} }]
    const results = await soon(executor.executeToolCalls(calls))
    expect(results.slice(0, 5).map(text)).toEqual(['paid', 'paid', 'paid', 'paid', 'paid'])
    expect(runs).toHaveLength(1)
  })

  test('of two turns that join each other’s calls, end', async () => {
    const log: string[] = []
    const make = (name: string): Tool =>
      work(name, async () => (await pause(2), log.push(name)), { ...once, conflicts: () => ['order'] })
    const executor = createExecutor({ tools: [make('a'), make('b')], use, concurrency: 1 })
    const turns = [
      ['a', 'b'],
      ['b', 'a'],
    ].map((names) => executor.executeToolCalls(names.map((name) => ({ name, args: {} }))))
    const results = (await soon(Promise.all(turns))).flat()
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(log.toSorted()).toEqual(['a', 'b'])
  })

  test('share an artifact and its handle', async () => {
    const large = 'line\n'.repeat(8_000)
    const executor = createExecutor({
      tools: [work('read', async () => (await pause(1), large), once)],
      use,
    })
    const results = await Promise.all([1, 2].map(() => executor.execute({ name: 'read', args: {} })))
    expect(results[0]?.handle).toBeDefined()
    expect(results[1]?.handle).toBe(results[0]?.handle)
    for (const { artifact } of results) expect(await artifact?.asString()).toBe(large)
  })

  test('share what a generator returns, and what a stream gives', async () => {
    const yielding = tool({
      name: 'yields',
      description: 'Yields',
      ...once,
      handler: async function* () {
        yield 1
        await pause(1)
        return 'last'
      },
    })
    const streaming = work('streams', async () => (await pause(1), new Blob(['streamed']).stream()), once)
    const executor = createExecutor({ tools: [yielding, streaming], use })
    for (const name of ['yields', 'streams']) {
      const results = await Promise.all([1, 2].map(() => executor.execute({ name, args: {} })))
      const texts = await Promise.all(results.map(async ({ artifact }) => artifact?.asString()))
      expect(texts[1]).toBe(texts[0])
      expect(texts[0]).toBe(name === 'yields' ? 'last' : 'streamed')
    }
  })

  test('share a failure with its effect', async () => {
    const failures: readonly [() => unknown, object, string][] = [
      [async () => Promise.reject(new Error('no')), {}, 'error unknown E_TOOL_DOWNSTREAM_ERROR'],
      [async () => Promise.reject(new ToolFailure('no', { effect: 'none' })), {}, 'error none E_TOOL_DOWNSTREAM_ERROR'],
      [() => never, { timeout: 10 }, 'timed_out unknown E_TOOL_TIMEOUT'],
    ]
    for (const [handler, options, expected] of failures) {
      const executor = createExecutor({ tools: [work('pay', handler, { ...once, ...options })], use })
      const results = await soon(Promise.all([1, 2, 3].map(() => executor.execute({ name: 'pay', args: {} }))))
      expect(results.map(outcome)).toEqual([expected, `${expected} skipped`, `${expected} skipped`])
    }
  })

  test('share the refusal of a later gate', async () => {
    const door = deferred()
    const refusing: Gate = {
      name: 'refusing',
      enter: async () => {
        await door.promise
        throw new ToolDeniedError('Not now.')
      },
    }
    const executor = createExecutor({ tools: [work('pay', () => 1, once)], use: [...use, { gates: [refusing] }] })
    const results = [1, 2].map(() => executor.execute({ name: 'pay', args: {} }))
    await turn()
    door.resolve()
    for (const result of await soon(Promise.all(results)))
      expect([result.status, result.effect]).toEqual(['denied', 'none'])
  })

  test('go on one after the other if the first waits for a person', async () => {
    let ran = 0
    const door = deferred()
    const asking: Gate = { name: 'asking', enter: async () => (await door.promise, { ask: {} }) }
    const executor = createExecutor({ tools: [work('pay', () => ran++, once)], use: [...use, { gates: [asking] }] })
    const results = [1, 2, 3].map(() => executor.execute({ name: 'pay', args: {} }))
    await turn()
    door.resolve()
    const waiting = await soon(Promise.all(results))
    expect(waiting.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting'])
    for (const { token = '' } of waiting) expect((await executor.calls.decide(token, 'allow')).status).toBe('ok')
    expect(ran).toBe(3) // a resumed call joins no other
  })

  test('run again once the first is over', async () => {
    let ran = 0
    const executor = createExecutor({ tools: [work('pay', () => ran++, once)], use })
    for (let count = 0; count < 3; count++) await executor.execute({ name: 'pay', args: {} })
    expect(ran).toBe(3)
  })

  test('are a thousand, and run once', async () => {
    const { tool: pay, runs, door } = counting()
    const executor = createExecutor({ tools: [pay], use })
    const results = Array.from({ length: 1_000 }, () => executor.execute({ name: 'pay', args: {} }))
    await turn()
    door.resolve('paid')
    const settled = await soon(Promise.all(results))
    expect([runs.length, new Set(settled.map(text)).size]).toEqual([1, 1])
    expect(settled.filter(({ effect }) => effect === 'completed')).toHaveLength(1)
  })
})

describe('a caller that gives up', () => {
  test('first, while others wait, is released alone: the record says what became of the work', async () => {
    const { tool: pay, runs, door } = counting()
    const executor = createExecutor({ tools: [pay], use: [memoryJournal(), ...use] })
    const controller = new AbortController()
    const first = executor.execute({ name: 'pay', args: {} }, { signal: controller.signal, invocationId: 'first' })
    while (runs.length === 0) await turn()
    const second = executor.execute({ name: 'pay', args: {} })
    await pause(1)
    controller.abort()
    expect(outcome(await soon(first))).toBe('cancelled unknown E_TOOL_CANCELLED')
    expect(runs[0]?.aborted).toBe(false)
    const third = executor.execute({ name: 'pay', args: {} })
    await pause(1)
    door.resolve('paid')
    expect((await soon(Promise.all([second, third]))).map(text)).toEqual(['paid', 'paid'])
    expect(text(await executor.calls.settled('first'))).toBe('paid')
    expect(runs).toHaveLength(1)
  })

  test('last ends the work', async () => {
    const { tool: pay, runs } = counting()
    const executor = createExecutor({ tools: [pay], use })
    const controllers = [1, 2, 3].map(() => new AbortController())
    const results = controllers.map(({ signal }) => executor.execute({ name: 'pay', args: {} }, { signal }))
    while (runs.length === 0) await turn()
    await pause(1)
    for (const [index, controller] of controllers.entries()) {
      expect(runs[0]?.aborted).toBe(false)
      controller.abort()
      const effect = index === 0 ? 'unknown' : 'none'
      expect(outcome(await soon(results[index] as Promise<ToolResult>))).toBe(`cancelled ${effect} E_TOOL_CANCELLED`)
    }
    expect(runs[0]?.aborted).toBe(true)
    await turn()
    const again = executor.execute({ name: 'pay', args: {} })
    while (runs.length < 2) await turn()
    await executor.close()
    await again
  })

  test('alone ends the work, and no later call joins it', async () => {
    const { tool: pay, runs, door } = counting()
    const executor = createExecutor({ tools: [pay], use })
    const controller = new AbortController()
    const first = executor.execute({ name: 'pay', args: {} }, { signal: controller.signal })
    while (runs.length === 0) await turn()
    controller.abort()
    const second = executor.execute({ name: 'pay', args: {} })
    expect(outcome(await soon(first))).toBe('cancelled unknown E_TOOL_CANCELLED')
    while (runs.length < 2) await turn()
    door.resolve('paid')
    expect(text(await soon(second))).toBe('paid')
  })
})

describe('what is not equal runs by itself', () => {
  const others: readonly [string, object, object?][] = [
    ['another session', { session: 'other' }],
    ['another principal', { principal: 'bob' }],
    ['another caller', { caller: 'user' }],
    ['other args', {}, { args: { other: true } }],
    ['a program of the model', {}, { program: { type: 'program' } }],
    ['another definition', {}, { name: 'twin' }],
  ]
  test.each(others)('%s', async (_, options, call = {}) => {
    let ran = 0
    const handler = async (): Promise<unknown> => (await pause(2), ran++)
    const make = (name: string): Tool => work(name, handler, { ...once, audience: 'all' })
    const executor = createExecutor({ tools: [make('pay'), make('twin')], use })
    const principal = { principal: 'ada' }
    const first = executor.execute({ name: 'pay', args: {} }, principal)
    const second = executor.execute({ name: 'pay', args: {}, ...call }, { ...principal, ...options })
    expect((await soon(Promise.all([first, second]))).map(outcome)).toEqual(['ok completed', 'ok completed'])
    expect(ran).toBe(2)
  })

  test('what `key` tells apart, such as a value that the handler reads', async () => {
    let ran = 0
    const pay = work('pay', async () => (await pause(2), ran++), once)
    const key = coalesce({ key: ({ context }) => String((context.values as { tenant?: string }).tenant) })
    const executor = createExecutor({ tools: [pay], use: [key] })
    const values = ['a', 'a', 'b'].map((tenant) => ({ tenant }))
    await Promise.all(values.map((own) => executor.execute({ name: 'pay', args: {} }, { values: own })))
    expect(ran).toBe(2)
  })

  test('calls of a tool that says nothing of itself, or that `tools` leaves out', async () => {
    const runs = async (traits: object, extension: Extension): Promise<number> => {
      let ran = 0
      const pay = work('pay', async () => (await pause(1), ran++), { traits })
      const executor = createExecutor({ tools: [pay], use: [extension] })
      await Promise.all([1, 2].map(() => executor.execute({ name: 'pay', args: {} })))
      return ran
    }
    for (const trait of ['readonly', 'idempotent', 'coalesce']) {
      expect([trait, await runs({ [trait]: true }, coalesce())]).toEqual([trait, 1])
      expect(await runs({ [trait]: true }, coalesce({ tools: () => false }))).toBe(2)
    }
    expect(await runs({}, coalesce())).toBe(2)
    expect(await runs({ coalesce: false }, coalesce())).toBe(2)
    expect(await runs({}, coalesce({ tools: () => true }))).toBe(1)
  })

  test('calls of another executor, which has another store', async () => {
    let ran = 0
    const pay = work('pay', async () => (await pause(2), ran++), once)
    const both = [1, 2].map(() => createExecutor({ tools: [pay], use }))
    await Promise.all(both.map((executor) => executor.execute({ name: 'pay', args: {} }, { session: 'a' })))
    expect(ran).toBe(2)
  })

  test('calls that wait for a client', async () => {
    const client = work('page', () => 1, { type: 'client', requiresResponse: true, handler: undefined, ...once })
    const executor = createExecutor({ tools: [client], use })
    const waiting = await Promise.all([1, 2].map(() => executor.execute({ name: 'page', args: {} })))
    expect(waiting.map(({ status }) => status)).toEqual(['waiting', 'waiting'])
  })
})

describe('the trait `coalesce`', () => {
  test('changes no fingerprint of a tool that does not use it', () => {
    const make = (traits: object): Tool => tool({ name: 'pay', description: 'Pays', traits, handler: () => 1 })
    const plain = make({})
    expect('coalesce' in definitionOf(plain).traits).toBe(false)
    expect('coalesce' in definitionOf(make({ coalesce: false })).traits).toBe(false)
    expect(definitionOf(make({ coalesce: true })).traits).toMatchObject({ coalesce: true })
    // Stored approvals name this hash: it must not change.
    expect(fingerprint(definitionOf(plain))).toBe('a494a3268351d6f82e757caa775e6332a8593aaccb816b1309a2e2851d7fc1fa')
    expect(fingerprint(definitionOf(make({ coalesce: false })))).toBe(fingerprint(definitionOf(plain)))
    expect(fingerprint(definitionOf(make({ coalesce: true })))).not.toBe(fingerprint(definitionOf(plain)))
  })
})

test('the options are checked', () => {
  for (const options of [{ tool: () => true }, { tools: ['pay'] }, { key: 'tenant' }, null]) {
    expect(() => coalesce(options as never)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  }
})
