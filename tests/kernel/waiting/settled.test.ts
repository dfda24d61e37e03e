import { createExecutor, memoryStore, type ToolExecutor } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { data, deferred, outcome, pause, sink, soon, text, work } from '../_calls.ts'
import { changed, type Place } from '../_journals.ts'
import { ask, everyPlace, only, pairOn } from './_inbox.ts'

afterEach(() => {
  vi.useRealTimers()
})

const unknown = { code: 'E_JOURNAL', message: expect.stringContaining('not found') }

/** A place whose journals lack some of the optional methods. */
function without(place: Place, ...methods: string[]): Place {
  const changes = Object.fromEntries(methods.map((method) => [method, () => undefined]))
  return { open: () => changed(place.open(), changes) }
}

/** How the settlement of a call is heard of, by what a journal can do. */
const ways: readonly (readonly [string, readonly string[]])[] = [
  ['with everything', []],
  ['without watch', ['watch']],
  ['without watch and settledOf', ['watch', 'settledOf']],
]

describe.each(everyPlace)('settled (%s)', (_, place) => {
  test.each(ways)('hears of a call that settles in another executor (%s)', async (__, left) => {
    const { asking, answering } = pairOn(without(place(), ...left))
    const waiting = await ask(asking)
    const heard = asking.calls.settled(waiting)
    await pause(5)
    await answering.calls.decide(await only(answering), 'allow')
    const result = await soon(heard)
    expect([outcome(result), text(result), result.id]).toEqual(['ok completed', 'deployed', 'x'])
  })

  test('hears of a call that runs here or there', async () => {
    const { promise, resolve } = deferred<string>()
    const storage = place()
    const open = (): ToolExecutor =>
      createExecutor({ tools: [work('slow', () => promise)], use: [storage.open()], report: () => {} })
    const [here, there] = [open(), open()]
    void here.execute({ name: 'slow' }, { invocationId: 'slow-1', session: 's' })
    await vi.waitFor(async () => expect(await there.calls.list()).toHaveLength(1), 20_000)
    const heard = Promise.all([
      here.calls.settled('slow-1'),
      there.calls.settled('slow-1'),
      there.calls.settled('slow-1'),
    ])
    await pause(5)
    resolve('done')
    expect((await soon(heard)).map(text)).toEqual(['done', 'done', 'done'])
    await Promise.all([here.close(), there.close()])
  })

  test('hears of a call that begins to wait twice, for a person and for a client, only once it has settled', async () => {
    const ran: unknown[] = []
    const storage = place()
    const form = work('form', () => 1, { type: 'client', requiresResponse: true, requiresConfirmation: true })
    const open = (): ToolExecutor => {
      const executor = createExecutor({ tools: [form], use: [storage.open()], report: () => {} })
      onTestFinished(() => executor.close())
      return executor
    }
    const [asking, answering] = [open(), open()]
    const { invocationId } = await ask(asking, 'form')
    const heard = Promise.all([asking, answering].map((executor) => executor.calls.settled(invocationId)))
    void heard.then(() => ran.push('settled'))
    await pause(5)

    expect((await answering.calls.decide(await only(answering), 'allow')).status).toBe('waiting')
    ran.push('allowed')
    await pause(600) // longer than the journals' first looks
    const [call] = await asking.calls.waiting({ reason: 'client' })
    expect(ran).toEqual(['allowed'])
    await asking.calls.respond(call!, { email: 'a@b.c' })
    expect((await soon(heard)).map(data)).toEqual([{ email: 'a@b.c' }, { email: 'a@b.c' }])
    expect(ran).toEqual(['allowed', 'settled'])
  })

  test('answers at once for what has settled, by its result or by its id', async () => {
    const { asking, answering } = pairOn(place())
    const waiting = await ask(asking)
    const decided = await asking.calls.decide(await only(asking), 'deny')
    expect(await asking.calls.settled(decided)).toBe(decided)
    expect(outcome(await answering.calls.settled(waiting))).toBe('denied none E_TOOL_DENIED')
    expect(outcome(await answering.calls.settled(waiting.invocationId))).toBe('denied none E_TOOL_DENIED')
  })

  test('rejects for a call that never was, and for one that was pruned', async () => {
    const { asking, answering } = pairOn(place())
    await expect(soon(asking.calls.settled('never'))).rejects.toMatchObject(unknown)
    const { invocationId } = await ask(asking)
    await asking.calls.decide(await only(asking), 'deny')
    expect(await answering.calls.prune({ settledBefore: Date.now() + 1_000 })).toBe(1)
    await expect(soon(asking.calls.settled(invocationId))).rejects.toMatchObject(unknown)
  })

  test('closes what expires meanwhile, without a recovery', async () => {
    const { asking } = pairOn(place(), { approvalTimeout: 300 })
    expect(outcome(await soon(asking.calls.settled(await ask(asking))))).toBe('denied none E_APPROVAL_EXPIRED')
  })

  test('ends with its signal and with its executor', async () => {
    const { asking, answering } = pairOn(place())
    const waiting = await ask(asking)
    const controller = new AbortController()
    const abandoned = asking.calls.settled(waiting, { signal: controller.signal })
    const closed = answering.calls.settled(waiting.invocationId)
    await pause(5)
    controller.abort()
    await expect(soon(abandoned)).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED' })
    const settling = expect(soon(closed)).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED' })
    await answering.close()
    await settling
  })
})

describe('settled without a journal', () => {
  test('hears of what runs, resumes, expires and is cancelled, and of nothing else', async () => {
    const { asking } = pairOn({ open: () => ({}) as never })
    const [allowed, cancelled] = [await ask(asking), await ask(asking)]
    const heard = Promise.all([asking.calls.settled(allowed), asking.calls.settled(cancelled.invocationId)])
    await asking.calls.decide(allowed.token ?? '', 'allow')
    await asking.calls.cancel(cancelled.invocationId)
    expect((await soon(heard)).map(outcome)).toEqual(['ok completed', 'cancelled none E_TOOL_CANCELLED'])
    await expect(asking.calls.settled(allowed)).rejects.toMatchObject(unknown)
    expect(outcome(await soon(asking.calls.settled(await ask(asking, 'quick'))))).toBe(
      'timed_out unknown E_CLIENT_TOOL',
    )
  })
})

describe.each(everyPlace)('cancel (%s)', (_, place) => {
  test('ends a call in each state, here and elsewhere', async () => {
    const { asking, answering, ran } = pairOn(place())
    const approval = await ask(asking)
    const form = await ask(asking, 'form')
    await asking.calls.lease((await asking.calls.waiting({ reason: 'client' }))[0]!, 'page', 60_000)
    expect(await answering.calls.cancel(approval.invocationId, 'no longer needed')).toBe('cancelled')
    expect(await answering.calls.cancel(form.invocationId)).toBe('cancelled')
    const results = [await asking.calls.settled(approval), await asking.calls.settled(form)]
    expect(results.map(outcome)).toEqual(['cancelled none E_TOOL_CANCELLED', 'cancelled unknown E_TOOL_CANCELLED'])
    expect(text(results[0]!)).toContain('no longer needed')
    await expect(asking.calls.decide(approval.token ?? '', 'allow')).rejects.toMatchObject({
      code: 'E_APPROVAL_INVALID',
    })

    const running = asking.execute({ name: 'runs' }, { invocationId: 'here', session: 's' })
    await vi.waitFor(async () => expect((await answering.calls.list({ limit: 1 }))[0]?.state).toBe('EXECUTING'), 20_000)
    expect(await asking.calls.cancel('here', 'given up')).toBe('cancelled')
    expect(outcome(await running)).toBe('cancelled unknown E_TOOL_CANCELLED')

    for (const settled of [approval.invocationId, 'here', 'never']) {
      expect([await asking.calls.cancel(settled), await answering.calls.cancel(settled)]).toEqual([
        'not found',
        'not found',
      ])
    }
    expect(ran).toEqual([])
  })

  test('asks the executor that runs a call elsewhere, which does it at its next sign of life', async () => {
    const { asking, answering } = pairOn(place())
    const running = asking.execute({ name: 'runs' }, { invocationId: 'there', session: 's' })
    await vi.waitFor(async () => expect((await answering.calls.list())[0]?.state).toBe('EXECUTING'), 20_000)
    expect(await answering.calls.cancel('there')).toBe('asked')
    expect(outcome(await soon(running))).toBe('cancelled unknown E_TOOL_CANCELLED')
    expect(outcome(await soon(answering.calls.settled('there')))).toBe('cancelled unknown E_TOOL_CANCELLED')
  }, 30_000)

  test('says so if the journal can ask no other executor', async () => {
    const { asking, answering } = pairOn(without(place(), 'requestCancel'))
    void asking.execute({ name: 'runs' }, { invocationId: 'there', session: 's' })
    await vi.waitFor(async () => expect((await answering.calls.list())[0]?.state).toBe('EXECUTING'), 20_000)
    await expect(answering.calls.cancel('there')).rejects.toMatchObject({ code: 'E_JOURNAL' })
    await asking.calls.cancel('there')
  })
})

describe.each(everyPlace)('a journal that is down (%s)', (_, place) => {
  const down = (): never => {
    throw new Error('ECONNRESET at 10.0.0.7')
  }

  test('is told as E_JOURNAL, retryable, by each of these, without its words', async () => {
    let isDown = false
    const broken: Place = {
      open: () => {
        const mounted = place().open()
        const methods = ['list', 'read', 'takeOver', 'write', 'requestCancel', 'delete', 'settledOf']
        const breaking = (method: string) => (journal: never) => {
          const real = journal[method] as ((...input: unknown[]) => unknown) | undefined
          return real && ((...input: unknown[]) => (isDown ? down() : real.call(journal, ...input)))
        }
        return changed(mounted, Object.fromEntries(methods.map((method) => [method, breaking(method)])))
      },
    }
    const { asking } = pairOn(broken)
    const waiting = await ask(asking)
    const call = await only(asking)
    isDown = true
    const attempts: (() => Promise<unknown>)[] = [
      () => asking.calls.waiting(),
      () => asking.calls.waiting({ invocationId: 'x' }),
      () => asking.calls.lease(call, 'me', 1_000),
      () => asking.calls.list(),
      () => asking.calls.settled(waiting),
      () => asking.calls.cancel(waiting.invocationId),
      () => asking.calls.expire(),
      () => asking.calls.prune({ settledBefore: Date.now() }),
      () => asking.calls.recover(),
      () => asking.calls.decide(call, 'allow'),
    ]
    for (const attempt of attempts) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'E_JOURNAL', retryable: true })
      expect((error as Error).message).not.toContain('10.0.0.7')
    }
    isDown = false
    expect(outcome(await asking.calls.decide(call, 'allow'))).toBe('ok completed')
  })
})

describe.each(everyPlace)('records (%s)', (_, place) => {
  test('are paged newest first, of a session, while others are pruned: none comes twice', async () => {
    const storage = place()
    const executor = createExecutor({ tools: [work('t', () => 'done')], use: [storage.open()] })
    for (let order = 0; order < 60; order++) {
      await executor.execute({ name: 't', args: { order } }, { session: order % 2 === 0 ? 'even' : 'odd' })
      if (order === 29) await pause(5)
    }
    const middle = (await executor.calls.list({ limit: 30 })).at(-1)?.createdAt ?? 0
    const seen: string[] = []
    let page = await executor.calls.list({ session: 'even', limit: 10 })
    while (page.length > 0) {
      seen.push(...page.map(({ id }) => id))
      if (seen.length === 10) await executor.calls.prune({ settledBefore: middle, limit: 20 })
      page = await executor.calls.list({ session: 'even', limit: 10, before: page.at(-1)! })
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBeGreaterThanOrEqual(15)
    expect(seen.length).toBeLessThanOrEqual(30)
    expect(await executor.calls.list({ limit: 1_000 })).toHaveLength(40)
    await executor.close()
  })

  test('that are pruned take their content in the store along, and nothing that is unsettled goes', async () => {
    const store = memoryStore()
    const large = work('large', () => 'x'.repeat(100_000), { inlineLimit: 1e9 })
    const asks = work('asks', () => 1, { requiresConfirmation: true })
    const executor = createExecutor({ tools: [large, asks], use: [place().open(), { store }] })
    await executor.execute({ name: 'large' })
    const { invocationId } = await executor.execute({ name: 'asks' })
    expect(store.size).toBe(1)
    expect(await executor.calls.prune({ settledBefore: new Date(Date.now() + 1_000) })).toBe(1)
    expect(store.size).toBe(0)
    expect((await executor.calls.list()).map(({ id }) => id)).toEqual([invocationId])
    await executor.close()
  })

  test.each<[string, object]>([
    ['a limit of 0', { settledBefore: 1, limit: 0 }],
    ['a time that is none', { settledBefore: 'yesterday' }],
    ['no time', {}],
  ])('are not pruned with %s', async (__, query) => {
    const { asking } = pairOn(place())
    await expect(asking.calls.prune(query as never)).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
  })
})

describe.each(everyPlace)('ten thousand calls that wait (%s)', (_, place) => {
  test('are listed, and one session’s among them are found, and all are cancelled or expired', async () => {
    const { asking } = pairOn(place(), { approvalTimeout: 3_600_000, concurrency: 500 })
    for (let session = 0; session < 20; session++) {
      const calls = Array.from({ length: 500 }, (__, order) => ({ name: 'deploy', args: { order } }))
      await asking.executeToolCalls(calls, { session: `s${session}` })
    }
    expect(await asking.calls.waiting()).toHaveLength(10_000)
    expect(await asking.calls.waiting({ session: 's7' })).toHaveLength(500)
    expect(await asking.calls.recover()).toEqual({ sealed: [], requeued: [], kept: [], expired: [] })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_001 })
    const { expired } = await asking.calls.recover()
    expect(expired).toHaveLength(10_000)
  }, 180_000)
})

test('a call that a full journal in memory drops while it waits is told: cancelled, without effect, and reported', async () => {
  const { reports, report } = sink()
  const tools = [work('t', () => 1, { requiresConfirmation: true })]
  const executor = createExecutor({ tools, use: [memoryJournal({ waiting: 2 })], report })
  const first = await ask(executor, 't')
  const heard = executor.calls.settled(first)
  const events: unknown[] = []
  await ask(executor, 't')
  executor.on('call:settled', (event) => events.push(event))
  await ask(executor, 't')
  expect(outcome(await soon(heard))).toBe('cancelled none E_TOOL_CANCELLED')
  expect(events).toContainEqual(expect.objectContaining({ invocationId: first.invocationId, status: 'cancelled' }))
  expect(reports).toMatchObject([{ code: 'E_TOOL_CANCELLED', invocationId: first.invocationId }])
  await expect(executor.calls.decide(first.token ?? '', 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
})
