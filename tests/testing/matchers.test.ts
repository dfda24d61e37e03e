import assert from 'node:assert'
import { type } from 'arktype'
import { createExecutor, tool, type ToolExecutor } from 'toolwright'
import { callLog, expectCalls, matchers, observe, type CallLog } from 'toolwright/testing'
import 'toolwright/testing/vitest'
import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { keptLog, longestLog } from '../../src/testing/_log.ts'
import { messageOf } from './_words.ts'

const object = { type: 'object' } as const

function shop({ fails = false } = {}): ToolExecutor {
  let attempt = 0
  const find = tool({
    name: 'find_order',
    description: 'Finds an order',
    inputSchema: object,
    traits: { readonly: true },
    handler: () => ({ late: true }),
  })
  const refund = tool({
    name: 'refund',
    description: 'Refunds',
    inputSchema: object,
    handler: () => {
      if (fails && attempt++ === 0) throw new Error('The bank is closed.')
      return 'refunded'
    },
  })
  const mail = tool({ name: 'mail', description: 'Mails', inputSchema: object, handler: () => 'sent' })
  const executor = createExecutor({ tools: [find, refund, mail] })
  observe(executor)
  return executor
}

describe('toHaveCalled', () => {
  test('finds a call by its tool and what became of it', async () => {
    const executor = shop({ fails: true })
    await executor.execute({ name: 'refund', args: { order: 'A' } }, { session: 's' })
    await executor.execute({ name: 'refund', args: { order: 'A' } })
    await executor.execute({ name: 'find_order' })
    expect(executor).toHaveCalled('refund')
    expect(executor).toHaveCalled('refund', { times: 2 })
    expect(executor).toHaveCalled('refund', {
      status: 'error',
      code: 'E_TOOL_DOWNSTREAM_ERROR',
      times: 1,
      session: 's',
    })
    expect(executor).toHaveCalled('refund', { status: 'ok', effect: 'completed', content: 'refunded', asked: false })
    expect(executor).toHaveCalled('refund', { content: [{ type: 'text', text: /^refunded$/ }], times: 1 })
    expect(executor).toHaveCalled('find_order', { content: /"late":true/, effect: 'none' })
    expect(executor).toHaveCalled('find_order', { content: expect.stringContaining('late') })
    expect(executor).toHaveCalled('mail', { atMost: 1 })
    expect(executor).toHaveCalled('mail', { times: 0 })
    expect(executor).not.toHaveCalled('mail')
    expect(executor).not.toHaveCalled('refund', { atMost: 1 })
    expect(executor).not.toHaveCalled('refund', { asked: true })
    expect(executor).not.toHaveCalled('refund', { status: 'denied' })
  })

  test('matches args by own members, predicates, patterns, texts and schemas, at any depth', async () => {
    const executor = shop()
    const args = { order: 'A-1', lines: [{ sku: 'x', count: 2 }], note: 'late, very late', empty: null }
    await executor.execute({ name: 'refund', args })
    const hits: unknown[] = [
      {},
      { order: 'A-1' },
      { order: /^A-\d$/ },
      { order: /^A-\d$/g },
      { order: expect.any(String) as unknown },
      { order: (value: unknown) => value === 'A-1' },
      { order: z.string().startsWith('A') },
      { order: v.pipe(v.string(), v.minLength(3)) },
      { order: type('string > 2') },
      { lines: [{ sku: 'x' }] },
      { lines: [expect.objectContaining({ count: 2 })] },
      { lines: (lines: unknown[]) => lines.length === 1 },
      { empty: null, missing: undefined },
      z.object({ order: z.string() }),
      (value: typeof args) => value.note.endsWith('late'),
      expect.objectContaining({ order: 'A-1' }),
    ]
    for (const hit of hits) expect(executor).toHaveCalled('refund', { args: hit, times: 1 })
    const misses: unknown[] = [
      { order: 'A-2' },
      { order: /^B/ },
      { order: z.number() },
      { order: type('number') },
      { lines: [] },
      { lines: [{ sku: 'x' }, { sku: 'y' }] },
      { lines: { 0: { sku: 'x' } } },
      { order: undefined },
      { missing: 1 },
      { toString: expect.anything() as unknown },
      (value: { deep: { er: number } }) => value.deep.er > 1,
      null,
      [],
    ]
    for (const miss of misses) expect(executor).not.toHaveCalled('refund', { args: miss })
    expect(executor).toHaveCalled('refund', { args, exact: true })
    expect(executor).not.toHaveCalled('refund', { args: { ...args, lines: [{ sku: 'x' }] }, exact: true })
    expect(executor).not.toHaveCalled('refund', { args: { order: 'A-1' }, exact: true })
  })

  test('shows the nearest call and where it differs', async () => {
    const executor = shop()
    await executor.execute({ name: 'refund', args: { order: 'A', amount: 5 } })
    await executor.execute({ name: 'refund', args: { order: 'A', amount: 6 } })
    await executor.execute({ name: 'find_order', args: { id: 'A' } })
    expect(messageOf(() => expect(executor).toHaveCalled('refund', { args: { order: 'B', amount: 6 } }))).toBe(
      `Expected refund to be called with {"args":{"order":"B","amount":6}}. The nearest of 2: refund({"order":"A","amount":6}) → ok, effect completed
  args/order
    - "B"
    + "A"`,
    )
    expect(messageOf(() => expect(executor).toHaveCalled('mail'))).toBe(
      `Expected mail to be called. It was never called. What was:
  1. refund({"order":"A","amount":5}) → ok, effect completed
  2. refund({"order":"A","amount":6}) → ok, effect completed
  3. find_order({"id":"A"}) → ok, effect none`,
    )
    expect(messageOf(() => expect(executor).not.toHaveCalled('find_order'))).toBe(
      `Expected find_order not to be called. It was called so once:
  1. find_order({"id":"A"}) → ok, effect none`,
    )
    expect(messageOf(() => expect(executor).toHaveCalled('refund', { times: 3, status: 'ok' }))).toContain(
      'Expected refund to be called 3 times with {"status":"ok"}. It was called so 2 times:\n  1. refund(',
    )
    expect(messageOf(() => expect(executor).toHaveCalled('refund', { args: { 'a/b~c': 1 }, exact: true }))).toContain(
      '  args/a~1b~0c\n    - 1\n    + (absent)\n  args/order\n    - (absent)\n    + "A"',
    )
    const words = messageOf(() =>
      expect(executor).toHaveCalled('refund', { args: { order: z.number(), amount: expect.any(String) as unknown } }),
    )
    expect(words).toContain('{"args":{"order":a schema,"amount":Any<String>}}')
  })

  test('shows of long texts where they part', async () => {
    const executor = shop()
    const text = 'x'.repeat(100_000)
    await executor.execute({ name: 'mail', args: { text: `${text}a` } })
    const words = messageOf(() => expect(executor).toHaveCalled('mail', { args: { text: `${text}b` } }))
    expect(words.length).toBeLessThan(1_500)
    expect(words).toMatch(/- …"x{40}b" \(100001 characters\)\n {4}\+ …"x{40}a" \(100001 characters\)/)
  })

  test('gives both values to the runner', async () => {
    const executor = shop()
    await executor.execute({ name: 'refund', args: { order: 'A' } })
    const { expected, actual } = matchers.toHaveCalled(executor, 'refund', { args: { order: 'B' } })
    expect([expected, actual]).toEqual([{ order: 'B' }, { order: 'A' }])
  })

  test('keeps secrets out of its words, and what steers terminals', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      inputSchema: object,
      secrets: ['/card'],
      handler: ({ card }: { card?: string }) => `paid with ${card}`,
    })
    const executor = createExecutor({ tools: [pay] })
    observe(executor)
    await executor.execute({ name: 'pay', args: { card: '4111-1111', note: '\u001b[2J\u202e' } })
    const words = messageOf(() => expect(executor).toHaveCalled('pay', { args: { note: 'no' }, content: 'no' }))
    expect(words).toContain('args/note')
    expect(words).toContain('content')
    // oxlint-disable-next-line no-control-regex
    expect(words).not.toMatch(/4111|\u001b|\u202e/)
  })

  test('throws nothing of values that are hostile, and has words for them', async () => {
    const executor = shop()
    await executor.execute({ name: 'refund', args: JSON.parse('{"__proto__":{"order":1},"order":"A"}') as object })
    const cyclic: Record<string, unknown> = { order: 'A' }
    cyclic['self'] = cyclic
    const fails = (): never => {
      throw new Error('hostile')
    }
    const hostile: unknown[] = [
      cyclic,
      {
        get order() {
          return fails()
        },
      },
      new Proxy({ order: 'A' }, { ownKeys: fails }),
      new Proxy({ order: 'A' }, { get: fails }),
      { order: { asymmetricMatch: fails } },
      { order: { '~standard': { validate: fails } } },
      { order: { toString: fails, asymmetricMatch: () => false } },
      { order: 'x'.repeat(1_000_000) },
      { order: { nested: Array.from({ length: 100_000 }, (_, index) => index) } },
      { order: Symbol('s') },
      { order: 1n },
      fails,
    ]
    for (const args of hostile) {
      const words = messageOf(() => expectCalls(executor).toHaveCalled('refund', { args }))
      expect(words).toMatch(/^Expected refund to be called with [^]*The nearest of 1: refund/)
      expect(words.length).toBeLessThan(2_000)
      expectCalls(executor).not.toHaveCalled('refund', { args })
    }
    expect(executor).toHaveCalled('refund', { args: JSON.parse('{"__proto__":{"order":1}}') as object })
    expect(executor).not.toHaveCalled('refund', { args: JSON.parse('{"__proto__":{"order":2}}') as object })
  })

  test('refuses what it does not know, in words', async () => {
    const executor = shop()
    await executor.execute({ name: 'refund' })
    const refused = (work: () => void, words: RegExp): void =>
      expect(work).toThrow(
        expect.objectContaining({ code: 'E_INVALID_CONFIGURATION', message: expect.stringMatching(words) as string }),
      )
    refused(() => expectCalls(executor).toHaveCalled('refund', { satus: 'ok' } as never), /satus/)
    refused(() => expectCalls(executor).not.toHaveCalled('refund', { status: 'done' as never }), /status/)
    refused(() => expectCalls(executor).toHaveCalled('refund', { times: -1 }), /times/)
    refused(() => expectCalls(executor).toHaveCalled(undefined as never), /name of a tool/)
    refused(() => expectCalls(executor).toHaveCalled('refund', 'ok' as never), /toHaveCalled/)
    refused(() => expectCalls(executor).toHaveCalledInOrder(), /steps/)
    refused(() => expectCalls(executor).toHaveCalledInOrder(['refund', { times: 1 } as never]), /times/)
    refused(() => expectCalls(executor).toHaveCalledAtMost(0.5), /AtMost/)
    refused(() => expectCalls(executor).toHaveRepeated(0), /Repeated/)
    const later = { '~standard': { version: 1, vendor: 'x', validate: () => Promise.reject(new Error('later')) } }
    refused(() => expectCalls(executor).toHaveCalled('refund', { args: later }), /promise/)
  })

  test('is an error of an executor that nothing observes, also with `not`', () => {
    const words = /^Nothing observes this/
    expect(messageOf(() => expect(createExecutor()).toHaveCalled('refund'))).toMatch(words)
    expect(messageOf(() => expect(createExecutor()).not.toHaveCalled('refund'))).toMatch(words)
    expect(messageOf(() => expectCalls({ calls: [], events: [] }).not.toHaveCalled('refund'))).toMatch(words)
    expect(messageOf(() => expectCalls(undefined).not.toHaveRepeated())).toMatch(words)
  })

  test('is an error of a name that is a slip of the pen, also with `not`, and of no other name', async () => {
    const executor = shop()
    for (const [slip, meant] of [
      ['refnud', 'refund'],
      ['Refund', 'refund'],
      ['find-order', 'find_order'],
      ['findorders', 'find_order'],
    ] as const) {
      const words = `The executor has no "${slip}", and nothing called it: is ${meant} meant?`
      expect(messageOf(() => expect(executor).not.toHaveCalled(slip))).toContain(words)
      expect(messageOf(() => expect(executor).toHaveCalled(slip))).toContain(words)
      expect(messageOf(() => expectCalls(executor).not.toHaveCalled(slip))).toContain(words)
    }
    for (const other of ['send_email', 'refund_2', 'mai', 'find']) expect(executor).not.toHaveCalled(other)
    await executor.execute({ name: 'refnud' }) // a model may get it wrong
    expect(executor).toHaveCalled('refnud', { code: 'E_TOOL_NOT_FOUND' })
    // A log that is no executor's does not know the tools.
    expectCalls(callLog()).not.toHaveCalled('refnud')
    // Tools that one session has alone count, once it has called something.
    const ours = tool({ name: 'refunds', description: 'Lists', inputSchema: object, handler: () => [] })
    const some = createExecutor({ use: [{ tools: ({ session }) => (session === 's' ? [ours] : []) }] })
    observe(some)
    expect(some).not.toHaveCalled('refund')
    await some.execute({ name: 'refunds' }, { session: 's' })
    expect(messageOf(() => expect(some).not.toHaveCalled('refund'))).toContain('is refunds meant?')
    expect(some).not.toHaveCalled('refunds', { session: 't' })
  })

  test('sees args as a person edited them, and nothing of before `clear`', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      inputSchema: object,
      requiresConfirmation: true,
      handler: () => 1,
    })
    const executor = createExecutor({ tools: [pay] })
    const log = observe(executor)
    const { token = '' } = await executor.execute({ name: 'pay', args: { cents: 5 } })
    expect(executor).toHaveCalled('pay', { status: 'waiting', asked: true })
    await executor.calls.decide(token, 'allow', { editedArgs: { cents: 4 } })
    expect(executor).toHaveCalled('pay', { args: { cents: 4 }, status: 'ok', asked: true, times: 1 })
    expect(executor).not.toHaveCalled('pay', { args: { cents: 5 } })
    log.clear()
    expect(executor).not.toHaveCalled('pay')
    expect(messageOf(() => expect(executor).toHaveCalled('pay'))).toContain('(nothing was called)')
  })
})

describe('toHaveCalledInOrder', () => {
  test('finds steps in order of receipt, with others between them', async () => {
    const executor = shop()
    await executor.execute({ name: 'find_order', args: { id: 'A' } })
    await executor.execute({ name: 'mail' })
    await executor.execute({ name: 'refund', args: { order: 'A' } })
    expect(executor).toHaveCalledInOrder('find_order', 'refund')
    expect(executor).toHaveCalledInOrder('find_order', ['refund', { args: { order: 'A' }, afterResult: true }])
    expect(executor).not.toHaveCalledInOrder('refund', 'find_order')
    expect(executor).not.toHaveCalledInOrder('mail', 'mail')
    expect(messageOf(() => expect(executor).toHaveCalledInOrder('refund', ['mail', { status: 'ok' }]))).toContain(
      'Expected refund → mail, in this order. Step 2, mail with {"status":"ok"}, was not called after refund. What was:\n  1. find_order(',
    )
    expect(messageOf(() => expect(executor).not.toHaveCalledInOrder('find_order', 'mail'))).toMatch(
      /^Expected not find_order → mail, in this order\. It was:\n {2}1\. find_order.*\n {2}2\. mail/,
    )
  })

  test('knows a call that was made before the step before it had its result', async () => {
    const executor = shop()
    await executor.executeToolCalls([{ name: 'find_order' }, { name: 'refund' }])
    expect(executor).toHaveCalledInOrder('find_order', 'refund')
    expect(executor).not.toHaveCalledInOrder('find_order', ['refund', { afterResult: true }])
    await executor.execute({ name: 'refund' })
    expect(executor).toHaveCalledInOrder('find_order', ['refund', { afterResult: true }])
  })
})

describe('the other matchers', () => {
  test('know other tools, and too many calls', async () => {
    const executor = shop()
    await executor.execute({ name: 'refund' })
    await executor.execute({ name: 'find_order' })
    expect(executor).toHaveCalledOnly('refund', 'find_order', 'mail')
    expect(executor).not.toHaveCalledOnly('refund')
    expect(messageOf(() => expect(executor).toHaveCalledOnly('refund'))).toBe(
      'Expected no call of another tool than refund, and there were 1:\n  1. find_order({}) → ok, effect none',
    )
    expect(executor).toHaveCalledAtMost(2)
    expect(executor).not.toHaveCalledAtMost(1)
    expect(messageOf(() => expect(executor).toHaveCalledAtMost(1))).toMatch(
      /^Expected at most 1 call, and there were 2:/,
    )
  })

  test('know the same call twice in a session, whatever the order of its members', async () => {
    const executor = shop()
    await executor.execute({ name: 'refund', args: { a: 1, b: 2 } })
    await executor.execute({ name: 'refund', args: { a: 1 } })
    await executor.execute({ name: 'refund', args: { a: 1, b: 2 } }, { session: 'another' })
    expect(executor).not.toHaveRepeated()
    await executor.execute({ name: 'refund', args: '{"b":2,"a":1}' })
    expect(executor).toHaveRepeated()
    expect(executor).toHaveRepeated(1)
    expect(executor).not.toHaveRepeated(2)
    expect(messageOf(() => expect(executor).not.toHaveRepeated())).toBe(
      'Expected no call to be made more than once in a session:\n  2 × refund({"a":1,"b":2}) → ok, effect completed',
    )
    const other = shop()
    await other.execute({ name: 'invented', args: { a: 1, b: 2 } })
    await other.execute({ name: 'invented', args: { b: 2, a: 1 } })
    expect(other).toHaveRepeated()
  })

  test('know a failure after which the loop went on as if nothing had been', async () => {
    const careful = shop({ fails: true })
    expect(careful).toHaveRecovered()
    await careful.execute({ name: 'refund' })
    expect(careful).toHaveRecovered()
    await careful.execute({ name: 'find_order' })
    expect(careful).toHaveRecovered()
    await careful.execute({ name: 'mail' })
    expect(careful).not.toHaveRecovered()
    expect(messageOf(() => expect(careful).toHaveRecovered())).toMatch(
      /^Expected each failed call .*:\n {2}refund\(\{\}\) → error, effect unknown, E_TOOL_DOWNSTREAM_ERROR\n {4}and then mail\(\{\}\)/,
    )
    await careful.execute({ name: 'refund' })
    expect(careful).toHaveRecovered()
  })

  test('say so if they need what the log no longer has', () => {
    const log = filled(longestLog + 1_000)
    expect(keptLog(log)?.lost).toBe(1_000)
    expectCalls(log).toHaveCalled('tool-0')
    expectCalls(log).not.toHaveCalledAtMost(longestLog)
    const words = /cannot know: the log keeps the newest 100000 calls, and 1000 before them are gone/
    expect(messageOf(() => expectCalls(log).not.toHaveCalled('none'))).toMatch(words)
    expect(messageOf(() => expectCalls(log).toHaveCalled('tool-0', { atMost: 200_000 }))).toMatch(words)
    expect(messageOf(() => expectCalls(log).not.toHaveCalledInOrder('tool-0', 'none'))).toMatch(words)
    expect(messageOf(() => expectCalls(log).toHaveRecovered())).toMatch(words)
  })

  test('take no longer with each call than the ones before', () => {
    // Work in steps and not in time: how often the args of calls are read.
    const log = filled(10_000)
    let reads = 0
    const args = vi.fn<(value: unknown) => boolean>(() => ++reads > 0)
    expectCalls(log).toHaveCalled('tool-0', { args, times: 5_001 })
    expect(args).toHaveBeenCalledTimes(5_001)
    expectCalls(log).toHaveRepeated()
    expectCalls(log).toHaveRecovered()
    expectCalls(log).toHaveCalledInOrder('tool-0', ['tool-1', { args: { index: 9_999 } }])
  })
})

/** A log with calls of two tools in turns, as an observer tells of them. */
function filled(count: number): CallLog {
  const log = callLog()
  const [observer] = log.observers ?? []
  const envelope = { callId: null, session: 's', seq: 0, timestamp: 0 }
  for (let index = 0; index < count; index++) {
    const call = { ...envelope, toolName: `tool-${index % 2}`, invocationId: String(index) }
    observer?.({ ...call, event: 'call:received', args: { index: index < 2 ? 0 : index } })
    observer?.({ ...call, event: 'call:settled', status: 'ok', effect: 'completed', durationMs: 1 })
    if (index === 0) observer?.({ ...call, event: 'call:received', invocationId: 'again', args: { index: 0 } })
  }
  return log
}

describe('expectCalls', () => {
  test('throws what node:assert throws', async () => {
    const executor = shop()
    await executor.execute({ name: 'refund', args: { zone: 'utc' } })
    expectCalls(executor).toHaveCalled('refund', { args: { zone: 'utc' }, times: 1 })
    assert.throws(() => expectCalls(executor).toHaveCalled('refund', { args: { zone: 'cet' } }), {
      name: 'AssertionError',
      code: 'ERR_ASSERTION',
      expected: { zone: 'cet' },
      actual: { zone: 'utc' },
    })
    assert.throws(() => expectCalls(executor).not.toHaveCalled('refund'), { code: 'ERR_ASSERTION' })
  })
})
