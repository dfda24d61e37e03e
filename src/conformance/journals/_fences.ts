import { describe, expect, test } from 'vitest'
import { isSettled, type Fence, type Journal } from '../../records/index.ts'
import { held, fixtureRecord, listedBy, settledOf, unfinishedOf } from './_records.ts'
import type { JournalSuite } from './_suite.ts'

/** Tests that a record has one owner at a time. */
export function describeFences({ title, newJournal, newStorage, isShared }: JournalSuite): void {
  describe(`${title} claims`, () => {
    test('a record for its owner, and gives it back with its fence', async () => {
      const journal = await newJournal()
      const record = fixtureRecord('a')
      const fence = await journal.claim(record, 'mine')
      expect(fence).toEqual({ owner: 'mine', number: 0 })
      expect(await journal.read('a')).toEqual({ record, fence })
    })

    test('a record once, and what came later changes nothing', async () => {
      const journal = await newJournal()
      const record = fixtureRecord('a')
      const fence = await journal.claim(record, 'mine')
      expect(await journal.claim(fixtureRecord('a', { name: 'other' }), 'yours')).toBe(null)
      expect(await journal.claim(record, 'mine')).toBe(null)
      expect(await journal.read('a')).toEqual({ record, fence })
    })

    test('a record once, also where it is settled at once', async () => {
      const journal = await newJournal()
      const record = settledOf('a')
      expect(await journal.claim(record, 'mine')).not.toBe(null)
      expect(await journal.claim(record, 'yours')).toBe(null)
      expect((await journal.read('a'))?.record).toEqual(record)
      expect(await unfinishedOf(journal)).toEqual([])
    })

    test('a record for exactly one of twenty that ask at the same time', async () => {
      const storage = await newStorage()
      const journals = isShared ? [storage.open().journal, storage.open().journal] : [storage.open().journal]
      const attempts = Array.from({ length: 20 }, async (_, index) =>
        journals[index % journals.length]?.claim(fixtureRecord('a', { seq: index }), `owner ${index}`),
      )
      const fences = (await Promise.all(attempts)).filter((fence) => fence !== null)
      expect(fences).toHaveLength(1)
      const finalRecord = await journals[0]?.read('a')
      expect(finalRecord?.fence).toEqual(fences[0])
      expect(`owner ${finalRecord?.record.seq}`).toBe(fences[0]?.owner)
    })

    test('many records at the same time, each for its owner', async () => {
      const journal = await newJournal()
      const ids = Array.from({ length: 1_200 }, (_, index) => `call ${index}`)
      const fences = await Promise.all(ids.map((id) => journal.claim(fixtureRecord(id), `owner of ${id}`)))
      expect(fences).toEqual(ids.map((id) => ({ owner: `owner of ${id}`, number: 0 })))
      const records = await Promise.all(ids.map((id) => journal.read(id)))
      expect(records.map((found) => found?.record.id)).toEqual(ids)
      const listed = await Promise.all([{}, { limit: 1_100 }].map((query) => listedBy(journal, query)))
      const counts = listed.map(({ length }) => length)
      expect(counts, 'how many of 1,200 records it lists without a limit, and with one of 1,100').toEqual([
        1_200, 1_100,
      ])
    })
  })

  describe(`${title} writes`, () => {
    test('what the holder of the fence says, again and again', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(fixtureRecord('a', { state: 'APPROVAL_REQUIRED' }), 'mine'))
      expect(await journal.write(fixtureRecord('a'), fence)).toBe(true)
      expect(await journal.write(fixtureRecord('a'), fence)).toBe(true)
      const settled = settledOf('a', { completedAt: 2_000 })
      expect(await journal.write(settled, fence)).toBe(true)
      expect((await journal.read('a'))?.record).toEqual(settled)
    })

    test('many at the same time, each by its own fence', async () => {
      const journal = await newJournal()
      const ids = Array.from({ length: 120 }, (_, index) => `call ${index}`)
      const fences = await Promise.all(ids.map((id) => held(journal.claim(fixtureRecord(id), 'former'))))
      const isTaken = (index: number): boolean => index % 3 === 0
      const takeOver = async (id: string, fence: Fence, index: number): Promise<Fence | null> =>
        isTaken(index) ? journal.takeOver(id, fence, 'new') : fence
      const present = await Promise.all(ids.map((id, index) => takeOver(id, fences[index]!, index)))
      expect(present).toEqual(
        ids.map((_, index) => (isTaken(index) ? { owner: 'new', number: 1 } : { owner: 'former', number: 0 })),
      )
      // Whose fence was read before is refused, and takes no other with it.
      const again = await Promise.all(ids.map((id, index) => journal.takeOver(id, fences[index]!, 'last')))
      expect(again.map((fence) => fence?.owner)).toEqual(ids.map((_, index) => (isTaken(index) ? undefined : 'last')))
      const written = await Promise.all(ids.map((id, index) => journal.write(settledOf(id), present[index]!)))
      expect(written).toEqual(ids.map((_, index) => isTaken(index)))
      expect((await unfinishedOf(journal)).length).toBe(80)
    })

    test('another line after the settlement, and the record stays settled', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      await journal.write(settledOf('a'), fence)
      const late = settledOf('a', { auditTrail: [{ state: 'COMPLETED', timestamp: 3_000, note: 'late' }] })
      expect(await journal.write(late, fence)).toBe(true)
      expect((await journal.read('a'))?.record).toEqual(late)
      expect(await unfinishedOf(journal)).toEqual([])
    })

    test('so that the record is there at every moment, for one owner', async () => {
      const storage = await newStorage()
      const { journal } = storage.open()
      const other = isShared ? storage.open().journal : journal
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      for (let seq = 3; seq < 20; seq++) {
        const writing = journal.write(fixtureRecord('a', { seq }), fence)
        const [found, claimed] = await Promise.all([other.read('a'), other.claim(fixtureRecord('a'), 'yours')])
        expect([found === null, claimed], 'whether it was missing, and the fence of another owner').toEqual([
          false,
          null,
        ])
        expect([seq - 1, seq]).toContain(found?.record.seq)
        expect(await writing).toBe(true)
      }
    })

    test('one of several that one holder did not wait for', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      const writes = Array.from({ length: 10 }, (_, seq) => journal.write(fixtureRecord('a', { seq }), fence))
      expect(await Promise.all(writes)).toEqual(writes.map(() => true))
      expect(Array.from({ length: 10 }, (_, seq) => seq)).toContain((await journal.read('a'))?.record.seq)
    })

    test.each<[string, (fence: Fence) => Fence]>([
      ['of another owner', (fence) => ({ ...fence, owner: 'yours' })],
      ['of an earlier number', (fence) => ({ ...fence, number: fence.number - 1 })],
      ['with an owner that is SQL', (fence) => ({ ...fence, owner: `' OR 1=1 --` })],
      ['without an owner', (fence) => ({ ...fence, owner: '' })],
    ])('nothing for a fence %s', async (_, change) => {
      const journal = await newJournal()
      const record = fixtureRecord('a')
      const fence = await held(journal.claim(record, 'mine'))
      expect(await journal.write(settledOf('a'), change(fence))).toBe(false)
      expect(await journal.takeOver('a', change(fence), 'yours')).toBe(null)
      expect(await journal.read('a')).toEqual({ record, fence })
    })

    test('nothing where there is no record', async () => {
      const journal = await newJournal()
      expect(await journal.write(fixtureRecord('a'), { owner: 'mine', number: 0 })).toBe(false)
      expect(await journal.read('a')).toBe(null)
    })

    test('nothing into another record that its owner holds by the same number', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      await journal.claim(fixtureRecord('b'), 'mine')
      await journal.write(settledOf('a'), fence)
      expect((await journal.read('b'))?.record.state).toBe('EXECUTING')
    })
  })

  describe(`${title} hands a record over`, () => {
    test('to an owner that knows its fence, and the record itself stays as it was', async () => {
      const journal = await newJournal()
      const record = fixtureRecord('a')
      const former = await held(journal.claim(record, 'mine'))
      const fence = await held(journal.takeOver('a', former, 'yours'))
      expect(fence).toEqual({ owner: 'yours', number: 1 })
      expect(await journal.read('a')).toEqual({ record, fence })
      expect(await journal.write(settledOf('a'), fence)).toBe(true)
    })

    test('for good: the former holder never writes again, not even where the owner is the same', async () => {
      const journal = await newJournal()
      const first = await held(journal.claim(fixtureRecord('a'), 'mine'))
      const second = await held(journal.takeOver('a', first, 'yours'))
      const third = await held(journal.takeOver('a', second, 'mine'))
      expect(third).toEqual({ owner: 'mine', number: 2 })
      for (const stale of [first, second]) {
        expect(await journal.write(settledOf('a'), stale)).toBe(false)
        expect(await journal.takeOver('a', stale, 'third')).toBe(null)
      }
      expect((await journal.read('a'))?.record.state).toBe('EXECUTING')
      expect(await journal.write(settledOf('a'), third)).toBe(true)
    })

    test('to exactly one of twenty that ask at the same time', async () => {
      const storage = await newStorage()
      const journals = isShared ? [storage.open().journal, storage.open().journal] : [storage.open().journal]
      const former = await held(journals[0]?.claim(fixtureRecord('a'), 'mine') ?? Promise.resolve(null))
      const attempts = Array.from({ length: 20 }, async (_, index) =>
        journals[index % journals.length]?.takeOver('a', former, `owner ${index}`),
      )
      const fences = (await Promise.all(attempts)).filter((fence) => fence !== null)
      expect(fences).toHaveLength(1)
      expect((await journals[0]?.read('a'))?.fence).toEqual(fences[0])
    })

    test('only as it was read: not where its holder has written since', async () => {
      const journal = await newJournal()
      const mine = await held(journal.claim(fixtureRecord('a', { state: 'APPROVAL_REQUIRED' }), 'mine'))
      const records = await journal.read('a')
      const [listed] = await unfinishedOf(journal)
      await journal.write(fixtureRecord('a'), mine)
      for (const stale of [mine, records?.fence ?? mine, listed?.fence ?? mine]) {
        expect(await journal.takeOver('a', stale, 'yours')).toBe(null)
      }
      const now = await journal.read('a')
      expect(now?.record.state).toBe('EXECUTING')
      const yours = await held(journal.takeOver('a', now?.fence ?? mine, 'yours'))
      expect(await journal.write(settledOf('a'), mine)).toBe(false)
      expect(await journal.write(settledOf('a'), yours)).toBe(true)
    })

    test('to one alone of those that read it, take it over and write to it in turn, in whatever order', async () => {
      const storage = await newStorage()
      const journals = isShared ? [storage.open().journal, storage.open().journal] : [storage.open().journal]
      for (let round = 0; round < 25; round++) {
        const id = `call ${round}`
        await journals[0]?.claim(fixtureRecord(id, { state: 'APPROVAL_REQUIRED' }), 'mine')
        const redeem = async (journal: Journal, owner: string): Promise<boolean> => {
          const found = await journal.read(id)
          if (found?.record.state !== 'APPROVAL_REQUIRED') return false
          const fence = await journal.takeOver(id, found.fence, owner)
          return fence !== null && journal.write({ ...found.record, state: 'EXECUTING' }, fence)
        }
        const attempts = Array.from({ length: 12 }, async (_, index) => {
          for (let reads = 0; reads < index; reads++) await journals[reads % journals.length]?.read(id)
          const journal = journals[index % journals.length]
          return journal !== undefined && redeem(journal, `owner ${index}`)
        })
        expect((await Promise.all(attempts)).filter(Boolean)).toHaveLength(1)
      }
    })

    test('either before its holder settles it or not at all: what was settled stays', async () => {
      const journal = await newJournal()
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const id = `call ${index}`
          const fence = await held(journal.claim(fixtureRecord(id), 'mine'))
          const settle = (): Promise<boolean> => journal.write(settledOf(id), fence)
          const take = (): Promise<Fence | null> => journal.takeOver(id, fence, 'yours')
          if (index % 2 === 0) {
            const [isWritten, fences] = await Promise.all([settle(), take()])
            return [isWritten, fences !== null, isSettled((await journal.read(id))?.record.state ?? 'PENDING')]
          }
          const [fences, isWritten] = await Promise.all([take(), settle()])
          return [isWritten, fences !== null, isSettled((await journal.read(id))?.record.state ?? 'PENDING')]
        }),
      )
      for (const [isWritten, isTaken, isOver] of outcomes) {
        expect(isTaken).toBe(!isWritten)
        expect(isOver).toBe(isWritten)
      }
    })

    test('never when it is settled, nor when there is none', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(settledOf('a'), 'mine'))
      expect(await journal.takeOver('a', fence, 'yours')).toBe(null)
      expect(await journal.takeOver('b', fence, 'yours')).toBe(null)
      expect((await journal.read('a'))?.fence).toEqual(fence)
    })
  })
}
