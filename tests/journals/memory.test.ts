import { createExecutor, tool, type ToolCallSnapshot } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import type { Journal } from 'toolwright/records'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  held,
  journalConformance,
  listedBy,
  fixtureRecord,
  settledOf,
  unfinishedOf,
  waitingOf,
} from '../conformance/journals.ts'

journalConformance('memoryJournal', () => ({ open: () => memoryJournal() }), false)

test('memoryJournal lists the newest few of thousands, whatever the order of their arrival', async () => {
  const { journal } = memoryJournal()
  const times = Array.from({ length: 5_000 }, (_, index) => (index * 2_741) % 5_000)
  for (const createdAt of times) await journal.claim(settledOf(`c${createdAt}`, { createdAt }), 'mine')
  const newest: string[] = []
  for await (const { record } of journal.list({ limit: 3 })) newest.push(record.id)
  expect(newest).toEqual(['c4999', 'c4998', 'c4997'])
})

describe('memoryJournal takes the fence of a claim', () => {
  test('for the record that was claimed, and not for another', async () => {
    const { journal } = memoryJournal()
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    await journal.claim(fixtureRecord('b'), 'yours')
    expect(await journal.write(fixtureRecord('b', { name: 'other' }), fence)).toBe(false)
    expect(await journal.write(fixtureRecord('c'), fence)).toBe(false)
    expect(await journal.read('a')).toEqual({ record: fixtureRecord('a'), fence })
    expect((await journal.read('b'))?.record).toEqual(fixtureRecord('b'))
  })

  test('in the journal that made it, and not in another that has its record', async () => {
    const [one, other] = [memoryJournal().journal, memoryJournal().journal]
    const fence = await held(one.claim(fixtureRecord('a'), 'mine'))
    await other.claim(fixtureRecord('a'), 'yours')
    expect(await other.write(settledOf('a'), fence)).toBe(false)
    expect(await unfinishedOf(one)).toHaveLength(1)
    expect(await unfinishedOf(other)).toHaveLength(1)
  })

  test('until its record is dropped', async () => {
    const { journal } = memoryJournal({ settled: 1 })
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    expect(await journal.write(settledOf('a'), fence)).toBe(true)
    expect(await journal.write(settledOf('a', { name: 'later' }), fence)).toBe(true)
    await journal.claim(settledOf('b'), 'mine')
    expect(await journal.read('a')).toBe(null)
    expect(await journal.write(settledOf('a'), fence)).toBe(false)
    expect(await journal.read('a')).toBe(null)
  })
})

describe('memoryJournal has room for so many settled records', () => {
  async function kept(journal: Journal, ids: readonly string[]): Promise<string[]> {
    const found = await Promise.all(ids.map(async (id) => ((await journal.read(id)) === null ? [] : [id])))
    return found.flat()
  }

  const ids = ['a', 'b', 'c', 'd']

  test('and drops those that settled first', async () => {
    const { journal } = memoryJournal({ settled: 2 })
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    for (const id of ['b', 'c', 'd']) await journal.claim(settledOf(id), 'mine')
    await journal.write(settledOf('a'), fence)
    expect(await kept(journal, ids)).toEqual(['a', 'd'])
  })

  test('and counts the bytes of one that was written again', async () => {
    const { journal } = memoryJournal({ maximumBytes: 100_000 })
    const fence = await held(journal.claim(settledOf('a'), 'mine'))
    expect(await journal.write(settledOf('a', { input: 'x'.repeat(60_000) }), fence)).toBe(true)
    await journal.claim(settledOf('b', { input: 'x'.repeat(60_000) }), 'mine')
    await journal.claim(settledOf('c'), 'mine')
    expect(await kept(journal, ids)).toEqual(['b', 'c'])
  })

  test('and never drops one that is not settled', async () => {
    const { journal } = memoryJournal({ settled: 0 })
    const fences = await Promise.all(ids.map((id) => held(journal.claim(fixtureRecord(id), 'mine'))))
    for (let index = 0; index < 100; index++) await journal.claim(settledOf(`settled ${index}`), 'mine')
    expect(await kept(journal, [...ids, 'settled 99'])).toEqual(ids)
    await journal.write(settledOf('a'), fences[0] ?? { owner: '', number: 0 })
    expect((await unfinishedOf(journal)).map(({ record }) => record.id)).toEqual(['d', 'c', 'b'])
  })

  test('and a line that is added to one does not make it younger', async () => {
    const { journal } = memoryJournal({ settled: 2 })
    const fence = await held(journal.claim(settledOf('a'), 'mine'))
    await journal.claim(settledOf('b'), 'mine')
    await journal.write(settledOf('a', { error: 'late' }), fence)
    await journal.claim(settledOf('c'), 'mine')
    expect(await kept(journal, ids)).toEqual(['b', 'c'])
  })

  test('and drops in that order for as long as it is used', async () => {
    const { journal } = memoryJournal({ settled: 3 })
    for (let index = 0; index < 5_000; index++) {
      await journal.claim(settledOf(`call ${index}`), 'mine')
      if (index >= 3) expect(await kept(journal, [`call ${index - 3}`, `call ${index - 2}`])).toHaveLength(1)
    }
    expect(await kept(journal, ['call 4996', 'call 4997', 'call 4998', 'call 4999'])).toHaveLength(3)
  })

  test('which are 10,000 by default', async () => {
    const { journal } = memoryJournal()
    for (let index = 0; index < 10_001; index++) await journal.claim(settledOf(`call ${index}`), 'mine')
    expect(await kept(journal, ['call 0', 'call 1', 'call 10000'])).toEqual(['call 1', 'call 10000'])
  })

  test.each([-1, Number.NaN, '5'])('and refuses %s', (settled) => {
    expect(() => memoryJournal({ settled: settled as number })).toThrow(InvalidConfigurationError)
  })
})

describe('memoryJournal is bounded', () => {
  const soon = { timeout: 10_000, interval: 5 }

  /** A journal, and the ids of the records that it drops while they wait. */
  function dropping(options: Parameters<typeof memoryJournal>[0]): { journal: Journal; dropped: string[] } {
    const { journal } = memoryJournal(options)
    const dropped: string[] = []
    journal.onDrop?.(({ record }) => dropped.push(record.id))
    return { journal, dropped }
  }

  const later = { expiresAt: Date.now() + 3_600_000 }

  test('by the number of records that wait: the oldest of the session that holds most goes first', async () => {
    const { journal, dropped } = dropping({ waiting: 10 })
    for (let index = 0; index < 3; index++)
      await journal.claim(waitingOf(`few ${index}`, { session: 'few' }, later), 'mine')
    for (let index = 0; index < 500; index++)
      await journal.claim(waitingOf(`many ${index}`, { session: 'many' }, later), 'mine')
    expect(await Promise.all(['few 0', 'few 1', 'few 2'].map(async (id) => (await journal.read(id)) !== null))).toEqual(
      [true, true, true],
    )
    await vi.waitFor(() => expect(dropped).toEqual(Array.from({ length: 493 }, (_, index) => `many ${index}`)), soon)
  })

  test('by bytes: what has settled goes first, then what has expired, then what waits', async () => {
    const { journal, dropped } = dropping({ maximumBytes: 100_000 })
    const large = { input: 'x'.repeat(20_000) }
    await journal.claim(settledOf('settled', large), 'mine')
    await journal.claim(waitingOf('first', large, later), 'mine')
    await journal.claim(waitingOf('expired', large, { expiresAt: 1 }), 'mine')
    await journal.claim(waitingOf('second', large, later), 'mine')
    for (const id of ['a', 'b', 'c']) await journal.claim(waitingOf(id, large, later), 'mine')
    expect(await journal.read('settled')).toBe(null)
    await vi.waitFor(() => expect(dropped).toEqual(['expired', 'first']), soon)
    await journal.claim(waitingOf('d', large, later), 'mine')
    await vi.waitFor(() => expect(dropped).toEqual(['expired', 'first', 'second']), soon)
  })

  test('and never drops a call that runs', async () => {
    const { journal, dropped } = dropping({ maximumBytes: 0, waiting: 0, settled: 0 })
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    await journal.claim(waitingOf('b'), 'mine')
    expect(await journal.write(fixtureRecord('a'), fence)).toBe(true)
    await vi.waitFor(() => expect(dropped).toEqual(['b']), soon)
    expect(await journal.read('a')).not.toBe(null)
  })

  test('and a call that was answered, or waits again, is dropped by its present place', async () => {
    const { journal, dropped } = dropping({ waiting: 2 })
    const fences = await Promise.all(['a', 'b'].map((id) => held(journal.claim(waitingOf(id, {}, later), 'mine'))))
    const [first = { owner: '', number: 0 }] = fences
    await journal.write(fixtureRecord('a'), first)
    await journal.claim(waitingOf('c', {}, later), 'mine')
    await journal.write(waitingOf('a', {}, later), first)
    await journal.claim(waitingOf('d', {}, later), 'mine')
    await vi.waitFor(() => expect(dropped).toEqual(['b', 'c']), soon)
    expect((await listedBy(journal, { state: 'waiting' })).map(({ record }) => record.id)).toEqual(['d', 'a'])
  })

  test('and takes no longer for each of 100,000 calls that wait in 1,000 sessions', async () => {
    const { journal, dropped } = dropping({ waiting: 5_000 })
    for (let index = 0; index < 100_000; index++) {
      await journal.claim(waitingOf(`call ${index}`, { session: `session ${index % 1_000}` }, later), 'mine')
    }
    await vi.waitFor(() => expect(dropped).toHaveLength(95_000), soon)
    expect(await listedBy(journal, { state: 'waiting', limit: 1 })).toHaveLength(1)
  }, 60_000)

  test.each([
    ['waiting', -1],
    ['maximumBytes', Number.NaN],
    ['maximumBytes', '5'],
    ['maximum', 5],
  ])('and refuses %s %s', (option, value) => {
    expect(() => memoryJournal({ [option]: value })).toThrow(InvalidConfigurationError)
  })
})

test('memoryJournal says that it does not outlive the process', () => {
  expect(memoryJournal().journal.isDurable).toBe(false)
})

test('memoryJournal forgets the oldest signs of life, and takes their owners for silent since their last record', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { journal } = memoryJournal()
  await journal.claim(fixtureRecord('a'), 'old')
  vi.advanceTimersByTime(30_000)
  await journal.beat('old')
  vi.advanceTimersByTime(1_000)
  expect((await unfinishedOf(journal))[0]?.idle).toBe(1_000)
  for (let index = 0; index < 10_000; index++) await journal.beat(`owner ${index}`)
  expect((await unfinishedOf(journal))[0]?.idle).toBe(31_000)
})

test('memoryJournal has the whole result for a listener of call:settled', async () => {
  const executor = createExecutor({ tools: [tool('greet', () => 'Hello')], use: [memoryJournal()] })
  onTestFinished(() => executor.close())
  const seen: Promise<ToolCallSnapshot>[] = []
  executor.on('call:settled', ({ invocationId }) => seen.push(executor.calls.get(invocationId)))
  await executor.execute({ name: 'greet' })
  expect(await Promise.all(seen)).toMatchObject([{ state: 'COMPLETED', result: [{ type: 'text', text: 'Hello' }] }])
})

test.each([
  ['an empty text', [{ type: 'text', text: '' }]],
  ['a text', [{ type: 'text', text: 'Hello' }]],
  ['a text with an annotation', [{ type: 'text', text: '', annotations: { priority: 1 } }]],
  [
    'two empty texts',
    [
      { type: 'text', text: '' },
      { type: 'text', text: '' },
    ],
  ],
  ['an object', { rows: 3 }],
  ['false', false],
])('memoryJournal returns %s again as it was', async (_what, value) => {
  const executor = createExecutor({ tools: [tool('give', () => value)], use: [memoryJournal()] })
  onTestFinished(() => executor.close())
  const first = await executor.execute({ name: 'give' }, { invocationId: 'one' })
  const again = await executor.execute({ name: 'give' }, { invocationId: 'one' })
  expect([first.status, again.status]).toEqual(['ok', 'ok'])
  expect(again.content).toEqual(first.content)
})
