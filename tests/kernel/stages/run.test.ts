import 'toolwright/compat'
import { createExecutor, type ToolContext } from 'toolwright'
import type { Confirmed } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { data, deferred, heard, names, never, outcome, pause, soon, text, turn, work } from '../_calls.ts'

describe('a handler', () => {
  test('knows the call that it serves', async () => {
    let known: Partial<ToolContext> = {}
    let toolUse: unknown
    const t = work('t', (_, context) => {
      const { callId, invocationId, toolName, session, caller, attempt, values, invocationState } = context
      known = { callId, invocationId, toolName, session, caller, attempt, values, invocationState }
      toolUse = context.toolUse
    })
    const values = { tenant: 'x' }
    const call = { id: 'toolu_1', name: 't', args: { a: 1 } }
    const result = await createExecutor({ tools: [t] }).execute(call, {
      session: 's',
      caller: 'user',
      values,
      invocationId: 'i',
    })
    const { callId } = result
    expect(known).toEqual({
      callId,
      invocationId: 'i',
      toolName: 't',
      session: 's',
      caller: 'user',
      attempt: 1,
      values,
      invocationState: values,
    })
    expect(known.values).toBe(values)
    expect(toolUse).toEqual({ name: 't', toolUseId: 'toolu_1', input: { a: 1 } })
  })

  test('leaves nothing in the values of another call that was given none', async () => {
    const seen: unknown[] = []
    const t = work('t', (_, { values }) => {
      seen.push({ ...values })
      try {
        ;(values as { leak?: string }).leak = 'canary'
      } catch {
        // it may not be written to at all
      }
    })
    await createExecutor({ tools: [t] }).execute({ name: 't' }, { session: 'one' })
    await createExecutor({ tools: [t] }).execute({ name: 't' }, { session: 'two' })
    expect(seen).toEqual([{}, {}])
  })

  test('that ignores the signal does not hold its caller beyond the deadline, and what it does later changes nothing', async () => {
    const late = deferred<unknown>()
    let signal: AbortSignal | undefined
    const stubborn = work('t', (_, context) => {
      signal = context.signal
      return late.promise
    })
    const executor = createExecutor({ tools: [stubborn], timeout: 20 })
    const events = heard(executor)
    const result = await soon(executor.execute({ name: 't' }))
    expect(outcome(result)).toBe('timed_out unknown E_TOOL_TIMEOUT')
    expect(signal?.aborted).toBe(true)
    const before = JSON.stringify(result)
    late.resolve('late')
    await turn()
    expect(JSON.stringify(result)).toBe(before)
    expect(names(events)).toBe('call:received tool:start tool:end call:settled')
  })

  test('that rejects or reports late is heard by nobody', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    const stubborn = work('t', async (_, { emit }) => {
      await turn() // by then the timer of the deadline is set
      await pause(40)
      emit('late')
      throw new Error('late')
    })
    const executor = createExecutor({ tools: [stubborn], timeout: 10 })
    const events = heard(executor)
    await soon(executor.execute({ name: 't' }))
    await pause(60)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
    expect(names(events)).toBe('call:received tool:start tool:end call:settled')
  })

  test('is given up by its caller at once', async () => {
    const leaving = new AbortController()
    const t = work('t', () => {
      leaving.abort()
      return never
    })
    const executor = createExecutor({ tools: [t] })
    expect(outcome(await soon(executor.execute({ name: 't' }, { signal: leaving.signal })))).toBe(
      'cancelled unknown E_TOOL_CANCELLED',
    )
    expect(outcome(await executor.execute({ name: 't' }, { signal: leaving.signal }))).toBe(
      'cancelled none E_TOOL_CANCELLED',
    )
  })

  test('has its own timeout before that of the executor', async () => {
    const tools = [
      work('short', () => never, { timeout: 10 }),
      work('long', () => pause(40), { timeout: 5_000 }),
      work('free', () => pause(40), { timeout: 0 }),
    ]
    const executor = createExecutor({ tools, timeout: 20 })
    expect((await soon(executor.execute({ name: 'short' }))).error?.message).toContain('10 ms')
    expect((await executor.execute({ name: 'long' })).status).toBe('ok')
    expect((await executor.execute({ name: 'free' })).status).toBe('ok')
  })

  test('may answer with any thenable, and one that settles twice settles once', async () => {
    const twice = {
      then(done: (value: unknown) => void, fail: (reason: unknown) => void) {
        done('first')
        done('second')
        fail(new Error('third'))
      },
    }
    expect(text(await createExecutor({ tools: [work('t', () => twice)] }).execute({ name: 't' }))).toBe('first')
  })

  test('tells progress while it runs', async () => {
    const executor = createExecutor({
      tools: [
        work('t', ({ emit }: never, context) => {
          context.emit('half', { percent: 50 })
          const taken = context.emit
          taken('bare')
          return emit
        }),
      ],
    })
    const events = heard(executor)
    await executor.execute({ name: 't' })
    expect(events.filter(({ event }) => event === 'tool:progress')).toMatchObject([
      { type: 'half', data: { percent: 50 } },
      { type: 'bare' },
    ])
  })
})

describe('who runs a tool goes by its type', () => {
  test('mcp: the handler', async () => {
    expect(
      text(await createExecutor({ tools: [work('t', () => 'ran', { type: 'mcp' })] }).execute({ name: 't' })),
    ).toBe('ran')
  })

  test('provider: the provider, whose result is kept, and who has no start and no end', async () => {
    const executor = createExecutor({ tools: [work('t', () => 'ours', { type: 'provider' })] })
    const events = heard(executor)
    const result = await executor.execute({ name: 't', result: { found: 1 } })
    expect([outcome(result), data(result)]).toEqual(['ok completed', { found: 1 }])
    expect(names(events)).toBe('call:received call:settled')
    expect(outcome(await executor.execute({ name: 't' }))).toBe('error none E_INVALID_EXECUTION_TYPE')
  })

  test('a result in the call is of no use for any other type', async () => {
    const executor = createExecutor({ tools: [work('t', () => 'ours')] })
    expect(text(await executor.execute({ name: 't', result: 'forged' }))).toBe('ours')
  })

  test('client without requiresResponse: its default result at once', async () => {
    const shown = work('show', () => 1, { type: 'client', defaultResult: [{ type: 'text', text: 'shown' }] })
    const executor = createExecutor({ tools: [shown, work('plain', () => 1, { type: 'client' })] })
    const result = await executor.execute({ name: 'show' })
    expect([outcome(result), text(result)]).toEqual(['ok unknown', 'shown'])
    expect(text(await executor.execute({ name: 'plain' }))).toBe('[plain rendered on client]')
  })

  test('client with requiresResponse: waiting until the client answers', async () => {
    const executor = createExecutor({ tools: [work('ask', () => 1, { type: 'client', requiresResponse: true })] })
    const events = heard(executor)
    const result = await executor.execute({ name: 'ask' })
    expect(outcome(result)).toBe('waiting unknown')
    const answered = await executor.calls.respond(result.token ?? '', { email: 'a@b.c' })
    expect([outcome(answered), data(answered)]).toEqual(['ok completed', { email: 'a@b.c' }])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events[1]).toMatchObject({ event: 'call:waiting', reason: 'client' })
  })

  test('a type of the application: its runner, which sees the call', async () => {
    const seen: unknown[] = []
    const runner = { type: 'python', run: ({ input, tool }: Confirmed) => void seen.push(tool.name, input) }
    const executor = createExecutor({
      tools: [work('t', () => 'ours', { type: 'python' })],
      use: [{ runners: [runner] }],
    })
    expect(outcome(await executor.execute({ name: 't', args: { a: 1 } }))).toBe('ok completed')
    expect(seen).toEqual(['t', { a: 1 }])
  })

  test('a runner for a type of ours goes before us', async () => {
    const use = [{ runners: [{ type: 'client', run: async () => 'in process' }] }]
    const executor = createExecutor({ tools: [work('t', () => 1, { type: 'client', requiresResponse: true })], use })
    const result = await executor.execute({ name: 't' })
    expect([outcome(result), text(result)]).toEqual(['ok completed', 'in process'])
  })

  test('a type that nobody runs is an error, and nothing has happened', async () => {
    expect(
      outcome(await createExecutor({ tools: [work('t', () => 1, { type: 'python' })] }).execute({ name: 't' })),
    ).toBe('error none E_INVALID_EXECUTION_TYPE')
  })

  test('a runner that breaks is a failure like that of a handler', async () => {
    const run = (): never => {
      throw new Error('down')
    }
    const executor = createExecutor({
      tools: [work('t', () => 1, { type: 'python' })],
      use: [{ runners: [{ type: 'python', run }] }],
    })
    expect(outcome(await executor.execute({ name: 't' }))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
  })
})

describe('a readonly tool of ours has no effect, whatever becomes of it', () => {
  const traits = { readonly: true }
  test.each<[string, object, () => unknown, string]>([
    ['succeeds', { traits }, () => 1, 'ok none'],
    [
      'throws',
      { traits },
      () => {
        throw new Error('no')
      },
      'error none E_TOOL_DOWNSTREAM_ERROR',
    ],
    ['is too slow', { traits, timeout: 10 }, () => never, 'timed_out none E_TOOL_TIMEOUT'],
  ])('%s', async (_, options, handler, expected) => {
    expect(outcome(await soon(createExecutor({ tools: [work('t', handler, options)] }).execute({ name: 't' })))).toBe(
      expected,
    )
  })

  test('but the word of a server about its own tool is not taken for it', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1, { traits, type: 'mcp' })] })
    expect(outcome(await executor.execute({ name: 't' }))).toBe('ok completed')
  })
})
