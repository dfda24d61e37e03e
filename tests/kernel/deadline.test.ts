import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Alarms } from '../../src/platform/clock-node.ts'
import { deferred, never } from './_calls.ts'
import { Deadline } from './_inside.ts'

// The clock is moved by hand: no test waits, and none depends on how fast the machine is.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** What became of a promise, without waiting for it. */
function watched(promise: Promise<unknown>): { state: string } {
  const seen = { state: 'open' }
  promise.then(
    (value) => (seen.state = `gave ${String(value)}`),
    (error: { code?: string }) => (seen.state = error.code ?? 'an error without a code'),
  )
  return seen
}

/** That a wait is over in so many milliseconds, and not one before. */
async function timesOutAfter(milliseconds: number, seen: { readonly state: string }): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds - 1)
  expect(seen.state).toBe('open')
  await vi.advanceTimersByTimeAsync(1)
  expect(seen.state).toBe('E_TOOL_TIMEOUT')
}

/** How many listeners a signal has, counted from now on. */
function counted(signal: AbortSignal): () => number {
  let count = 0
  for (const [name, change] of [
    ['addEventListener', 1],
    ['removeEventListener', -1],
  ] as const) {
    const original = signal[name].bind(signal) as (...parameters: unknown[]) => void
    signal[name] = (...parameters: unknown[]) => {
      count += change
      original(...parameters)
    }
  }
  return () => count
}

describe('work within the deadline', () => {
  test('gives what it gives', async () => {
    const deadline = new Deadline(100, undefined)
    expect(await deadline.within(Promise.resolve(1))).toBe(1)
    await expect(deadline.within(Promise.reject(new Error('own')))).rejects.toThrow('own')
    deadline.end()
  })

  test('is left behind when the time is over, whatever it does', async () => {
    const deadline = new Deadline(100, undefined)
    const seen = watched(deadline.within(never))
    await timesOutAfter(100, seen)
    expect(() => deadline.check()).toThrow(/100 ms/)
    deadline.end()
  })

  test('has all of a limit that is set while the clock runs', async () => {
    for (const alarms of [undefined, new Alarms()]) {
      const deadline = new Deadline(30_000, undefined, alarms)
      const seen = watched(deadline.within(never))
      await vi.advanceTimersByTimeAsync(70)
      deadline.limit(40)
      await timesOutAfter(40, seen)
      expect(() => deadline.check()).toThrow(/40 ms/)
      deadline.end()
      const endless = new Deadline(30, undefined, alarms)
      const open = watched(endless.within(never))
      await vi.advanceTimersByTimeAsync(20)
      endless.limit(0)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(open.state).toBe('open')
      endless.end()
    }
  })

  test('shares one clock: the second wait has what the first has left', async () => {
    const deadline = new Deadline(100, undefined)
    const first = deferred()
    const waiting = deadline.within(first.promise)
    await vi.advanceTimersByTimeAsync(70)
    first.resolve()
    await waiting
    const seen = watched(deadline.within(never))
    await timesOutAfter(30, seen)
    deadline.end()
  })

  test.each([0, Infinity])('has all the time where the timeout is %d', async (timeout) => {
    const deadline = new Deadline(timeout, undefined)
    const seen = watched(deadline.within(never))
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(10 ** 9)
    expect(seen.state).toBe('open')
    deadline.end()
  })

  test('has as much time as a timer can count where the timeout is longer', async () => {
    const deadline = new Deadline(1e15, undefined)
    const seen = watched(deadline.within(never))
    await vi.advanceTimersByTimeAsync(2 ** 31 - 2)
    expect(seen.state).toBe('open')
    deadline.end()
  })

  test('may be set to another time before it begins', async () => {
    const deadline = new Deadline(10, undefined)
    deadline.limit(50)
    const seen = watched(deadline.within(never))
    await timesOutAfter(50, seen)
    deadline.end()
  })

  test('is not waited for again once the time is over', async () => {
    const deadline = new Deadline(100, undefined)
    watched(deadline.within(never))
    await vi.advanceTimersByTimeAsync(100)
    await expect(deadline.within(Promise.resolve(1))).rejects.toMatchObject({ code: 'E_TOOL_TIMEOUT' })
    await expect(deadline.outside(Promise.resolve(1))).rejects.toMatchObject({ code: 'E_TOOL_TIMEOUT' })
    deadline.end()
  })

  test('that rejects after it lost is no unhandled rejection', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const deadline = new Deadline(100, undefined)
    const late = deferred()
    const seen = watched(deadline.within(late.promise))
    await vi.advanceTimersByTimeAsync(100)
    late.reject(new Error('late'))
    vi.useRealTimers()
    await new Promise((resolve) => setImmediate(resolve))
    vi.useFakeTimers()
    process.off('unhandledRejection', unhandled)
    expect(seen.state).toBe('E_TOOL_TIMEOUT')
    expect(unhandled).not.toHaveBeenCalled()
    deadline.end()
  })
})

describe('waits within waits', () => {
  test('are all released at once', async () => {
    const deadline = new Deadline(100, undefined)
    const outer = watched(deadline.within(deadline.within(deadline.within(never))))
    const beside = watched(deadline.within(never))
    await vi.advanceTimersByTimeAsync(100)
    expect([outer.state, beside.state]).toEqual(['E_TOOL_TIMEOUT', 'E_TOOL_TIMEOUT'])
    deadline.end()
  })

  test('are released in whatever order they began and ended', async () => {
    const deadline = new Deadline(100, undefined)
    const first = deferred()
    const second = deferred()
    const one = watched(deadline.within(first.promise))
    const two = watched(deadline.within(second.promise))
    const three = watched(deadline.within(never))
    first.resolve()
    await vi.advanceTimersByTimeAsync(50)
    expect([one.state, two.state, three.state]).toEqual(['gave undefined', 'open', 'open'])
    second.resolve()
    await vi.advanceTimersByTimeAsync(50)
    expect([two.state, three.state]).toEqual(['gave undefined', 'E_TOOL_TIMEOUT'])
    deadline.end()
  })
})

describe('a wait outside the deadline', () => {
  test('takes none of the time', async () => {
    const deadline = new Deadline(100, undefined)
    const person = deferred<string>()
    const answer = watched(deadline.outside(person.promise))
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(10_000)
    person.resolve('yes')
    await vi.advanceTimersByTimeAsync(0)
    expect(answer.state).toBe('gave yes')
    const seen = watched(deadline.within(never))
    await timesOutAfter(100, seen)
    deadline.end()
  })

  test('within work stops the clock for as long as it takes, and no longer', async () => {
    const deadline = new Deadline(100, undefined)
    const person = deferred()
    const work = watched(
      deadline.within(
        (async () => {
          await deadline.outside(person.promise)
          await never
        })(),
      ),
    )
    await vi.advanceTimersByTimeAsync(10_000)
    expect(work.state).toBe('open')
    person.resolve()
    await vi.advanceTimersByTimeAsync(100)
    expect(work.state).toBe('E_TOOL_TIMEOUT')
    deadline.end()
  })

  test('gives back what is left of the time, and not what was used before it', async () => {
    const deadline = new Deadline(100, undefined)
    const first = deferred()
    const person = deferred()
    const work = watched(
      deadline.within(
        (async () => {
          await first.promise
          await deadline.outside(person.promise)
          await never
        })(),
      ),
    )
    await vi.advanceTimersByTimeAsync(70)
    first.resolve()
    await vi.advanceTimersByTimeAsync(10_000)
    person.resolve()
    await vi.advanceTimersByTimeAsync(0)
    await timesOutAfter(30, work)
    deadline.end()
  })

  test('is ended by an abort', async () => {
    const caller = new AbortController()
    const deadline = new Deadline(100, caller.signal)
    const seen = watched(deadline.outside(never))
    caller.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(seen.state).toBe('E_TOOL_CANCELLED')
    deadline.end()
  })
})

describe('giving up', () => {
  test('releases the call at once, with the reason of the caller as cause', async () => {
    const caller = new AbortController()
    const deadline = new Deadline(0, caller.signal)
    const waiting = deadline.within(never)
    const reason = new Error('bored')
    caller.abort(reason)
    await expect(waiting).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED', cause: reason })
    deadline.end()
  })

  test('before the call began is noticed by the first look', () => {
    const deadline = new Deadline(0, AbortSignal.abort())
    expect(() => deadline.check()).toThrow(expect.objectContaining({ code: 'E_TOOL_CANCELLED' }))
    deadline.end()
  })

  test('tells the handler, by a signal that is made when somebody asks', async () => {
    for (const asked of ['before', 'after']) {
      const caller = new AbortController()
      const deadline = new Deadline(0, caller.signal)
      if (asked === 'before') expect(deadline.signal.aborted).toBe(false)
      watched(deadline.within(never))
      caller.abort()
      expect(deadline.signal.aborted).toBe(true)
      expect(deadline.signal.reason).toMatchObject({ code: 'E_TOOL_CANCELLED' })
      deadline.end()
    }
  })

  test('is heard by one who only holds the signal', () => {
    const caller = new AbortController()
    const deadline = new Deadline(0, caller.signal)
    const { signal } = deadline
    caller.abort()
    expect(signal.aborted).toBe(true)
    deadline.end()
  })

  test('happens once: the first reason stands', async () => {
    const caller = new AbortController()
    const deadline = new Deadline(100, caller.signal)
    const { signal } = deadline
    watched(deadline.within(never))
    await vi.advanceTimersByTimeAsync(100)
    caller.abort()
    deadline.cancel('closed')
    expect(signal.reason).toMatchObject({ code: 'E_TOOL_TIMEOUT' })
    expect(() => deadline.check()).toThrow(expect.objectContaining({ code: 'E_TOOL_TIMEOUT' }))
    deadline.end()
  })
})

describe('the end', () => {
  test("lets go of the timer and of the caller's signal", async () => {
    const caller = new AbortController()
    const listeners = counted(caller.signal)
    const deadline = new Deadline(100, caller.signal)
    void deadline.signal
    await deadline.within(Promise.resolve())
    expect(listeners()).toBe(1)
    expect(vi.getTimerCount()).toBe(1)
    deadline.end()
    expect(listeners()).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
    expect(deadline.isOver).toBe(true)
  })

  test('is final: what is asked later makes no timer and no listener', async () => {
    const caller = new AbortController()
    const listeners = counted(caller.signal)
    const deadline = new Deadline(100, caller.signal)
    deadline.end()
    void deadline.signal
    watched(deadline.within(never))
    watched(deadline.outside(never))
    expect(() => deadline.check()).toThrow(expect.objectContaining({ code: 'E_TOOL_CANCELLED' }))
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0])
    caller.abort()
    expect(deadline.signal.aborted).toBe(false)
  })
})

test('a call that never waits makes no timer and no signal', () => {
  const deadline = new Deadline(100, undefined)
  deadline.check()
  expect(vi.getTimerCount()).toBe(0)
  deadline.end()
})

describe('deadlines with alarms', () => {
  test('set one timer together, and none for work that is done in its turn', async () => {
    const alarms = new Alarms()
    const deadlines = Array.from({ length: 5_000 }, () => new Deadline(100, undefined, alarms))
    for (const deadline of deadlines) {
      await deadline.within(Promise.resolve())
      expect(vi.getTimerCount()).toBe(1)
      deadline.end()
    }
    await vi.advanceTimersByTimeAsync(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('leave work behind when its time is over, counted from when it began', async () => {
    const alarms = new Alarms()
    const deadline = new Deadline(100, undefined, alarms)
    const seen = watched(deadline.within(never))
    await timesOutAfter(100, seen)
    deadline.end()
  })

  test('do so also where thousands were done meanwhile', async () => {
    const alarms = new Alarms()
    const slow = Array.from({ length: 1_500 }, () => new Deadline(100, undefined, alarms))
    const seen = slow.map((deadline) => watched(deadline.within(never)))
    for (let index = 0; index < 5_000; index++) {
      const quick = new Deadline(100, undefined, alarms)
      void quick.within(never)
      quick.end()
    }
    await vi.advanceTimersByTimeAsync(100)
    expect(new Set(seen.map(({ state }) => state))).toEqual(new Set(['E_TOOL_TIMEOUT']))
    for (const deadline of slow) deadline.end()
  })

  test('stop their clocks for people and slots, before a timer is set and after', async () => {
    const alarms = new Alarms()
    const deadline = new Deadline(100, undefined, alarms)
    for (const answer of [deferred(), deferred()]) {
      const work = deadline.within(deadline.outside(answer.promise))
      await vi.advanceTimersByTimeAsync(10_000)
      answer.resolve()
      await work
    }
    const seen = watched(deadline.within(never))
    await timesOutAfter(100, seen)
    deadline.end()
  })
})
