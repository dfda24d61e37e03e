import { runInNewContext } from 'node:vm'
import { computeCallId, createExecutor, type Extension } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { data, heard, names, outcome, work } from '../_calls.ts'

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

describe('args that somebody decides about', () => {
  const decided: Extension = { policies: [{ name: 'none', decide: () => undefined }] }

  /** What the handler was given, and the callId. */
  async function given(args: unknown): Promise<{ readonly input: unknown; readonly callId: string | null }> {
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
    const { input, callId } = await given(args)
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
    const { input, callId } = await given(args)
    expect(callId).toBe(computeCallId('t', input))
    expect(input).toEqual({ a: 1 })
  })

  test('have what is their own, and nothing of a prototype that somebody has changed', async () => {
    const shared: { tenant?: string } = Object.prototype
    shared.tenant = 'x'
    try {
      const { input, callId } = await given({ a: 1 })
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
