import { computeCallId, createExecutor } from 'toolwright'
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
