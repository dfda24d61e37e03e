import { createExecutor, type ToolEvent } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { heard, names, never, outcome, pause, work } from './_calls.ts'
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
    await next.recover({ staleAfter: 0 })
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
    await executor.expire()
    const told = names(events).split(' ')
    expect(told.filter((name) => name === 'tool:end').length).toBe(told.filter((name) => name === 'tool:start').length)
    expect(numbered(events).at(-1)).toBe(`call:settled#${events.length - 1}`)
  })

  test('that was written leaves no mark of its start', async () => {
    const place = open()
    const executor = createExecutor({ tools: [work('runs', () => 'ran')], use: [place.open()] })
    const result = await executor.execute({ name: 'runs' }, { invocationId: 'one' })
    expect(outcome(result)).toBe('ok completed')
    expect((await recordIn(place.open(), 'one')).journal).not.toHaveProperty('hasStarted')
  })
})
