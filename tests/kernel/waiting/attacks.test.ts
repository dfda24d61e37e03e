import { createExecutor, memoryStore, type ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { deferred, outcome, pause, soon, text, work } from '../_calls.ts'
import { changed, type Place } from '../_journals.ts'
import { ask, everyPlace, only, pairOn, toolsOf } from './_inbox.ts'

afterEach(() => {
  vi.useRealTimers()
})

const withoutJournal: Place = { open: () => ({}) as never }
const large = work('large', () => 'x'.repeat(100_000), { inlineLimit: 1e9 })

describe('settled', () => {
  test('looks in time although others keep beginning to wait', async () => {
    const mounted = memoryJournal()
    const { asking, answering } = pairOn({ open: () => changed(mounted, { watch: () => undefined }) })
    const [waiting, other] = [await ask(asking), await ask(asking)]
    const controller = new AbortController()
    const state = { isHeard: false }
    const heard = asking.calls.settled(waiting).finally(() => (state.isHeard = true))
    await answering.calls.decide(await answering.calls.waiting().then((calls) => calls.at(-1)!), 'allow')
    for (let count = 0; count < 400 && !state.isHeard; count++) {
      asking.calls.settled(other, { signal: controller.signal }).catch(() => {})
      await pause(5)
    }
    expect(state.isHeard).toBe(true)
    expect(outcome(await heard)).toBe('ok completed')
    controller.abort()
  })

  test('says within a minute that the record is gone, although no hint tells of it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    const mounted = memoryJournal({ waiting: 1 })
    const { asking, answering } = pairOn({ open: () => changed(mounted, { watch: () => undefined }) })
    const heard = answering.calls.settled(await ask(asking))
    const gone = expect(heard).rejects.toMatchObject({ code: 'E_JOURNAL' })
    await vi.advanceTimersByTimeAsync(1_000)
    await ask(asking)
    await vi.advanceTimersByTimeAsync(60_000)
    await gone
  })

  test.each([
    ['without a journal', withoutJournal],
    ['with one', { open: memoryJournal }],
  ])('waits for nothing once the executor is closed (%s)', async (_, place) => {
    const { asking } = pairOn(place)
    const waiting = await ask(asking)
    await asking.close()
    await expect(soon(asking.calls.settled(waiting))).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED' })
  })

  test('does not take the refusal of a repeated call for the result of the call', async () => {
    const mounted = memoryJournal()
    const { promise, resolve } = deferred<string>()
    const isClaimed = deferred<void>()
    const tools = [work('slow', () => promise)]
    let isLate = true
    const read = (journal: typeof mounted.journal) => async (id: string) => {
      if (!isLate) return journal.read(id)
      isLate = false
      await isClaimed.promise
      return null // it was read before the other executor claimed the id
    }
    const there = createExecutor({ tools, use: [mounted] })
    const here = createExecutor({ tools, use: [changed(mounted, { read })] })
    const repeated = here.execute({ name: 'slow' }, { invocationId: 'once', session: 's' })
    const heard = here.calls.settled('once')
    const first = there.execute({ name: 'slow' }, { invocationId: 'once', session: 's' })
    await vi.waitFor(async () => expect((await there.calls.list())[0]?.state).toBe('EXECUTING'), 20_000)
    isClaimed.resolve()
    expect(outcome(await repeated)).toContain('E_DUPLICATE_INVOCATION')
    resolve('done')
    expect([text(await first), text(await soon(heard))]).toEqual(['done', 'done'])
    await Promise.all([here.close(), there.close()])
  })

  test('tells what a journal’s watch throws as E_JOURNAL, without its words', async () => {
    const watch = () => (): never => {
      throw new Error('ECONNRESET at 10.0.0.7')
    }
    const { asking } = pairOn({ open: () => changed(memoryJournal(), { watch }) })
    const error: unknown = await soon(asking.calls.settled(await ask(asking))).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'E_JOURNAL', retryable: true })
    expect((error as Error).message).not.toContain('10.0.0.7')
  })
})

describe.each(everyPlace)('an answer (%s)', (_, place) => {
  test('runs the call although it is asked for again and again by its id', async () => {
    const { asking, ran } = pairOn(place())
    const again = (): Promise<ToolResult> =>
      asking.execute({ name: 'deploy', args: {} }, { invocationId: 'polled', session: 's' })
    const { token } = await again()
    const state = { isOver: false }
    const polling = (async (): Promise<void> => {
      for (let count = 0; count < 3_000 && !state.isOver; count++) await again()
    })()
    const decided = await asking.calls.decide(token!, 'allow').finally(() => (state.isOver = true))
    await polling
    expect([outcome(decided), ran.length]).toEqual(['ok completed', 1])
    expect(text(await again())).toBe('deployed')
  })
})

describe('a call that waits without a journal', () => {
  test('is shown to each as it was asked, whatever another makes of what it got', async () => {
    const { asking } = pairOn(withoutJournal)
    await ask(asking, 'deploy', 's', { key: 'k', hosts: ['one'] })
    const { args } = (await only(asking)) as { args: { hosts: string[] } }
    args.hosts.push('two')
    expect((await only(asking)).args).toEqual({ key: '[secret]', hosts: ['one'] })
  })

  test('is not answered by another client than the one that leased it meanwhile', async () => {
    const ran: unknown[] = []
    const outputSchema = z.object({ email: z.string() }).refine(async () => {
      const [call] = await executor.calls.waiting()
      if (call !== undefined) await executor.calls.lease(call, 'first', 60_000)
      return true
    })
    const slow = work('slow', () => 1, { type: 'client', requiresResponse: true, timeout: 60_000, outputSchema })
    const executor = createExecutor({ tools: [...toolsOf(ran), slow] })
    onTestFinished(() => executor.close())
    const { token } = await ask(executor, 'slow')
    await expect(executor.calls.respond(token!, { email: 'e' }, { holder: 'second' })).rejects.toMatchObject({
      code: 'E_LEASED',
    })
    expect(outcome(await executor.calls.respond(token!, { email: 'e' }, { holder: 'first' }))).toContain('ok')
  })

  test('is paged once, although the last of the page before is over', async () => {
    const { asking } = pairOn(withoutJournal)
    for (let count = 0; count < 5; count++) await ask(asking)
    const first = await asking.calls.list({ limit: 2 })
    await asking.calls.cancel(first[1]!.id)
    const second = await asking.calls.list({ limit: 10, before: first[1]! })
    expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(5)
    expect(second).toHaveLength(3)
  })
})

describe.each([
  ['without a journal', withoutJournal],
  ['with one', { open: memoryJournal }],
])('a page (%s)', (_, place) => {
  test.each([0, -1, 1.5, Number.NaN, '5'])('of %s calls is refused', async (limit) => {
    const { asking } = pairOn(place)
    await expect(asking.calls.list({ limit: limit as number })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
    })
  })
})

test('executors that expire calls at once leave each other the calls that one of them is closing', async () => {
  const mounted = memoryJournal()
  const [taken, go] = [deferred<void>(), deferred<void>()]
  const write =
    (journal: typeof mounted.journal): typeof mounted.journal.write =>
    async (record, fence) => {
      if (record.state === 'DENIED') {
        taken.resolve()
        await go.promise
      }
      return journal.write(record, fence)
    }
  let isFirst = true
  const place: Place = { open: () => (isFirst ? ((isFirst = false), changed(mounted, { write })) : mounted) }
  const { asking, answering } = pairOn(place, { approvalTimeout: 1 })
  await ask(answering)
  await pause(5)
  const expired = asking.calls.expire()
  await taken.promise
  expect([await answering.calls.expire(), (await answering.calls.recover({ approvals: 'seal' })).sealed]).toEqual([
    [],
    [],
  ])
  go.resolve()
  expect(await expired).toHaveLength(1)
})

test('the bytes of a journal in memory count what a provider gave with a call', async () => {
  const { asking } = pairOn({ open: () => memoryJournal({ maximumBytes: 1_000_000 }) })
  for (let count = 0; count < 10; count++) {
    await asking.execute({ name: 'deploy', args: { count }, result: 'x'.repeat(200_000) }, { session: 's' })
  }
  expect((await asking.calls.waiting()).length).toBeLessThanOrEqual(5)
})

test('what was deleted before a deletion failed takes its content in the store along', async () => {
  const store = memoryStore()
  const remove =
    (journal: Required<ReturnType<typeof memoryJournal>['journal']>) => async (query: { limit: number }) => {
      const deleted = await journal.delete({ settledBefore: Infinity, limit: Math.min(query.limit, 100) })
      if (query.limit > 100) throw new Error('the next statement has failed')
      return deleted
    }
  const journal = changed(memoryJournal(), { delete: remove as never })
  const executor = createExecutor({ tools: [large], use: [journal, { store }], concurrency: 50 })
  await executor.executeToolCalls(Array.from({ length: 120 }, () => ({ name: 'large' })))
  expect(store.size).toBe(120)
  expect(await executor.calls.prune({ settledBefore: new Date(Date.now() + 1_000) })).toBe(120)
  expect(store.size).toBe(0)
  await executor.close()
})
