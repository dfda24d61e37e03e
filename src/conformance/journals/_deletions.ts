import { describe, expect, test } from 'vitest'
import type { ToolCallRecord } from '../../extension.ts'
import { held, listedBy, fixtureRecord, settledOf, waitingOf } from './_records.ts'
import { optionalMethod, type JournalSuite } from './_suite.ts'

/** Tests that a journal deletes what has settled, and nothing else. */
export function describeDeletions({ title, newJournal }: JournalSuite): void {
  describe(`${title}, if it has delete,`, () => {
    /** Settled records of one chain, each a millisecond after the one before. */
    function chainOf(count: number, name = ''): ToolCallRecord[] {
      return Array.from({ length: count }, (_, index) => {
        const journal = {
          caller: 'model',
          owner: 'mine',
          fence: 0,
          digest: `${name}digest ${index}`,
          previous: index === 0 ? '' : `${name}digest ${index - 1}`,
        } as const
        return settledOf(`${name}call ${index}`, { createdAt: index, completedAt: index, journal })
      })
    }

    test('deletes what has settled before a time, oldest first, and nothing that has not settled', async ({ skip }) => {
      const journal = await newJournal()
      const deleteSettled = optionalMethod(journal, 'delete', skip)
      await journal.claim(fixtureRecord('running', { createdAt: 1, updatedAt: 1 }), 'mine')
      await journal.claim(waitingOf('waiting', { createdAt: 1, updatedAt: 1 }), 'mine')
      for (const record of chainOf(6)) await journal.claim(record, 'mine')
      const idsOf = async (settledBefore: number, limit: number): Promise<string[]> =>
        (await deleteSettled({ settledBefore, limit })).map(({ invocationId }) => invocationId).toSorted()
      expect(await idsOf(5, 2)).toEqual(['call 0', 'call 1'])
      expect(await journal.read('call 1')).toBe(null)
      expect(await idsOf(5, 100)).toEqual(['call 2', 'call 3', 'call 4'])
      expect(await idsOf(5, 100)).toEqual([])
      expect(await idsOf(9, 0)).toEqual([])
      const left = (await listedBy(journal)).map(({ record }) => record.id)
      expect(left).toEqual(['call 5', 'waiting', 'running'])
    })

    test('tells what the records named in the store', async ({ skip }) => {
      const journal = await newJournal()
      const deleteSettled = optionalMethod(journal, 'delete', skip)
      const named = {
        caller: 'model',
        owner: 'mine',
        fence: 0,
        handle: 'h',
        stored: { handle: 's', sha256: '0' },
      } as const
      await journal.claim(settledOf('a', { session: 'odd \0', completedAt: 1, journal: named }), 'mine')
      await journal.claim(settledOf('b', { completedAt: 1 }), 'mine')
      const deleted = await deleteSettled({ settledBefore: 2, limit: 10 })
      expect(deleted.toSorted((a, b) => (a.invocationId < b.invocationId ? -1 : 1))).toEqual([
        { invocationId: 'a', session: 'odd \0', stored: 's', handle: 'h' },
        { invocationId: 'b', session: 'one' },
      ])
    })

    test('refuses later writes to what it deleted', async ({ skip }) => {
      const journal = await newJournal()
      const deleteSettled = optionalMethod(journal, 'delete', skip)
      const fence = await held(journal.claim(settledOf('a', { completedAt: 1 }), 'mine'))
      await deleteSettled({ settledBefore: 2, limit: 10 })
      expect(await journal.write(settledOf('a'), fence)).toBe(false)
      expect(await journal.takeOver('a', fence, 'yours')).toBe(null)
    })

    test('lists what is behind a record that it has deleted', async ({ skip }) => {
      const journal = await newJournal()
      const deleteSettled = optionalMethod(journal, 'delete', skip)
      await journal.claim(fixtureRecord('old', { createdAt: 1 }), 'mine')
      await journal.claim(settledOf('a', { createdAt: 5, completedAt: 6 }), 'mine')
      const [last] = await listedBy(journal, { limit: 1 })
      await deleteSettled({ settledBefore: 9, limit: 1 })
      const next = (await listedBy(journal, { before: last?.record, limit: 1 })).map(({ record }) => record.id)
      expect(next, 'the page after the record that was deleted').toEqual(['old'])
    })

    test('lists each record at most once to a caller that reads pages meanwhile, and loses none that stays', async ({
      skip,
    }) => {
      const journal = await newJournal()
      const deleteSettled = optionalMethod(journal, 'delete', skip)
      await Promise.all(chainOf(350).map((record) => journal.claim(record, 'mine')))
      const ids: string[] = []
      for await (const { record } of journal.list({ state: 'settled' })) {
        if (ids.length === 50) await deleteSettled({ settledBefore: 150, limit: 1_000 })
        ids.push(record.id)
      }
      expect(new Set(ids).size).toBe(ids.length)
      const stays = Array.from({ length: 200 }, (_, index) => `call ${349 - index}`)
      expect(ids.slice(0, 200)).toEqual(stays)
    })

    test('keeps the digest at which it cuts a chain, if it is durable, however the deletions are spread', async ({
      skip,
    }) => {
      const journal = await newJournal()
      const deleteSettled = optionalMethod(journal, 'delete', skip)
      if (!journal.isDurable) skip('left out: what does not outlive the process has no chain')
      const cuts = optionalMethod(journal, 'cuts', skip)
      for (const record of chainOf(10)) await journal.claim(record, 'mine')
      expect(await cuts()).toEqual([])
      for (const [settledBefore, limit, last] of [
        [8, 3, 2],
        [8, 1, 3],
        [8, 100, 7],
        [99, 100, 9],
      ] as const) {
        await deleteSettled({ settledBefore, limit })
        expect(await cuts()).toEqual([`digest ${last}`])
        const [first] = (await listedBy(journal)).toReversed()
        if (first !== undefined) expect(await cuts()).toContain(first.record.journal?.previous)
      }
      for (const record of chainOf(4, 'other ')) await journal.claim(record, 'yours')
      await deleteSettled({ settledBefore: 2, limit: 100 })
      const each = [...(await cuts())].toSorted()
      expect(each, 'the cuts of two chains, one for each executor').toEqual(['digest 9', 'other digest 1'])
    })
  })
}
