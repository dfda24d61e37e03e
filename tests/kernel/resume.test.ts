import {
  computeCallId,
  content,
  createExecutor,
  json,
  ToolRegistry,
  type Extension,
  type ToolEvent,
  type ToolContext,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { data, deferred, heard, names, never, outcome, pause, sink, soon, text, turn, work } from './_calls.ts'
import { changed, places, recordIn } from './_journals.ts'

afterEach(() => {
  vi.useRealTimers()
})

interface Waiting {
  readonly executor: ToolExecutor
  readonly registry: ToolRegistry
  readonly inputs: unknown[]
  readonly result: ToolResult
  readonly token: string
  readonly reports: unknown[]
}

async function waiting(args: unknown = { a: 1 }, options: object = {}, use: Extension[] = []): Promise<Waiting> {
  const inputs: unknown[] = []
  const registry = new ToolRegistry()
  const handler = (input: never): unknown => {
    inputs.push(input)
    return { ran: input }
  }
  registry.add(work('t', handler, { requiresConfirmation: true, ...options }))
  const { reports, report } = sink()
  const executor = createExecutor({ tools: registry, use, report })
  const result = await executor.execute(
    { id: 'x', name: 't', args },
    { session: 's', caller: 'user', values: { tenant: 'y' } },
  )
  expect(result.status).toBe('waiting')
  return { executor, registry, inputs, result, token: result.token ?? '', reports }
}

const invalid = { code: 'E_APPROVAL_INVALID' }

describe('a token', () => {
  test('lets the call run, once, as the same invocation', async () => {
    const { executor, inputs, result, token } = await waiting()
    const decided = await executor.calls.decide(token, 'allow')
    expect([outcome(decided), data(decided)]).toEqual(['ok completed', { ran: { a: 1 } }])
    expect(decided).toMatchObject({ id: 'x', callId: result.callId, invocationId: result.invocationId })
    expect('token' in decided).toBe(false)
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([{ a: 1 }])
  })

  test('is spent by a denial: nobody can allow afterwards', async () => {
    const { executor, inputs, token } = await waiting()
    const denied = await executor.calls.decide(token, 'deny', { note: 'no way' })
    expect([outcome(denied), text(denied)]).toEqual(['denied none E_TOOL_DENIED', 'Permission denied by user: no way'])
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
  })

  test.each(['yes', 'ALLOW', '', null, undefined, true, {}])(
    'is not spent by a decision that is none, and nothing runs: %j',
    async (decision) => {
      const { executor, inputs, token } = await waiting()
      const refused = executor.calls.decide(token, decision as never)
      await expect(refused).rejects.toMatchObject({
        code: 'E_INVALID_CONFIGURATION',
        message: "A decision is 'allow' or 'deny'. The call still waits.",
      })
      expect(inputs).toEqual([])
      expect((await executor.calls.decide(token, 'deny')).status).toBe('denied')
    },
  )

  test('twenty at once: one runs', async () => {
    const { executor, inputs, token } = await waiting()
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => executor.calls.decide(token, 'allow')))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of all) if (one.status === 'rejected') expect(one.reason).toMatchObject(invalid)
    expect(inputs).toHaveLength(1)
  })

  test.each<[string, (token: string, other: string) => unknown]>([
    ['altered in one digit', (token) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['in capitals', (token) => token.toUpperCase()],
    ['cut', (token) => token.slice(0, -1)],
    ['with something behind it', (token) => `${token} `],
    ['of its invocation alone', (token) => token.split('.')[0]],
    ['with the secret of another call', (token, other) => `${token.split('.')[0]}.${other.split('.')[1]}`],
    ['empty', () => ''],
    ['missing', () => undefined],
    ['a number', () => 5],
    ['an object that says it', (token) => ({ toString: () => `${token}!` })],
  ])('%s is refused, and the right one is still of use', async (_, alter) => {
    const { executor, inputs, token } = await waiting()
    const other = await executor.execute({ name: 't', args: { b: 2 } }, { session: 's', caller: 'user' })
    await expect(executor.calls.decide(alter(token, other.token ?? '') as string, 'allow')).rejects.toMatchObject(
      invalid,
    )
    expect(inputs).toEqual([])
    expect((await executor.calls.decide(token, 'allow')).status).toBe('ok')
  })

  test('is of no use to another executor', async () => {
    const { token } = await waiting()
    const other = await waiting()
    await expect(other.executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(other.inputs).toEqual([])
  })

  test('of an approval is no answer of a client, and the other way round', async () => {
    const { executor, token } = await waiting()
    await expect(executor.calls.respond(token, 'x')).rejects.toMatchObject(invalid)
    const client = createExecutor({ tools: [work('ask', () => 1, { type: 'client', requiresResponse: true })] })
    const asked = await client.execute({ name: 'ask' })
    await expect(client.calls.decide(asked.token ?? '', 'allow')).rejects.toMatchObject(invalid)
    expect((await client.calls.respond(asked.token ?? '', 'x')).status).toBe('ok')
  })

  test('ends after a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { executor, inputs, token, result } = await waiting()
    expect(result.expiresAt).toBe(Date.now() + 86_400_000)
    vi.setSystemTime(Date.now() + 86_400_001)
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_EXPIRED' })
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
  })

  test('is in no place that a result or an event of a later leg shows', async () => {
    const { executor, token } = await waiting()
    const events = heard(executor)
    const decided = await executor.calls.decide(token, 'allow')
    expect(JSON.stringify([decided, events])).not.toContain(token)
  })

  test('is of its own call alone: without a journal, several calls with one id of the application may wait', async () => {
    const executor = createExecutor({ tools: [work('t', (input) => input, { requiresConfirmation: true })] })
    const ask = (session: string): Promise<ToolResult> =>
      executor.execute({ name: 't', args: { session } }, { session, invocationId: 'call_1' })
    const [one, other] = [await ask('one'), await ask('other')]
    expect(data(await executor.calls.decide(other.token ?? '', 'allow'))).toEqual({ session: 'other' })
    expect(data(await executor.calls.decide(one.token ?? '', 'allow'))).toEqual({ session: 'one' })
  })

  test('keeps no timer without a journal, and so no executor that is not used any more', async () => {
    vi.useFakeTimers()
    const { executor, token } = await waiting()
    await executor.calls.decide(token, 'allow')
    await executor.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test("leaves a provider's result as it is without a journal, also one that is no JSON", async () => {
    const options = { type: 'provider', requiresConfirmation: true }
    const executor = createExecutor({ tools: [work('t', () => 0, options)] })
    const ask = async (result: unknown): Promise<ToolResult> => {
      const { token = '' } = await executor.execute({ name: 't', result })
      return executor.calls.decide(token, 'allow')
    }
    expect(text(await ask(content([{ type: 'text', text: 'found' }])))).toBe('found')
    expect(text(await ask(new Uint8Array(3)))).toBe('(3 bytes, not shown)')
  })

  test('of the oldest call of the session that has most of more than 10,000 is given up, which is told', async () => {
    const { executor, token, result, reports } = await waiting()
    const other = await executor.execute({ name: 't' }, { caller: 'user', session: 'another' })
    let last: ToolResult | undefined
    const events: ToolEvent[] = []
    for (let index = 0; index < 9_999; index++) {
      last = await executor.execute({ name: 't', args: { index } }, { caller: 'user', session: 's' })
      if (index === 9_997) executor.on('call:settled', (event) => events.push(event))
    }
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    const { invocationId } = result
    const dropped = { status: 'cancelled', effect: 'none', error: { code: 'E_TOOL_CANCELLED' } }
    expect(events.filter((event) => event.invocationId === invocationId)).toMatchObject([{ ...dropped, seq: 2 }])
    expect(reports).toMatchObject([{ code: 'E_TOOL_CANCELLED', invocationId }])
    expect((await executor.calls.decide(last?.token ?? '', 'allow')).status).toBe('ok')
    expect((await executor.calls.decide(other.token ?? '', 'allow')).status).toBe('ok')
  }, 60_000)
})

describe('between the question and the answer', () => {
  test("the caller's own args may change: what runs is what was asked about", async () => {
    const args = { to: ['ada'] }
    const { executor, inputs, token } = await waiting(args)
    args.to.push('eve')
    await executor.calls.decide(token, 'allow')
    expect(inputs).toEqual([{ to: ['ada'] }])
  })

  test.each<[string, object]>([
    ['its description', { description: 'Something else' }],
    ['its schema', { inputSchema: { type: 'object', title: 'x' } }],
    ['the schema of its result', { outputSchema: {} }],
    ['its type', { type: 'mcp' }],
    ['its audience', { audience: 'user' }],
    ['its traits', { traits: { destructive: true } }],
    ['its version', { metadata: { version: '2' } }],
  ])('the tool may change %s: the approval is void', async (_, change) => {
    const { executor, registry, inputs, token } = await waiting()
    const ran: unknown[] = []
    registry.add(
      work('t', () => void ran.push(1), { requiresConfirmation: true, ...change }),
      { onCollision: 'replace' },
    )
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect([inputs, ran]).toEqual([[], []])
  })

  test('the tool may go: the approval is void', async () => {
    const { executor, registry, inputs, token } = await waiting()
    registry.remove('t')
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
  })

  test('the tool may be replaced by its equal: the approval holds', async () => {
    const { executor, registry, token } = await waiting()
    registry.add(
      work('t', () => 'equal', { requiresConfirmation: true }),
      { onCollision: 'replace' },
    )
    expect(text(await executor.calls.decide(token, 'allow'))).toBe('equal')
  })
})

describe('a call that goes on', () => {
  test('goes through the same pipeline: policies are asked again, a denial still denies, an ask is met', async () => {
    let legs = 0
    const asks: Extension = { policies: [{ name: 'asks', decide: () => (legs++, { decision: 'ask' }) }] }
    const met = await waiting({}, { requiresConfirmation: false }, [asks])
    expect((await met.executor.calls.decide(met.token, 'allow')).status).toBe('ok')
    expect(legs).toBe(2)

    let isDenied = false
    const turning: Extension = {
      policies: [{ name: 'turns', decide: () => (isDenied ? { decision: 'deny' } : undefined) }],
    }
    const { executor, inputs, token } = await waiting({}, {}, [turning])
    isDenied = true
    expect(outcome(await executor.calls.decide(token, 'allow'))).toBe('denied none E_TOOL_DENIED')
    expect(inputs).toEqual([])
  })

  test('has the session, the caller, the values and the invocation of the first leg', async () => {
    const seen: unknown[] = []
    const t = work(
      't',
      (_, { session, caller, values, invocationId }) => void seen.push(session, caller, values, invocationId),
      { requiresConfirmation: true },
    )
    const executor = createExecutor({ tools: [t] })
    const values = { tenant: 'y' }
    const { token = '', invocationId } = await executor.execute({ name: 't' }, { session: 's', caller: 'user', values })
    await executor.calls.decide(token, 'allow')
    expect(seen).toEqual(['s', 'user', values, invocationId])
  })

  test('counts its events on from the first leg, and says who answered and how', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1, { requiresConfirmation: true })] })
    const events = heard(executor)
    const { token = '' } = await executor.execute({ name: 't' })
    await executor.calls.decide(token, 'allow', { decidedBy: 'ada', note: 'fine', always: true })
    expect(names(events)).toBe('call:received call:waiting call:resumed tool:start tool:end call:settled')
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5])
    expect(events[2]).toMatchObject({ decision: 'allow', decidedBy: 'ada', note: 'fine', always: true })
    expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(1)
  })

  test('may be answered from within the event that asks', async () => {
    const executor = createExecutor({ tools: [work('t', () => 'ran', { requiresConfirmation: true })] })
    const events = heard(executor)
    const answers: Promise<ToolResult>[] = []
    executor.on('call:waiting', ({ token }) => void answers.push(executor.calls.decide(token ?? '', 'allow')))
    const first = await soon(executor.execute({ name: 't' }))
    expect(first.status).toBe('waiting')
    const [second] = await soon(Promise.all(answers))
    expect(second === undefined ? undefined : [second.status, text(second)]).toEqual(['ok', 'ran'])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  })

  test('may be answered by who reads its stream', async () => {
    const executor = createExecutor({ tools: [work('t', () => 'ran', { requiresConfirmation: true })] })
    const answers: Promise<ToolResult>[] = []
    for await (const event of executor.stream({ name: 't' })) {
      if (event.event === 'call:waiting') answers.push(executor.calls.decide(event.token ?? '', 'allow'))
    }
    expect((await soon(Promise.all(answers))).map(({ status }) => status)).toEqual(['ok'])
  })

  test('is cancelled where the executor has closed', async () => {
    const { executor, inputs, token } = await waiting()
    await executor.close()
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED' })
    expect(inputs).toEqual([])
  })
})

describe('edited args', () => {
  test('are a new call: identified anew, validated anew, and linked', async () => {
    const executor = createExecutor({ tools: [work('t', (input) => input, { requiresConfirmation: true })] })
    const events = heard(executor)
    const { token = '', callId } = await executor.execute({ name: 't', args: { a: 1 } })
    const edited = await executor.calls.decide(token, 'allow', { editedArgs: { a: 2 } })
    expect(data(edited)).toEqual({ a: 2 })
    expect(edited.callId).toBe(computeCallId('t', { a: 2 }))
    expect(events.find(({ event }) => event === 'call:resumed')).toMatchObject({
      editedFrom: callId,
      callId: edited.callId,
    })
  })

  test.each<[string, unknown, string]>([
    ['do not fit', { a: 'x' }, 'E_INVALID_TOOL_ARGS'],
    ['have no canonical form', { a: 1n }, 'E_UNCANONICAL_ARGS'],
    ['are no JSON', '{"a":', 'E_INVALID_TOOL_ARGS'],
  ])('that %s do not run, and the call waits for correct ones', async (_, editedArgs, code) => {
    const inputSchema = { type: 'object', properties: { a: { type: 'number' } } }
    const { executor, inputs, token } = await waiting({ a: 1 }, { inputSchema })
    await expect(executor.calls.decide(token, 'allow', { editedArgs })).rejects.toMatchObject({ code })
    expect(inputs).toEqual([])
    expect(await executor.calls.waiting()).toHaveLength(1)
    expect(outcome(await executor.calls.decide(token, 'allow', { editedArgs: { a: 3 } }))).toBe('ok completed')
    expect(inputs).toEqual([{ a: 3 }])
  })

  test('are of no use in a denial', async () => {
    const { executor, result, token } = await waiting()
    const denied = await executor.calls.decide(token, 'deny', { editedArgs: { a: 2 } })
    expect([denied.status, denied.callId]).toEqual(['denied', result.callId])
  })
})

describe("a client's answer", () => {
  const asking = (options: object = {}): ToolExecutor =>
    createExecutor({ tools: [work('ask', () => 'ours', { type: 'client', requiresResponse: true, ...options })] })

  test('is checked like any other result, and one that does not fit leaves the call waiting', async () => {
    const executor = asking({ outputSchema: { type: 'object', required: ['email'] } })
    const ask = async (): Promise<string> => (await executor.execute({ name: 'ask' })).token ?? ''
    const token = await ask()
    for (const wrong of [{ phone: 'x' }, undefined, content([{ type: 'text', text: 'x' }])]) {
      await expect(executor.calls.respond(token, wrong)).rejects.toMatchObject({ code: 'E_INVALID_TOOL_RESULT' })
    }
    expect(data(await executor.calls.respond(token, { email: 'x' }))).toEqual({ email: 'x' })
    expect(data(await executor.calls.respond(await ask(), json({ email: 'y' })))).toEqual({ email: 'y' })
  })

  test('may be a failure, whatever schema an answer has to fit', async () => {
    const executor = asking({ outputSchema: { type: 'object', required: ['email'] } })
    const { token = '' } = await executor.execute({ name: 'ask' })
    const failed = await executor.calls.respond(token, { ok: false, error: 'The form was closed.' })
    expect(outcome(failed)).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
    expect(text(failed)).toContain('The form was closed.')
  })

  test('comes once: the first one wins', async () => {
    const executor = asking()
    const { token = '' } = await executor.execute({ name: 'ask' })
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => executor.calls.respond(token, `answer ${index}`)),
    )
    expect(all.map(({ status }) => status).filter((status) => status === 'fulfilled')).toHaveLength(1)
    expect(all[0]?.status === 'fulfilled' ? text(all[0].value) : '').toBe('answer 0')
  })

  test.each<[number | undefined, number]>([
    [undefined, 30_000],
    [5_000, 5_000],
  ])('is awaited for the timeout of the tool: %s', async (timeout, patience) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const executor = asking(timeout === undefined ? {} : { timeout })
    const { token = '', expiresAt } = await executor.execute({ name: 'ask' })
    expect(expiresAt).toBe(Date.now() + patience)
    vi.setSystemTime(Date.now() + patience + 1)
    expect(outcome(await executor.calls.respond(token, 'late'))).toBe('timed_out unknown E_CLIENT_TOOL')
    await expect(executor.calls.respond(token, 'later')).rejects.toMatchObject(invalid)
  })

  test.each([0, Infinity])('is awaited without end where the timeout is %d', async (timeout) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const executor = asking({ timeout })
    const { token = '' } = await executor.execute({ name: 'ask' })
    vi.setSystemTime(Date.now() + 10 ** 11)
    expect((await executor.calls.respond(token, 'late')).status).toBe('ok')
  })

  test('comes after the approval where the tool wants both', async () => {
    const executor = asking({ requiresConfirmation: true })
    const events = heard(executor)
    const asked = await executor.execute({ name: 'ask' })
    const allowed = await executor.calls.decide(asked.token ?? '', 'allow', { decidedBy: 'ada' })
    expect(outcome(allowed)).toBe('waiting unknown')
    const answered = await executor.calls.respond(allowed.token ?? '', 'here')
    expect([outcome(answered), text(answered)]).toEqual(['ok completed', 'here'])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  })

  test('that is refused leaves what the client did unknown', async () => {
    let asked = 0
    const policy: Extension = {
      policies: [{ name: 'no', decide: () => (asked++ > 0 ? { decision: 'deny' } : undefined) }],
    }
    const executor = createExecutor({
      tools: [work('ask', () => 'ours', { type: 'client', requiresResponse: true })],
      use: [policy],
    })
    const [one, other] = [await executor.execute({ name: 'ask' }), await executor.execute({ name: 'ask' })]
    expect(outcome(other)).toBe('denied none E_TOOL_DENIED')
    expect(outcome(await executor.calls.respond(one.token ?? '', 'here'))).toBe('denied unknown E_TOOL_DENIED')
    asked = 0
    const { token = '' } = await executor.execute({ name: 'ask' })
    const left = await executor.calls.respond(token, 'here', { signal: AbortSignal.abort() })
    expect(outcome(left)).toBe('cancelled unknown E_TOOL_CANCELLED')
  })

  test.each(places)('is no way to be asked for approval afterwards (%s)', async (_, place) => {
    let asked = 0
    const policy: Extension = {
      policies: [{ name: 'late', decide: () => (asked++ > 0 ? { decision: 'ask' } : undefined) }],
    }
    const approver = { ask: async () => ({ decision: 'allow' as const }) }
    for (const use of [
      [policy],
      [policy, { approver }],
      [policy, place().open()],
      [policy, { approver }, place().open()],
    ]) {
      asked = 0
      const executor = createExecutor({
        tools: [work('ask', () => 'ours', { type: 'client', requiresResponse: true })],
        use,
      })
      const events = heard(executor)
      const { token = '' } = await executor.execute({ name: 'ask' })
      const answered = await executor.calls.respond(token, 'here')
      expect(outcome(answered)).toBe('denied unknown E_TOOL_DENIED')
      expect(text(answered)).toContain('only after the client had answered')
      expect(events.map(({ seq }) => seq)).toEqual(events.map((__, index) => index))
    }
  })

  test('that comes too late runs nothing, also where there is a runner for clients by now', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const mounted = places[0]![1]().open()
    const tools = [work('ask', () => 'ours', { type: 'client', requiresResponse: true })]
    const { token = '' } = await createExecutor({ tools, use: [mounted] }).execute({ name: 'ask' })
    vi.setSystemTime(Date.now() + 30_001)
    const runs: unknown[] = []
    const runner = { type: 'client', run: (call: unknown) => void runs.push(call) }
    const late = await createExecutor({ tools, use: [mounted, { runners: [runner] }] }).calls.respond(token, 'late')
    expect([outcome(late), runs]).toEqual(['timed_out unknown E_CLIENT_TOOL', []])
  })

  test('is awaited by a runner for as long as the tool says', async () => {
    const aborted = deferred<unknown>()
    const run = (_call: unknown, { signal }: ToolContext): Promise<never> => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason))
      return never
    }
    const runner = { type: 'client', run }
    const tools = [work('ask', () => 'ours', { type: 'client', requiresResponse: true, timeout: 20 })]
    const executor = createExecutor({ tools, use: [{ runners: [runner] }], timeout: 60_000 })
    expect(outcome(await soon(executor.execute({ name: 'ask' })))).toBe('timed_out unknown E_CLIENT_TOOL')
    expect(await soon(aborted.promise)).toMatchObject({ code: 'E_CLIENT_TOOL' })
  })

  test('takes no slot of a turn and no time of its call while the client thinks', async () => {
    const answers = [deferred<string>(), deferred<string>(), deferred<string>()]
    let asked = 0
    const runner = { type: 'client', run: () => answers[asked++]?.promise }
    const form = work('ask', () => 'ours', { type: 'client', requiresResponse: true, outputSchema: { type: 'string' } })
    const free = work('free', () => pause(400).then(() => answers.forEach(({ resolve }) => resolve('filled in'))))
    const alone = work('alone', () => 'ran', { traits: { concurrent: false } })
    const executor = createExecutor({
      tools: [form, free, alone],
      use: [{ runners: [runner] }],
      concurrency: 1,
      timeout: 300,
    })
    const calls = [{ name: 'ask' }, { name: 'ask' }, { name: 'ask' }, { name: 'alone' }]
    const settling = executor.executeToolCalls(calls)
    expect((await soon(executor.execute({ name: 'free' }, { session: 'another' }))).status).toBe('timed_out')
    expect((await soon(settling)).map(text)).toEqual(['filled in', 'filled in', 'filled in', 'ran'])
  })
})

describe.each(places)('while a token is redeemed (%s)', (_, place) => {
  /** An executor with a call that waits, and a journal that takes its time to give it over. */
  async function slow(): Promise<Waiting & { readonly taken: () => number }> {
    let taken = 0
    let written = 0
    const use = [
      changed(place().open(), {
        takeOver:
          (journal) =>
          async (...args) => {
            const fence = await journal.takeOver(...args)
            await pause(20)
            taken++
            return fence
          },
        write:
          (journal) =>
          async (...args) => {
            const isKept = await journal.write(...args)
            if (taken > 0 && written++ === 0) await pause(20) // the token is used by now, and the call not yet under way
            return isKept
          },
      }),
    ]
    return { ...(await waiting({ a: 1 }, {}, use)), taken: () => taken }
  }

  test('the tool may be replaced by another, which does not run', async () => {
    const { executor, registry, token } = await slow()
    const deciding = executor.calls.decide(token, 'allow')
    await pause(5)
    registry.remove('t')
    let runs = 0
    registry.add(work('t', () => runs++, { description: 'Deletes everything', requiresConfirmation: true }))
    expect([outcome(await deciding), runs]).toEqual(['error none E_APPROVAL_INVALID', 0])
  })

  test('its call is none that recovery may seal', async () => {
    const { executor, token, inputs } = await slow()
    const deciding = executor.calls.decide(token, 'allow')
    const state = { isDecided: false }
    const decided = deciding.finally(() => (state.isDecided = true))
    while (!state.isDecided) {
      expect((await executor.calls.recover({ staleAfter: 0 })).sealed).toEqual([])
      await pause(1)
    }
    expect([outcome(await decided), inputs]).toEqual(['ok completed', [{ a: 1 }]])
  })

  test('the executor may be closed: the call is waited for, or cancelled when the time is over', async () => {
    for (const [drain, expected, runs] of [
      [5_000, 'ok completed', 1],
      [0, 'cancelled none E_TOOL_CANCELLED', 0],
    ] as const) {
      const { executor, token, inputs, taken } = await slow()
      const deciding = executor.calls.decide(token, 'allow')
      await turn()
      const closing = executor.close({ drain })
      expect([outcome(await deciding), inputs.length]).toEqual([expected, runs])
      await closing
      expect(taken()).toBe(1)
    }
  })
})

test.each(places)(
  'a token whose record another executor takes over while it is redeemed lets nothing run (%s)',
  async (_, place) => {
    let isRefused = false
    const use = [
      changed(place().open(), {
        write:
          (journal) =>
          (...args) =>
            !isRefused && journal.write(...args),
      }),
    ]
    const { executor, inputs, token } = await waiting({ a: 1 }, {}, use)
    isRefused = true
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject(invalid)
    expect(inputs).toEqual([])
  },
)

test.each(places)('a result of the provider is still there when its call was approved (%s)', async (_, place) => {
  const mounted = place().open()
  const tools = [work('search', () => 'ours', { type: 'provider', requiresConfirmation: true })]
  const found = { pages: ['a', 'b'] }
  const first = await createExecutor({ tools, use: [mounted] }).execute({ name: 'search', result: found })
  const decided = await createExecutor({ tools, use: [mounted] }).calls.decide(first.token ?? '', 'allow')
  expect([outcome(decided), data(decided)]).toEqual(['ok completed', found])
  expect((await recordIn(mounted, decided.invocationId)).journal).not.toHaveProperty('awaits')
})

test('an executor without a journal that held a call leaves no timer behind when it closes', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const executor = createExecutor({ tools: [work('t', () => 'done', { requiresConfirmation: true })] })
  expect((await executor.execute({ name: 't' })).status).toBe('waiting')
  await executor.close()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})
