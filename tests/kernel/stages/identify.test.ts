import { runInNewContext } from 'node:vm'
import { computeCallId, createExecutor, type Extension, type ToolCall, type ToolExecutor } from 'toolwright'
import type { Middleware, Runner } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { cache } from 'toolwright/middleware/cache'
import { describe, expect, test } from 'vitest'
import { data, deferred, heard, names, outcome, pause, text, turn, work } from '../_calls.ts'

/** Runs the handlers of its tools some time later. */
const far: Runner = {
  type: 'far',
  run: async ({ tool, input }) => {
    await pause(10)
    return (tool.meta['handler'] as (value: unknown) => unknown)(input)
  },
}

const echo = work('echo', (input) => input)

describe('identify', () => {
  test('gives equal calls one callId, however they are written', async () => {
    const executor = createExecutor({ tools: [echo] })
    const written: unknown[] = [
      { b: 1, a: [1.5, 'x'] },
      { a: [1.5, 'x'], b: 1 },
      '{"b":1,"a":[1.5,"x"]}',
      ' {"a" : [15e-1, "\\u0078"], "b":1.0} ',
    ]
    const ids = await Promise.all(written.map(async (args) => (await executor.execute({ name: 'echo', args })).callId))
    expect(new Set(ids)).toEqual(new Set([computeCallId('echo', { a: [1.5, 'x'], b: 1 })]))
  })

  test('keeps the callId apart from the ids of provider and host', async () => {
    const executor = createExecutor({ tools: [echo] })
    const one = await executor.execute({ id: 'toolu_1', name: 'echo', args: {} })
    const two = await executor.execute({ id: 7, name: 'echo', args: {} }, { invocationId: 'mine' })
    const three = await executor.execute({ name: 'echo', args: {} })
    expect(one.callId).toBe(two.callId)
    expect([one.id, two.id, 'id' in three]).toEqual(['toolu_1', 7, false])
    expect(new Set([one.invocationId, two.invocationId, three.invocationId]).size).toBe(3)
    expect(two.invocationId).toBe('mine')
  })

  test.each([undefined, '', '  \n', '{}'])('no args are an empty object: %j', async (args) => {
    const result = await createExecutor({ tools: [echo] }).execute({ name: 'echo', args })
    expect(data(result)).toEqual({})
    expect(result.callId).toBe(computeCallId('echo', {}))
  })

  test.each<[string, unknown, string]>([
    ['text that is not JSON', '{"a":', 'E_INVALID_TOOL_ARGS'],
    ['a key twice', '{"a":1,"a":2}', 'E_UNCANONICAL_ARGS'],
    ['a lone surrogate', '{"a":"\\ud800"}', 'E_UNCANONICAL_ARGS'],
    ['a lone surrogate in a value', { a: '\udc00' }, 'E_UNCANONICAL_ARGS'],
    ['text that is too deep', '['.repeat(100_000) + ']'.repeat(100_000), 'E_UNCANONICAL_ARGS'],
    ['text that is too long', JSON.stringify('x'.repeat(300_000)), 'E_UNCANONICAL_ARGS'],
    ['a value that is too long', { a: 'x'.repeat(300_000) }, 'E_UNCANONICAL_ARGS'],
    ['a bigint', { a: 1n }, 'E_UNCANONICAL_ARGS'],
    ['a date', { a: new Date() }, 'E_UNCANONICAL_ARGS'],
    ['NaN', { a: Number.NaN }, 'E_UNCANONICAL_ARGS'],
    ['a function', () => 1, 'E_UNCANONICAL_ARGS'],
  ])('args without one meaning are refused, and the handler does not run: %s', async (_, args, code) => {
    let runs = 0
    const executor = createExecutor({ tools: [work('t', () => runs++)] })
    const events = heard(executor)
    const result = await executor.execute({ name: 't', args })
    expect(outcome(result)).toBe(`error none ${code}`)
    expect(result).toMatchObject({ callId: null, toolName: 't' })
    expect(runs).toBe(0)
    expect(names(events)).toBe('call:received call:settled')
    expect(events.map(({ seq }) => seq)).toEqual([0, 1])
  })

  test('the limit of args is that of the executor, in bytes', async () => {
    const executor = createExecutor({ tools: [echo], argsLimit: 20 })
    expect((await executor.execute({ name: 'echo', args: '{"a":"éééé"}' })).status).toBe('ok')
    expect((await executor.execute({ name: 'echo', args: '{"a":"ééééééé"}' })).error?.code).toBe('E_UNCANONICAL_ARGS')
  })

  test("changes nothing of the caller's args, and freezes nothing", async () => {
    const args = { b: { c: 1 }, a: undefined }
    await createExecutor({ tools: [echo] }).execute({ name: 'echo', args })
    expect(Object.keys(args)).toEqual(['b', 'a'])
    expect(Object.isFrozen(args) || Object.isFrozen(args.b)).toBe(false)
  })

  test('`__proto__` in args is data', async () => {
    const result = await createExecutor({ tools: [echo] }).execute({
      name: 'echo',
      args: '{"__proto__":{"admin":true}}',
    })
    expect(JSON.stringify(data(result))).toBe('{"__proto__":{"admin":true}}')
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  test('who uses an object of args again gets a call of its own', async () => {
    const seen: unknown[] = []
    const executor = createExecutor({ tools: [work('t', (input) => void seen.push(JSON.stringify(input)))] })
    const args = { a: 1 }
    await executor.execute({ name: 't', args })
    args.a = 2
    await executor.execute({ name: 't', args })
    expect(seen).toEqual(['{"a":1}', '{"a":2}'])
  })
})

describe('args that the caller changes after it called', () => {
  const passing: Middleware = (_call, _context, next) => next()

  test.each<[string, (executor: ToolExecutor, call: ToolCall) => Promise<unknown>, object, Extension[]]>([
    ['a journal keeps them', (executor, call) => executor.execute(call), {}, [memoryJournal()]],
    ['a middleware is around the run', (executor, call) => executor.execute(call), {}, [{ middleware: [passing] }]],
    ['the tool has a middleware', (executor, call) => executor.execute(call), { middleware: [passing] }, []],
    ['the tool runs alone', (executor, call) => executor.execute(call), { traits: { concurrent: false } }, []],
    [
      'a runner takes them elsewhere',
      (executor, call) => executor.execute(call),
      { type: 'far' },
      [{ runners: [far] }],
    ],
    [
      'the call is one of a turn',
      (executor, call) => executor.executeToolCalls([call, call, call, call, call]),
      {},
      [],
    ],
    ['another tool runs alone', (executor, call) => executor.execute(call), {}, []],
  ])('are those that were hashed, if %s', async (title, run, options, use) => {
    const { promise, resolve } = deferred()
    const blocked = work('alone', () => promise, { traits: { concurrent: false } })
    const inputs: unknown[] = []
    const handler = (input: unknown): void => void inputs.push(structuredClone(input))
    const tool = work('read', handler, { meta: { handler }, ...options })
    const executor = createExecutor({ tools: [tool, blocked], use, concurrency: 1 })
    const args = { path: '/safe/1', deep: { list: [1] } }
    const before = title.startsWith('another') ? executor.execute({ name: 'alone' }) : undefined
    await turn()
    const running = run(executor, { name: 'read', args })
    args.path = '/etc/passwd'
    args.deep.list.push(2)
    resolve()
    await running
    await before
    expect(inputs.length).toBeGreaterThan(0)
    for (const input of inputs) expect(input).toEqual({ path: '/safe/1', deep: { list: [1] } })
  })

  test('are never what a shared cache gives another caller', async () => {
    const use = [cache({ scope: 'shared' })]
    const read = work('read', ({ path }: { path: string }) => `contents of ${path}`, { traits: { readonly: true } })
    const executor = createExecutor({ tools: [read], use })
    const args = { path: '/safe/1' }
    const running = executor.execute({ name: 'read', args })
    args.path = '/etc/passwd'
    await running
    for (const path of ['/safe/1', '/etc/passwd']) {
      expect(text(await executor.execute({ name: 'read', args: { path } }))).toBe(`contents of ${path}`)
    }
  })
})

describe('args that somebody decides about', () => {
  const decided: Extension = { policies: [{ name: 'none', decide: () => undefined }] }

  /** What the handler was given, and the callId. */
  async function identityOf(args: unknown): Promise<{ readonly input: unknown; readonly callId: string | null }> {
    const inputs: unknown[] = []
    const executor = createExecutor({ tools: [work('t', (input) => void inputs.push(input))], use: [decided] })
    const { callId } = await executor.execute({ name: 't', args })
    return { input: inputs[0], callId }
  }

  test.each<[string, () => unknown, unknown]>([
    ['plain ones', () => ({ b: [1, { c: null }], a: 'x' }), { b: [1, { c: null }], a: 'x' }],
    ['text', () => '{"b":[1],"a":"x"}', { b: [1], a: 'x' }],
    ['of another realm', () => runInNewContext('({ b: [1, { c: null }], a: "x" })'), { b: [1, { c: null }], a: 'x' }],
    ['with members that are undefined', () => ({ a: undefined, b: [undefined, 1] }), { b: [null, 1] }],
    ['with symbols', () => ({ [Symbol('s')]: { hidden: true }, a: [1] }), { a: [1] }],
    ['with an iterator of its own', () => ({ a: 1, [Symbol.iterator]: () => [][Symbol.iterator]() }), { a: 1 }],
    ['an array whose iterator never ends', () => ({ a: endless([1, 2]) }), { a: [1, 2] }],
    ['an array that is longer each time it is asked', () => ({ a: growing([1, 2]) }), { a: [1, 2] }],
    ['minus zero', () => ({ a: -0 }), { a: 0 }],
    ['`__proto__`', () => JSON.parse('{"__proto__":{"a":1},"b":{}}'), JSON.parse('{"__proto__":{"a":1},"b":{}}')],
  ])('are a copy that the callId speaks of: %s', async (_, make, expected) => {
    const args = make()
    const { input, callId } = await identityOf(args)
    expect(input).toStrictEqual(expected)
    expect(callId).toBe(computeCallId('t', expected))
    expect(input).not.toBe(args)
  })

  test('are read once: what a getter gives later is neither hashed nor handed on', async () => {
    let reads = 0
    const args = {
      get a() {
        return ++reads
      },
    }
    const { input, callId } = await identityOf(args)
    expect(callId).toBe(computeCallId('t', input))
    expect(input).toEqual({ a: 1 })
  })

  test('have what is their own, and nothing of a prototype that somebody has changed', async () => {
    const shared: { tenant?: string } = Object.prototype
    shared.tenant = 'x'
    try {
      const { input, callId } = await identityOf({ a: 1 })
      expect(Object.keys(input as object)).toEqual(['a'])
      expect(callId).toBe(computeCallId('t', { a: 1 }))
    } finally {
      delete shared.tenant
    }
  })

  test('that hold themselves are refused with their place', async () => {
    const args: Record<string, unknown> = { a: {} }
    ;(args['a'] as Record<string, unknown>)['b'] = args
    const executor = createExecutor({ tools: [echo], use: [decided] })
    const { error } = await executor.execute({ name: 'echo', args })
    expect(error?.code).toBe('E_UNCANONICAL_ARGS')
    expect(error?.message).toContain('args.a.b: this refers to itself')
  })

  test('that somebody holds may change meanwhile, and the handler gets what was decided on', async () => {
    const args = { path: '/tmp', more: { deep: 1 } }
    const policy: Extension = {
      policies: [
        {
          name: 'slow',
          decide: async () => {
            args.path = '/etc'
            args.more.deep = 2
          },
        },
      ],
    }
    const inputs: unknown[] = []
    const executor = createExecutor({ tools: [work('t', (input) => void inputs.push(input))], use: [policy] })
    await executor.execute({ name: 't', args })
    expect(inputs).toEqual([{ path: '/tmp', more: { deep: 1 } }])
  })
})

function endless(items: unknown[]): unknown[] {
  Object.defineProperty(items, Symbol.iterator, {
    *value() {
      for (;;) yield 1
    },
  })
  return items
}

function growing(items: unknown[]): unknown[] {
  let { length } = items
  return new Proxy(items, {
    get: (target, key) => (key === 'length' ? length++ : (Reflect.get(target, key) as unknown)),
  })
}
