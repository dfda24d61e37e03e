import { createExecutor, type Extension, type ToolEvent, type ToolExecutor } from 'toolwright'
import type { Policy } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { deferred, heard, never, pause, soon, turn, work } from './_calls.ts'

const fields = (events: readonly ToolEvent[]): object[] =>
  events.flatMap((event) => {
    if (event.event !== 'call:blocked') return []
    const { invocationId, by, gate, keys, behind } = event
    return [{ invocationId, by, gate, keys, behind }]
  })

/** An executor with a call that holds what others touch until it is let go. */
async function held(
  options: object,
  use: readonly Extension[] = [],
): Promise<{ readonly executor: ToolExecutor; readonly letGo: () => Promise<unknown> }> {
  const gate = deferred()
  const tools = [work('holds', () => gate.promise, options), work('waits', () => 'ran', options)]
  const executor = createExecutor({ tools, use })
  const holding = executor.execute({ name: 'holds' }, { session: 's', invocationId: 'first' })
  await turn()
  return {
    executor,
    letGo: () => {
      gate.resolve()
      return soon(holding)
    },
  }
}

describe('a call that waits for others', () => {
  test('tells what it waits for, and behind whom, if that is of its session', async () => {
    const conflicts = (_input: object, { session }: { session: string }): unknown[] => [session, 'file:/ws/a']
    const { executor, letGo } = await held({ conflicts })
    const events = heard(executor)
    const waiting = [
      executor.execute({ name: 'waits' }, { session: 's', invocationId: 'second' }),
      executor.execute({ name: 'waits' }, { session: 's', invocationId: 'third' }),
      executor.execute({ name: 'waits' }, { session: 'another', invocationId: 'fourth' }),
    ]
    await turn()
    expect(fields(events)).toEqual([
      { invocationId: 'second', by: 'lock', gate: undefined, keys: ['s'], behind: 'first' },
      { invocationId: 'third', by: 'lock', gate: undefined, keys: ['s'], behind: 'second' },
      { invocationId: 'fourth', by: 'lock', gate: undefined, keys: ['file:/ws/a'], behind: undefined },
    ])
    await letGo()
    await soon(Promise.all(waiting))
    expect(fields(events)).toHaveLength(3) // each tells it once, however many are before it
    const numbers = events.filter(({ invocationId }) => invocationId === 'third').map(({ event, seq }) => [event, seq])
    expect(numbers).toEqual(
      ['call:received', 'call:blocked', 'tool:start', 'tool:end', 'call:settled'].map((name, seq) => [name, seq]),
    )
  })

  test('for its session names no key', async () => {
    const { executor, letGo } = await held({ traits: { concurrent: false } })
    const events = heard(executor)
    const waiting = executor.execute({ name: 'waits' }, { session: 's', invocationId: 'second' })
    await turn()
    expect(fields(events)).toMatchObject([{ by: 'lock', keys: undefined, behind: 'first' }])
    await letGo()
    await soon(waiting)
  })

  test('for an earlier call of its turn names it', async () => {
    const slow: Policy = { name: 'slow', decide: async ({ name }) => (name === 'write' ? pause(5) : undefined) }
    const touching = { conflicts: () => ['file:/a'] }
    const tools = [work('write', () => 1, touching), work('review', () => 1, touching)]
    const executor = createExecutor({ tools, use: [{ policies: [slow] }] })
    const events = heard(executor)
    await soon(
      executor.executeToolCalls([{ name: 'write' }, { name: 'review' }], {
        invocationId: (_call, index) => `${index}`,
      }),
    )
    expect(fields(events)).toMatchObject([{ invocationId: '1', by: 'order', keys: undefined, behind: '0' }])
  })

  test('masks secrets in the keys, and tells 16 of them at most', async () => {
    const conflicts = ({ card = '4242' }: { card?: string }): string[] =>
      Array.from({ length: 255 }, (_, index) => `card:${card}/${index}`).concat('card:4242')
    const { executor, letGo } = await held({ conflicts, secrets: ['/card'] })
    const events = heard(executor)
    const waiting = executor.execute({ name: 'waits', args: { card: '4242' } }, { invocationId: 'second' })
    await turn()
    const { blocked } = (await executor.calls.list()).find(({ id }) => id === 'second')!
    expect(blocked).toMatchObject({ by: 'lock' })
    expect(blocked?.keys).toHaveLength(16)
    expect(JSON.stringify([events, blocked])).not.toContain('4242')
    await letGo()
    await soon(waiting)
  })

  test.each([
    ['a journal', () => [memoryJournal()]],
    ['no journal', () => []],
  ])('is listed with what it waits for, with %s, until it begins', async (_what, use) => {
    const { executor, letGo } = await held({ conflicts: () => ['thing'] }, use())
    executor.on('*', () => {})
    const waiting = executor.execute({ name: 'waits' }, { session: 's', invocationId: 'second' })
    await turn()
    const isKept = use().length > 0
    const look = async (): Promise<unknown> =>
      isKept
        ? (await executor.calls.get('second')).blocked
        : (await executor.calls.list()).find(({ id }) => id === 'second')?.blocked
    expect(await look()).toEqual({ by: 'lock', keys: ['thing'], behind: 'first' })
    await letGo()
    await soon(waiting)
    expect(await look()).toBeUndefined()
    if (!isKept) return
    expect((await executor.calls.get('second')).auditTrail.map(({ state, note }) => [state, note])).toEqual([
      ['PENDING', undefined],
      ['PENDING', 'blocked: lock, behind first'],
      ['EXECUTING', undefined],
      ['COMPLETED', undefined],
    ])
  })

  test('and is given up shows it no more', async () => {
    const tools = [work('t', () => never, { conflicts: () => ['thing'] })]
    const executor = createExecutor({ tools, use: [memoryJournal()] })
    void executor.execute({ name: 't' })
    const leaving = new AbortController()
    const waiting = executor.execute({ name: 't' }, { invocationId: 'second', signal: leaving.signal })
    await turn()
    expect(await executor.calls.get('second')).toMatchObject({ blocked: { by: 'lock' } })
    leaving.abort()
    expect((await soon(waiting)).status).toBe('cancelled')
    expect((await executor.calls.get('second')).blocked).toBeUndefined()
  })
})
