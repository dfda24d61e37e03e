import { describe, expect, test, vi } from 'vitest'
import type { ToolCallRecord } from '../../extension.ts'
import type { Journal } from '../../records/index.ts'
import { held, listedBy, oddTexts, fixtureRecord, settledOf, waitingOf } from './_records.ts'
import { optionalMethod, type JournalSuite } from './_suite.ts'

const farFuture = 8e12

/** A record that waits for a worker. */
export function queuedOf(id: string, queue = 'default', expiresAt: number = farFuture): ToolCallRecord {
  return waitingOf(id, { state: 'PENDING' }, { reason: 'worker', expiresAt, work: { queue, attempts: 0 } })
}

/** Tests the optional methods that workers need. */
export function describeQueues({ title, newJournal }: JournalSuite): void {
  describe(`${title}, if it has take,`, () => {
    test('gives a call that waits for a worker to one of twenty', async ({ skip }) => {
      const journal = await newJournal()
      const take = optionalMethod(journal, 'take', skip)
      await journal.claim(queuedOf('a'), 'caller')
      const workers = Array.from({ length: 20 }, (_, index) => `worker ${index}`)
      const takenCalls = await Promise.all(workers.map((owner) => take({ invocationId: 'a', limit: 1 }, owner)))
      const [found, ...others] = takenCalls.flat()
      expect(others).toEqual([])
      expect(found?.record).toEqual(queuedOf('a'))
      expect(workers).toContain(found?.fence.owner)
      expect(await journal.read('a')).toEqual(found)
    })

    test('takes nothing that waits for a person or a client, has expired, runs, has settled or never was', async ({
      skip,
    }) => {
      const journal = await newJournal()
      const take = optionalMethod(journal, 'take', skip)
      await journal.claim(waitingOf('asking', {}, { expiresAt: farFuture }), 'caller')
      await journal.claim(queuedOf('late', 'default', 1_000), 'caller')
      await journal.claim(fixtureRecord('running'), 'caller')
      await journal.claim(settledOf('settled'), 'caller')
      for (const invocationId of ['asking', 'late', 'running', 'settled', 'never was']) {
        expect(await take({ invocationId, limit: 1 }, 'worker')).toEqual([])
      }
      expect(await take({ queue: 'default', limit: 10, except: [] }, 'worker')).toEqual([])
    })

    test('lets a taken call count as running, and ends the right of its former owner', async ({ skip }) => {
      const journal = await newJournal()
      const take = optionalMethod(journal, 'take', skip)
      const before = await held(journal.claim(queuedOf('a'), 'caller'))
      const [takenCall] = await take({ invocationId: 'a', limit: 1 }, 'worker')
      const idsOf = async (query: Parameters<Journal['list']>[0]): Promise<string[]> =>
        (await listedBy(journal, query)).map(({ record }) => record.id)
      expect(await idsOf({ state: 'running', owner: 'worker' })).toEqual(['a'])
      expect(await idsOf({ state: 'waiting' })).toEqual([])
      expect(await idsOf({ reason: 'worker' })).toEqual([])
      expect(await idsOf({ expiresBefore: Infinity })).toEqual([])
      expect(await journal.write(queuedOf('a'), before)).toBe(false)
      expect(await journal.takeOver('a', before, 'caller')).toBe(null)
      expect(takenCall && (await journal.write(fixtureRecord('a'), takenCall.fence))).toBe(true)
    })

    test('takes a call again once it waits again, with a greater fence', async ({ skip }) => {
      const journal = await newJournal()
      const take = optionalMethod(journal, 'take', skip)
      await journal.claim(queuedOf('a'), 'caller')
      const numbers: number[] = []
      for (const worker of ['one', 'two', 'three']) {
        const [takenCall] = await take({ queue: 'default', limit: 5, except: [] }, worker)
        if (takenCall === undefined) throw new Error('it was not taken')
        numbers.push(takenCall.fence.number)
        expect(await journal.write(queuedOf('a'), takenCall.fence)).toBe(true)
      }
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
    })

    test('takes the first calls of one queue, leaves some out, and gives each to one worker', async ({ skip }) => {
      const journal = await newJournal()
      const take = optionalMethod(journal, 'take', skip)
      for (let index = 0; index < 30; index++) await journal.claim(queuedOf(`call ${index}`), 'caller')
      await journal.claim(queuedOf('other', 'gpu'), 'caller')
      const idsOf = (found: Awaited<ReturnType<typeof take>>): string[] => found.map(({ record }) => record.id)
      const first = idsOf(await take({ queue: 'default', limit: 2, except: ['call 0'] }, 'worker'))
      expect(first.toSorted()).toEqual(['call 1', 'call 2'])
      const workers = Array.from({ length: 5 }, (_, index) => `worker ${index}`)
      const takenCalls = await Promise.all(
        workers.map((owner) => take({ queue: 'default', limit: 4, except: [] }, owner)),
      )
      let rest = idsOf(takenCalls.flat())
      for (let more: string[]; rest.length < 28; rest = [...rest, ...more]) {
        more = idsOf(await take({ queue: 'default', limit: 10, except: [] }, 'last'))
        expect(more.length).toBeGreaterThan(0)
      }
      expect(new Set(rest).size).toBe(28)
      expect(idsOf(await take({ queue: 'gpu', limit: 4, except: [] }, 'worker'))).toEqual(['other'])
    })

    test('leaves out the calls of tools that a worker lacks, and lets no call wait for them', async ({ skip }) => {
      const journal = await newJournal()
      const take = optionalMethod(journal, 'take', skip)
      const ofTool = (id: string, fingerprint: string): ToolCallRecord => {
        const work = { queue: 'default', attempts: 0, isAlone: true as const }
        return waitingOf(id, { state: 'PENDING' }, { reason: 'worker', expiresAt: farFuture, fingerprint, work })
      }
      for (let index = 0; index < 20; index++) await journal.claim(ofTool(`other ${index}`, 'another'), 'caller')
      await journal.claim(ofTool('own', 'known'), 'caller')
      const wanted = { queue: 'default', limit: 10, except: [], lacking: ['another', 'a third'] }
      const ids = (await take(wanted, 'worker')).map(({ record }) => record.id)
      if (ids.some((id) => id !== 'own')) skip('left out: it gives calls of such tools all the same')
      expect(ids).toEqual(['own'])
      expect(await take(wanted, 'worker')).toEqual([])
    })

    test('knows queues by odd names', async ({ skip }) => {
      const journal = await newJournal()
      const take = optionalMethod(journal, 'take', skip)
      for (const [index, [, queue]] of oddTexts.entries()) await journal.claim(queuedOf(`${index}`, queue), 'caller')
      for (const [index, [, queue]] of oddTexts.entries()) {
        const [takenCall, ...others] = await take({ queue, limit: 10, except: [] }, 'worker')
        expect([takenCall?.record.id, others]).toEqual([`${index}`, []])
      }
    })
  })

  describe(`${title}, if it has unsent,`, () => {
    test('gives each silent call of some queues to one worker, and again after a while', async ({ skip }) => {
      const journal = await newJournal()
      const unsent = optionalMethod(journal, 'unsent', skip)
      await journal.claim(queuedOf('a'), 'caller')
      await journal.claim(queuedOf('b', 'gpu'), 'caller')
      await journal.claim(queuedOf('c', 'other'), 'caller')
      await journal.claim(waitingOf('asking', {}, { expiresAt: farFuture }), 'caller')
      const query = { queues: ['default', 'gpu'], limit: 10 }
      expect(await unsent({ ...query, silentFor: 60_000 })).toEqual([])
      const silentFor = 500
      await new Promise((resolve) => setTimeout(resolve, silentFor + 20))
      const began = performance.now()
      let found = (await Promise.all([1, 2, 3].map(() => unsent({ ...query, silentFor })))).flat()
      // On a busy machine the answers may be so far apart that the calls were silent again.
      if (performance.now() - began >= silentFor) {
        found = ['a', 'b'].flatMap((id) => found.find(({ invocationId }) => invocationId === id) ?? [])
      }
      expect(found).toHaveLength(2)
      const [first, second] = found.toSorted((one, other) => (one.invocationId < other.invocationId ? -1 : 1))
      expect([first, second]).toEqual([
        { invocationId: 'a', queue: 'default' },
        { invocationId: 'b', queue: 'gpu' },
      ])
      await vi.waitFor(async () => expect(await unsent({ ...query, silentFor: 1 })).toHaveLength(2), 20_000)
      await vi.waitFor(async () => expect(await unsent({ ...query, limit: 1, silentFor: 1 })).toHaveLength(1), 20_000)
      expect((await journal.read('a'))?.fence).toEqual({ owner: 'caller', number: 0 })
    })
  })

  describe(`${title}, if it has depth,`, () => {
    test('counts the calls that wait in a queue, up to a number', async ({ skip }) => {
      const journal = await newJournal()
      const depth = optionalMethod(journal, 'depth', skip)
      for (let index = 0; index < 7; index++) await journal.claim(queuedOf(`call ${index}`), 'caller')
      const fence = await held(journal.claim(queuedOf('settles'), 'caller'))
      expect([await depth('default', 100), await depth('default', 3), await depth('none', 100)]).toEqual([8, 3, 0])
      await journal.write(settledOf('settles'), fence)
      if (journal.take !== undefined) await journal.take({ queue: 'default', limit: 2, except: [] }, 'worker')
      expect(await depth('default', Infinity)).toBe(journal.take === undefined ? 7 : 5)
    })
  })
}
