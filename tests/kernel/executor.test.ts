import fc from 'fast-check'
import {
  createExecutor,
  memoryStore,
  ToolFailure,
  type ExecutorOptions,
  type Extension,
  type Tool,
  type ToolEvent,
} from 'toolwright'
import type { ArtifactStore, Middleware, Policy } from 'toolwright/extension'
import { artifactTools } from 'toolwright/artifacts/tools'
import { fleet } from 'toolwright/distributed/fleet'
import { memoryJournal } from 'toolwright/journals/memory'
import { mcpServer } from 'toolwright/mcp/server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
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
import { records } from 'toolwright/records'

const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(async () => {
  await pause(50)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

describe('closing an executor', () => {
  test('refuses what comes later, and lets go of what the extensions hold', async () => {
    const closed: string[] = []
    const executor = createExecutor({
      tools: [work('t', () => 1)],
      use: [{ close: () => void closed.push('one') }, {}, { close: async () => void closed.push('two') }],
    })
    await executor.close()
    expect(closed).toEqual(['one', 'two'])
    const events = heard(executor)
    expect(outcome(await executor.execute({ name: 't' }))).toBe('cancelled none E_TOOL_CANCELLED')
    expect((await executor.executeToolCalls([{ name: 't' }, { name: 't' }])).map(({ status }) => status)).toEqual([
      'cancelled',
      'cancelled',
    ])
    expect(names(events.slice(0, 2))).toBe('call:received call:settled')
  })

  test('cancels what is still in flight, at once', async () => {
    let signal: AbortSignal | undefined
    const stuck = work('t', (_, context) => {
      signal = context.signal
      return never
    })
    const executor = createExecutor({ tools: [stuck] })
    const running = executor.execute({ name: 't' })
    await turn()
    await soon(executor.close())
    expect(outcome(await running)).toBe('cancelled unknown E_TOOL_CANCELLED')
    expect(signal?.aborted).toBe(true)
  })

  test.each([5_000, Infinity])('waits as long as it is told: %d', async (drain) => {
    const executor = createExecutor({ tools: [work('t', () => pause(30))] })
    const running = executor.execute({ name: 't' })
    await executor.close({ drain })
    expect((await running).status).toBe('ok')
  })

  test('cancels what waits for a person or for a slot', async () => {
    const tools = [work('asks', () => 1, { requiresConfirmation: true }), work('t', () => never)]
    const executor = createExecutor({ tools, concurrency: 1, use: [{ approver: { ask: () => never } }] })
    const running = executor.executeToolCalls([{ name: 'asks' }, { name: 't' }, { name: 't' }])
    await turn()
    await soon(executor.close())
    expect((await soon(running)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  test('may be asked for twice, and closes once', async () => {
    let closed = 0
    const executor = createExecutor({ tools: [work('t', () => pause(20))], use: [{ close: () => void closed++ }] })
    const running = executor.execute({ name: 't' })
    await soon(
      Promise.all([
        executor.close({ drain: 1_000 }),
        executor.close({ drain: 1_000 }),
        executor[Symbol.asyncDispose](),
      ]),
    )
    await soon(executor.close())
    expect(closed).toBe(1)
    expect((await running).status).toBe('ok')
  })

  test('lets go of all extensions, though one breaks', async () => {
    let isClosed = false
    const broken = (): never => {
      throw new Error('no')
    }
    const executor = createExecutor({
      use: [{ close: broken }, { close: () => void (isClosed = true) }],
      report: sink().report,
    })
    await soon(executor.close()).catch(() => {})
    expect(isClosed).toBe(true)
  })

  test('comes with `await using`', async () => {
    let isClosed = false
    const open = async (): Promise<void> => {
      await using executor = createExecutor({
        tools: [work('t', () => 1)],
        use: [{ close: () => void (isClosed = true) }],
      })
      await executor.execute({ name: 't' })
    }
    await open()
    expect(isClosed).toBe(true)
  })
})

test('an executor is made, listed and watched where there are no random values, as while a Worker loads', async () => {
  const spy = vi.spyOn(crypto, 'randomUUID').mockImplementation(() => {
    throw new Error('Disallowed operation called within global scope.')
  })
  const executor = createExecutor({ tools: [work('t', () => 1)], use: [artifactTools()] })
  const listed = executor.tools().map(({ name }) => name)
  const undo = executor.on('tools:changed', () => {})
  mcpServer({ executor }).http()
  undo()
  spy.mockRestore()
  expect(listed).toContain('t')
  await executor.execute({ name: 't' })
  expect(executor.tools().map(({ name }) => name)).toEqual(listed)
})

describe('an invocation', () => {
  test('runs once at a time under an id of the application', async () => {
    const gate = deferred()
    let runs = 0
    const t = work('t', async () => {
      runs++
      await gate.promise
    })
    const executor = createExecutor({ tools: [t] })
    const first = executor.execute({ name: 't' }, { invocationId: 'i' })
    const second = await executor.execute({ name: 't' }, { invocationId: 'i' })
    expect(outcome(second)).toBe('error unknown E_DUPLICATE_INVOCATION')
    gate.resolve()
    expect((await first).status).toBe('ok')
    expect(runs).toBe(1)
    expect((await executor.execute({ name: 't' }, { invocationId: 'i' })).status).toBe('ok')
  })

  test('has an id of its own where the host gives none', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)] })
    const other = createExecutor({ tools: [work('t', () => 1)] })
    const results = await Promise.all([executor, executor, other].map((one) => one.execute({ id: 'same', name: 't' })))
    expect(new Set(results.map(({ invocationId }) => invocationId)).size).toBe(3)
  })

  test('without a session is in that of the executor', async () => {
    const seen: string[] = []
    const executor = createExecutor({ tools: [work('t', (_, { session }) => void seen.push(session))] })
    await executor.execute({ name: 't' })
    await executor.execute({ name: 't' })
    expect(seen).toEqual([executor.session, executor.session])
    expect(createExecutor().session).not.toBe(executor.session)
  })

  test('takes nothing about who asks from the call itself', async () => {
    const t = work('t', (_, { session, caller, values }) => ({ session, caller, values }), { audience: 'user' })
    const executor = createExecutor({ tools: [t] })
    const forged = { name: 't', caller: 'user', session: 'other', values: { admin: true }, invocationId: 'mine' }
    const result = await executor.execute(forged)
    expect(outcome(result)).toBe('error none E_TOOL_NOT_FOUND')
    expect(result.invocationId).not.toBe('mine')
  })
})

describe('the options', () => {
  test.each<[string, object]>([
    ['a timeout that is none', { timeout: -1 }],
    ['a timeout in words', { timeout: '5s' }],
    ['no concurrency', { concurrency: 0 }],
    ['an inlineLimit that is no number', { inlineLimit: Number.NaN }],
    ['an argsLimit below nothing', { argsLimit: -1 }],
    ['a leaf that was not called', { use: [() => ({})] }],
    ['an extension that is nothing', { use: [null] }],
    ['two stores', { use: [{ store: memoryStore() }, { store: memoryStore() }] }],
    ['two approvers', { use: [{ approver: { ask: () => never } }, { approver: { ask: () => never } }] }],
    [
      'two runners of a type',
      { use: [{ runners: [{ type: 'x', run() {} }] }, { runners: [{ type: 'x', run() {} }] }] },
    ],
    ['tools that are none', { tools: 5 }],
    ['an option that is misspelt', { concurency: 1 }],
    ['an option that every object has', { toString: () => 'x' }],
    ['an extension of which nothing is read', { use: [{ policy: [] }] }],
    ['a store that is no extension', { use: [{ ...memoryStore() }] }],
  ])('that are wrong are refused at once: %s', (_, options) => {
    expect(() => createExecutor(options)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  })

  test('that are unknown are refused with the names of those that there are, and with the place of a door', () => {
    const policies = [{ name: 'no', decide: () => ({ decision: 'deny' }) }]
    expect(() => createExecutor({ policies } as never)).toThrow(
      '`createExecutor` has no option "policies"; its options are tools, use, concurrency, timeout, waitTimeout, approvalTimeout, inlineLimit, argsLimit, exposeErrors, report. Extensions go into `use: [{ policies: … }]`.',
    )
    expect(() => createExecutor({ use: [{}, { policy: policies } as never] })).toThrow(
      '`use[1]` extends nothing: an extension has no "policy". The extension points are policies, approver, middleware, gates, repair, runners, store, records, observers, elsewhere, tools, offers, onToolsChange, guide, close.',
    )
  })

  test('that have a factory or a promise in place of an extension are refused with what to do', () => {
    const use = [{}, Promise.resolve({ observers: [] })] as never
    expect(() => createExecutor({ use })).toThrow('`use[1]` is not an extension but a promise: await it.')
    expect(() => createExecutor({ use: [memoryStore as never] })).toThrow(
      '`use[0]` is not an extension but function: call its factory.',
    )
  })

  test.each<[door: string, value: unknown, expected: string]>([
    ['observers', [{}], 'an array, and each member a function'],
    ['observers', () => {}, 'an array, and each member a function'],
    ['middleware', [{}], 'an array, and each member a function'],
    ['policies', [{ name: 'none' }], 'an array, and each member an object with `decide()`'],
    ['runners', [{ type: 'robot' }], 'an array, and each member an object with `run()`'],
    ['approver', {}, 'an object with `ask()`'],
    ['approver', null, 'an object with `ask()`'],
    ['store', {}, 'an object with `write()`, `open()`, `delete()`'],
    ['records', {}, 'a function'],
    ['tools', [{}], 'a function'],
    ['close', true, 'a function'],
  ])('are checked for what each door of an extension holds: %s of %j', (door, value, expected) => {
    expect(() => createExecutor({ use: [{}, { [door]: value }] as never })).toThrow(
      expect.objectContaining({
        code: 'E_INVALID_CONFIGURATION',
        message: `\`use[1].${door}\` must be ${expected}.`,
      }),
    )
  })

  test('name a tool that is none, with its place', () => {
    expect(() => createExecutor({ tools: [{}] as never })).toThrow('`tools[0]` is not a tool but object.')
  })

  test('may all be given, and an extension may have no extension point yet, or members of its own beside one', () => {
    const options: Required<ExecutorOptions> = {
      tools: [],
      use: [{}, { close: () => {}, serverName: 'own' } as Extension],
      concurrency: 1,
      timeout: 1,
      waitTimeout: 1,
      approvalTimeout: 1,
      inlineLimit: 1,
      argsLimit: 1,
      exposeErrors: false,
      report: () => {},
    }
    const doors: Required<Omit<Extension, 'isGuest'>> = {
      policies: [],
      approver: { ask: () => never },
      middleware: [],
      gates: [],
      repair: () => undefined,
      runners: [],
      store: memoryStore(),
      records: records(memoryJournal().journal).records,
      observers: [],
      elsewhere: fleet().elsewhere,
      tools: () => [],
      offers: () => true,
      onToolsChange: () => () => {},
      guide: () => '',
      close: () => {},
    }
    expect(createExecutor(options).tools()).toEqual([])
    for (const [door, value] of Object.entries(doors)) {
      if (door === 'elsewhere') continue // it needs a durable journal and a store
      expect(createExecutor({ use: [{ [door]: value, own: 1 } as Extension] }).tools()).toEqual([])
    }
  })

  test.each([null, 5, 'x'])('are an object, and not %j', (options) => {
    expect(() => createExecutor(options as never)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  })

  test('may be none', async () => {
    expect(createExecutor().tools()).toEqual([])
  })

  test('of time may be without end', async () => {
    for (const timeout of [0, Infinity, 1e20]) {
      expect(
        (await createExecutor({ tools: [work('t', () => pause(5))], timeout }).execute({ name: 't' })).status,
      ).toBe('ok')
    }
  })

  test('report a tool that is set aside by one line, with its name and the reason', () => {
    const messages: unknown[][] = []
    const before = console.error
    console.error = (...message: unknown[]) => void messages.push(message)
    try {
      const twice = { tools: () => [work('twice', () => 1), work('twice', () => 2)] }
      createExecutor({ use: [twice] }).tools()
    } finally {
      console.error = before
    }
    expect(messages).toEqual([[expect.stringMatching(/^E_TOOL_ALREADY_REGISTERED: The name "twice" is taken[^\n]*$/)]])
  })

  test('report to the console where nobody says otherwise', async () => {
    const messages: unknown[] = []
    const before = console.error
    console.error = (...message: unknown[]) => void messages.push(message)
    try {
      const observer = (): never => {
        throw new Error('no')
      }
      await createExecutor({ tools: [work('t', () => 1)], use: [{ observers: [observer] }] }).execute({ name: 't' })
    } finally {
      console.error = before
    }
    expect(messages.length).toBe(4)
  })
})

// One of these is put at every place that is not ours; each throws, rejects, never answers or answers with nonsense.
const faults: Record<string, () => unknown> = {
  'throws an error': () => {
    throw new Error('fault')
  },
  'throws null': () => {
    throw null // oxlint-disable-line typescript/only-throw-error -- the point of it
  },
  'throws something hostile': () => {
    throw hostile()
  },
  'throws something revoked': () => {
    throw revoked()
  },
  'throws a failure': () => {
    throw new ToolFailure('fault', { recommendations: 'again' as never })
  },
  'throws something frozen': () => {
    throw Object.freeze(new Error('fault'))
  },
  rejects: () => Promise.reject(new Error('fault')),
  'rejects with nothing': () => Promise.reject(),
  'rejects late': async () => {
    await pause(60)
    throw new Error('late')
  },
  'never answers': () => never,
  'answers late': () => pause(60),
  'gives nothing': () => undefined,
  'gives null': () => null,
  'gives a number': () => 5,
  'gives text': () => 'text',
  'gives much text': () => 'x'.repeat(40_000),
  'gives a bigint': () => 1n,
  'gives a function': () => () => 1,
  'gives a symbol': () => Symbol('x'),
  'gives something hostile': hostile,
  'gives something revoked': revoked,
  'gives a cycle': () => {
    const self: { self?: unknown } = {}
    self.self = self
    return self
  },
  'gives a thenable that throws': () => ({
    then() {
      throw new Error('fault')
    },
  }),
  'gives a getter that throws': () => [
    {
      get type() {
        throw new Error('fault')
      },
    },
  ],
  'gives bytes': () => new Uint8Array(30_000),
  'gives a stream': () => ReadableStream.from(['a', 'b']),
  'gives a stream that breaks': () =>
    new ReadableStream({
      pull(controller) {
        controller.error(new Error('fault'))
      },
    }),
  'gives a stream that never ends': () => new ReadableStream({ pull: () => never }),
  'gives a generator': async function* () {
    yield 1
    return 2
  },
  'gives a generator that throws': async function* () {
    yield 1
    throw new Error('fault')
  },
  'gives a generator that never ends': async function* () {
    yield await never
  },
  'gives content': () => [{ type: 'text', text: 'x' }],
  'gives a failure': () => ({ ok: false, error: 'fault' }),
}

type Fault = () => unknown
const good = Symbol('good')
const faultAt = (weight: number): fc.Arbitrary<string | typeof good> =>
  fc.oneof({ weight, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: fc.constantFrom(...Object.keys(faults)) })
const chosen = (name: string | typeof good, otherwise: Fault): Fault =>
  typeof name === 'string' ? (faults[name] ?? otherwise) : otherwise

/** A class is taken at once: a promise in its place is heard by nobody but its maker. */
function heardOut(value: unknown): unknown {
  if (value instanceof Promise) value.catch(() => {})
  return value
}

describe('execute', () => {
  test('has returned before anything of a handler runs, also of one that returns at once', async () => {
    const order: string[] = []
    const executor = createExecutor({ tools: [work('t', () => void order.push('handler'))] })
    const leaving = new AbortController()
    const running = [executor.execute({ name: 't' }), executor.execute({ name: 't' }, { signal: leaving.signal })]
    order.push('returned')
    leaving.abort()
    const [, abandoned] = await Promise.all(running)
    expect(order).toEqual(['returned', 'handler'])
    expect(abandoned && outcome(abandoned)).toBe('cancelled none E_TOOL_CANCELLED')
  })

  test('has returned before anybody hears of the end of a call, also of one that fails at once', async () => {
    const order: string[] = []
    const executor = createExecutor({ tools: [] })
    executor.on('call:settled', () => order.push('settled'))
    const running = executor.execute({ name: 'not there' })
    order.push('returned')
    await running
    expect(order).toEqual(['returned', 'settled'])
  })

  test.each<[string, unknown]>([
    ['a controller', new AbortController()],
    ['an empty object', {}],
    ['text', 'signal'],
  ])('refuses what is no signal, and is done with the call: %s', async (_, signal) => {
    const executor = createExecutor({ tools: [work('t', async () => 1)] })
    const events = heard(executor)
    const result = await executor.execute({ name: 't' }, { signal: signal as AbortSignal, invocationId: 'mine' })
    expect(outcome(result)).toBe('error none E_INVALID_CONFIGURATION')
    expect(names(events)).toBe('call:received call:settled')
    expect(outcome(await executor.execute({ name: 't' }, { invocationId: 'mine' }))).toBe('ok completed')
    await executor.close({ drain: 60_000 })
  })

  test('is done with a call whose signal breaks', async () => {
    const fail = (): never => {
      throw new TypeError('no listeners')
    }
    const signal = { aborted: false, addEventListener() {}, removeEventListener: fail } as unknown as AbortSignal
    const reports: unknown[] = []
    const executor = createExecutor({
      tools: [work('t', async () => 1)],
      report: (error) => void reports.push(error),
    })
    expect(outcome(await executor.execute({ name: 't' }, { signal }))).toContain('E_INTERNAL')
    expect(reports).toHaveLength(1)
    await executor.close({ drain: 60_000 })
  })

  test('rejects options that are none, and throws nothing at once', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)] })
    const running = executor.execute({ name: 't' }, null as never)
    await expect(running).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    await executor.close({ drain: 60_000 })
  })

  test('never rejects, and settles every call exactly once, whatever breaks', async () => {
    const anyCall = fc.record({
      handler: faultAt(1),
      validator: faultAt(6),
      output: faultAt(6),
      policy: faultAt(6),
      hook: faultAt(6),
      middleware: faultAt(6),
      afterwards: faultAt(6),
      observer: faultAt(4),
      write: faultAt(3),
      approver: faultAt(3),
      artifact: faultAt(8),
      confirm: fc.boolean(),
      withApprover: fc.boolean(),
      readonly: fc.boolean(),
      abort: fc.boolean(),
      name: fc.constantFrom('t', 't', 't', 'alias', 'nope'),
      args: fc.constantFrom<unknown>({}, { a: 1 }, '{"a":1}', '{"a":', { a: 1n }, null, undefined),
    })
    await fc.assert(
      fc.asyncProperty(anyCall, async (chance) => {
        const schema = (fault: string | typeof good): object => ({
          '~standard': {
            version: 1,
            vendor: 'faulty',
            validate: (value: unknown) => (fault === good ? { value } : chosen(fault, () => ({ value }))()),
          },
        })
        const middleware: Middleware = async (_call, _context, next) => {
          if (chance.middleware !== good) await chosen(chance.middleware, () => undefined)()
          const value = await next()
          return chance.afterwards === good ? value : chosen(chance.afterwards, () => value)()
        }
        const tool: Tool = work(
          't',
          chosen(chance.handler, () => ({ a: 1 })),
          {
            aliases: ['alias'],
            jsonSchema: {},
            inputSchema: schema(chance.validator),
            ...(chance.output === good ? {} : { outputSchema: schema(chance.output) }),
            ...(chance.artifact === good
              ? {}
              : { artifact: () => heardOut(chosen(chance.artifact, () => undefined)()) }),
            ...(chance.hook === good
              ? {}
              : {
                  hooks: {
                    preToolUse: chosen(chance.hook, () => undefined),
                    postToolUse: chosen(chance.hook, () => undefined),
                  },
                }),
            requiresConfirmation: chance.confirm,
            traits: { readonly: chance.readonly },
          },
        )
        const store: ArtifactStore = { ...memoryStore() }
        if (chance.write !== good) store.write = chosen(chance.write, () => undefined) as never
        const events: ToolEvent[] = []
        const policies: Policy[] =
          chance.policy === good ? [] : [{ name: 'p', decide: chosen(chance.policy, () => undefined) as never }]
        const use: Extension[] = [
          { policies, middleware: [middleware], store, observers: [(event) => void events.push(event)] },
          chance.observer === good ? {} : { observers: [chosen(chance.observer, () => undefined)] },
          chance.withApprover
            ? { approver: { timeout: 25, ask: chosen(chance.approver, async () => ({ decision: 'allow' })) as never } }
            : {},
        ]
        const executor = createExecutor({ tools: [tool], use, timeout: 25, report: () => {} })
        const leaving = new AbortController()
        if (chance.abort) setTimeout(() => leaving.abort(), 3)
        const result = await soon(
          executor.execute({ name: chance.name, args: chance.args }, { signal: leaving.signal }),
        )

        expect(['ok', 'error', 'denied', 'timed_out', 'cancelled', 'waiting']).toContain(result.status)
        // A fault of theirs is never called one of ours.
        if (chance.artifact === good) expect(result.error?.code).not.toBe('E_INTERNAL')
        expect(result.isError).toBe(result.error !== undefined)
        expect(text(result).length).toBeGreaterThan(0)
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
        expect(events[0]?.event).toBe('call:received')
        const isWaiting = result.status === 'waiting'
        expect(events.filter(({ event }) => event === 'call:settled')).toHaveLength(isWaiting ? 0 : 1)
        const end = { event: 'call:settled', status: result.status, effect: result.effect }
        expect(events.at(-1)).toMatchObject(isWaiting ? { event: 'call:waiting' } : end)
        const starts = events.flatMap(({ event }, index) => (event === 'tool:start' ? [index] : []))
        const ends = events.flatMap(({ event }, index) => (event === 'tool:end' ? [index] : []))
        expect(starts.length).toBe(ends.length)
        expect(starts.length).toBeLessThanOrEqual(1)
        if (starts.length === 1) expect(starts[0]).toBeLessThan(ends[0] ?? -1)
        const before = names(events)
        await soon(executor.close()) // which ends what waits
        expect(names(events)).toBe(isWaiting ? `${before} call:settled` : before)
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 400) },
    )
    await pause(100)
    expect(unhandled).toEqual([])
  }, 300_000)

  test.each(Object.keys(faults))('meets each fault by itself: a handler that %s', async (name) => {
    const executor = createExecutor({ tools: [work('t', faults[name] as Fault)], timeout: 30, report: () => {} })
    const events = heard(executor)
    const result = await soon(executor.execute({ name: 't' }))
    expect(result.error?.code).not.toBe('E_INTERNAL')
    expect(names(events.filter(({ event }) => event !== 'tool:progress'))).toBe(
      'call:received tool:start tool:end call:settled',
    )
  })

  test('settles 10,000 calls in flight exactly once each', async () => {
    const gate = deferred()
    let runs = 0
    const t = work('t', async ({ index }: { index: number }) => {
      runs++
      await gate.promise
      if (index % 3 === 1) throw new Error('no')
      return index
    })
    const executor = createExecutor({ tools: [t], timeout: 0 })
    const settled = new Map<string, number>()
    executor.on(
      'call:settled',
      ({ invocationId }) => void settled.set(invocationId, (settled.get(invocationId) ?? 0) + 1),
    )
    const running = Array.from({ length: 10_000 }, (_, index) =>
      executor.execute({ id: index, name: 't', args: { index } }),
    )
    await turn()
    gate.resolve()
    const results = await Promise.all(running)
    expect(runs).toBe(10_000)
    expect(settled.size).toBe(10_000)
    expect([...settled.values()].every((count) => count === 1)).toBe(true)
    expect(
      results.every(
        ({ id, status, invocationId }, index) =>
          id === index && status === (index % 3 === 1 ? 'error' : 'ok') && settled.has(invocationId),
      ),
    ).toBe(true)
    await soon(executor.close())
  }, 60_000)

  test('changes nothing that it was given', async () => {
    const call = Object.freeze({ id: 'x', name: 't', args: Object.freeze({ a: Object.freeze([1]) }) })
    const options = Object.freeze({ session: 's', values: Object.freeze({}) })
    const executor = createExecutor({ tools: [work('t', (input) => input, { requiresConfirmation: () => false })] })
    expect((await executor.execute(call, options)).status).toBe('ok')
  })
})
