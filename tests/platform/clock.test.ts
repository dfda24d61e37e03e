import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Journal } from '../../src/records/journal.ts'
import * as node from '../../src/platform/clock-node.ts'
import * as portable from '../../src/platform/clock-portable.ts'

// The clock is moved by hand: no test waits, and none depends on how fast the machine is.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe.each([
  ['clock-node', node],
  ['clock-portable', portable],
])('%s', (_, { Alarms, Pulse, unref }) => {
  test('sets the timer of a clock at the latest in the next turn', async () => {
    const arm = vi.fn<() => void>()
    new Alarms().add({ isRunning: true, arm })
    await vi.advanceTimersByTimeAsync(1)
    expect(arm).toHaveBeenCalledOnce()
  })

  test('gives signs of life at once, and while a call runs', async () => {
    const beat = vi.fn<() => void>()
    const pulse = new Pulse(beat, 5_000)
    const call = {}
    pulse.start(call)
    pulse.start(call)
    expect(beat).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(15_000)
    expect(beat).toHaveBeenCalledTimes(4)
    pulse.release(call)
    pulse.stop()
  })

  test('gives none after it has stopped', async () => {
    const beat = vi.fn<() => void>()
    const pulse = new Pulse(beat, 5_000)
    pulse.start({})
    pulse.stop()
    pulse.start({})
    await vi.advanceTimersByTimeAsync(60_000)
    expect(beat).toHaveBeenCalledTimes(1)
  })

  test('lets the process end although a timer is set, also if the timer is a number', () => {
    const timer = setTimeout(() => {}, 1_000)
    unref(timer)
    unref(7)
    expect(timer.hasRef()).toBe(false)
    clearTimeout(timer)
  })
})

describe('the portable clock', () => {
  test('sets each timer at once, since the next turn may belong to a request that has ended', () => {
    const arm = vi.fn<() => void>()
    new portable.Alarms().add({ arm })
    expect(arm).toHaveBeenCalledOnce()
  })

  test('gives signs of life by the timer of any call that runs, and none when all are over', async () => {
    const beat = vi.fn<() => void>()
    const pulse = new portable.Pulse(beat, 5_000)
    const [first, second] = [{}, {}]
    pulse.start(first)
    pulse.start(second)
    expect(beat).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(beat).toHaveBeenCalledTimes(2)
    pulse.release(first)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(beat).toHaveBeenCalledTimes(3)
    pulse.release(second)
    expect(vi.getTimerCount()).toBe(0)
    pulse.start()
    expect(beat).toHaveBeenCalledTimes(3)
    await vi.advanceTimersByTimeAsync(5_000)
    pulse.start()
    expect(beat).toHaveBeenCalledTimes(4)
  })

  test('gives signs of life for a call until it settles, pauses or loses its record, and for one that resumes', async () => {
    vi.resetModules()
    vi.doMock('#clock', () => import('../../src/platform/clock-portable.ts'))
    const { createExecutor, tool } = await import('toolwright')
    const { records } = await import('toolwright/records')
    const { memoryJournal } = await import('toolwright/journals/memory')
    const kept = memoryJournal()
    const beat = vi.fn<(owner: string) => void>()
    const journal: Journal = { ...kept.journal, beat: async (owner) => beat(owner) }
    const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds, 'done'))
    const executor = createExecutor({
      timeout: 0,
      tools: [
        tool('slow', () => wait(12_000)),
        tool({ name: 'asked', description: 'Waits', requiresConfirmation: true, handler: () => wait(12_000) }),
      ],
      use: [records(journal)],
    })

    const slow = executor.execute({ name: 'slow' }, { invocationId: 'one' })
    await vi.advanceTimersByTimeAsync(12_000)
    expect((await slow).status).toBe('ok')
    expect(beat).toHaveBeenCalledTimes(3)
    expect(vi.getTimerCount()).toBe(0)

    const { token = '' } = await executor.execute({ name: 'asked' })
    expect(vi.getTimerCount()).toBe(0)
    beat.mockClear()
    const decided = executor.calls.decide(token, 'allow')
    await vi.advanceTimersByTimeAsync(12_000)
    expect((await decided).status).toBe('ok')
    expect(beat.mock.calls.length).toBeGreaterThanOrEqual(2)
    expect(vi.getTimerCount()).toBe(0)

    const other = createExecutor({ tools: [tool('slow', () => 1)], use: [records(journal)] })
    const refused = await other.execute({ name: 'slow', args: { again: true } }, { invocationId: 'one' })
    expect([refused.status, refused.error?.code]).toEqual(['error', 'E_DUPLICATE_INVOCATION'])
    vi.doUnmock('#clock')
  })
})
