import { InvalidConfigurationError } from 'toolwright'
import type { Journal } from 'toolwright/records'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { held, journalConformance, recordOf, settledOf, unfinishedOf } from '../conformance/journals.ts'

journalConformance('memoryJournal', () => ({ open: () => memoryJournal() }), false)

describe('memoryJournal has room for so many settled records', () => {
  async function kept(journal: Journal, ids: readonly string[]): Promise<string[]> {
    const found = await Promise.all(ids.map(async (id) => ((await journal.read(id)) === null ? [] : [id])))
    return found.flat()
  }

  const ids = ['a', 'b', 'c', 'd']

  test('and drops those that settled first', async () => {
    const { journal } = memoryJournal({ settled: 2 })
    const fence = await held(journal.claim(recordOf('a'), 'mine'))
    for (const id of ['b', 'c', 'd']) await journal.claim(settledOf(id), 'mine')
    await journal.write(settledOf('a'), fence)
    expect(await kept(journal, ids)).toEqual(['a', 'd'])
  })

  test('and never drops one that is not settled', async () => {
    const { journal } = memoryJournal({ settled: 0 })
    const fences = await Promise.all(ids.map((id) => held(journal.claim(recordOf(id), 'mine'))))
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

test('memoryJournal says that it does not outlive the process', () => {
  expect(memoryJournal().journal.isDurable).toBe(false)
})

test('memoryJournal forgets the oldest signs of life, and takes their owners for silent since their last record', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { journal } = memoryJournal()
  await journal.claim(recordOf('a'), 'old')
  vi.advanceTimersByTime(30_000)
  await journal.beat('old')
  vi.advanceTimersByTime(1_000)
  expect((await unfinishedOf(journal))[0]?.idle).toBe(1_000)
  for (let index = 0; index < 10_000; index++) await journal.beat(`owner ${index}`)
  expect((await unfinishedOf(journal))[0]?.idle).toBe(31_000)
})
