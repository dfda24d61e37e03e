// A call through `tool_call` is in the way of others, within others, and joined with others as the same call without it.
import {
  createExecutor,
  type Extension,
  type Tool,
  type ToolCall,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { toolSearch } from 'toolwright/discovery/search'
import { coalesce } from 'toolwright/gates/coalesce'
import { once } from 'toolwright/gates/once'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { deferred, heard, outcome, soon, text, turn, work } from '../kernel/_calls.ts'

const through = (name: string, args: object = {}): ToolCall => ({ name: 'tool_call', args: { name, args } })
const directly = (name: string, args: object = {}): ToolCall => ({ name, args })
type Way = typeof through
const ways: readonly (readonly [string, Way])[] = [
  ['through the bridge', through],
  ['directly', directly],
]
const pairs = ways.flatMap(([one, first]) => ways.map(([other, second]) => [one, other, first, second] as const))

function executorOf(tools: Tool[], ...use: Extension[]): ToolExecutor {
  return createExecutor({ tools, use: [toolSearch(), ...use], timeout: 10_000 })
}
const viaOf = ({ via }: ToolResult): string | undefined => via

describe('equal calls in flight at once', () => {
  test.each(pairs)('of which one came %s, and one %s, are one run', async (_one, _other, first, second) => {
    const door = deferred<string>()
    let runs = 0
    const read = work('read', () => (runs++, door.promise), { traits: { idempotent: true } })
    const executor = executorOf([read], coalesce(), memoryJournal())
    const calls = [first('read', { a: 1, b: 2 }), second('read', { b: 2, a: 1.0 }), first('read', { a: 2 })]
    const results = calls.map((call, id) => executor.execute({ id, ...call }, { session: 's' }))
    await turn()
    await turn()
    door.resolve('read')
    const settled = await soon(Promise.all(results))
    expect(settled.map(outcome)).toEqual(['ok completed', 'ok none skipped', 'ok completed'])
    expect(settled.map(({ id, toolName, value }) => [id, toolName, value])).toEqual(
      [0, 1, 2].map((id) => [id, 'read', 'read']),
    )
    expect(settled.map(viaOf)).toEqual([first, second, first].map((way) => (way === through ? 'tool_call' : undefined)))
    expect(settled[0]?.callId).toBe(settled[1]?.callId)
    expect(runs).toBe(2)
    const records = await Promise.all(settled.map(({ invocationId }) => executor.calls.get(invocationId)))
    expect(records.map(({ via, state }) => [via, state])).toEqual(settled.map((each) => [viaOf(each), 'COMPLETED']))
    await executor.close()
  })

  test('fail together, each with its own `via`', async () => {
    const door = deferred<string>()
    const read = work('read', () => door.promise, { traits: { idempotent: true } })
    const executor = executorOf([read], coalesce())
    const results = [through('read'), directly('read')].map((call) => executor.execute(call))
    await turn()
    door.reject(new Error('it broke'))
    const settled = await soon(Promise.all(results))
    expect(settled.map(({ error }) => error?.code)).toEqual([settled[0]?.error?.code, settled[0]?.error?.code])
    expect(settled.map(({ status }) => status)).toEqual(['error', 'error'])
    expect(settled.map(viaOf)).toEqual(['tool_call', undefined])
  })

  test('do not wait for each other if one is made through the bridge within the other', async () => {
    let runs = 0
    const again = work(
      'again',
      async (_input: object, context) => {
        if (runs++ > 0) return 'inner'
        return (await executor.execute(through('again'), { parent: context })).value
      },
      { traits: { idempotent: true } },
    )
    const executor = executorOf([again], coalesce())
    expect((await soon(executor.execute(through('again')))).value).toBe('inner')
    expect(runs).toBe(2)
  })
})

describe('a call within another', () => {
  /** Calls `inner` from `outer`, each by its way. */
  async function nested(
    [outerWay, innerWay]: readonly [Way, Way],
    [outer, inner]: readonly [object, object],
  ): Promise<{ outcomes: string[]; vias: unknown[]; parents: unknown[]; sessions: unknown[] }> {
    let within: ToolResult | undefined
    const sessions: unknown[] = []
    const tools = [
      work(
        'outer',
        async (_input, context) => {
          within = await executor.execute(innerWay('inner'), { parent: context })
        },
        outer,
      ),
      work('inner', (_input, { session, principal }) => void sessions.push(session, principal), inner),
    ]
    const executor = executorOf(tools, memoryJournal())
    const around = await soon(executor.execute(outerWay('outer'), { session: 's', principal: 'ada' }))
    const both = [around, within!]
    const records = await Promise.all(both.map(({ invocationId }) => executor.calls.get(invocationId)))
    const parents = records.map(({ parent }) => parent === around.invocationId)
    await executor.close()
    return { outcomes: both.map(outcome), vias: both.map(viaOf), parents, sessions }
  }

  test.each(pairs)(
    '(outer %s, inner %s) has its session, principal and parent',
    async (_one, _other, first, second) => {
      const { outcomes, vias, parents, sessions } = await nested([first, second], [{}, {}])
      expect(outcomes).toEqual(['ok completed', 'ok completed'])
      expect(vias).toEqual([first, second].map((way) => (way === through ? 'tool_call' : undefined)))
      expect([parents, sessions]).toEqual([
        [false, true],
        ['s', 'ada'],
      ])
    },
  )

  test.each(pairs)('(outer %s, inner %s) takes what its parent holds', async (_one, _other, first, second) => {
    const locks = { conflicts: () => ['file:/a'] }
    expect((await nested([first, second], [locks, locks])).outcomes).toEqual(['ok completed', 'ok completed'])
  })

  test.each(pairs)('(outer %s, inner %s) is refused if it would wait for it', async (_one, _other, first, second) => {
    const [reading, writing] = (['read', 'write'] as const).map((mode) => ({
      conflicts: () => [{ key: 'file:/a', mode }],
    }))
    const { outcomes } = await nested([first, second], [reading!, writing!])
    expect(outcomes).toEqual(['ok completed', 'error none E_INVALID_CONFIGURATION'])
  })

  test('is at most the ninth, the bridge not counted', async () => {
    const deepen = work('deepen', async ({ depth }: { depth: number }, context): Promise<unknown> => {
      const { value, error } = await executor.execute(through('deepen', { depth: depth + 1 }), { parent: context })
      return error === undefined ? value : `${depth} ${error.code}`
    })
    const executor = executorOf([deepen])
    expect((await soon(executor.execute(through('deepen', { depth: 0 })))).value).toBe('8 E_INVALID_CONFIGURATION')
  })
})

describe('calls that touch the same thing', () => {
  test.each(pairs)('wait for each other (one %s, one %s)', async (_one, _other, first, second) => {
    const order: string[] = []
    const doors = [deferred(), deferred(), deferred()]
    const write = work(
      'write',
      async ({ n }: { n: number }) => {
        order.push(`begins ${n}`)
        await doors[n]!.promise
        order.push(`ends ${n}`)
      },
      { conflicts: ({ path }: { path: string }) => [`file:${path}`] },
    )
    const executor = executorOf([write])
    const results = [
      executor.execute(first('write', { n: 0, path: 'a' })),
      executor.execute(second('write', { n: 1, path: 'a' })),
      executor.execute(second('write', { n: 2, path: 'b' })),
    ]
    await turn()
    await turn()
    expect(order).toEqual(['begins 0', 'begins 2'])
    doors[2]!.resolve()
    doors[0]!.resolve()
    doors[1]!.resolve()
    expect((await soon(Promise.all(results))).map(outcome)).toEqual(Array(3).fill('ok completed'))
    expect(order.indexOf('begins 1')).toBeGreaterThan(order.indexOf('ends 0'))
  })
})

describe('what is done once', () => {
  test.each(pairs)('is done once, first %s, then %s, in other words', async (_one, _other, first, second) => {
    let runs = 0
    const pay = work('pay', () => `paid ${++runs}`, {
      effectKey: ({ order }: { order: number }) => `order:${order}`,
    })
    const executor = executorOf([pay], once(), memoryJournal())
    const events = heard(executor)
    const paid = await executor.execute(first('pay', { order: 7, note: 'a' }), { session: 's' })
    const repeated = await executor.execute(second('pay', { order: 7, note: 'b' }), { session: 's' })
    const other = await executor.execute(second('pay', { order: 8 }), { session: 's' })
    expect([paid, repeated, other].map(outcome)).toEqual(['ok completed', 'ok none skipped', 'ok completed'])
    expect([paid, repeated, other].map(viaOf)).toEqual(
      [first, second, second].map((way) => (way === through ? 'tool_call' : undefined)),
    )
    expect([paid, repeated, other].map(text)).toEqual(['paid 1', expect.stringContaining('paid 1'), 'paid 2'])
    expect(runs).toBe(2)
    expect(new Set(events.map(({ toolName }) => toolName))).toEqual(new Set(['pay']))
    await executor.close()
  })

  test('at once is done once, whichever way each came', async () => {
    const door = deferred()
    let runs = 0
    const pay = work('pay', async () => (runs++, door.promise), { effectKey: () => 'order' })
    const executor = executorOf([pay], once())
    const calls = [through('pay', { n: 0 }), directly('pay', { n: 1 }), through('pay', { n: 2 })]
    const results = calls.map((call) => executor.execute(call, { session: 's' }))
    await turn()
    door.resolve()
    const settled = await soon(Promise.all(results))
    expect(settled.map(viaOf)).toEqual(['tool_call', undefined, 'tool_call'])
    expect(settled.filter(({ effect }) => effect === 'completed')).toHaveLength(1)
    expect(runs).toBe(1)
  })
})
