import { createExecutor, type ToolEvent, type WaitingCall } from 'toolwright'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { data, deferred, outcome, pause, soon, text, work } from '../_calls.ts'
import { ask, everyPlace, invalid, only, pairOn, toolsOf } from './_inbox.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Sets the wall clock ahead. */
function later(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds })
}

describe.each(everyPlace)('a call that waits (%s)', (name, place) => {
  test('is listed with its question, its masked args and nothing that could be sent back in', async () => {
    const { asking, answering } = pairOn(place())
    const {
      invocationId,
      callId,
      id,
      token = '',
      expiresAt,
    } = await ask(asking, 'deploy', 's', { to: 'prod', key: 'k' })
    const call = await only(answering)
    expect(id).toBeTypeOf('string')
    expect(call).toEqual({
      invocationId,
      callId,
      id,
      toolName: 'deploy',
      session: 's',
      reason: 'approval',
      prompt: 'Deploy?',
      args: { to: 'prod', key: '[secret]' },
      createdAt: expect.any(Number),
      expiresAt,
    })
    expect(Object.isFrozen(call)).toBe(true)
    expect(JSON.stringify(call)).not.toContain(token.split('.')[1])
  })

  test('whose token is lost is answered by another executor, once', async () => {
    const { asking, answering, ran } = pairOn(place())
    const { invocationId } = await ask(asking, 'deploy', 's', { key: 'k' })
    const call = await only(answering)
    const result = await answering.calls.decide(call, 'allow', { decidedBy: 'ada' })
    expect([outcome(result), result.invocationId, text(result)]).toEqual(['ok completed', invocationId, 'deployed'])
    await expect(answering.calls.decide(call, 'allow')).rejects.toMatchObject(invalid)
    expect(await answering.calls.waiting()).toEqual([])
    expect(ran).toEqual([{ key: 'k' }])
  })

  test('is a change that other executors on the journal are told of, as are its lease and its end', async () => {
    const { asking, answering } = pairOn(place())
    const changes: string[] = []
    const unwatch = answering.calls.watch((invocationId, session) => changes.push(`${invocationId} ${session}`))
    await pause(300) // the watch of a database begins in its own time
    const { invocationId } = await ask(asking, 'form', 's')
    const hint = `${invocationId} s`
    if (name === 'no journal') return unwatch()
    await expect.poll(() => changes, { timeout: 30_000 }).toContain(hint)
    changes.length = 0
    await asking.calls.lease(await only(asking), 'page 1', 30_000)
    await expect.poll(() => changes, { timeout: 30_000 }).toContain(hint)
    changes.length = 0
    await asking.calls.respond(await only(asking), { email: 'a@b.c' }, { holder: 'page 1' })
    await expect.poll(() => changes, { timeout: 30_000 }).toContain(hint)
    unwatch()
    changes.length = 0
    await ask(asking, 'form', 's')
    await pause(300)
    expect(changes).toEqual([])
  })

  test('and its token are redeemed at once: one wins, and it runs once', async () => {
    const { asking, answering, ran } = pairOn(place())
    const { token = '' } = await ask(asking)
    const calls = await Promise.all(Array.from({ length: 5 }, async () => [await only(asking), await only(answering)]))
    const answers = [
      asking.calls.decide(token, 'allow'),
      ...calls.flatMap(([here, there]) => [
        asking.calls.decide(here!, 'allow'),
        answering.calls.decide(there!, 'allow'),
      ]),
    ]
    const settled = await Promise.allSettled(answers)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject(invalid)
    expect(ran).toHaveLength(1)
  })

  test.each<[string, (call: WaitingCall) => unknown]>([
    ['copied', (call) => structuredClone(call)],
    ['spread', (call) => ({ ...call })],
    ['sent as JSON', (call) => JSON.parse(JSON.stringify(call)) as unknown],
    ['behind a Proxy', (call) => new Proxy(call, {})],
    ['that inherits from it', (call) => Object.create(call) as unknown],
    ['named by its id alone', ({ invocationId }) => invocationId],
    ['whose getters throw', () => new Proxy({}, { get: () => expect.fail('it was read') })],
  ])('%s is refused, and the call itself is still of use', async (_, forge) => {
    const { asking, ran } = pairOn(place())
    await ask(asking)
    const call = await only(asking)
    const forged = forge(call) as WaitingCall
    await expect(asking.calls.decide(forged, 'allow')).rejects.toMatchObject(invalid)
    await expect(asking.calls.lease(forged, 'me', 1_000)).rejects.toMatchObject(invalid)
    expect(ran).toEqual([])
    expect((await asking.calls.decide(call, 'allow')).status).toBe('ok')
  })

  test('of another session is not listed, and refused', async () => {
    const { asking, answering, ran } = pairOn(place())
    const { invocationId } = await ask(asking, 'deploy', 'theirs')
    expect(await answering.calls.waiting({ session: 'mine' })).toEqual([])
    expect(await answering.calls.waiting({ session: 'mine', invocationId })).toEqual([])
    const call = await only(answering, { session: 'theirs' })
    await expect(answering.calls.decide(call, 'allow', { session: 'mine' })).rejects.toMatchObject(invalid)
    expect(ran).toEqual([])
    expect((await answering.calls.decide(call, 'allow', { session: 'theirs' })).status).toBe('ok')
  })

  test('is found by its id and its reason, newest first', async () => {
    const { asking, answering } = pairOn(place())
    const first = await ask(asking)
    await pause(2)
    const form = await ask(asking, 'form')
    const ids = async (query: object): Promise<string[]> =>
      (await answering.calls.waiting(query)).map(({ invocationId }) => invocationId)
    expect(await ids({})).toEqual([form.invocationId, first.invocationId])
    expect(await ids({ reason: 'client' })).toEqual([form.invocationId])
    expect(await ids({ invocationId: first.invocationId })).toEqual([first.invocationId])
    expect(await ids({ invocationId: first.invocationId, reason: 'client' })).toEqual([])
    expect(await ids({ invocationId: 'none' })).toEqual([])
  })

  test('asked again by its id, without its token, is listed and answered', async () => {
    const { asking, ran } = pairOn(place())
    const options = { session: 's', invocationId: 'order-7' }
    await asking.execute({ name: 'deploy' }, options)
    expect((await asking.execute({ name: 'deploy' }, options)).token).toBe(undefined)
    const [call] = await asking.calls.waiting({ invocationId: 'order-7' })
    expect(outcome(await asking.calls.decide(call!, 'allow'))).toBe('ok completed')
    expect(ran).toHaveLength(1)
  })

  test('of a client is answered with an answer that fits, and a wrong one leaves it waiting', async () => {
    const { asking, answering } = pairOn(place())
    await ask(asking, 'form')
    const call = await only(answering)
    await expect(answering.calls.respond(call, { phone: 1 })).rejects.toMatchObject({ code: 'E_INVALID_TOOL_RESULT' })
    expect(data(await answering.calls.respond(call, { email: 'a@b.c' }))).toEqual({ email: 'a@b.c' })
  })

  test('that expired is neither listed nor runs, without a recovery', async () => {
    const { asking, answering, ran } = pairOn(place(), { approvalTimeout: 60_000 })
    const { token = '' } = await ask(asking)
    const call = await only(answering)
    later(60_001)
    expect(await answering.calls.waiting()).toEqual([])
    await expect(answering.calls.decide(call, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_EXPIRED' })
    await expect(asking.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_EXPIRED' })
    expect(ran).toEqual([])
  })

  test('too long is closed by expire, with its event: denied, or timed out', async () => {
    const { asking, answering } = pairOn(place(), { approvalTimeout: 50_000 })
    const approval = await ask(asking)
    const client = await ask(asking, 'quick')
    const long = await ask(asking, 'form')
    later(50_001)
    const events: ToolEvent[] = []
    answering.on('call:settled', (event) => events.push(event))
    const expired = await answering.calls.expire()
    const denied = { status: 'denied', effect: 'none', error: expect.stringContaining('ApprovalExpiredError') }
    const timedOut = { status: 'timed_out', effect: 'unknown', error: expect.stringContaining('ClientToolError') }
    expect(expired.toSorted((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1))).toMatchObject([
      { id: approval.invocationId, toolCallId: 'x', session: 's', state: 'DENIED', ...denied },
      { id: client.invocationId, toolCallId: 'x', session: 's', state: 'FAILED', ...timedOut },
    ])
    expect(events.map((event) => (event.event === 'call:settled' ? String(event.error?.code) : '')).toSorted()).toEqual(
      ['E_APPROVAL_EXPIRED', 'E_CLIENT_TOOL'],
    )
    expect(await answering.calls.expire()).toEqual([])
    expect((await only(answering)).invocationId).toBe(long.invocationId)
    expect(outcome(await answering.calls.settled(approval))).toBe('denied none E_APPROVAL_EXPIRED')
  })

  test('holds no secret of its args for an approver; a client that leases it gets them', async () => {
    const { asking, answering } = pairOn(place())
    await ask(asking, 'deploy', 's', { key: 'k' })
    const leased = await answering.calls.lease(await only(answering), 'page', 10_000)
    expect(leased?.args).toEqual({ key: '[secret]' })
    await asking.calls.cancel((await only(asking)).invocationId)
    await ask(asking, 'form', 's', { fields: ['email'] })
    expect((await answering.calls.lease(await only(answering), 'page', 10_000))?.args).toEqual({ fields: ['email'] })
  })

  test('keeps its chain of digests and its owner’s events, whoever answers it', async () => {
    const { asking, answering } = pairOn(place())
    const events: ToolEvent[] = []
    for (const executor of [asking, answering]) executor.on('*', (event) => events.push(event))
    await ask(asking)
    await answering.calls.decide(await only(answering), 'deny', { note: 'not today' })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(name === 'memory' || events.at(-1)).toSatisfy(
      (last: unknown) => last === true || 'digest' in (last as object),
    )
  })
})

describe.each(everyPlace)('ten deciders over two executors (%s)', (_, place) => {
  test('run each of twenty calls once', async () => {
    const { asking, answering, ran } = pairOn(place())
    for (let order = 0; order < 20; order++) await ask(asking, 'deploy', `s${order}`, { order })
    const deciders = Array.from({ length: 10 }, async (_each, index) => {
      const executor = index % 2 === 0 ? asking : answering
      const mine = await executor.calls.waiting()
      return Promise.allSettled(mine.map((call) => executor.calls.decide(call, 'allow')))
    })
    const all = (await soon(Promise.all(deciders))).flat()
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    for (const one of all) if (one.status === 'rejected') expect(one.reason).toMatchObject(invalid)
    expect(new Set(ran.map((input) => (input as { order: number }).order)).size).toBe(20)
    expect(ran).toHaveLength(20)
  }, 60_000)
})

describe('without a journal', () => {
  test('an executor lists, leases, cancels and answers what it holds, and another executor nothing', async () => {
    const ran: unknown[] = []
    const executor = createExecutor({ tools: toolsOf(ran), approvalTimeout: 60_000 })
    const other = createExecutor({ tools: toolsOf(ran) })
    await ask(executor, 'deploy', 's', { key: 'k' })
    const call = await only(executor)
    expect(call).toMatchObject({ prompt: 'Deploy?', args: { key: '[secret]' }, reason: 'approval', session: 's' })
    expect(await other.calls.waiting()).toEqual([])
    await expect(other.calls.decide(call, 'allow')).rejects.toMatchObject(invalid)
    expect(await executor.calls.waiting({ session: 'another' })).toEqual([])
    expect(await executor.calls.list()).toMatchObject([
      { id: call.invocationId, state: 'APPROVAL_REQUIRED', prompt: 'Deploy?' },
    ])
    const leased = await executor.calls.lease(call, 'one', 60_000)
    await expect(executor.calls.decide(call, 'allow', { holder: 'two' })).rejects.toMatchObject({ code: 'E_LEASED' })
    expect(outcome(await executor.calls.decide(leased!.call, 'allow', { holder: 'one' }))).toBe('ok completed')
    await expect(executor.calls.decide(call, 'allow', { holder: 'one' })).rejects.toMatchObject(invalid)
    expect(ran).toEqual([{ key: 'k' }])
    await expect(executor.calls.prune({ settledBefore: Date.now() })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
    })
  })

  test('calls lists those in flight beside the paused ones, newest first, by session and by page', async () => {
    const end = deferred()
    const slow = work('slow', () => end.promise, { secrets: ['/key'] })
    const executor = createExecutor({ tools: [...toolsOf([]), slow] })
    const [running, waiting] = [ask(executor, 'slow', 's', { key: 'k', order: 1 }), ask(executor, 'deploy', 'other')]
    const { invocationId } = await waiting
    await pause(5)
    const newest = ask(executor, 'slow')
    await pause(5)
    const calls = await executor.calls.list()
    expect(calls).toMatchObject([
      { name: 'slow', state: 'EXECUTING', session: 's', toolCallId: 'x', inputPreview: '{}' },
      { name: expect.any(String) },
      { name: expect.any(String) },
    ])
    const first = calls.find(({ inputPreview }) => inputPreview.includes('order'))
    expect(first).toMatchObject({ inputPreview: '{"key":"[secret]","order":1}', effect: 'unknown' })
    expect(first?.auditTrail.map(({ state }) => state)).toEqual(['PENDING', 'EXECUTING'])
    expect(Math.abs(Number(first?.createdAt) - Date.now())).toBeLessThan(60_000)
    expect(await executor.calls.list({ session: 'other' })).toMatchObject([{ id: invocationId, prompt: 'Deploy?' }])

    const pages: string[] = []
    for (let page = await executor.calls.list({ limit: 1 }); page.length > 0;) {
      pages.push(page[0]!.id)
      if (page[0]?.id === invocationId) await executor.calls.cancel(invocationId) // a page after a call that is gone
      page = await executor.calls.list({ limit: 1, before: page[0]! })
    }
    expect(pages).toEqual(calls.map(({ id }) => id))
    end.resolve()
    await Promise.all([running, newest])
    expect(await executor.calls.list()).toEqual([])
  })

  test('what expired is closed once, with its event', async () => {
    const executor = createExecutor({ tools: toolsOf([]), approvalTimeout: 10 })
    const events: ToolEvent[] = []
    executor.on('call:settled', (event) => events.push(event))
    const asked = [await ask(executor), await ask(executor, 'quick'), await ask(executor)]
    await pause(30)
    await expect(executor.calls.decide(asked[0]?.token ?? '', 'allow')).rejects.toMatchObject({
      code: 'E_APPROVAL_EXPIRED',
    })
    expect((await executor.calls.expire()).map(({ state }) => state).toSorted()).toEqual(['DENIED', 'FAILED'])
    expect(events.map((event) => ('error' in event ? String(event.error?.code) : '')).toSorted()).toEqual([
      'E_APPROVAL_EXPIRED',
      'E_APPROVAL_EXPIRED',
      'E_CLIENT_TOOL',
    ])
  })
})
