/**
 * Tests what every dispatcher of a fleet promises. They run in vitest.
 *
 * @module
 */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Delivery, Dispatcher } from '../distributed/fleet.ts'
import { testBus } from './_buses.ts'
import { requireMethods } from './_methods.ts'
import { waitOptions } from './_waiting.ts'

/** A place that dispatchers share, as the processes of a fleet do. */
export interface DispatcherPlace {
  /** Opens a dispatcher on the place. The suite closes it. */
  readonly open: () => Dispatcher
  /** Ends the server of the place without a warning, and starts it again. Default: that is not tested. */
  readonly crash?: (() => Promise<void>) | undefined
}

/**
 * Describes what every dispatcher promises, in tests of vitest.
 *
 * @param name The name of the dispatcher, for the titles of the tests.
 * @param make Makes a place without calls, for each test anew.
 * @experimental
 * @example
 * ```ts
 * import { describeDispatcher } from 'toolwright/conformance/dispatchers'
 * import { memoryDispatcher } from 'toolwright/distributed/memory'
 *
 * describeDispatcher('memoryDispatcher', () => {
 *   const dispatcher = memoryDispatcher()
 *   return { open: () => dispatcher }
 * })
 * ```
 */
export function describeDispatcher(name: string, make: () => DispatcherPlace | Promise<DispatcherPlace>): void {
  async function within(
    use: (place: DispatcherPlace, open: () => Dispatcher, working: (delivery: Delivery) => void) => Promise<void>,
  ): Promise<void> {
    const place = await make()
    const opened: Dispatcher[] = []
    const deliveries: Delivery[] = []
    const open = (): Dispatcher => {
      const dispatcher = openedOn(place)
      opened.push(dispatcher)
      return dispatcher
    }
    const working = (delivery: Delivery): void => {
      requireMethods(delivery, ['pause', 'close'], '`work` resolves to `{ pause, close }`')
      deliveries.push(delivery)
    }
    const close = async (): Promise<void> => {
      await Promise.all(deliveries.map((delivery) => delivery.close()))
      for (const dispatcher of new Set(opened)) await dispatcher.close?.()
    }
    try {
      await use(place, open, working)
    } catch (error) {
      close().catch(() => {}) // what has failed may never close, and the test is to say what failed
      throw error
    }
    await close()
  }
  const openedOn = (place: DispatcherPlace): Dispatcher => {
    requireMethods(place, ['open'], 'The function gives `{ open }`, a place to open dispatchers on')
    const dispatcher = place.open()
    requireMethods(dispatcher, ['send', 'work'], '`open` gives a dispatcher at once, which has `send` and `work`')
    return dispatcher
  }
  const callsOf = (ids: readonly string[], queue = 'default'): { invocationId: string; queue: string }[] =>
    ids.map((invocationId) => ({ invocationId, queue }))
  const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `call ${index}`)

  describe(name, () => {
    const pollOptions = waitOptions(50_000, 10)

    testBus(async () => {
      const place = await make()
      const [one, other] = [openedOn(place), openedOn(place)]
      onTestFinished(async () => {
        for (const dispatcher of new Set([one, other])) await dispatcher.close?.()
      })
      return one.bus && other.bus && [one.bus, other.bus]
    })

    test('delivers each call of a queue, whatever its id, and none of another queue', () =>
      within(async (_place, open, working) => {
        const ids = ['a', '7', 'a:b:c', '', ' ', 'naïve 漢字 👩‍👩‍👧', 'x'.repeat(256), '__proto__', '{"a":1}', "'; --"]
        const delivered: string[] = []
        const sending = open().send([...callsOf(ids), ...callsOf(['other'], 'gpu:0')])
        requireMethods(sending, ['then'], '`send` gives a promise, which rejects if the calls were not sent')
        await sending
        const run = async (id: string): Promise<void> => void delivered.push(id)
        const beginning = open().work('default', { concurrency: 4 }, run)
        requireMethods(beginning, ['then'], '`work` gives a promise')
        working(await beginning)
        await vi.waitFor(() => expect(delivered.toSorted()).toEqual(ids.toSorted()), pollOptions)
        working(await open().work('gpu:0', { concurrency: 4 }, run))
        await vi.waitFor(() => expect(delivered).toContain('other'), pollOptions)
        expect(delivered).toHaveLength(ids.length + 1)
      }))

    test('delivers a call once that was sent again before it was delivered', () =>
      within(async (_place, open, working) => {
        const delivered: string[] = []
        for (let time = 0; time < 3; time++) await open().send(callsOf(['a', 'b', 'a']))
        working(await open().work('default', { concurrency: 4 }, async (id) => void delivered.push(id)))
        await vi.waitFor(() => expect(delivered.toSorted()).toEqual(['a', 'b']), pollOptions)
        await open().send(callsOf(['last']))
        await vi.waitFor(() => expect(delivered).toContain('last'), pollOptions)
        expect(delivered).toHaveLength(3)
      }))

    test('delivers a call again that was sent again after its end', () =>
      within(async (_place, open, working) => {
        let count = 0
        working(await open().work('default', { concurrency: 1 }, async () => void count++))
        await open().send(callsOf(['a']))
        await vi.waitFor(() => expect(count).toBe(1), pollOptions)
        await vi.waitFor(async () => {
          await open().send(callsOf(['a']))
          expect(count).toBeGreaterThan(1)
        }, pollOptions)
      }))

    test('delivers a call while it runs if it is sent for another run, and once for each', () =>
      within(async (_place, open, working) => {
        let count = 0
        let go = (): void => {}
        const may = new Promise<void>((resolve) => (go = resolve))
        const [call] = callsOf(['a']) as [{ invocationId: string; queue: string }]
        working(
          await open().work('default', { concurrency: 4 }, async () => {
            if (++count < 3) await may
          }),
        )
        await open().send([call])
        await vi.waitFor(() => expect(count).toBe(1), pollOptions)
        for (let time = 0; time < 2; time++) await open().send([{ ...call, place: 'first' }])
        await vi.waitFor(() => expect(count).toBe(2), pollOptions)
        go()
        await open().send([{ ...call, place: 'second' }])
        await vi.waitFor(() => expect(count).toBe(3), pollOptions)
      }))

    test('delivers a call again whose run was rejected', () =>
      within(async (_place, open, working) => {
        const delivered: string[] = []
        await open().send(callsOf(['a']))
        working(
          await open().work('default', { concurrency: 1 }, async (id) => {
            if (delivered.push(id) < 3) throw new Error('not here')
          }),
        )
        await vi.waitFor(() => expect(delivered).toEqual(['a', 'a', 'a']), pollOptions)
      }))

    test('runs no more calls at a time than it may', () =>
      within(async (_place, open, working) => {
        let [running, most, ended] = [0, 0, 0]
        await open().send(callsOf(many(30)))
        working(
          await open().work('default', { concurrency: 3 }, async () => {
            most = Math.max(most, ++running)
            await new Promise((resolve) => setTimeout(resolve, 10))
            running--
            ended++
          }),
        )
        await vi.waitFor(() => expect(ended).toBe(30), pollOptions)
        expect(most).toBe(3)
      }))

    test('delivers calls that were sent one by one at the same moment, each once, in the places that there are', () =>
      within(async (_place, open, working) => {
        let [running, most] = [0, 0]
        const delivered: string[] = []
        const sender = open()
        await Promise.all(many(100).map((id) => sender.send(callsOf([id]))))
        for (let worker = 0; worker < 2; worker++) {
          working(
            await open().work('default', { concurrency: 2 }, async (id) => {
              most = Math.max(most, ++running)
              await new Promise((resolve) => setTimeout(resolve, 2))
              running--
              delivered.push(id)
            }),
          )
        }
        await vi.waitFor(() => expect(delivered).toHaveLength(100), pollOptions)
        expect(delivered.toSorted()).toEqual(many(100).toSorted())
        expect(most).toBeLessThanOrEqual(4)
      }))

    test('leaves calls to other workers that were sent together, if it has no places for them', () =>
      within(async (_place, open, working) => {
        const held = Promise.withResolvers<void>()
        const [first, second]: string[][] = [[], []]
        await open().send(callsOf(many(20)))
        working(
          await open().work('default', { concurrency: 2 }, async (id) => {
            first?.push(id)
            await held.promise
          }),
        )
        await vi.waitFor(() => expect(first).toHaveLength(2), pollOptions)
        working(await open().work('default', { concurrency: 3 }, async (id) => void second?.push(id)))
        await vi.waitFor(() => expect(second).toHaveLength(18), pollOptions)
        held.resolve()
        expect([...(first ?? []), ...(second ?? [])].toSorted()).toEqual(many(20).toSorted())
      }))

    test('delivers again only the call whose run was rejected, of those that were sent together', () =>
      within(async (_place, open, working) => {
        const delivered: string[] = []
        await open().send(callsOf(many(5)))
        working(
          await open().work('default', { concurrency: 5 }, async (id) => {
            delivered.push(id)
            if (id === 'call 2' && delivered.filter((each) => each === id).length < 2) throw new Error('not here')
          }),
        )
        await vi.waitFor(() => expect(delivered).toHaveLength(6), pollOptions)
        expect(delivered.toSorted()).toEqual([...many(5), 'call 2'].toSorted())
      }))

    test('delivers a call at most twice that was sent again, however often, with others each time', () =>
      within(async (_place, open, working) => {
        const delivered: string[] = []
        const sender = open()
        await sender.send(callsOf(many(3)))
        for (let time = 0; time < 4; time++) {
          const [call] = callsOf(['call 1'])
          await sender.send([{ ...call!, isAgain: true }, ...callsOf([`other ${time}`])])
        }
        working(await open().work('default', { concurrency: 4 }, async (id) => void delivered.push(id)))
        await sender.send(callsOf(['last']))
        await vi.waitFor(() => expect(new Set(delivered).size).toBe(8), pollOptions)
        expect(delivered.filter((id) => id === 'call 1').length).toBeLessThanOrEqual(2)
        expect(delivered.filter((id) => id !== 'call 1')).toHaveLength(7)
      }))

    test('starts no more calls in an interval than it may, over all workers', () =>
      within(async (_place, open, working) => {
        const starts: number[] = []
        const interval = 2_000
        await open().send(callsOf(many(6)))
        for (let worker = 0; worker < 2; worker++) {
          const options = { concurrency: 6, limit: { calls: 3, interval } }
          working(await open().work('default', options, async () => void starts.push(performance.now())))
        }
        await vi.waitFor(() => expect(starts).toHaveLength(6), pollOptions)
        // The clocks of an interval and of this process may be apart by a little.
        expect((starts[3] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(interval / 2)
      }))

    test('delivers nothing after its pause, waits for what runs, and leaves the rest to others', () =>
      within(async (_place, open, working) => {
        const [first, second]: string[][] = [[], []]
        let go = (): void => {}
        const may = new Promise<void>((resolve) => (go = resolve))
        const delivery = await open().work('default', { concurrency: 1 }, async (id) => {
          first?.push(id)
          await may
        })
        await open().send(callsOf(['a', 'b']))
        await vi.waitFor(() => expect(first).toHaveLength(1), pollOptions)
        await delivery.pause()
        let hasClosed = false
        const closing = delivery.close().then(() => (hasClosed = true))
        working(await open().work('default', { concurrency: 1 }, async (id) => void second?.push(id)))
        await vi.waitFor(() => expect(second).toHaveLength(1), pollOptions)
        expect(hasClosed).toBe(false)
        go()
        await closing
        expect([...(first ?? []), ...(second ?? [])].toSorted()).toEqual(['a', 'b'])
      }))

    test('delivers nothing that is sent after its pause, however many places it has left', () =>
      within(async (_place, open, working) => {
        const [first, second]: string[][] = [[], []]
        const delivery = await open().work('default', { concurrency: 4 }, async (id) => void first?.push(id))
        working(delivery)
        await open().send(callsOf(['a']))
        await vi.waitFor(() => expect(first).toEqual(['a']), pollOptions)
        await delivery.pause()
        await open().send(callsOf(many(10)))
        working(await open().work('default', { concurrency: 4 }, async (id) => void second?.push(id)))
        await vi.waitFor(() => expect(second?.toSorted()).toEqual(many(10).toSorted()), pollOptions)
        expect(first).toEqual(['a'])
      }))

    test('says how many calls it holds for a queue, if it says that', ({ skip }) =>
      within(async (_place, open, working) => {
        const sender = open()
        if (sender.depth === undefined) return skip('left out: the dispatcher has no depth')
        await sender.send([...callsOf(many(5)), ...callsOf(['other'], 'gpu:0')])
        await vi.waitFor(async () => expect(await sender.depth?.('default')).toBe(5), pollOptions)
        expect([await sender.depth('gpu:0'), await sender.depth('none')]).toEqual([1, 0])
        working(await open().work('default', { concurrency: 4 }, async () => {}))
        await vi.waitFor(async () => expect(await sender.depth?.('default')).toBe(0), pollOptions)
        expect(await sender.depth('gpu:0')).toBe(1)
      }))

    test(
      'carries ten thousand calls',
      () =>
        within(async (_place, open, working) => {
          const delivered = new Set<string>()
          const ids = many(10_000)
          const sender = open()
          for (let first = 0; first < ids.length; first += 500) {
            // It may reject on a busy machine: what is sent again is one call.
            await vi.waitFor(() => sender.send(callsOf(ids.slice(first, first + 500))), pollOptions)
          }
          working(await open().work('default', { concurrency: 64 }, async (id) => void delivered.add(id)))
          await vi.waitFor(() => expect(delivered.size).toBe(ids.length), { timeout: 110_000, interval: 50 })
        }),
      120_000,
    )

    test(
      'delivers what is sent once its server is back, also to a worker that it had',
      ({ skip }) =>
        within(async (place, open, working) => {
          if (place.crash === undefined) return skip('left out: the dispatcher has no server that could be ended')
          const delivered = new Set<string>()
          working(await open().work('default', { concurrency: 4 }, async (id) => void delivered.add(id)))
          const sender = open()
          await sender.send(callsOf(['before']))
          await vi.waitFor(() => expect(delivered).toContain('before'), pollOptions)
          await place.crash()
          await vi.waitFor(() => sender.send(callsOf(['after'])), pollOptions)
          await vi.waitFor(() => expect(delivered).toContain('after'), pollOptions)
        }),
      120_000,
    )
  })
}
