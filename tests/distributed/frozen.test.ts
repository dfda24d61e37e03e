import { createExecutor, tool } from 'toolwright'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { memoryJournal } from 'toolwright/journals/memory'
import { records } from 'toolwright/records'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { callerOn, sqliteGround, toolsOf, workerOn } from './_fleet.ts'

const soon = { timeout: 30_000, interval: 5 }

afterEach(() => void vi.restoreAllMocks())

/** Sets clocks ahead of what they say. */
function clocks(): { wall: number; monotonic: number } {
  const ahead = { wall: 0, monotonic: 0 }
  const [wall, monotonic] = [Date.now.bind(Date), performance.now.bind(performance)]
  vi.spyOn(Date, 'now').mockImplementation(() => wall() + ahead.wall)
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + ahead.monotonic)
  return ahead
}

test.each([
  ['a machine that slept, whose monotonic clock stood still', { wall: 28_800_000, monotonic: 0 }],
  ['a process that was frozen', { wall: 28_800_000, monotonic: 28_800_000 }],
])('after %s, a worker takes no other for dead before the silence since then is long enough', async (_name, slept) => {
  const asked: number[] = []
  const { journal } = memoryJournal()
  const heard = records({
    ...journal,
    list(query, report) {
      if (query.silentFor !== undefined) asked.push(query.silentFor)
      return journal.list(query, report)
    },
  })
  const ground = { tools: toolsOf(), dispatcher: memoryDispatcher(), use: () => [heard] }
  const ahead = clocks()
  const staleAfter = 3_600_000
  workerOn(ground, { staleAfter, sweepEvery: 5 })
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(2), soon)
  expect(new Set(asked)).toEqual(new Set([staleAfter]))
  ahead.wall += slept.wall
  ahead.monotonic += slept.monotonic
  await vi.waitFor(() => expect(asked.at(-1)).toBe(Number.MAX_SAFE_INTEGER), soon)
  // An hour goes by in parts that are no sleep.
  for (let part = 0; part < 5; part++) {
    const before = asked.length
    ahead.wall += staleAfter / 5
    ahead.monotonic += staleAfter / 5
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(before + 1), soon)
  }
  expect(asked.at(-1)).toBe(staleAfter)
})

test('no duration is negative if clocks differ or are set back', async () => {
  const ahead = clocks()
  const turnBack = tool('turn_back', () => void (ahead.wall -= 3_600_000))
  const ask = tool({ name: 'ask', description: 'Asks', requiresConfirmation: true, handler: () => 'done' })
  const ground = sqliteGround([turnBack, ask], memoryDispatcher())
  const durations: number[] = []
  const note = (event: object): void => {
    if ('durationMs' in event) durations.push(event.durationMs as number)
  }
  const executor = createExecutor({ tools: ground.tools, use: ground.use() })
  onTestFinished(() => executor.close())
  executor.on('*', note)
  await executor.execute({ name: 'ask' }, { invocationId: 'a' })
  ahead.wall -= 3_600_000
  await executor.calls.cancel('a')
  const { durationMs } = await executor.calls.get('a')
  expect([durationMs, durations]).toEqual([0, [0]])
  const caller = callerOn(ground)
  caller.on('*', note)
  workerOn(ground)
  expect((await caller.execute({ name: 'turn_back' })).status).toBe('ok')
  expect(durations.filter((duration) => duration < 0)).toEqual([])
  expect(durations).toHaveLength(3)
})
