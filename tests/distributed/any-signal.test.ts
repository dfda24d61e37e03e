import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { withAny } from '../../src/distributed/_any-signal.ts'

/** Work that ends when its signal aborts, and tells why it did. */
const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason))
  })

test('work ends with the first of its signals, and other work goes on', async () => {
  const [one, all] = [new AbortController(), new AbortController()]
  let isOver = false
  const first = withAny([one.signal, all.signal], untilAborted)
  const second = withAny([undefined, all.signal], untilAborted).finally(() => (isOver = true))
  one.abort('one')
  expect(await first).toBe('one')
  expect(isOver).toBe(false)
  all.abort('all')
  expect(await second).toBe('all')
  expect(await withAny([undefined, all.signal], untilAborted)).toBe('all')
})

test('a signal has one listener for all work that it is to end, and lets go of work that has ended', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const signals: AbortSignal[] = []
  const work = async (own: AbortSignal): Promise<number> => signals.push(own)
  await Promise.all(Array.from({ length: 50 }, () => withAny([signal], work)))
  await expect(withAny([signal], () => Promise.reject(new Error('It failed.')))).rejects.toThrow('It failed.')
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  controller.abort()
  expect(signals.filter((own) => own.aborted)).toEqual([])
})
