import { clientTool, createExecutor, tool, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { shadow } from 'toolwright/policies/shadow'
import { describe, expect, test } from 'vitest'
import { work } from '../conformance/policies.ts'

type Create = (calls: number, options?: object) => Extension

export function executorOf(...use: Extension[]): ToolExecutor {
  return createExecutor({ tools: [work(), work({ name: 'other' })], use })
}

export async function statuses(results: readonly (ToolResult | Promise<ToolResult>)[]): Promise<string> {
  const settled = await Promise.all(results.map((result) => Promise.resolve(result)))
  return settled.map(({ status }) => status).join(' ')
}

function repeat<Value>(count: number, make: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** What limits of any kind promise of the counting. */
export function limitTests(create: Create): void {
  const one = { session: 'one' }

  test('lets so many calls begin, and no more', async () => {
    const executor = executorOf(create(2))
    for (const status of ['ok', 'ok', 'denied', 'denied']) {
      expect(await executor.execute({ name: 'work' }, one)).toMatchObject({ status })
    }
  })

  test('lets no more begin side by side', async () => {
    const executor = executorOf(create(3))
    const results = await Promise.all(repeat(20, () => executor.execute({ name: 'work' }, one)))
    expect(results.filter(({ status }) => status === 'ok').length).toBe(3)
  })

  test('lets no more begin side by side where another policy takes its time', async () => {
    const slow: Extension = {
      policies: [{ name: 'slow', decide: () => new Promise((resolve) => setTimeout(resolve, 5)) }],
    }
    for (const use of [
      [create(3), slow],
      [slow, create(3)],
    ]) {
      const results = await Promise.all(repeat(20, () => executorOf(...use).execute({ name: 'work' }, one)))
      expect(results.filter(({ status }) => status === 'ok').length).toBe(3)
    }
  })

  test('counts a call that failed, since it began', async () => {
    const failing = tool('work', () => {
      throw new Error('no')
    })
    const executor = createExecutor({ tools: [failing], use: [create(1)] })
    expect(await statuses([await executor.execute({ name: 'work' }), executor.execute({ name: 'work' })])).toBe(
      'error denied',
    )
  })

  test.each<[string, Extension, string]>([
    ['refused by another policy', { policies: [{ name: 'no', decide: () => ({ decision: 'deny' }) }] }, 'denied'],
    ['given a result by another', { policies: [{ name: 'gives', decide: () => ({ result: 'given' }) }] }, 'ok'],
    ['asked about and not answered', { policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }] }, 'waiting'],
    [
      'refused by a person',
      {
        policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }],
        approver: { ask: () => Promise.resolve({ decision: 'deny' }) },
      },
      'denied',
    ],
  ])('does not count calls that are %s', async (_, other, status) => {
    const limit = create(1)
    for (const use of [
      [limit, other],
      [other, limit],
    ]) {
      const executor = executorOf(...use)
      for (let round = 0; round < 3; round++) {
        expect(await executor.execute({ name: 'work' }, one)).toMatchObject({ status })
      }
    }
    const executor = executorOf(limit)
    expect(
      await statuses([await executor.execute({ name: 'work' }, one), executor.execute({ name: 'work' }, one)]),
    ).toBe('ok denied')
  })

  test('counts a call that was approved once, when it begins', async () => {
    const asks: Extension = { policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }] }
    const executor = executorOf(create(2), asks)
    const tokens = (await Promise.all(repeat(3, () => executor.execute({ name: 'work' }, one)))).map(
      ({ token = '' }) => token,
    )
    // Two are asked about at the same time, the third finds both places taken.
    expect(tokens.filter((token) => token !== '').length).toBe(2)
    const third = await executor.execute({ name: 'work' }, one)
    expect(third.status).toBe('waiting')
    expect(await statuses([await executor.calls.decide(tokens[0] ?? '', 'allow')])).toBe('ok')
    expect(await statuses([await executor.calls.decide(tokens[1] ?? '', 'allow')])).toBe('ok')
    expect(await statuses([await executor.calls.decide(third.token ?? '', 'allow')])).toBe('denied')
  })

  test('does not count twice where the extension is mounted twice', async () => {
    const limit = create(2)
    const executor = executorOf(limit, limit)
    expect(await statuses(await executor.executeToolCalls(repeat(3, () => ({ name: 'work' }))))).toBe('ok ok denied')
  })

  test('says of a call what it said of it on trial', async () => {
    const reports: string[] = []
    const limit = create(1)
    const executor = executorOf(
      shadow(limit, ({ said }) => void reports.push(said)),
      limit,
    )
    const call = (): Promise<ToolResult> => executor.execute({ name: 'work' }, one)
    expect(await statuses([await call(), await call(), await call()])).toBe('ok denied denied')
    expect(reports).toEqual(['none', 'deny', 'deny'])
  })

  describe('of a tool that a client answers', () => {
    const form = clientTool({ name: 'form', description: 'Asks the client', requiresResponse: true })
    const formOf = (...use: Extension[]): ToolExecutor => createExecutor({ tools: [form], use })
    const ask = (executor: ToolExecutor): Promise<ToolResult> => executor.execute({ name: 'form' }, one)

    test('counts a call when the client is asked, whether it answers or not', async () => {
      const executor = formOf(create(2))
      expect(await statuses([await ask(executor), await ask(executor), await ask(executor)])).toBe(
        'waiting waiting denied',
      )
    })

    test('lets every client answer that was asked, also where no further call may begin', async () => {
      const executor = formOf(create(2))
      const asked = [await ask(executor), await ask(executor), await ask(executor)]
      const tokens = asked.flatMap(({ token }) => token ?? [])
      expect(await statuses(tokens.map((token) => executor.calls.respond(token, 'here')))).toBe('ok ok')
      expect(await statuses([ask(executor)])).toBe('denied')
    })

    test('does not count the answer again', async () => {
      const executor = formOf(create(2))
      const { token = '' } = await ask(executor)
      expect(await statuses([executor.calls.respond(token, 'here')])).toBe('ok')
      expect(await statuses([await ask(executor), await ask(executor)])).toBe('waiting denied')
    })

    test('counts once where a person has to approve first', async () => {
      const asks: Extension = { policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }] }
      const limit = create(2)
      const executor = formOf(limit, asks)
      const waiting = await ask(executor)
      const asked = await executor.calls.decide(waiting.token ?? '', 'allow')
      expect(await statuses([asked])).toBe('waiting')
      expect(await statuses([executor.calls.respond(asked.token ?? '', 'here')])).toBe('ok')
      const free = formOf(limit)
      expect(await statuses([await ask(free), await ask(free)])).toBe('waiting denied')
    })

    test('counts the answer in a process that did not ask', async () => {
      const journal = memoryJournal()
      const { token = '' } = await ask(formOf(journal))
      const executor = formOf(journal, create(1))
      expect(await statuses([executor.calls.respond(token, 'here')])).toBe('ok')
      expect(await statuses([ask(executor)])).toBe('denied')
    })

    test('forgets that it asked once the call has settled', async () => {
      const executor = createExecutor({ tools: [form, work()], use: [create(2, { per: 'session' })] })
      const same = { ...one, invocationId: 'same' }
      const { token = '' } = await executor.execute({ name: 'form' }, same)
      expect(await statuses([executor.calls.respond(token, 'here')])).toBe('ok')
      expect(await statuses([await executor.execute({ name: 'work' }, same)])).toBe('ok')
      expect(await statuses([executor.execute({ name: 'work' }, one)])).toBe('denied')
    })
  })

  test('does not confuse calls of two executors that an application gave one id', async () => {
    const limit = create(2)
    const calls = repeat(4, () => executorOf(limit).execute({ name: 'work' }, { ...one, invocationId: 'same' }))
    const results = await Promise.all(calls)
    expect(results.filter(({ status }) => status === 'ok').length).toBe(2)
    expect(await statuses([executorOf(limit).execute({ name: 'work' }, one)])).toBe('denied')
  })

  test('gives the place back where the caller gives up before the call began', async () => {
    const limit = create(1)
    const waits: Extension = { policies: [{ name: 'waits', decide: () => new Promise(() => {}) }] }
    const controller = new AbortController()
    const abandoned = executorOf(limit, waits).execute({ name: 'work' }, { ...one, signal: controller.signal })
    controller.abort()
    expect(await statuses([abandoned])).toBe('cancelled')
    expect(await statuses([executorOf(limit).execute({ name: 'work' }, one)])).toBe('ok')
  })

  test.each<[string, number]>([
    ['session', 2],
    ['tool', 2],
    ['session-and-tool', 4],
  ])('counts per %s', async (per, allowed) => {
    const executor = executorOf(create(1, { per }))
    const calls = ['one', 'two'].flatMap((session) =>
      ['work', 'other', 'work'].map((name) => executor.execute({ name }, { session })),
    )
    const results = await Promise.all(calls)
    expect(results.filter(({ status }) => status === 'ok').length).toBe(allowed)
  })

  test('counts per principal in all of its sessions, and a call without one for its session', async () => {
    const executor = executorOf(create(2, { per: 'principal' }))
    const run = (session: string, principal?: string): Promise<ToolResult> =>
      executor.execute({ name: 'work' }, { session, principal })
    const ada = [await run('one', 'ada'), await run('two', 'ada'), await run('three', 'ada')]
    expect(await statuses(ada)).toBe('ok ok denied')
    expect(ada[2]?.error?.message).toContain('for a principal')
    expect(await statuses([await run('one', 'ben'), await run('one'), await run('one'), await run('two')])).toBe(
      'ok ok ok ok',
    )
    expect(await statuses([run('one'), run('ada'), run('ada', 'one')])).toBe('denied ok ok')
  })

  test('counts a call that was approved in another process for the principal that made it', async () => {
    const journal = memoryJournal()
    const asks: Extension = { policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }] }
    for (const use of [[journal, asks], [asks]]) {
      const limit = create(1, { per: 'principal' })
      const first = executorOf(...use)
      const { token = '' } = await first.execute({ name: 'work' }, { session: 'one', principal: 'ada' })
      const other = use.length === 2 ? executorOf(journal, limit) : first
      const principals: unknown[] = []
      other.on('call:settled', ({ principal }) => void principals.push(principal))
      expect(await statuses([other.calls.decide(token, 'allow')])).toBe('ok')
      expect(principals).toEqual(['ada'])
      if (other === first) continue
      const again = await other.execute({ name: 'work' }, { session: 'two', principal: 'ada' })
      expect(again.status).toBe('denied')
    }
  })

  test('says that it counts by session, if it does', () => {
    const scopes = ['session', 'session-and-tool', 'tool', 'principal'].map((per) => create(1, { per }).policies?.[0])
    expect(scopes.map((policy) => policy?.scope)).toEqual(['session', 'session', undefined, undefined])
  })

  test('counts the named tools alone, also where they are called by an alias', async () => {
    const tools = [work({ aliases: ['job'] }), work({ name: 'other' })]
    const executor = createExecutor({ tools, use: [create(1, { tools: ['work'] })] })
    const names = ['job', 'work', 'other', 'other']
    expect(await statuses(names.map((name) => executor.execute({ name }, one)))).toBe('ok denied ok ok')
  })

  test('keeps the sessions of one tool and the tools of one session apart, whatever they are called', async () => {
    const executor = executorOf(create(1))
    const sessions = ['', 'work', '\nwork', 'work\n', '__proto__', 'constructor']
    for (const session of sessions) {
      expect(await statuses([executor.execute({ name: 'work' }, { session })])).toBe('ok')
      expect(await statuses([executor.execute({ name: 'other' }, { session })])).toBe('ok')
      expect(await statuses([executor.execute({ name: 'other' }, { session })])).toBe('denied')
    }
  })

  test('forgets the session that was used least recently, and never one with a call that waits', async () => {
    const executor = executorOf(create(1))
    const asks: Extension = { policies: [{ name: 'asks', decide: () => new Promise(() => {}) }] }
    const limit = create(1)
    const waiting = new AbortController()
    const held = executorOf(limit, asks).execute({ name: 'work' }, { session: 'held', signal: waiting.signal })
    const quick = executorOf(limit)
    for (let index = 0; index < 10_001; index++) {
      await executor.execute({ name: 'work' }, { session: String(index) })
      await quick.execute({ name: 'work' }, { session: String(index) })
    }
    const again = (session: string): Promise<string> => statuses([executor.execute({ name: 'work' }, { session })])
    expect(await again('10000')).toBe('denied')
    expect(await again('0')).toBe('ok')
    expect(await statuses([quick.execute({ name: 'work' }, { session: 'held' })])).toBe('denied')
    waiting.abort()
    expect(await statuses([held])).toBe('cancelled')
  })
}
