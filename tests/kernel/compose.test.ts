import { createExecutor, type Extension } from 'toolwright'
import type { Middleware } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { data, deferred, heard, names, never, outcome, pause, soon, text, turn, work } from './_calls.ts'

function noting(notes: string[], name: string): Middleware {
  return async (_call, _context, next) => {
    notes.push(`> ${name}`)
    const result = await next()
    notes.push(`< ${name}`)
    return result
  }
}

function wrapping(...middleware: Middleware[]): Extension[] {
  return middleware.map((layer) => ({ middleware: [layer] }))
}

describe('middleware', () => {
  test("wraps the run: the executor's outermost, then the tool's, and postToolUse innermost", async () => {
    const notes: string[] = []
    const tool = work('t', () => void notes.push('run'), {
      middleware: [noting(notes, 'tool 1'), noting(notes, 'tool 2')],
      hooks: { postToolUse: () => void notes.push('hook') },
    })
    const use = [{ middleware: [noting(notes, 'one'), noting(notes, 'two')] }, { middleware: [noting(notes, 'three')] }]
    await createExecutor({ tools: [tool], use }).execute({ name: 't' })
    expect(notes.join(' ')).toBe('> one > two > three > tool 1 > tool 2 run hook < tool 2 < tool 1 < three < two < one')
  })

  test('does not lose in silence what the tool returned', async () => {
    const lost = 'A middleware called `next` and returned nothing.'
    const forgetful: Middleware = async (_call, _context, next) => void (await next())
    const outcomeOf = async (handler: () => unknown, middleware: Middleware): Promise<string> => {
      const { status, effect, error, value } = await createExecutor({
        tools: [work('t', handler)],
        use: wrapping(noting([], 'outer'), middleware),
      }).execute({ name: 't' })
      return `${status} ${effect} ${error === undefined ? String(value) : error.message.slice(0, lost.length)}`
    }
    expect(await outcomeOf(() => 'found', forgetful)).toBe(`error completed ${lost}`)
    expect(await outcomeOf(async () => 'found', forgetful)).toBe(`error completed ${lost}`)
    expect(await outcomeOf(() => undefined, forgetful)).toBe('ok completed undefined')
    expect(
      await outcomeOf(
        () => 'found',
        async (_call, _context, next) => (await next()) && null,
      ),
    ).toBe('ok completed null')
    expect(
      await outcomeOf(
        () => 'found',
        () => undefined as never,
      ),
    ).toBe('ok none undefined')
  })

  test('may change the result, or stand in for the run', async () => {
    const ran: string[] = []
    const tools = [work('t', () => void ran.push('ran'))]
    const doubling: Middleware = async (_call, _context, next) => [await next(), 'again']
    const standing: Middleware = async () => ({ cached: true })
    expect(data(await createExecutor({ tools, use: wrapping(doubling, standing) }).execute({ name: 't' }))).toEqual([
      { cached: true },
      'again',
    ])
    expect(ran).toEqual([])
  })

  test('that stands in for the run had no effect', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)], use: wrapping(async () => 'cached') })
    expect(outcome(await executor.execute({ name: 't' }))).toBe('ok none')
  })

  test('that throws fails the call, as the handler would', async () => {
    const before: Middleware = async () => {
      throw new Error('before')
    }
    const after: Middleware = async (_call, _context, next) => {
      await next()
      throw new Error('after')
    }
    const tools = [work('t', () => 1)]
    const first = await createExecutor({ tools, use: wrapping(before) }).execute({ name: 't' })
    expect([outcome(first), text(first)]).toEqual(['error none E_TOOL_DOWNSTREAM_ERROR', 'Error: before'])
    const second = await createExecutor({ tools, use: wrapping(after) }).execute({ name: 't' })
    expect([outcome(second), text(second)]).toEqual(['error completed E_TOOL_DOWNSTREAM_ERROR', 'Error: after'])
  })

  test('may be a function that is not async, throw at once, or give no promise', async () => {
    const tools = [work('t', () => 1)]
    const throwing = (() => {
      throw new Error('at once')
    }) as unknown as Middleware
    expect(text(await createExecutor({ tools, use: wrapping(throwing) }).execute({ name: 't' }))).toBe('Error: at once')
    const plain = (() => 'plain') as unknown as Middleware
    expect(text(await createExecutor({ tools, use: wrapping(plain) }).execute({ name: 't' }))).toBe('plain')
  })

  test('may turn a failure into a result', async () => {
    const rescuing: Middleware = async (_call, _context, next) => next().catch((error: Error) => error.message)
    const failing = work('t', () => {
      throw new Error('no')
    })
    const result = await createExecutor({ tools: [failing], use: wrapping(rescuing) }).execute({ name: 't' })
    expect([outcome(result), text(result)]).toEqual(['ok unknown', 'Tool "t" failed: Error: no'])
  })
})

describe('next', () => {
  test('may be called again after it rejected, and each run is an attempt', async () => {
    const attempts: number[] = []
    const flaky = work('t', (_, { attempt }) => {
      attempts.push(attempt)
      if (attempt < 3) throw new Error('not yet')
      return 'done'
    })
    const retrying: Middleware = async (_call, _context, next) => {
      for (;;) {
        try {
          return await next()
        } catch {
          // once more
        }
      }
    }
    const executor = createExecutor({ tools: [flaky], use: wrapping(retrying) })
    const events = heard(executor)
    expect(text(await executor.execute({ name: 't' }))).toBe('done')
    expect(attempts).toEqual([1, 2, 3])
    expect(names(events)).toBe('call:received tool:start tool:progress tool:progress tool:end call:settled')
  })

  test.each<[string, Middleware]>([
    [
      'after it gave a result',
      async (_call, _context, next) => {
        await next()
        return next()
      },
    ],
    ['while it is running', async (_call, _context, next) => (await Promise.all([next(), next()]))[0]],
  ])('is refused %s', async (_, twice) => {
    let runs = 0
    const executor = createExecutor({
      tools: [
        work('t', async () => {
          runs++
          await turn()
          return 1
        }),
      ],
      use: wrapping(twice),
    })
    const result = await executor.execute({ name: 't' })
    expect(result.error?.code).toBe('E_INVALID_CONFIGURATION')
    expect(runs).toBe(1)
  })

  test('throws after the deadline: what is late runs nothing', async () => {
    const late = deferred<unknown>()
    const go = deferred()
    let runs = 0
    const waiting: Middleware = async (_call, _context, next) => {
      await go.promise
      try {
        return await next()
      } catch (error) {
        late.resolve(error)
        throw error
      }
    }
    const executor = createExecutor({ tools: [work('t', () => runs++)], use: wrapping(waiting), timeout: 20 })
    expect(outcome(await soon(executor.execute({ name: 't' })))).toBe('timed_out none E_TOOL_TIMEOUT')
    go.resolve()
    expect(await soon(late.promise)).toMatchObject({ code: 'E_TOOL_TIMEOUT' })
    expect(runs).toBe(0)
  })

  test('that is not waited for and rejects is no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    const failing = work('t', async () => {
      await turn()
      throw new Error('late')
    })
    const hasty: Middleware = async (_call, _context, next) => {
      void next()
      return 'hasty'
    }
    const result = await createExecutor({
      tools: [failing],
      use: wrapping(hasty, async (_call, _context, next) => next()),
    }).execute({ name: 't' })
    await pause(10)
    process.off('unhandledRejection', note)
    expect(text(result)).toBe('hasty')
    expect(unhandled).toEqual([])
  })
})

describe('a middleware that never ends is left at the deadline', () => {
  test.each<[string, Middleware]>([
    ['before the run', async () => never],
    [
      'after the run',
      async (_call, _context, next) => {
        await next()
        return never
      },
    ],
  ])('%s', async (_, stuck) => {
    for (const handler of [() => 1, async () => 1]) {
      const executor = createExecutor({ tools: [work('t', handler)], use: wrapping(stuck), timeout: 20 })
      expect((await soon(executor.execute({ name: 't' }))).status).toBe('timed_out')
    }
  })
})

describe('nobody between approval and run can swap the input', () => {
  test.each(['handler', 'runner'])('of a %s', async (kind) => {
    const swapping: Middleware = async (call, _context, next) => {
      ;(call as unknown as { input: unknown }).input = { path: '/etc/passwd' }
      return next()
    }
    const seen: unknown[] = []
    const tool = work('t', (input: unknown) => void seen.push(input), kind === 'handler' ? {} : { type: 'own' })
    const use = [
      ...wrapping(swapping),
      { runners: [{ type: 'own', run: (call: { input: unknown }) => void seen.push(call.input) }] },
    ]
    const executor = createExecutor({ tools: [tool], use })
    await executor.execute({ name: 't', args: { path: 'a.txt' } })
    expect(seen).toEqual([{ path: 'a.txt' }])
  })

  test('next takes no argument', async () => {
    const swapping: Middleware = async (_call, _context, next) =>
      (next as (input: unknown) => Promise<unknown>)({ a: 2 })
    const executor = createExecutor({ tools: [work('t', (input) => input)], use: wrapping(swapping) })
    expect(data(await executor.execute({ name: 't', args: { a: 1 } }))).toEqual({ a: 1 })
  })
})

describe('postToolUse', () => {
  async function after(said: unknown, returned: unknown): Promise<unknown> {
    const hooks = { postToolUse: () => said }
    const result = await createExecutor({ tools: [work('t', () => returned, { hooks })] }).execute({ name: 't' })
    return data(result) ?? text(result)
  }

  test.each([undefined, null])('keeps the result where it says nothing: %j', async (nothing) => {
    expect(await after(nothing, { a: 1 })).toEqual({ a: 1 })
  })

  test('merges plain objects, and replaces anything else', async () => {
    expect(await after({ update: { result: { b: 2 } } }, { a: 1, b: 1 })).toEqual({ a: 1, b: 2 })
    expect(await after({ update: { result: 'new' } }, { a: 1 })).toBe('new')
    expect(await after({ update: { result: { b: 2 } } }, [1])).toEqual({ b: 2 })
    expect(await after({ update: { result: { b: 2 } } }, new Date(0))).toEqual({ b: 2 })
  })

  test('replaces the whole result', async () => {
    expect(await after({ replace: { content: { b: 2 } } }, { a: 1 })).toEqual({ b: 2 })
    expect(await after({ replace: { content: [{ type: 'text', text: 'blocks' }] } }, { a: 1 })).toBe('blocks')
  })

  test('sees the call and the result of the handler', async () => {
    const seen: unknown[] = []
    const hooks = { postToolUse: ({ input }: { input: unknown }, result: unknown) => void seen.push(input, result) }
    await createExecutor({ tools: [work('t', () => ({ a: 1 }), { hooks })] }).execute({ name: 't', args: { b: 2 } })
    expect(seen).toEqual([{ b: 2 }, { a: 1 }])
  })

  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('hook')
      },
    ],
    ['rejects', () => Promise.reject(new Error('hook'))],
  ])('that %s fails a call that has taken effect', async (_, postToolUse) => {
    const result = await createExecutor({ tools: [work('t', () => 1, { hooks: { postToolUse } })] }).execute({
      name: 't',
    })
    expect(outcome(result)).toBe('error completed E_TOOL_DOWNSTREAM_ERROR')
  })

  test.each([
    [5],
    [true],
    ['x'],
    [{}],
    [[]],
    [{ result: 'x' }],
    [{ update: {} }],
    [{ update: null }],
    [{ update: 'x' }],
    [{ update: { content: 'x' } }],
    [{ replace: 'x' }],
    [{ replace: null }],
    [{ replace: { result: 'x' } }],
  ])('that says %j is told what it may say, and nothing is lost without a word', async (said) => {
    const hooks = { postToolUse: () => said }
    const result = await createExecutor({ tools: [work('t', () => ({ a: 1 }), { hooks })] }).execute({ name: 't' })
    expect(outcome(result)).toBe('error completed E_INVALID_CONFIGURATION')
    expect(result.error?.message).toMatch(
      /`postToolUse` of tool "t" .*\{ update: \{ result \} \}.*\{ replace: \{ content \} \}/,
    )
  })

  test("is within the check: what leaves is what the tool's outputSchema takes", async () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'number' } } }
    const hooks = { postToolUse: () => ({ update: { result: { a: 'text' } } }) }
    const result = await createExecutor({ tools: [work('t', () => ({ a: 1 }), { hooks, outputSchema })] }).execute({
      name: 't',
    })
    expect(outcome(result)).toBe('error completed E_INVALID_TOOL_RESULT')
  })

  test('that never ends is left at the deadline', async () => {
    const hooks = { postToolUse: () => never }
    const executor = createExecutor({ tools: [work('t', async () => 1, { hooks })], timeout: 20 })
    expect((await soon(executor.execute({ name: 't' }))).status).toBe('timed_out')
  })
})
