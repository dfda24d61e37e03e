import { describe, expect, test } from 'vitest'
import type { Fence } from '../../records/index.ts'
import { held, fixtureRecord, settledOf, unfinishedOf, type Promising } from './_records.ts'
import { optionalMethod, type JournalSuite } from './_suite.ts'

/** Tests a journal that several processes share, and that outlives them. */
export function describeShared({ title, newStorage }: JournalSuite): void {
  describe(`${title} is shared`, () => {
    test('by journals that see what each other wrote', async () => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      expect([one.isDurable, other.isDurable]).toEqual([true, true])
      const fence = await held(one.claim(fixtureRecord('a'), 'one'))
      for (const each of [one, other]) expect(await each.read('a')).toEqual({ record: fixtureRecord('a'), fence })
      expect(await other.claim(fixtureRecord('a'), 'other')).toBe(null)
      const newFence = await held(other.takeOver('a', fence, 'other'))
      expect(await one.write(settledOf('a'), fence)).toBe(false)
      expect((await unfinishedOf(one)).map((entry) => entry.fence)).toEqual([newFence])
      expect(await other.write(settledOf('a'), newFence)).toBe(true)
      expect(await unfinishedOf(one)).toEqual([])
      expect((await one.read('a'))?.record, 'what the other wrote since it was read here').toEqual(settledOf('a'))
    })

    test('by journals that note together who does what, if they have claimEffect', async ({ skip }) => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      const claims = [one, other].map((journal) => optionalMethod(journal, 'claimEffect', skip))
      const doers = await Promise.all(
        claims.map(async (claimEffect, index) => claimEffect('scope', 'key', `call ${index}`)),
      )
      expect(new Set(doers).size, 'how many processes may do the same thing').toBe(1)
      const later = storage.open().journal
      expect(await later.claimEffect?.('scope', 'key', 'later')).toBe(doers[0])
    })

    test('by journals that know of each other where chains were cut, if they have delete and cuts', async ({
      skip,
    }) => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      const journal = { caller: 'model', owner: 'mine', fence: 0, digest: 'last', previous: '' } as const
      await one.claim(settledOf('a', { completedAt: 1, journal }), 'mine')
      const cuts = optionalMethod(other, 'cuts', skip)
      await optionalMethod(one, 'delete', skip)({ settledBefore: 2, limit: 10 })
      expect(await cuts(), 'the cuts that the other journal made').toEqual(['last'])
    })

    test('by journals that see each other alive', async () => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      await one.claim(fixtureRecord('a'), 'one')
      await new Promise((resolve) => setTimeout(resolve, 60))
      expect((await unfinishedOf(other))[0]?.idle).toBeGreaterThanOrEqual(55)
      const before = performance.now()
      await one.beat('one')
      const [entry] = await unfinishedOf(other)
      expect(entry?.idle).toBeLessThanOrEqual(performance.now() - before + 5)
    })

    test('by journals that hear of each other, if they have watch', async ({ skip }) => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      const hints: string[] = []
      await one.claim(settledOf('before'), 'one')
      const end = optionalMethod(other, 'watch', skip)((id, session) => void hints.push(`${id} of ${session}`))
      // A watch begins when it can: until then, what is settled now may be missed.
      for (let index = 0; hints.length === 0; index++) {
        await one.claim(settledOf(`call ${index}`), 'one')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(hints[0]).toMatch(/^call \d+ of one$/)
      end()
    })

    test('by journals that ask each other to cancel, and see each other settle, if they can', async ({ skip }) => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      const fence = await held(one.claim(fixtureRecord('a'), 'one'))
      expect(await optionalMethod(other, 'requestCancel', skip)('a')).toBe(true)
      expect(await one.beat('one')).toEqual(['a'])
      expect(await optionalMethod(other, 'settledOf', skip)(['a'])).toEqual([])
      await one.write(settledOf('a'), fence)
      expect(await optionalMethod(other, 'settledOf', skip)(['a'])).toEqual([
        { record: settledOf('a'), fence: expect.anything() as Fence },
      ])
    })

    test('by eight that are opened and used at the same time on a new place', async () => {
      const storage = await newStorage()
      const journals = Array.from({ length: 8 }, () => storage.open().journal)
      const claims = journals.flatMap((journal, index) =>
        Array.from({ length: 25 }, (_, number) => journal.claim(fixtureRecord(`call ${number}`), `owner ${index}`)),
      )
      expect((await Promise.all(claims)).filter((fence) => fence !== null)).toHaveLength(25)
    })
  })

  describe(`${title} has a record that is damaged`, () => {
    const fullRecord = fixtureRecord('b')
    const damages: readonly (readonly [string, string])[] = [
      ['cut off', JSON.stringify(fullRecord).slice(0, 120)],
      ['empty', ''],
      ['null', 'null'],
      ['a list', '[]'],
      ['an id alone', '{"id":"b"}'],
      ['another record', JSON.stringify(fixtureRecord('a'))],
      ['in a state that there is not', JSON.stringify({ ...fullRecord, state: 'LOST' })],
      ['without an audit trail', JSON.stringify({ ...fullRecord, auditTrail: undefined })],
      ['with a hole in its audit trail', JSON.stringify({ ...fullRecord, auditTrail: [null] })],
      ['without a number', JSON.stringify({ ...fullRecord, seq: undefined })],
      ['without what a journal adds', JSON.stringify({ ...fullRecord, journal: null })],
    ]

    async function withDamage(text: string): Promise<Promising> {
      const storage = await newStorage()
      const { journal } = storage.open()
      for (const id of ['a', 'b', 'c']) await journal.claim(fixtureRecord(id), 'mine')
      if (storage.damage === undefined) throw new Error('The storage of a shared journal needs `damage`.')
      await storage.damage('b', text)
      return journal
    }

    test.each(damages)('(%s), and says so to who reads it', async (_, text) => {
      const journal = await withDamage(text)
      const refusal = { code: 'E_JOURNAL', retryable: false, message: expect.stringContaining('"b"') as string }
      await expect(journal.read('b')).rejects.toMatchObject(refusal)
      expect((await journal.read('a'))?.record).toEqual(fixtureRecord('a'))
    })

    test.each(damages)('(%s), and lists the others to who wants to be told of it', async (_, text) => {
      const journal = await withDamage(text)
      const reports: unknown[] = []
      const listed: string[] = []
      for await (const { record } of journal.list({ state: 'running' }, (error) => void reports.push(error)))
        listed.push(record.id)
      expect(listed).toEqual(['c', 'a'])
      expect(reports).toMatchObject([{ code: 'E_JOURNAL', message: expect.stringContaining('"b"') as string }])
    })

    test('and refuses to list past it without a report', async () => {
      const journal = await withDamage('null')
      await expect(unfinishedOf(journal)).rejects.toMatchObject({ code: 'E_JOURNAL' })
    })
  })

  describe(`${title} keeps what it answered`, () => {
    test('when it is closed and opened again', async () => {
      const storage = await newStorage()
      const first = storage.open()
      const fence = await held(first.journal.claim(fixtureRecord('a'), 'mine'))
      await first.journal.claim(settledOf('b'), 'mine')
      await first.close?.()
      const second = storage.open()
      expect(await second.journal.read('a')).toEqual({ record: fixtureRecord('a'), fence })
      expect((await second.journal.read('b'))?.record).toEqual(settledOf('b'))
      expect(await second.journal.write(settledOf('a'), fence)).toBe(true)
    })

    test('when it is closed at once, also what no caller has waited for yet', async () => {
      const storage = await newStorage()
      const first = storage.open()
      await first.journal.claim(fixtureRecord('a'), 'mine')
      const claims = Array.from({ length: 30 }, (_, index) =>
        first.journal.claim(fixtureRecord(`call ${index}`), 'mine'),
      )
      const [outcomes] = await Promise.all([Promise.allSettled(claims), first.close?.()])
      const { journal } = storage.open()
      for (const [index, { status }] of outcomes.entries()) {
        expect((await journal.read(`call ${index}`)) !== null).toBe(status === 'fulfilled')
      }
    })

    test('and refuses everything afterwards', async () => {
      const extension = (await newStorage()).open()
      const { journal } = extension
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      await extension.close?.()
      await extension.close?.()
      const refusal = { code: 'E_JOURNAL', message: expect.stringContaining('closed') as string }
      await expect(journal.claim(fixtureRecord('b'), 'mine')).rejects.toMatchObject(refusal)
      await expect(journal.write(settledOf('a'), fence)).rejects.toMatchObject(refusal)
      await expect(journal.read('a')).rejects.toMatchObject(refusal)
      await expect(journal.takeOver('a', fence, 'yours')).rejects.toMatchObject(refusal)
      await expect(unfinishedOf(journal)).rejects.toMatchObject(refusal)
      await expect(journal.beat('mine')).rejects.toMatchObject(refusal)
    })
  })
}
