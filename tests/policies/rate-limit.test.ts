import { InvalidConfigurationError } from 'toolwright/errors'
import { rateLimit } from 'toolwright/policies/rate-limit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { policyConformance } from '../conformance/policies.ts'
import { executorOf, limitTests, statuses } from './_limits.ts'

const hour = 3_600_000

policyConformance('rateLimit', { allowing: () => rateLimit({ calls: 30, interval: hour }) })

describe('rateLimit', () => {
  limitTests((calls, options = {}) => rateLimit({ calls, interval: hour, ...options }))

  describe('by the clock', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
    afterEach(() => void vi.useRealTimers())

    test('the window slides: a call has room as soon as the oldest is an interval ago', async () => {
      const executor = executorOf(rateLimit({ calls: 2, interval: 1_000 }))
      const call = (): Promise<string> => statuses([executor.execute({ name: 'work' })])
      expect(await call()).toBe('ok')
      vi.advanceTimersByTime(600)
      expect(await call()).toBe('ok')
      vi.advanceTimersByTime(399)
      expect(await call()).toBe('denied')
      vi.advanceTimersByTime(1)
      expect(await call()).toBe('ok')
      expect(await call()).toBe('denied')
      vi.advanceTimersByTime(599)
      expect(await call()).toBe('denied')
      vi.advanceTimersByTime(1)
      expect(await call()).toBe('ok')
    })

    test('in no stretch of an interval more calls begin than are allowed', async () => {
      const executor = executorOf(rateLimit({ calls: 5, interval: 100 }))
      const begun: number[] = []
      for (let step = 0; step < 400; step++) {
        vi.advanceTimersByTime((step * 7919) % 23)
        const { status } = await executor.execute({ name: 'work' })
        if (status === 'ok') begun.push(performance.now())
      }
      expect(begun.length).toBeGreaterThan(100)
      begun.forEach((at, index) => {
        expect((begun[index + 5] ?? Infinity) - at).toBeGreaterThanOrEqual(100)
      })
    })

    test('a refusal says when to try again, and then there is room', async () => {
      const executor = executorOf(rateLimit({ calls: 2, interval: 60_000 }))
      const call = () => executor.execute({ name: 'work' })
      await call()
      vi.advanceTimersByTime(10_000)
      await call()
      vi.advanceTimersByTime(7_500)
      expect((await call()).error?.message).toBe(
        'Too many calls: 2 calls of "work" in a session are allowed within 60 s. Try again in 42.5 s',
      )
      vi.advanceTimersByTime(42_300)
      expect((await call()).error?.message).toMatch(/Try again in 200 ms$/)
      vi.advanceTimersByTime(200)
      expect(await call()).toMatchObject({ status: 'ok' })
    })

    test('what waits to begin holds its place, and nobody can say for how long', async () => {
      const waits = { policies: [{ name: 'waits', decide: () => new Promise<undefined>(() => {}) }] }
      const executor = executorOf(rateLimit({ calls: 1, interval: 1_000 }), waits)
      const held = executor.execute({ name: 'work' })
      vi.advanceTimersByTime(5_000)
      expect((await executor.execute({ name: 'work' })).error?.message).toMatch(
        /Try again once the calls before it are done$/,
      )
      await executor.close()
      expect(await statuses([held])).toBe('cancelled')
    })
  })

  test.each([
    ['no interval', { calls: 1 }],
    ['an interval of nothing', { calls: 1, interval: 0 }],
    ['an endless interval', { calls: 1, interval: Infinity }],
    ['no calls at all', { calls: 0, interval: 1 }],
    ['an unknown `per`', { calls: 1, interval: 1, per: 'user' }],
    ['an option that is misspelt', { calls: 1, interval: 1, window: 5 }],
  ])('refuses %s', (_, options) => {
    expect(() => rateLimit(options as never)).toThrow(InvalidConfigurationError)
  })
})
