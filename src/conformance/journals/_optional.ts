import { describe, expect, test, vi } from 'vitest'
import type { Journal } from '../../records/index.ts'
import { held, oddIds, oddTexts, fixtureRecord, settledOf, waitingOf } from './_records.ts'
import { queuedOf } from './_queues.ts'
import { optionalMethod, type JournalSuite } from './_suite.ts'

/** Tests the methods that a journal may leave out. */
export function describeOptional({ title, newJournal }: JournalSuite): void {
  describe(`${title}, if it has settledOf,`, () => {
    test('gives those that have settled of those that are asked for', async ({ skip }) => {
      const journal = await newJournal()
      const settledRecords = optionalMethod(journal, 'settledOf', skip)
      await journal.claim(fixtureRecord('running'), 'mine')
      await journal.claim(waitingOf('waiting'), 'mine')
      for (const id of oddIds) await journal.claim(settledOf(id), 'mine')
      const found = await settledRecords(['running', 'waiting', 'never was', 'a\ud800', ...oddIds.slice(3)])
      expect(found.map(({ record }) => record.id).toSorted()).toEqual(oddIds.slice(3).toSorted())
      for (const { record, fence } of found) expect(await journal.read(record.id)).toEqual({ record, fence })
      expect(await settledRecords([])).toEqual([])
    })

    test('gives a thousand at once', async ({ skip }) => {
      const journal = await newJournal()
      const settledRecords = optionalMethod(journal, 'settledOf', skip)
      const ids = Array.from({ length: 1_000 }, (_, index) => `call ${index}`)
      await Promise.all(ids.map((id) => journal.claim(settledOf(id), 'mine')))
      expect(await settledRecords(ids)).toHaveLength(1_000)
    })
  })

  describe(`${title}, if it has watch,`, () => {
    const soon = { timeout: 20_000, interval: 20 }

    /** Writes until the watch tells of something: it may take a while to begin, and misses what is written before. */
    async function begun(journal: Journal, isHeard: () => boolean): Promise<void> {
      for (let index = 0; !isHeard() && index < 1_000; index++) {
        await journal.claim(settledOf(`beginning ${index}`), 'mine')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

    test('tells when a record begins to wait, goes on, and settles, and of no other', async ({ skip }) => {
      const journal = await newJournal()
      const hints: string[] = []
      await journal.claim(settledOf('before'), 'mine')
      const end = optionalMethod(journal, 'watch', skip)((id, session) => void hints.push(`${id} of ${session}`))
      await begun(journal, () => hints.length > 0)
      const fence = await held(journal.claim(fixtureRecord('a', { session: 's' }), 'mine'))
      for (const record of [waitingOf('a', { session: 's' }), fixtureRecord('a', { session: 's' })]) {
        hints.length = 0
        await journal.write(record, fence)
        await vi.waitFor(() => expect(hints).toContain('a of s'), soon)
      }
      hints.length = 0
      await journal.write(settledOf('a', { session: 's' }), fence)
      await vi.waitFor(() => expect(hints).toContain('a of s'), soon)
      await journal.claim(settledOf('b', { session: 't' }), 'mine')
      await vi.waitFor(() => expect(hints).toContain('b of t'), soon)
      const others = hints.filter((change) => !change.startsWith('beginning'))
      expect(new Set(others)).toEqual(new Set(['a of s', 'b of t']))
      end()
    })

    test('may tell what has become of a record, and that its cancellation was requested', async ({ skip }) => {
      const journal = await newJournal()
      const hints: string[] = []
      const watch = optionalMethod(journal, 'watch', skip)
      let knows = false
      const end = watch((id, session, change) => {
        knows ||= change !== undefined
        hints.push(`${id} of ${session}: ${change}`)
      })
      await begun(journal, () => hints.length > 0)
      if (!knows) skip('left out: its watch tells only that something has changed')
      const fence = await held(journal.claim(waitingOf('a'), 'mine'))
      await vi.waitFor(() => expect(hints).toContain('a of one: waiting'), soon)
      await journal.write(queuedOf('a'), fence)
      await vi.waitFor(() => expect(hints).toContain('a of one: queued'), soon)
      await journal.write(fixtureRecord('a'), fence)
      await vi.waitFor(() => expect(hints).toContain('a of one: running'), soon)
      if (journal.requestCancel !== undefined) {
        await journal.requestCancel('a')
        await vi.waitFor(() => expect(hints).toContain('a of one: cancelled'), soon)
      }
      await journal.write(settledOf('a'), fence)
      await vi.waitFor(() => expect(hints).toContain('a of one: settled'), soon)
      end()
    })

    test('tells each listener until it ends, also if another throws', async ({ skip }) => {
      const journal = await newJournal()
      const watch = optionalMethod(journal, 'watch', skip)
      const [first, second]: string[][] = [[], []]
      const endings = [
        watch(() => {
          throw new Error('broken')
        }),
        watch((id) => void first?.push(id)),
        watch((id) => void second?.push(id)),
      ]
      await begun(journal, () => first?.length !== 0 && second?.length !== 0)
      await journal.claim(settledOf('a'), 'mine')
      await vi.waitFor(() => expect([first?.includes('a'), second?.includes('a')]).toEqual([true, true]), soon)
      endings[1]?.()
      await journal.claim(settledOf('b'), 'mine')
      await vi.waitFor(() => expect(second).toContain('b'), soon)
      expect(first).not.toContain('b')
      for (const end of endings) end()
    })

    test('tells also once all records that it told of are deleted', async ({ skip }) => {
      const journal = await newJournal()
      const hints = new Set<string>()
      const end = optionalMethod(journal, 'watch', skip)((id) => void hints.add(id))
      const remove = optionalMethod(journal, 'delete', skip)
      await begun(journal, () => hints.size > 0)
      for (const id of ['a', 'b', 'c']) await journal.claim(settledOf(id), 'mine')
      await vi.waitFor(() => expect(['a', 'b', 'c'].every((id) => hints.has(id))).toBe(true), soon)
      await remove({ settledBefore: Infinity, limit: 2_000 })
      await journal.claim(settledOf('d'), 'mine')
      await vi.waitFor(() => expect(hints).toContain('d'), soon)
      end()
    })

    test('tells of sessions with odd names', async ({ skip }) => {
      const journal = await newJournal()
      const hints = new Map<string, string>()
      const end = optionalMethod(journal, 'watch', skip)((id, session) => void hints.set(id, session))
      await begun(journal, () => hints.size > 0)
      const sessions = new Map(oddTexts.map(([, session], index) => [`call ${index}`, session]))
      for (const [id, session] of sessions) await journal.claim(settledOf(id, { session }), 'mine')
      await vi.waitFor(() => expect([...sessions.keys()].every((id) => hints.has(id))).toBe(true), soon)
      for (const [id, session] of sessions) expect(hints.get(id) === session).toBe(true)
      end()
    })
  })

  describe(`${title}, if it has requestCancel,`, () => {
    test('tells an owner with each beat what to cancel, until it has settled', async ({ skip }) => {
      const journal = await newJournal()
      const requestCancel = optionalMethod(journal, 'requestCancel', skip)
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      await journal.claim(fixtureRecord('b'), 'mine')
      await journal.claim(fixtureRecord('c'), 'yours')
      expect(await journal.beat('mine')).toEqual([])
      expect(await requestCancel('a')).toBe(true)
      expect(await requestCancel('a')).toBe(true)
      expect(await journal.beat('mine')).toEqual(['a'])
      expect(await journal.beat('mine')).toEqual(['a'])
      expect(await journal.beat('yours')).toEqual([])
      await journal.write(settledOf('a'), fence)
      expect(await journal.beat('mine')).toEqual([])
    })

    test('leaves the record and its fence as they were, and goes with the record to another owner', async ({
      skip,
    }) => {
      const journal = await newJournal()
      const requestCancel = optionalMethod(journal, 'requestCancel', skip)
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      await requestCancel('a')
      expect(await journal.read('a')).toEqual({ record: fixtureRecord('a'), fence })
      await held(journal.takeOver('a', fence, 'yours'))
      expect(await journal.beat('mine')).toEqual([])
      expect(await journal.beat('yours')).toEqual(['a'])
    })

    test('asks for nothing that has settled, or never was', async ({ skip }) => {
      const journal = await newJournal()
      const requestCancel = optionalMethod(journal, 'requestCancel', skip)
      await journal.claim(settledOf('a'), 'mine')
      expect(await requestCancel('a')).toBe(false)
      expect(await requestCancel('b')).toBe(false)
      expect(await journal.beat('mine')).toEqual([])
    })
  })

  describe(`${title}, if it has claimEffect,`, () => {
    test('notes the first invocation that does a thing, and tells every other of it', async ({ skip }) => {
      const journal = await newJournal()
      const claimEffect = optionalMethod(journal, 'claimEffect', skip)
      expect(await claimEffect('scope', 'key', 'a')).toBe('a')
      expect(await claimEffect('scope', 'key', 'b')).toBe('a')
      expect(await claimEffect('scope', 'key', 'a')).toBe('a')
      expect(await claimEffect('scope', 'other', 'b')).toBe('b')
      expect(await claimEffect('other', 'key', 'c')).toBe('c')
      const longest = 'f'.repeat(64)
      expect(await claimEffect(longest, longest, oddTexts[0]?.[1] ?? '')).toBe(oddTexts[0]?.[1] ?? '')
    })

    test('lets another take the place of the one that it knows, and no other', async ({ skip }) => {
      const journal = await newJournal()
      const claimEffect = optionalMethod(journal, 'claimEffect', skip)
      await claimEffect('scope', 'key', 'a')
      expect(await claimEffect('scope', 'key', 'c', 'b')).toBe('a')
      expect(await claimEffect('scope', 'key', 'b', 'a')).toBe('b')
      expect(await claimEffect('scope', 'key', 'c', 'a')).toBe('b')
      expect(await claimEffect('scope', 'new', 'c', 'a')).toBe('c')
    })

    test('lets one of many take it', async ({ skip }) => {
      const journal = await newJournal()
      const claimEffect = optionalMethod(journal, 'claimEffect', skip)
      const ids = Array.from({ length: 32 }, (_, index) => `call ${index}`)
      const first = await Promise.all(ids.map(async (id) => claimEffect('scope', 'key', id)))
      expect(new Set(first).size).toBe(1)
      const next = await Promise.all(ids.map(async (id) => claimEffect('scope', 'key', `next ${id}`, first[0])))
      expect(new Set(next).size).toBe(1)
      expect(next[0]).toMatch(/^next/)
    })

    test('forgets it with the record', async ({ skip }) => {
      const journal = await newJournal()
      const claimEffect = optionalMethod(journal, 'claimEffect', skip)
      const deleteSettled = optionalMethod(journal, 'delete', skip)
      for (const id of ['a', 'b']) {
        await journal.claim(id === 'a' ? settledOf(id) : fixtureRecord(id), 'mine')
        await claimEffect('scope', id, id)
      }
      await deleteSettled({ settledBefore: Infinity, limit: 10 })
      expect(await claimEffect('scope', 'a', 'c')).toBe('c')
      expect(await claimEffect('scope', 'b', 'c')).toBe('b')
    })
  })
}
