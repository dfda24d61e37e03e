import { createExecutor, type ToolEvent } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { heard, names, never, outcome, pause, soon, work } from './_calls.ts'
import { places, recordIn } from './_journals.ts'

/** The events, without those that `before` has, as a name and a number each. */
function numbered(events: readonly ToolEvent[]): string[] {
  return events.map(({ event, seq }) => `${event}#${seq}`)
}

describe.each(places)('the end of a call (%s)', (_, open) => {
  test('of a dead process is told as tool:end and call:settled if its tool had started', async () => {
    const place = open()
    const tools = [work('runs', () => never)]
    const dying = createExecutor({ tools, use: [place.open()], timeout: 0 })
    const before = heard(dying)
    void dying.execute({ id: 'p', name: 'runs' }, { session: 's', principal: 'ada', invocationId: 'running' })
    await vi.waitFor(() => expect(names(before)).toBe('call:received tool:start'))
    const next = createExecutor({ tools, use: [place.open()] })
    const events = heard(next)
    await next.calls.recover({ staleAfter: 0 })
    expect(numbered(events)).toEqual(['tool:end#2', 'call:settled#3'])
    const envelope = { invocationId: 'running', id: 'p', toolName: 'runs', session: 's', principal: 'ada' }
    expect(events).toMatchObject([
      { ...envelope, isError: true },
      { ...envelope, effect: 'unknown' },
    ])
    const { seq, journal } = await recordIn(place.open(), 'running')
    expect([seq, journal?.hasStarted]).toEqual([4, undefined])
  })

  test('of a client that did not answer has no tool:end, since no tool had started', async () => {
    const place = open()
    const form = { type: 'client', requiresResponse: true, timeout: 1 }
    const executor = createExecutor({ tools: [work('form', () => 1, form)], use: [place.open()] })
    const events = heard(executor)
    await executor.execute({ name: 'form' })
    await pause(10)
    await executor.calls.expire()
    const eventNames = names(events).split(' ')
    expect(eventNames.filter((name) => name === 'tool:end').length).toBe(
      eventNames.filter((name) => name === 'tool:start').length,
    )
    expect(numbered(events).at(-1)).toBe(`call:settled#${events.length - 1}`)
  })

  test('of a call with an id of the application is emitted if its caller gave it up before, and leaves the id free', async () => {
    const place = open()
    const executor = createExecutor({ tools: [work('t', () => 'ran')], use: [place.open()] })
    const events = heard(executor)
    const [call, options] = [
      { id: 'p', name: 't', args: { a: 1 } },
      { session: 's', principal: 'ada', invocationId: 'x' },
    ]
    const result = await executor.execute(call, { ...options, signal: AbortSignal.abort() })
    expect(outcome(result)).toBe('cancelled none E_TOOL_CANCELLED')
    expect(numbered(events)).toEqual(['call:received#0', 'call:settled#1'])
    const envelope = { invocationId: 'x', id: 'p', toolName: 't', session: 's', principal: 'ada' }
    expect(events).toMatchObject([
      { ...envelope, args: { a: 1 } },
      { ...envelope, status: 'cancelled', effect: 'none', error: result.error },
    ])
    const streamed: ToolEvent[] = []
    for await (const event of executor.stream(call, { ...options, signal: AbortSignal.abort() })) streamed.push(event)
    expect(names(streamed)).toBe('call:received call:settled')
    expect(await place.open().journal.read('x')).toBe(null)
    expect(outcome(await executor.execute(call, options))).toBe('ok completed')
  })

  test('of a call with the id of another call writes nothing over the record of that call, and ends no wait for it', async () => {
    const place = open()
    const tools = [work('t', () => 'ran'), work('asks', () => 'ran', { requiresConfirmation: true })]
    const executor = createExecutor({ tools, use: [place.open()] })
    await executor.execute({ name: 't' }, { invocationId: 'over' })
    const { token = '' } = await executor.execute({ name: 'asks' }, { invocationId: 'waits' })
    const settled = executor.calls.settled('waits')
    const before = await Promise.all(['over', 'waits'].map((id) => recordIn(place.open(), id)))
    const events = heard(executor)
    for (const [name, invocationId] of [
      ['t', 'over'],
      ['asks', 'waits'],
    ] as const) {
      const again = await executor.execute({ name }, { invocationId, signal: AbortSignal.abort() })
      expect(outcome(again)).toBe('cancelled none E_TOOL_CANCELLED')
    }
    expect(names(events)).toBe('call:received call:settled call:received call:settled')
    expect(await Promise.all(['over', 'waits'].map((id) => recordIn(place.open(), id)))).toEqual(before)
    expect(outcome(await executor.calls.decide(token, 'allow'))).toBe('ok completed')
    expect(outcome(await settled)).toBe('ok completed')
  })

  test('of a call that is refused for its id is not emitted, since the events of that id are of another call', async () => {
    const place = open()
    const executor = createExecutor({ tools: [work('t', () => 'ran')], use: [place.open()] })
    await executor.execute({ name: 't' }, { invocationId: 'x' })
    const events = heard(executor)
    const refused = await executor.execute({ name: 't', args: { a: 1 } }, { invocationId: 'x' })
    expect([outcome(refused), events]).toEqual(['error none E_DUPLICATE_INVOCATION', []])
  })

  test('that was written leaves no mark of its start', async () => {
    const place = open()
    const executor = createExecutor({ tools: [work('runs', () => 'ran')], use: [place.open()] })
    const result = await executor.execute({ name: 'runs' }, { invocationId: 'one' })
    expect(outcome(result)).toBe('ok completed')
    expect((await recordIn(place.open(), 'one')).journal).not.toHaveProperty('hasStarted')
  })
})

describe('the close of an executor', () => {
  const tools = [
    work('asks', () => 'ran', { requiresConfirmation: true }),
    work('form', () => 1, { type: 'client', requiresResponse: true }),
    work('runs', () => never),
  ]

  test.each([
    ['at once', 0, 0],
    ['after the calls in flight were cancelled', 1, 0],
    ['at the end of the drain', 1, 20],
  ])('without a journal ends the calls that wait, %s', async (_, running, drain) => {
    const executor = createExecutor({ tools })
    const [asked, shown] = [await executor.execute({ name: 'asks' }), await executor.execute({ name: 'form' })]
    const waits = [executor.calls.settled(asked), executor.calls.settled(shown.invocationId)]
    const inFlight = Array.from({ length: running }, () => executor.execute({ name: 'runs' }))
    const events = heard(executor)
    await soon(executor.close({ drain }))
    const results = await soon(Promise.all(waits))
    expect(results.map(outcome)).toEqual(['cancelled none E_TOOL_CANCELLED', 'cancelled unknown E_TOOL_CANCELLED'])
    expect(results.map(({ error }) => error?.message)).toEqual(Array(2).fill('The executor was closed.'))
    const ends = events.filter(({ event, toolName }) => event === 'call:settled' && toolName !== 'runs')
    expect(ends).toMatchObject(results.map(({ invocationId, error }) => ({ invocationId, seq: 2, error })))
    expect(await executor.calls.waiting()).toEqual([])
    for (const result of inFlight) expect((await result).status).toBe('cancelled')
  })

  test('without a journal lets an answer that came before it run, and ends the call if it waits again', async () => {
    const executor = createExecutor({
      tools: [...tools, work('both', () => 1, { type: 'client', requiresResponse: true, requiresConfirmation: true })],
    })
    const [asked, both] = [await executor.execute({ name: 'asks' }), await executor.execute({ name: 'both' })]
    const again = executor.calls.settled(both)
    const answers = [asked, both].map(({ token = '' }) => executor.calls.decide(token, 'allow'))
    await soon(executor.close({ drain: 30_000 }))
    expect((await Promise.all(answers)).map(outcome)).toEqual(['ok completed', 'waiting unknown'])
    expect(outcome(await soon(again))).toBe('cancelled unknown E_TOOL_CANCELLED')
  })

  test.each(places)('with a journal leaves the calls waiting for another executor (%s)', async (_, open) => {
    const place = open()
    const closing = createExecutor({ tools, use: [place.open()] })
    const { token = '' } = await closing.execute({ name: 'asks' })
    const events = heard(closing)
    await closing.close()
    expect(events).toEqual([])
    expect(outcome(await createExecutor({ tools, use: [place.open()] }).calls.decide(token, 'allow'))).toBe(
      'ok completed',
    )
  })
})
