import * as fc from 'fast-check'
import { createExecutor, type ToolEvent, type ToolResult } from 'toolwright'
import { ToolDeniedError } from 'toolwright/errors'
import type { Conflict, Confirmed, Received } from 'toolwright/extension'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred, heard, hostile, never, outcome, pause, sink, soon, text, turn, work } from './_calls.ts'
import { Deadline, lockKeysOf, Locks, LockTable, type LockKey } from './_inside.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A call as the locks see it, and whether it has begun. */
interface Locked {
  readonly call: Confirmed
  readonly keys: readonly LockKey[]
  hasBegun: boolean
  error: unknown
}

/** Locks without an executor, and the calls that are in flight. */
function lockRoom(waitTimeout = 0): {
  enter: (conflicts: readonly Conflict[], traits?: { concurrent?: boolean }, session?: string) => Locked
  leave: (locked: Locked) => void
} {
  const inFlight = new Set<Received>()
  const locks = new Locks(inFlight, waitTimeout, () => {})
  let count = 0
  return {
    enter(conflicts, { concurrent = true } = {}, session = 's') {
      const keys = lockKeysOf(conflicts, 't', session)
      const deadline = new Deadline(0, undefined)
      const fields = { name: 't', invocationId: String(count++), session, tool: { traits: { concurrent } } }
      const call = { ...fields, deadline, isRunning: false, claim: undefined } as unknown as Confirmed
      inFlight.add(call)
      const locked: Locked = { call, keys, hasBegun: false, error: undefined }
      const waiting = locks.enter(call, keys, true)
      if (waiting === undefined) locked.hasBegun = true
      else {
        waiting.then(
          () => (locked.hasBegun = true),
          (error: unknown) => (locked.error = error),
        )
      }
      return locked
    },
    leave({ call }) {
      locks.leave(call)
      inFlight.delete(call)
    },
  }
}

/** Whether two calls may not run at the same time, told in the plainest way. */
function clash(one: Locked, other: Locked): boolean {
  const isAlone = ({ call }: Locked): boolean => !call.tool.traits.concurrent
  if (one.call.session === other.call.session && (isAlone(one) || isAlone(other))) return true
  return one.keys.some((a) =>
    other.keys.some(
      (b) =>
        (a.isWrite || b.isWrite) &&
        (a.path === b.path || a.path.startsWith(`${b.path}/`) || b.path.startsWith(`${a.path}/`)),
    ),
  )
}

const segment = fc.constantFrom('a', 'b', 'c')
const conflict: fc.Arbitrary<Conflict> = fc.record({
  key: fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/')),
  mode: fc.constantFrom('read', 'write'),
  scope: fc.constantFrom('session', 'executor', 'executor', 'executor'),
})
const step = fc.oneof(
  fc.record({
    conflicts: fc.array(conflict, { maxLength: 3 }),
    concurrent: fc.nat(7).map((number) => number > 0),
    session: fc.constantFrom('s', 't'),
  }),
  fc.nat(40),
)

describe('the locks', () => {
  test('let a call begin exactly if no call that came before and clashes with it is left', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { enter, leave } = lockRoom()
        const here: Locked[] = []
        const check = async (): Promise<void> => {
          await Promise.resolve()
          await Promise.resolve()
          for (const [index, each] of here.entries()) {
            const isFree = !here.slice(0, index).some((before) => clash(before, each))
            expect(each.hasBegun).toBe(isFree)
          }
        }
        for (const each of steps) {
          if (typeof each === 'object') here.push(enter(each.conflicts, each, each.session))
          else if (here.length > 0) leave(here.splice(each % here.length, 1)[0]!) // it ends, or gives up while it waits
          await check()
        }
        while (here.length > 0) {
          leave(here.shift()!)
          await check()
        }
      }),
      { numRuns: 300 },
    )
  })

  test('look at four waiting calls at most for each that ends, with 10,000 that write or read one thing', async () => {
    const evaluations = vi.spyOn(LockTable.prototype, 'blockerOf')
    for (const mode of [() => 'write', (index: number) => (index % 4 === 0 ? 'write' : 'read')] as const) {
      const { enter, leave } = lockRoom()
      const all = Array.from({ length: 10_000 }, (_, index) =>
        enter([{ key: 'file:/a', mode: mode(index) as 'read' | 'write' }]),
      )
      evaluations.mockClear()
      const left = new Set(all)
      while (left.size > 0) {
        await turn()
        for (const each of left) {
          if (!each.hasBegun) break
          leave(each)
          left.delete(each)
        }
      }
      expect(evaluations.mock.calls.length).toBeLessThanOrEqual(4 * all.length)
    }
  })

  test('do not let a reader overtake a writer that waits', async () => {
    const { enter, leave } = lockRoom()
    const reads = { key: 'file:/a', mode: 'read' } as const
    const [reader, writer, later] = [enter([reads]), enter(['file:/a']), enter([reads])]
    await turn()
    expect([reader.hasBegun, writer.hasBegun, later.hasBegun]).toEqual([true, false, false])
    leave(reader)
    await turn()
    expect([writer.hasBegun, later.hasBegun]).toEqual([true, false])
    leave(writer)
    await turn()
    expect(later.hasBegun).toBe(true)
  })

  test.each<[string, readonly Conflict[], readonly Conflict[], boolean]>([
    ['a folder and what is below it', ['file:/ws'], ['file:/ws/a/b'], true],
    ['what is below a folder, which is read', ['file:/ws/a'], [{ key: 'file:/ws', mode: 'read' }], true],
    ['two names of which one begins like the other', ['file:/ws'], ['file:/wsx'], false],
    ['two parts of one folder', ['file:/ws/a'], ['file:/ws/b'], false],
    ['two readers', [{ key: 'a', mode: 'read' }], [{ key: 'a/b', mode: 'read' }], false],
    ['empty segments', ['file://ws//a/'], ['file:/ws/a'], true],
    ['a thing of the session and one of the executor', [{ key: 'a', scope: 'session' }], ['a'], false],
    ['a list of which one thing clashes', ['a', 'b', 'c'], ['d', 'c/d'], true],
  ])('keep %s apart: %j, %j: %s', (_what, one, other, isApart) => {
    const { enter } = lockRoom()
    enter(one)
    expect(enter(other).hasBegun).toBe(!isApart)
  })

  test('keep what is of a session apart within it, and not between two', () => {
    const { enter } = lockRoom()
    const own = [{ key: 'note', scope: 'session' }] as const
    expect(enter(own, {}, 's').hasBegun).toBe(true)
    expect(enter(own, {}, 's').hasBegun).toBe(false)
    expect(enter(own, {}, 'another').hasBegun).toBe(true)
  })

  test('keep nothing of many things that were locked once', () => {
    const { enter, leave } = lockRoom()
    const added = vi.spyOn(Map.prototype, 'set')
    enter(['held meanwhile'])
    for (let index = 0; index < 5_000; index++) leave(enter([`file:/${index}`]))
    const maps = new Set(added.mock.contexts as Map<unknown, unknown>[])
    expect(added.mock.calls.length).toBeGreaterThan(5_000)
    for (const { size } of maps) expect(size).toBeLessThanOrEqual(1_002)
  })
})

/** A file in memory that is read, then written a moment later. */
function editor(options: object): ReturnType<typeof createExecutor> & { readonly file: () => string } {
  let file = ''
  const edit = work(
    'edit',
    async ({ text: added }: { text: string }) => {
      const before = file
      await pause(1)
      file = before + added
      return file
    },
    options,
  )
  return Object.assign(createExecutor({ tools: [edit], concurrency: 6 }), { file: () => file })
}

const edits = ['a', 'b', 'c', 'd', 'e', 'f'].map((added) => ({ name: 'edit', args: { path: '/f', text: added } }))
const touching = { conflicts: ({ path }: { path: string }) => [`file:${path}`] }

describe('calls that touch the same thing', () => {
  test('in one turn all land, in the order of the calls; without `conflicts` one of them does', async () => {
    const apart = editor(touching)
    await soon(apart.executeToolCalls(edits))
    expect(apart.file()).toBe('abcdef')
    const beside = editor({})
    await soon(beside.executeToolCalls(edits))
    expect(beside.file()).toHaveLength(1)
  })

  test('wait for each other over sessions, and not for calls that touch something else', async () => {
    const gate = deferred()
    const began: string[] = []
    const tool = work(
      't',
      ({ path }: { path: string }, { session }) => {
        began.push(`${session}${path}`)
        return gate.promise
      },
      touching,
    )
    const executor = createExecutor({ tools: [tool] })
    const running = [
      ['s', '/a'],
      ['t', '/a'],
      ['t', '/b'],
    ].map(([session, path]) => executor.execute({ name: 't', args: { path } }, { session }))
    await turn()
    expect(began).toEqual(['s/a', 't/b'])
    gate.resolve()
    await soon(Promise.all(running))
    expect(began).toEqual(['s/a', 't/b', 't/a'])
  })

  test('hold no slot while they wait', async () => {
    const gate = deferred()
    const held = work('held', () => gate.promise, { conflicts: () => ['thing'] })
    const free = work('free', () => 'ran')
    const executor = createExecutor({ tools: [held, free], concurrency: 2 })
    const settled: string[] = []
    executor.on('call:settled', ({ toolName }) => void settled.push(toolName))
    const names = ['held', 'held', 'held', 'free', 'free']
    const running = executor.executeToolCalls(names.map((name) => ({ name })))
    await turn()
    expect(settled).toEqual(['free', 'free'])
    gate.resolve()
    expect((await soon(running)).map(({ status }) => status)).toEqual(names.map(() => 'ok'))
  })

  test('spend no time of their own while they wait', async () => {
    vi.useFakeTimers()
    const executor = createExecutor({
      tools: [work('t', () => pause(40), { conflicts: () => ['thing'], timeout: 50 })],
    })
    const results: ToolResult[] = []
    for (let index = 0; index < 10; index++) void executor.execute({ name: 't' }).then((result) => results.push(result))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(results.map(outcome)).toEqual(Array.from({ length: 10 }, () => 'ok completed'))
  })

  test('that are given up while they wait leave nothing behind', async () => {
    const gate = deferred()
    const began: unknown[] = []
    const handler = ({ number }: { number: number }): Promise<void> => {
      began.push(number)
      return gate.promise
    }
    const executor = createExecutor({ tools: [work('t', handler, { conflicts: () => ['thing'] })] })
    const leaving = new AbortController()
    const call = (number: number, signal?: AbortSignal): Promise<ToolResult> =>
      executor.execute({ name: 't', args: { number } }, { ...(signal && { signal }) })
    const [first, second, third] = [call(1), call(2, leaving.signal), call(3)]
    await turn()
    leaving.abort()
    expect(outcome(await soon(second))).toBe('cancelled none E_TOOL_CANCELLED')
    gate.resolve()
    expect((await soon(Promise.all([first, third]))).map(outcome)).toEqual(['ok completed', 'ok completed'])
    expect(began).toEqual([1, 3])
  })

  test('keep their locks until their work has ended, and 30 s at most, which is reported', async () => {
    vi.useFakeTimers()
    const { reports, report } = sink()
    const began: number[] = []
    const options = { conflicts: () => ['thing'], timeout: 1_000 }
    const tools = [
      work('long', () => pause(5_000), options),
      work('stuck', () => never, options),
      work('next', () => void began.push(performance.now()), { ...options, timeout: 0 }),
    ]
    const executor = createExecutor({ tools, report })
    const start = performance.now()
    for (const name of ['long', 'next']) void executor.execute({ name })
    await vi.advanceTimersByTimeAsync(10_000)
    for (const name of ['stuck', 'next']) void executor.execute({ name })
    await vi.advanceTimersByTimeAsync(40_000)
    expect(began.map((at) => at - start)).toEqual([5_000, 41_000])
    expect(reports).toMatchObject([
      { code: 'E_TOOL_TIMEOUT', message: expect.stringContaining('tool "stuck"') as never },
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('wait for work whose own call is over no longer than their own time, also behind each other', async () => {
    vi.useFakeTimers()
    const options = { conflicts: () => ['thing'], timeout: 50 }
    const executor = createExecutor({ tools: [work('stuck', () => never, options), work('behind', () => 1, options)] })
    const results: string[] = []
    for (const name of ['stuck', 'behind', 'behind', 'behind']) {
      void executor.execute({ name }).then((result) => results.push(`${outcome(result)} ${performance.now() - start}`))
    }
    const start = performance.now()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(results).toEqual([
      'timed_out unknown E_TOOL_TIMEOUT 50',
      ...Array.from({ length: 3 }, () => 'timed_out none E_TOOL_TIMEOUT 100'),
    ])
  })

  test('end after `waitTimeout`, with the key and the call that holds it, if that is of the same session', async () => {
    vi.useFakeTimers()
    const holder = work('holder', () => never, { conflicts: () => ['file:/ws'], timeout: 0 })
    const waiter = work('waiter', () => 1, {
      conflicts: (_input: object, { session }: { session: string }) => [session, { key: 'file:/ws/a', mode: 'read' }],
    })
    const executor = createExecutor({ tools: [holder, waiter], waitTimeout: 2_000 })
    void executor.execute({ name: 'holder' }, { invocationId: 'first', session: 's' })
    const results: ToolResult[] = []
    for (const session of ['s', 'another']) {
      void executor.execute({ name: 'waiter' }, { session }).then((result) => results.push(result))
    }
    await vi.advanceTimersByTimeAsync(1_999)
    expect(results).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(results.map(outcome)).toEqual(['timed_out none E_TOOL_TIMEOUT', 'timed_out none E_TOOL_TIMEOUT'])
    const words = 'The call was not started within 2,000 ms: it waited for "file:/ws/a", behind'
    expect(results[0]?.error).toMatchObject({
      retryable: true,
      message: `${words} tool "holder" (invocation "first").`,
    })
    expect(results[1]?.error?.message).toBe(`${words} a call of another session.`)
  })

  test.each([0, Infinity])('wait without an end if `waitTimeout` is %d', async (waitTimeout) => {
    vi.useFakeTimers()
    const gate = deferred()
    const t = work('t', () => gate.promise, { conflicts: () => ['thing'], timeout: 0 })
    const executor = createExecutor({ tools: [t], waitTimeout })
    const results = Promise.all([executor.execute({ name: 't' }), executor.execute({ name: 't' })])
    await vi.advanceTimersByTimeAsync(10_000_000)
    gate.resolve()
    expect((await results).map(outcome)).toEqual(['ok completed', 'ok completed'])
  })

  test('are waited for as long as one after the other ends, also if that takes minutes', async () => {
    vi.useFakeTimers()
    const executor = createExecutor({ tools: [work('t', () => pause(20_000), { conflicts: () => ['thing'] })] })
    const results: ToolResult[] = []
    for (let index = 0; index < 10; index++) void executor.execute({ name: 't' }).then((result) => results.push(result))
    await vi.advanceTimersByTimeAsync(250_000)
    expect(results.map(outcome)).toEqual(Array.from({ length: 10 }, () => 'ok completed'))
  })

  test('wait for a tool that runs alone, and it for them', async () => {
    const log: string[] = []
    const tools = [
      work(
        'keyed',
        async ({ key }: { key: string }) => {
          log.push(`> ${key}`)
          await pause(2)
          log.push(`< ${key}`)
        },
        { conflicts: ({ key }: { key: string }) => [key] },
      ),
      work(
        'alone',
        async () => {
          log.push('> alone')
          await pause(2)
          log.push('< alone')
        },
        { traits: { concurrent: false } },
      ),
    ]
    const executor = createExecutor({ tools, concurrency: 9 })
    await soon(
      executor.executeToolCalls([
        { name: 'keyed', args: { key: 'a' } },
        { name: 'keyed', args: { key: 'a' } },
        { name: 'keyed', args: { key: 'b' } },
        { name: 'alone' },
        { name: 'keyed', args: { key: 'b' } },
        { name: 'keyed', args: { key: 'c' } },
      ]),
    )
    const [before, after] = [log.slice(0, log.indexOf('> alone')), log.slice(log.indexOf('< alone') + 1)]
    expect(before.filter((line) => line.endsWith('a'))).toEqual(['> a', '< a', '> a', '< a'])
    expect(before.filter((line) => line.endsWith('b'))).toEqual(['> b', '< b'])
    expect(after.toSorted()).toEqual(['< b', '< c', '> b', '> c'])
    expect(log).toHaveLength(12)
  })

  test('see args after validation, and the context of the call', async () => {
    const seen: unknown[] = []
    const t = work('t', () => 1, {
      conflicts: (input: object, { session, values }: { session: string; values: object }) => {
        seen.push(input, session, values)
        return []
      },
    })
    const values = { tenant: 'x' }
    await createExecutor({ tools: [t] }).execute({ name: 't', args: { a: 1 } }, { session: 's', values })
    expect(seen).toEqual([{ a: 1 }, 's', values])
  })

  test('are not asked what they touch if a policy has the result', async () => {
    let asked = 0
    const t = work('t', () => 1, { conflicts: () => [`${asked++}`] })
    const use = [{ policies: [{ name: 'p', decide: () => ({ result: 'known' }) }] }]
    expect(text(await createExecutor({ tools: [t], use }).execute({ name: 't' }))).toBe('known')
    expect(asked).toBe(0)
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    [
      'throws something hostile',
      () => {
        throw hostile()
      },
    ],
    [
      'throws an error of the package',
      () => {
        throw new ToolDeniedError('no')
      },
    ],
    ['returns nothing', () => undefined],
    ['returns a text', () => 'file:/a'],
    ['returns a promise', () => Promise.resolve(['a'])],
    ['returns 257 keys', () => Array.from({ length: 257 }, (_, index) => String(index))],
    ['returns a key of 1,025 characters', () => ['x'.repeat(1_025)]],
    ['returns a key without a segment', () => ['//']],
    ['returns numbers', () => [1]],
    ['returns null', () => [null]],
    ['returns a hole', () => Array(1)],
    ['returns another mode', () => [{ key: 'a', mode: 'append' }]],
    ['returns another scope', () => [{ key: 'a', scope: 'fleet' }]],
    ['returns something hostile', () => [hostile()]],
  ])('are not run if `conflicts` %s', async (_what, conflicts) => {
    let runs = 0
    const { reports, report } = sink()
    const executor = createExecutor({ tools: [work('t', () => ++runs, { conflicts })], report })
    expect(outcome(await executor.execute({ name: 't' }))).toBe('error none E_TOOL_DOWNSTREAM_ERROR')
    expect([runs, reports]).toEqual([0, []])
  })

  test('may have 256 keys of 1,024 characters with 512 segments', async () => {
    const keys = Array.from({ length: 256 }, (_, index) => `${'a/'.repeat(500)}${index}`)
    const executor = createExecutor({ tools: [work('t', () => 'ran', { conflicts: () => keys })] })
    const results = await soon(Promise.all([executor.execute({ name: 't' }), executor.execute({ name: 't' })]))
    expect(results.map(text)).toEqual(['ran', 'ran'])
  })

  test('keep a stream to themselves until it is kept', async () => {
    const log: string[] = []
    const reading = work(
      'read',
      () =>
        ReadableStream.from(
          (async function* () {
            yield 'x'
            await pause(5)
            log.push('read')
          })(),
        ),
      { conflicts: () => [{ key: 'file:/a', mode: 'read' }] },
    )
    const writing = work('write', () => void log.push('written'), { conflicts: () => ['file:/a'] })
    const executor = createExecutor({ tools: [reading, writing] })
    await soon(Promise.all([executor.execute({ name: 'read' }), executor.execute({ name: 'write' })]))
    expect(log).toEqual(['read', 'written'])
  })
})

test('10,000 calls of their own things cost not much more than calls that touch nothing', async () => {
  const executor = createExecutor({
    tools: [work('own', () => 1, { conflicts: ({ key }: { key: string }) => [`file:/ws/${key}`] })],
  })
  const events: ToolEvent[] = heard(executor)
  const calls = Array.from({ length: 10_000 }, (_, index) =>
    executor.execute({ name: 'own', args: { key: `${index}` } }),
  )
  const results = await Promise.all(calls)
  expect(results.every(({ status }) => status === 'ok')).toBe(true)
  expect(events.filter(({ event }) => event === 'call:settled')).toHaveLength(10_000)
})
