import { describe, expect, test, vi } from 'vitest'
import type { ToolCallRecord } from '../../extension.ts'
import type { Journal, RecordQuery } from '../../records/index.ts'
import {
  held,
  listedBy,
  oddIds,
  oddTexts,
  fixtureRecord,
  settledOf,
  unfinishedOf,
  waitingOf,
  type Promising,
} from './_records.ts'
import type { JournalSuite } from './_suite.ts'

/** Tests what a journal lists, and in which order. */
export function describeLists({ title, newJournal }: JournalSuite): void {
  describe(`${title} lists`, () => {
    test('what is not settled, and nothing else', async () => {
      const journal = await newJournal()
      for (const state of ['PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING'] as const) {
        await journal.claim(fixtureRecord(state, { state }), 'mine')
      }
      for (const state of ['COMPLETED', 'FAILED', 'DENIED', 'SEALED'] as const) {
        await journal.claim(fixtureRecord(state, { state }), 'mine')
        const fence = await held(journal.claim(fixtureRecord(`later ${state}`), 'mine'))
        await journal.write(fixtureRecord(`later ${state}`, { state }), fence)
      }
      const listed = await unfinishedOf(journal)
      expect(listed.map(({ record }) => record.id).toSorted()).toEqual([
        'APPROVAL_REQUIRED',
        'APPROVED',
        'EXECUTING',
        'PENDING',
      ])
      for (const { record, fence } of listed) expect(await journal.read(record.id)).toEqual({ record, fence })
    })

    /** Claims records for an owner of each, and settles none. */
    async function claimAll(journal: Promising, records: readonly ToolCallRecord[]): Promise<void> {
      await Promise.all(records.map((record) => journal.claim(record, `owner of ${record.id}`)))
    }

    async function idsOf(journal: Journal, query: RecordQuery): Promise<string[]> {
      return (await listedBy(journal, query)).map(({ record }) => record.id)
    }

    test('records newest first, by when the call was received, then by id', async () => {
      const journal = await newJournal()
      await claimAll(journal, [
        fixtureRecord('b', { createdAt: 2_000 }),
        settledOf('d', { createdAt: 1_000 }),
        waitingOf('a', { createdAt: 2_000 }),
        fixtureRecord('c', { createdAt: 3_000 }),
      ])
      expect(await idsOf(journal, {})).toEqual(['c', 'b', 'a', 'd'])
      expect(await idsOf(journal, { limit: 2 })).toEqual(['c', 'b'])
      expect(await idsOf(journal, { limit: 0 })).toEqual([])
      expect(await idsOf(journal, { before: { createdAt: 2_000, id: 'b' } })).toEqual(['a', 'd'])
      expect(await idsOf(journal, { before: { createdAt: 2_000, id: 'b' }, limit: 1 })).toEqual(['a'])
      expect(await idsOf(journal, { before: { createdAt: 1_000, id: 'd' } })).toEqual([])
    })

    test('pages of a few in the order of all, whatever the order in which records came, changed and went', async () => {
      const journal = await newJournal()
      const records = Array.from({ length: 300 }, (_, index) => {
        const id = `call ${(index * 7) % 300}`
        const options = { createdAt: 1_000 + ((index * 13) % 40), session: index % 3 === 0 ? 'two' : 'one' }
        return [waitingOf, fixtureRecord, settledOf][index % 5]?.(id, options) ?? fixtureRecord(id, options)
      })
      await claimAll(journal, records)
      for (const { id, createdAt, session } of records.filter((_, index) => index % 10 === 1)) {
        const { fence } = (await journal.read(id))!
        await journal.write(waitingOf(id, { createdAt, session }), fence)
      }
      await journal.delete?.({ settledBefore: 9_000, limit: 20 })
      for (const narrow of [
        {},
        { session: 'two' },
        { state: 'waiting' },
        { reason: 'approval', session: 'one' },
      ] as const) {
        const all = (await listedBy(journal, narrow)).map(({ record }) => record)
        expect(all.length).toBeGreaterThan(10)
        expect(all.map(({ createdAt }) => createdAt)).toEqual(
          all.map(({ createdAt }) => createdAt).toSorted((one, other) => other - one),
        )
        const paged: string[] = []
        for (let before: RecordQuery['before']; ;) {
          const page = (await listedBy(journal, { ...narrow, before, limit: 7 })).map(({ record }) => record)
          paged.push(...page.map(({ id }) => id))
          expect(paged).toEqual(all.slice(0, paged.length).map(({ id }) => id)) // one that ignores `before` has no last page
          before = page.at(-1)
          if (page.length < 7) break
        }
        expect(paged).toEqual(all.map(({ id }) => id))
      }
    })

    test('the records of each standing, session, reason and owner', async () => {
      const journal = await newJournal()
      await claimAll(journal, [
        fixtureRecord('running', { createdAt: 5 }),
        waitingOf('asking', { createdAt: 4 }),
        waitingOf('client', { createdAt: 3, state: 'EXECUTING', session: 'two' }, { reason: 'client' }),
        settledOf('settled', { createdAt: 2 }),
      ])
      expect(await idsOf(journal, { state: 'running' })).toEqual(['running'])
      expect(await idsOf(journal, { state: 'waiting' })).toEqual(['asking', 'client'])
      expect(await idsOf(journal, { state: 'settled' })).toEqual(['settled'])
      expect(await idsOf(journal, { reason: 'approval' })).toEqual(['asking'])
      expect(await idsOf(journal, { reason: 'client' })).toEqual(['client'])
      expect(await idsOf(journal, { session: 'one' })).toEqual(['running', 'asking', 'settled'])
      expect(await idsOf(journal, { session: 'one', state: 'waiting' })).toEqual(['asking'])
      expect(await idsOf(journal, { session: 'two', reason: 'approval' })).toEqual([])
      expect(await idsOf(journal, { session: 'three' })).toEqual([])
      expect(await idsOf(journal, { owner: 'owner of client' })).toEqual(['client'])
      expect(await idsOf(journal, { owner: 'owner of client', state: 'running' })).toEqual([])
    })

    test('what waited is no longer among what waits once it goes on, or has settled', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(waitingOf('a'), 'mine'))
      await journal.write(fixtureRecord('a'), fence)
      expect(await idsOf(journal, { state: 'waiting' })).toEqual([])
      expect(await idsOf(journal, { state: 'running' })).toEqual(['a'])
      await journal.write(waitingOf('a'), fence)
      expect(await idsOf(journal, { state: 'waiting' })).toEqual(['a'])
      await journal.write(settledOf('a'), fence)
      expect(await idsOf(journal, { state: 'waiting' })).toEqual([])
      expect(await idsOf(journal, { state: 'settled' })).toEqual(['a'])
    })

    test('the records of a session with an odd name, and no other', async () => {
      const journal = await newJournal()
      const sessions = [...oddTexts.map(([, text]) => text), ...oddIds]
      await claimAll(
        journal,
        sessions.map((session, index) => fixtureRecord(`call ${index}`, { session })),
      )
      for (const [index, session] of sessions.entries()) {
        expect(await idsOf(journal, { session })).toEqual([`call ${index}`])
      }
    })

    test('what waits and has expired', async () => {
      const journal = await newJournal()
      await claimAll(journal, [
        waitingOf('early', {}, { expiresAt: 4_999 }),
        waitingOf('late', {}, { expiresAt: 5_000 }),
        fixtureRecord('running'),
        settledOf('settled', { completedAt: 1 }),
      ])
      expect(await idsOf(journal, { expiresBefore: 5_000 })).toEqual(['early'])
      expect(await idsOf(journal, { expiresBefore: 5_000, state: 'running' })).toEqual([])
    })

    test('what has settled before a time', async () => {
      const journal = await newJournal()
      await claimAll(journal, [
        settledOf('early', { completedAt: 4_999 }),
        settledOf('late', { completedAt: 5_000 }),
        fixtureRecord('running', { updatedAt: 1 }),
        waitingOf('waiting', { updatedAt: 1 }),
      ])
      expect(await idsOf(journal, { settledBefore: 5_000 })).toEqual(['early'])
      expect(await idsOf(journal, { settledBefore: 9_000 })).toEqual(['late', 'early'])
      expect(await idsOf(journal, { settledBefore: 9_000, state: 'waiting' })).toEqual([])
    })

    test('and deletes, if it can, by times of today, to the millisecond', async () => {
      const journal = await newJournal()
      const now = 1_790_000_000_000
      await claimAll(journal, [
        waitingOf('waits shortly', { createdAt: now + 2, updatedAt: now + 7 }, { expiresAt: now + 700 }),
        settledOf('late', { createdAt: now + 1, updatedAt: now + 8, completedAt: now + 501 }),
        waitingOf('waits', { createdAt: now + 3, updatedAt: now + 6 }, { expiresAt: now + 701 }),
        settledOf('early', { createdAt: now, updatedAt: now + 9, completedAt: now + 500 }),
      ])
      expect(await idsOf(journal, {})).toEqual(['waits', 'waits shortly', 'late', 'early'])
      expect(await idsOf(journal, { before: { createdAt: now + 2, id: 'waits shortly' } })).toEqual(['late', 'early'])
      expect(await idsOf(journal, { settledBefore: now + 501 })).toEqual(['early'])
      expect(await idsOf(journal, { settledBefore: now + 500 })).toEqual([])
      expect(await idsOf(journal, { expiresBefore: now + 701 })).toEqual(['waits shortly'])
      await journal.delete?.({ settledBefore: now + 501, limit: 10 })
      const left = ['waits', 'waits shortly', 'late', ...(journal.delete ? [] : ['early'])]
      expect(await idsOf(journal, {})).toEqual(left)
      await journal.delete?.({ settledBefore: now + 9_000, limit: 10 })
      expect(await idsOf(journal, { state: 'waiting' }), 'what waits, though it has expired').toEqual(left.slice(0, 2))
    })

    test('what the owner has been silent about for long enough', async () => {
      const journal = await newJournal()
      await claimAll(journal, [fixtureRecord('silent'), fixtureRecord('beating'), waitingOf('waiting')])
      await new Promise((resolve) => setTimeout(resolve, 60))
      expect(await idsOf(journal, { silentFor: 50 })).toEqual(['waiting', 'silent', 'beating'])
      await vi.waitFor(async () => {
        await journal.beat('owner of beating')
        expect(await idsOf(journal, { silentFor: 50, state: 'running' })).toEqual(['silent'])
      })
      expect(await idsOf(journal, { silentFor: 3_600_000 })).toEqual([])
    })

    test('nothing where there is nothing', async () => {
      expect(await unfinishedOf(await newJournal())).toEqual([])
    })

    test('more than fit into one page, each once, while they are settled one by one', async () => {
      const journal = await newJournal()
      const ids = Array.from({ length: 350 }, (_, index) => `call ${index}`)
      await Promise.all(ids.map((id) => journal.claim(fixtureRecord(id), 'dead')))
      const listed: string[] = []
      for await (const { record, fence } of journal.list({ state: 'running' })) {
        listed.push(record.id)
        const mine = await held(journal.takeOver(record.id, fence, 'mine'))
        expect(await journal.write({ ...record, state: 'SEALED' }, mine)).toBe(true)
      }
      expect(listed.toSorted()).toEqual(ids.toSorted())
      expect(await unfinishedOf(journal)).toEqual([])
    })

    test('as much as the caller wants to see, and leaves nothing open', async () => {
      const journal = await newJournal()
      await Promise.all(
        Array.from({ length: 250 }, (_, index) => journal.claim(fixtureRecord(`call ${index}`), 'mine')),
      )
      for (let round = 0; round < 30; round++) {
        for await (const { record } of journal.list({ state: 'running' })) {
          expect(record.state).toBe('EXECUTING')
          break
        }
      }
      expect(await journal.claim(fixtureRecord('next'), 'mine')).not.toBe(null)
    })

    test('for how long an owner gave no sign of life, and a beat is one', async () => {
      const journal = await newJournal()
      await journal.claim(fixtureRecord('silent'), 'silent')
      await journal.claim(fixtureRecord('beating'), 'beating')
      await new Promise((resolve) => setTimeout(resolve, 60))
      const before = performance.now()
      await journal.beat('beating')
      await journal.beat('owner of nothing')
      const idle = new Map((await unfinishedOf(journal)).map((entry) => [entry.record.id, entry.idle]))
      const elapsed = performance.now() - before
      expect(idle.get('silent')).toBeGreaterThanOrEqual(55)
      expect(idle.get('beating')).toBeGreaterThanOrEqual(0)
      expect(idle.get('beating')).toBeLessThanOrEqual(elapsed + 5)
      await new Promise((resolve) => setTimeout(resolve, 60))
      const [later] = (await unfinishedOf(journal)).filter(({ record }) => record.id === 'beating')
      expect(later?.idle).toBeGreaterThanOrEqual(55)
    })

    test('a record that was just taken over or written as one whose owner is alive', async () => {
      const journal = await newJournal()
      const deadFence = await held(journal.claim(fixtureRecord('taken'), 'dead'))
      const aliveFence = await held(journal.claim(fixtureRecord('written'), 'alive'))
      await new Promise((resolve) => setTimeout(resolve, 60))
      const before = performance.now()
      await journal.takeOver('taken', deadFence, 'alive')
      await journal.write(fixtureRecord('written'), aliveFence)
      const listed = await unfinishedOf(journal)
      const elapsed = performance.now() - before
      expect(listed.map(({ idle }) => idle <= elapsed + 5)).toEqual([true, true])
    })
  })
}
