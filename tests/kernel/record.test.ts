import fc from 'fast-check'
import {
  createExecutor,
  ToolError,
  ToolFailure,
  type Extension,
  type ToolEvent,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import type { ApprovalAnswer, ToolCallRecord, ToolCallState } from 'toolwright/extension'
import { foldEvent, isSettled } from 'toolwright/records'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { heard, never, pause, work } from './_calls.ts'
import { foldOf, publicRecordOf, recordIn } from './_journals.ts'
import { advance, snapshotOf } from './_inside.ts'

const states: readonly ToolCallState[] = [
  'PENDING',
  'APPROVAL_REQUIRED',
  'APPROVED',
  'EXECUTING',
  'COMPLETED',
  'FAILED',
  'DENIED',
  'SEALED',
]

const legal: readonly string[] = [
  'PENDING APPROVAL_REQUIRED',
  'PENDING EXECUTING',
  'PENDING COMPLETED',
  'PENDING FAILED',
  'PENDING DENIED',
  'PENDING SEALED',
  'APPROVAL_REQUIRED APPROVED',
  'APPROVAL_REQUIRED FAILED',
  'APPROVAL_REQUIRED DENIED',
  'APPROVAL_REQUIRED SEALED',
  'APPROVED EXECUTING',
  'APPROVED COMPLETED',
  'APPROVED FAILED',
  'APPROVED DENIED',
  'APPROVED SEALED',
  'EXECUTING COMPLETED',
  'EXECUTING FAILED',
  'EXECUTING SEALED',
]

const envelope = { callId: null, invocationId: 'i', toolName: 't', session: 's' }

function recordOf(state: ToolCallState): ToolCallRecord {
  const received: ToolEvent = { ...envelope, event: 'call:received', args: {}, seq: 0, timestamp: 1 }
  return { ...foldEvent(undefined, received), state }
}

const pairs = states.flatMap((from) => states.map((to) => [from, to] as const))

describe('a record', () => {
  test.each(pairs.filter(([from, to]) => legal.includes(`${from} ${to}`)))(
    'goes from %s to %s, with one line in its audit trail',
    (from, to) => {
      const record = recordOf(from)
      const next = { ...record }
      advance(next, to, 7, 'why')
      expect([next.state, next.updatedAt]).toEqual([to, 7])
      expect(next.auditTrail).toEqual([...record.auditTrail, { state: to, timestamp: 7, note: 'why' }])
      expect(record.state).toBe(from)
    },
  )

  test.each(pairs.filter(([from, to]) => !legal.includes(`${from} ${to}`)))('cannot go from %s to %s', (from, to) => {
    expect(() => advance({ ...recordOf(from) }, to, 7)).toThrow(
      expect.objectContaining({ code: 'E_ILLEGAL_TRANSITION' }),
    )
  })

  test('is over in four of its eight states', () => {
    expect(states.filter(isSettled)).toEqual(['COMPLETED', 'FAILED', 'DENIED', 'SEALED'])
  })

  test('refuses events that cannot follow one another', () => {
    const settled: ToolEvent = {
      ...envelope,
      event: 'call:settled',
      status: 'ok',
      effect: 'none',
      durationMs: 1,
      seq: 1,
      timestamp: 2,
    }
    const over = foldEvent(recordOf('PENDING'), settled)
    expect(() => foldEvent(over, { ...settled, seq: 2 })).toThrow(
      expect.objectContaining({ code: 'E_ILLEGAL_TRANSITION' }),
    )
  })

  test("keeps a person's decision when a client answers afterwards", async () => {
    const use = memoryJournal()
    const form = work('form', () => 1, { type: 'client', requiresResponse: true, requiresConfirmation: true })
    const executor = createExecutor({ tools: [form], use: [use] })
    const { token = '', invocationId } = await executor.execute({ name: 'form' })
    const shown = await executor.calls.decide(token, 'allow', { decidedBy: 'ada', note: 'fine' })
    expect((await executor.calls.respond(shown.token ?? '', 'filled in')).status).toBe('ok')
    expect((await recordIn(use, invocationId)).approval).toMatchObject({ decidedBy: 'ada', note: 'fine' })
  })

  test('says nothing of a decision where only a client answered', async () => {
    const use = memoryJournal()
    const form = work('form', () => 1, { type: 'client', requiresResponse: true })
    const executor = createExecutor({ tools: [form], use: [use] })
    const { token = '', invocationId } = await executor.execute({ name: 'form' })
    await executor.calls.respond(token, 'filled in')
    expect((await recordIn(use, invocationId)).approval).toEqual({ required: false })
  })
})

/** Every way in which the parts of a call can go wrong, and some in which they do not. */
const handlers = {
  returns: () => ({ fine: true }),
  waits: () => pause(1),
  throws: () => {
    throw new Error('broken')
  },
  fails: () => Promise.reject(new ToolFailure('busy', { retryable: true })),
  'throws null': () => {
    throw null // oxlint-disable-line typescript/only-throw-error -- the point of it
  },
  hangs: () => never,
  'hangs until the signal': (_: never, { signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gave up')))),
  'is late': () => pause(40),
  yields: async function* () {
    yield 1
    await pause(1)
    yield 2
    return 3
  },
  'gives what JSON loses': () => new Map(),
  'breaks its promise': () => 'not an object',
} as const

const policies = {
  none: () => undefined,
  asks: () => ({ decision: 'ask', meta: { why: 'asked' } }) as const,
  denies: () => ({ decision: 'deny', reason: 'no' }) as const,
  'stands in': () => ({ result: { stood: 'in' } }),
  throws: () => {
    throw new Error('broken policy')
  },
  hangs: () => never,
} as const

const middlewares = {
  none: undefined,
  passes: (_: unknown, __: unknown, next: () => Promise<unknown>) => next(),
  throws: () => Promise.reject(new Error('broken middleware')),
  'throws afterwards': async (_: unknown, __: unknown, next: () => Promise<unknown>) => {
    await next()
    throw new Error('broken middleware')
  },
  'tries again': (_: unknown, __: unknown, next: () => Promise<unknown>) => next().catch(() => next()),
  hangs: () => never,
} as const

const approvers = {
  none: undefined,
  allows: () => Promise.resolve({ decision: 'allow', decidedBy: 'ada', note: 'fine' } as ApprovalAnswer),
  denies: () => Promise.resolve({ decision: 'deny', decidedBy: 'ada' } as ApprovalAnswer),
  throws: () => Promise.reject(new Error('nobody there')),
  hangs: () => never,
} as const

const answers = ['allow', 'deny', 'edit', 'edit badly', 'client', 'nothing'] as const

/** Any of the choices, and the first as often as all others together: what fails early hides what comes later. */
function oneOf<Value>(...[first, ...others]: readonly [Value, ...Value[]]): fc.Arbitrary<Value> {
  return fc.oneof(fc.constant(first), fc.constantFrom(...others))
}

function nameOf<Key extends string>(choices: Readonly<Record<Key, unknown>>): fc.Arbitrary<Key> {
  return oneOf(...(Object.keys(choices) as [Key, ...Key[]]))
}

const scenario = fc.record({
  handler: fc.constantFrom(...(Object.keys(handlers) as (keyof typeof handlers)[])),
  policy: nameOf(policies),
  middleware: nameOf(middlewares),
  approver: nameOf(approvers),
  confirms: fc.boolean(),
  type: oneOf('server', 'client', 'provider', 'unknown'),
  args: fc.oneof(
    { arbitrary: fc.constantFrom<unknown>({ a: 1 }, '{"a":1}', undefined), weight: 6 },
    { arbitrary: fc.constantFrom<unknown>('{', { a: 'x' }, '"\\ud800"', { a: 1n }, { a: NaN }), weight: 1 },
  ),
  name: fc.oneof({ arbitrary: fc.constant('t'), weight: 15 }, { arbitrary: fc.constant('missing'), weight: 1 }),
  aborts: fc.oneof(
    { arbitrary: fc.constant('never'), weight: 8 },
    { arbitrary: fc.constantFrom('before', 'soon'), weight: 1 },
  ),
  answer: fc.constantFrom(...answers),
  elsewhere: fc.boolean(),
})

type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never

function executorOf(sample: Scenario, journal: Extension, timeout = 15): ToolExecutor {
  const middleware = middlewares[sample.middleware]
  const ask = approvers[sample.approver]
  const options = {
    inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
    outputSchema: sample.handler === 'breaks its promise' ? { type: 'object' } : undefined,
    type: sample.type,
    requiresResponse: sample.type === 'client',
    requiresConfirmation: sample.confirms,
    timeout,
  }
  return createExecutor({
    tools: [work('t', handlers[sample.handler], JSON.parse(JSON.stringify(options)) as object)],
    timeout,
    report: () => {},
    use: [
      journal,
      { policies: [{ name: 'policy', decide: policies[sample.policy] }] },
      ...(middleware === undefined ? [] : [{ middleware: [middleware] }]),
      ...(ask === undefined ? [] : [{ approver: { ask, timeout: 10 } }]),
    ],
  })
}

async function answered(executor: ToolExecutor, { answer }: Scenario, token: string): Promise<ToolResult | undefined> {
  if (answer === 'nothing') return undefined
  if (answer === 'client') return executor.calls.respond(token, { client: true }).catch(() => undefined)
  const editedArgs = answer === 'edit' ? { a: 2 } : answer === 'edit badly' ? '{' : undefined
  return executor.calls
    .decide(token, answer === 'deny' ? 'deny' : 'allow', { editedArgs, decidedBy: 'eve' })
    .catch(() => undefined)
}

/** Of a record, what its events have to give again: lines that only the journal knows of are late ones. */
function comparable(record: ToolCallRecord): unknown {
  const late = ['the handler returned late', 'the handler failed late']
  const auditTrail = record.auditTrail.filter(({ note }) => note === undefined || !late.includes(note))
  return publicRecordOf({ ...record, auditTrail, updatedAt: 0 })
}

describe('events', () => {
  test('give the record again that the journal holds, whatever breaks, and pair starts with ends', async () => {
    let settledOnes = 0
    await fc.assert(
      fc.asyncProperty(scenario, async (sample) => {
        const journal = memoryJournal()
        const first = executorOf(sample, journal)
        const second = sample.elsewhere ? executorOf(sample, journal) : first
        const events = heard(first)
        if (second !== first) {
          const others = heard(second)
          others.push = (...more) => events.push(...more)
        }
        const signal =
          sample.aborts === 'before'
            ? AbortSignal.abort()
            : sample.aborts === 'soon'
              ? AbortSignal.timeout(3)
              : undefined
        const call = {
          id: 'p',
          name: sample.name,
          args: sample.args,
          result: sample.type === 'provider' ? 1 : undefined,
        }
        let result = await first.execute(call, { session: 's', signal })
        let legs = 1
        for (; result.status === 'waiting' && legs < 4; legs++) {
          const next = await answered(second, sample, result.token ?? '')
          if (next === undefined) break
          result = next
        }

        const { invocationId } = result
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
        const names = events.map(({ event }) => event)
        const waits = events.filter((event) => event.event === 'call:waiting' && event.inProcess === undefined)
        expect(waits.length + names.filter((name) => name === 'call:settled').length).toBe(legs)
        expect(names[0]).toBe('call:received')
        expect(names.at(-1)).toBe(result.status === 'waiting' ? 'call:waiting' : 'call:settled')
        const starts = names.filter((name) => name === 'tool:start' || name === 'tool:end').join(' ')
        expect(starts).toMatch(/^(tool:start tool:end ?)*$/)

        const fold = foldOf(events, invocationId)
        const kept = await recordIn(journal, invocationId)
        expect(comparable(fold)).toEqual(comparable(kept))
        expect([fold.status, fold.effect]).toEqual([result.status, result.effect])
        expect(isSettled(fold.state)).toBe(result.status !== 'waiting')
        if (result.error !== undefined) {
          expect(kept.journal?.failure).toMatchObject({ code: result.error.code, message: result.error.message })
        }
        for (const [index, { state }] of fold.auditTrail.entries()) {
          const before = fold.auditTrail[index - 1]
          if (before !== undefined && before.state !== state) expect(legal).toContain(`${before.state} ${state}`)
        }
        if (isSettled(fold.state)) settledOnes++
      }),
      { numRuns: 800 },
    )
    expect(settledOnes).toBeGreaterThan(100)
  }, 60_000)
})

describe('a snapshot', () => {
  test('shows 200 characters of the input as JSON, and says that there was more', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [memoryJournal()] })
    const preview = async (length: number): Promise<string> => {
      const { invocationId } = await executor.execute({ name: 't', args: { a: 'x'.repeat(length) } })
      return (await executor.calls.get(invocationId)).inputPreview
    }
    expect(await preview(192)).toBe(`{"a":"${'x'.repeat(192)}"}`)
    const cut = await preview(193)
    expect(cut).toBe(`{"a":"${'x'.repeat(193)}"…`)
    expect(cut).toHaveLength(201)
  })

  test('has the fields of the call, and nothing that is the journal’s own', async () => {
    const executor = createExecutor({ tools: [work('t', () => 'done')], use: [memoryJournal()] })
    const { invocationId } = await executor.execute({ name: 't' })
    const snapshot = await executor.calls.get(invocationId)
    expect(Object.keys(snapshot).toSorted()).toEqual(
      'approval args artifact auditTrail callId completedAt createdAt durationMs effect id inputPreview invocationId isError name result seq session startedAt state status toolName'.split(
        ' ',
      ),
    )
    expect(snapshot).toMatchObject({ id: invocationId, name: 't', state: 'COMPLETED', isError: false })
    expect(snapshot.result).toEqual([{ type: 'text', text: 'done' }])
  })

  test('is a copy: what is done to it changes no record', async () => {
    const record = { ...recordOf('PENDING'), input: { deep: [1] } }
    const snapshot = snapshotOf(record)
    ;(snapshot.auditTrail as unknown[]).push('mine')
    Object.assign(snapshot.approval, { required: true })
    expect(record.auditTrail).toHaveLength(1)
    expect(record.approval).toEqual({ required: false })
  })

  test('can be taken of a call in flight', async () => {
    let done = (): void => {}
    const running = new Promise<void>((resolve) => (done = resolve))
    const executor = createExecutor({ tools: [work('t', () => running)], use: [memoryJournal()] })
    const started = new Promise<string>((resolve) => {
      executor.on('tool:progress', () => {})
      executor.on('tool:start', ({ invocationId }) => resolve(invocationId))
    })
    const result = executor.execute({ name: 't' })
    const invocationId = await started
    expect((await executor.calls.get(invocationId)).state).toBe('EXECUTING')
    done()
    await result
    expect((await executor.calls.get(invocationId)).state).toBe('COMPLETED')
  })

  test.each([['with a journal', [memoryJournal()]] as const, ['without one', []] as const])(
    'of an invocation that nobody knows is refused, %s',
    async (_, use) => {
      const executor = createExecutor({ use })
      const refusal = executor.calls.get('nobody')
      await expect(refusal).rejects.toThrow('Tool record not found: nobody')
      await expect(refusal).rejects.toBeInstanceOf(ToolError)
      await expect(executor.calls.settled('nobody')).rejects.toThrow('Tool record not found: nobody')
    },
  )

  test('says which id is wanted, and where it is found', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [memoryJournal()] })
    const { callId, invocationId } = await executor.execute({ id: 'toolu_1', name: 't' })
    for (const id of [callId ?? '', 'toolu_1']) {
      for (const refusal of [executor.calls.get(id), executor.calls.reconcile(id), executor.calls.settled(id)]) {
        await expect(refusal).rejects.toMatchObject({
          code: 'E_JOURNAL',
          message: expect.stringMatching(/`invocationId` of a result, not its `callId`.*`calls\.list\(\)`/),
        })
      }
    }
    const [listed] = await executor.calls.list()
    expect(listed?.invocationId).toBe(invocationId)
    expect((await executor.calls.reconcile(invocationId)).status).toBe('ok')
  })
})
