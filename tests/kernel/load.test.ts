import { createExecutor, type Extension, type ToolEvent } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { expect, test } from 'vitest'
import { outcome, soon, turn, work } from './_calls.ts'
import { unfinishedIn } from './_journals.ts'

const count = 10_000

test('10,000 calls in flight settle exactly once each, and so do their records', async () => {
  const journal = memoryJournal({ settled: count })
  const settled = new Map<string, number>()
  const events: Partial<Record<ToolEvent['event'], number>> = {}
  let asked = 0
  const watching: Extension = {
    policies: [{ name: 'counts', decide: ({ input }) => (asked++, isOdd(input) ? { decision: 'deny' } : undefined) }],
    observers: [
      (event) => {
        events[event.event] = (events[event.event] ?? 0) + 1
        if (event.event === 'call:settled') settled.set(event.invocationId, (settled.get(event.invocationId) ?? 0) + 1)
      },
    ],
  }

  let open = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const waiting = { count: 0 }
  const runs = new Map<number, number>()
  const handler = async ({ index }: { index: number }): Promise<number> => {
    runs.set(index, (runs.get(index) ?? 0) + 1)
    waiting.count++
    await gate
    if (index % 10 === 0) throw new Error('tenth')
    return index
  }
  const executor = createExecutor({ tools: [work('t', handler)], use: [journal, watching], timeout: 0 })

  const calls = Array.from({ length: count }, (_, index) => executor.execute({ name: 't', args: { index } }))
  for (let turns = 0; turns < 10_000 && waiting.count < count / 2; turns++) await turn()
  expect(waiting.count).toBe(count / 2)
  open()
  const results = await soon(Promise.all(calls), 60_000)

  const outcomes: Record<string, number> = {}
  for (const result of results) outcomes[outcome(result)] = (outcomes[outcome(result)] ?? 0) + 1
  expect(outcomes).toEqual({
    'ok completed': 4_000,
    'error unknown E_TOOL_DOWNSTREAM_ERROR': 1_000,
    'denied none E_TOOL_DENIED': 5_000,
  })
  expect(new Set(results.map(({ invocationId }) => invocationId)).size).toBe(count)
  expect([settled.size, new Set(settled.values())]).toEqual([count, new Set([1])])
  expect([runs.size, new Set(runs.values()), asked]).toEqual([count / 2, new Set([1]), count])
  expect(events).toEqual({
    'call:received': count,
    'tool:start': count / 2,
    'tool:end': count / 2,
    'call:settled': count,
  })
  expect(await unfinishedIn(journal)).toEqual([])
  for (const { invocationId, status } of results) {
    expect((await journal.journal.read(invocationId))?.record.status).toBe(status)
  }
}, 120_000)

function isOdd(input: unknown): boolean {
  return ((input as { readonly index: number }).index % 20) % 2 === 1
}
