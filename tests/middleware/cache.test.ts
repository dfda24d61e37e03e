import {
  content,
  createExecutor,
  json,
  ToolRegistry,
  type CallOptions,
  type ToolEvent,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import { cache, type CacheOptions } from 'toolwright/middleware/cache'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { middlewareConformance, testTool } from '../conformance/middleware.ts'

middlewareConformance('cache', () => cache())
middlewareConformance('a shared cache', () => cache({ scope: 'shared' }))

const readonly = { traits: { readonly: true }, audience: 'all' }

interface Counted {
  readonly executor: ToolExecutor
  readonly runs: () => number
  readonly call: (args?: unknown, options?: CallOptions) => Promise<ToolResult>
}

/** A tool that counts its runs, within a cache. */
function counted(options: CacheOptions = {}, tool: object = readonly, make?: (run: number) => unknown): Counted {
  let runs = 0
  const work = testTool(() => {
    runs++
    return make === undefined ? { run: runs } : make(runs)
  }, tool)
  const executor = createExecutor({ tools: [work], use: [cache(options)] })
  return {
    executor,
    runs: () => runs,
    call: (args = { a: 1 }, of = { session: 'one' }) => executor.execute({ name: 'work', args }, of),
  }
}

afterEach(() => void vi.useRealTimers())

describe('cache', () => {
  test('gives the result of the same call again, without a run', async () => {
    const { call, runs, executor } = counted()
    const events: ToolEvent[] = []
    executor.on('tool:progress', (event) => void events.push(event))
    const first = await call({ a: 1, b: 2 })
    const second = await call('{"b":2.0,"a":1}')
    expect(second.content).toEqual(first.content)
    expect(second.callId).toBe(first.callId)
    expect(second).toMatchObject({ status: 'ok', effect: 'none' })
    expect(runs()).toBe(1)
    expect(events).toMatchObject([{ type: 'cache', data: { hit: true }, invocationId: second.invocationId }])
  })

  test('keeps the results of a tool that says so, for as long as it says, and none of one that says no', async () => {
    const own = counted({}, { metadata: { cacheable: true } })
    const never = counted({}, { ...readonly, metadata: { cacheable: false } })
    const short = counted({ ttl: 60_000 }, { ...readonly, metadata: { cacheTTL: 0 } })
    const long = counted({ ttl: 0 }, { ...readonly, metadata: { cacheTTL: 60_000 } })
    for (const { call } of [own, never, short, long]) {
      await call()
      await call()
    }
    expect([own, never, short, long].map(({ runs }) => runs())).toEqual([1, 2, 2, 1])
  })

  test.each<[string, Parameters<Counted['call']>[]]>([
    ['other args', [[{ a: 1 }], [{ a: 2 }], [{}]]],
    [
      'another session',
      [
        [{}, { session: 'one' }],
        [{}, { session: 'two' }],
      ],
    ],
    [
      'another caller',
      [
        [{}, { session: 'one', caller: 'model' }],
        [{}, { session: 'one', caller: 'user' }],
      ],
    ],
  ])('%s are another call', async (_, calls) => {
    const { call, runs } = counted()
    for (const each of calls) await call(...each)
    expect(runs()).toBe(calls.length)
  })

  test('may be shared between sessions, and never between callers', async () => {
    const { call, runs } = counted({ scope: 'shared' })
    await call({}, { session: 'one' })
    await call({}, { session: 'two' })
    expect(runs()).toBe(1)
    await call({}, { session: 'two', caller: 'user' })
    expect(runs()).toBe(2)
  })

  test.each<[string, object]>([
    ['a tool that does not say that it is readonly', {}],
    ['an idempotent tool', { traits: { idempotent: true } }],
    ['a tool whose server calls it readonly', { traits: { readonly: true }, type: 'mcp' }],
  ])('runs %s each time', async (_, tool) => {
    const { call, runs } = counted({}, tool)
    await call()
    await call()
    expect(runs()).toBe(2)
  })

  test('a definition that takes the place of another finds nothing of it', async () => {
    const tools = new ToolRegistry([testTool(() => 'old', readonly)])
    const executor = createExecutor({ tools, use: [cache()] })
    const call = async (): Promise<unknown> => (await executor.execute({ name: 'work' })).content
    expect(await call()).toEqual([{ type: 'text', text: 'old' }])
    tools.add(
      testTool(() => 'new', readonly),
      { onCollision: 'replace' },
    )
    expect(await call()).toEqual([{ type: 'text', text: 'new' }])
  })

  test.each<[string, (run: number) => unknown]>([
    ['an exception', (run) => (run < 3 ? Promise.reject(new Error('no')) : 'done')],
    ['a failure that was returned', (run) => (run < 3 ? { ok: false, error: 'no' } : 'done')],
  ])('does not keep %s', async (_, make) => {
    const { call, runs } = counted({}, readonly, make)
    for (const status of ['error', 'error', 'ok', 'ok']) expect(await call()).toMatchObject({ status })
    expect(runs()).toBe(3)
  })

  test.each<[string, object, (run: number) => unknown]>([
    [
      'what does not fit the outputSchema',
      { outputSchema: { type: 'object', required: ['right'] } },
      (run) => (run < 3 ? { wrong: run } : { right: run }),
    ],
    ['what is no result', {}, (run) => (run < 3 ? { big: BigInt(run) } : { right: run })],
  ])('does not keep %s', async (_, options, make) => {
    const { call, runs } = counted({}, { ...readonly, ...options }, make)
    for (const status of ['error', 'error', 'ok', 'ok']) expect(await call()).toMatchObject({ status })
    expect(runs()).toBe(3)
  })

  test('does not keep what comes after its call has settled', async () => {
    const controller = new AbortController()
    let isLate: () => void = () => {}
    const late = new Promise<void>((resolve) => (isLate = resolve))
    let runs = 0
    const standing = {
      middleware: [
        async () => {
          if (++runs > 1) return 'at once'
          controller.abort()
          await late
          return 'late'
        },
      ],
    }
    const tools = [testTool(() => 'never asked', readonly)]
    const executor = createExecutor({ tools, use: [cache(), standing] })
    const call = (signal?: AbortSignal): Promise<ToolResult> => executor.execute({ name: 'work' }, { signal })
    expect(await call(controller.signal)).toMatchObject({ status: 'cancelled' })
    isLate()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await call()).toMatchObject({ content: [{ text: 'at once' }] })
  })

  test('keeps nothing where its observer is left out', async () => {
    let runs = 0
    const own = { ...readonly, middleware: cache().middleware }
    const executor = createExecutor({ tools: [testTool(() => ++runs, own)] })
    for (const run of ['1', '2'])
      expect(await executor.execute({ name: 'work' })).toMatchObject({ content: [{ text: run }] })
  })

  test.each<[string, () => unknown]>([
    ['text', () => 'text'],
    ['nothing', () => undefined],
    ['null', () => null],
    ['an object', () => ({ a: [{ b: 1 }] })],
    ['a member `__proto__`', () => JSON.parse('{"__proto__":{"a":1}}') as unknown],
    ['marked content', () => content([{ type: 'resource_link', uri: 'file:///a', name: 'a' }])],
    ['marked JSON', () => json([{ type: 'text', text: 'no block' }])],
    ['bytes', () => new Uint8Array([1, 2, 3])],
    [
      'what a generator returned',
      async function* () {
        yield await Promise.resolve(1)
        return 'last'
      },
    ],
  ])('keeps %s as it is', async (_, make) => {
    const { call, runs } = counted({}, readonly, make)
    const [first, second] = [await call(), await call()]
    expect(runs()).toBe(1)
    expect(second.content).toEqual(first.content)
    expect(await second.artifact?.asString()).toBe(await first.artifact?.asString())
  })

  test.each<[string, () => unknown]>([
    ['a stream', () => new Blob(['pieces']).stream()],
    ['an instance', () => Object.assign(new (class Row {})(), { a: 1 })],
    ['a date', () => new Date(0)],
    ['an instance deep within', () => ({ a: [{ at: new Date(0) }] })],
    ['what is too large', () => 'x'.repeat(34_000_000)],
    [
      'what throws when it is read',
      () => {
        let reads = 0
        return {
          get a(): number {
            if (++reads === 1) throw new Error('not yet')
            return 1
          },
        }
      },
    ],
  ])('does not keep %s, and hands it on', async (_, make) => {
    const { call, runs } = counted({}, readonly, make)
    expect(await call()).toMatchObject({ status: 'ok' })
    expect(await call()).toMatchObject({ status: 'ok' })
    expect(runs()).toBe(2)
  })

  test('nobody changes the result of another: it is copied when it is kept and when it is given', async () => {
    const own = { list: [1] }
    const results: (typeof own)[] = []
    const meddler = {
      middleware: [
        async (_call: unknown, _context: unknown, next: () => Promise<unknown>) => {
          const value = (await next()) as typeof own
          results.push(structuredClone(value))
          value.list.push(99)
          return value
        },
      ],
    }
    const executor = createExecutor({ tools: [testTool(() => own, readonly)], use: [meddler, cache()] })
    for (let count = 0; count < 3; count++) await executor.execute({ name: 'work' })
    own.list.push(98)
    await executor.execute({ name: 'work' })
    expect(results).toEqual([{ list: [1] }, { list: [1] }, { list: [1] }, { list: [1] }])
  })

  test('keeps a result for so long, by the monotonic clock', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { call, runs } = counted({ ttl: 1_000 })
    await call()
    vi.advanceTimersByTime(999)
    await call()
    expect(runs()).toBe(1)
    vi.advanceTimersByTime(1)
    await call()
    expect(runs()).toBe(2)
    await call()
    expect(runs()).toBe(2)
  })

  test('keeps so many, and lets go of the least recently used', async () => {
    const { call, runs } = counted({ maximumEntries: 2 })
    await call({ a: 1 })
    await call({ a: 2 })
    await call({ a: 1 })
    await call({ a: 3 }) // for which 2 has to go
    expect(runs()).toBe(3)
    await call({ a: 1 })
    expect(runs()).toBe(3)
    await call({ a: 2 })
    expect(runs()).toBe(4)
  })

  test('lets go of results where together they are too large', async () => {
    const { call, runs } = counted({}, readonly, () => 'x'.repeat(12_000_000))
    await call({ a: 1 })
    await call({ a: 2 })
    await call({ a: 3 })
    await call({ a: 3 })
    await call({ a: 2 })
    expect(runs()).toBe(3)
    await call({ a: 1 })
    expect(runs()).toBe(4)
  })

  test('joins no calls that run side by side', async () => {
    const { call, runs } = counted({}, readonly, (count) => Promise.resolve(count))
    await Promise.all([call(), call()])
    expect(runs()).toBe(2)
  })

  test('lets go of everything when the executor closes', async () => {
    const extension = cache()
    let runs = 0
    const tools = [testTool(() => ++runs, readonly)]
    const call = async (): Promise<ToolExecutor> => {
      const executor = createExecutor({ tools, use: [extension] })
      await executor.execute({ name: 'work' }, { session: 'one' })
      return executor
    }
    await call()
    await (await call()).close()
    expect(runs).toBe(1)
    await call()
    expect(runs).toBe(2)
  })

  test.each([
    ['no entries', { maximumEntries: 0 }],
    ['a time that is no number', { ttl: Number.NaN }],
    ['an unknown scope', { scope: 'global' }],
    ['an option that is misspelt', { maxEntries: 5 }],
    ['nothing', null],
  ])('refuses %s', (_, options) => {
    expect(() => cache(options as never)).toThrow(InvalidConfigurationError)
  })
})
