import { describe, expect, test } from 'vitest'
import type { ToolCallRecord } from '../../extension.ts'
import type { FoundRecord, TakeQuery } from '../../records/index.ts'
import { held, fixtureRecord, settledOf, waitingOf, type Promising } from './_records.ts'
import { optionalMethod, type JournalSuite } from './_suite.ts'

interface QueuedFixture {
  /** When it was made: its place in the line. */
  readonly at: number
  readonly isAlone?: boolean
  readonly session?: string
  readonly queue?: string
  readonly expiresAt?: number
}

/** What a call waits with for a worker, or that one has. */
function fixtureWait({ isAlone = false, queue = 'default', expiresAt = 8e12 }: QueuedFixture, attempts = 0): object {
  const work = { queue, attempts, ...(isAlone && { isAlone }) }
  return { reason: 'worker', digest: 'd', fingerprint: 'f', expiresAt, text: '{}', work }
}

function waitingFixture(id: string, fixture: QueuedFixture): ToolCallRecord {
  const { at, session = 'one' } = fixture
  return waitingOf(id, { state: 'PENDING', createdAt: at, session }, fixtureWait(fixture))
}

function runningFixture(id: string, fixture: QueuedFixture): ToolCallRecord {
  const journal = {
    caller: 'model',
    owner: 'worker',
    fence: 1,
    work: fixtureWait(fixture, 1),
  } as ToolCallRecord['journal']
  return fixtureRecord(id, { createdAt: fixture.at, session: fixture.session ?? 'one', ...(journal && { journal }) })
}

const takeAll: TakeQuery = { queue: 'default', limit: 10, except: [] }
const idsOf = (found: readonly FoundRecord[]): string[] => found.map(({ record }) => record.id).toSorted()

/** A journal with calls that wait. */
interface QueueGround {
  readonly journal: Promising
  readonly take: (wanted?: TakeQuery | string, owner?: string) => Promise<string[]>
  /** Writes that a taken call runs. */
  readonly begin: (id: string) => Promise<void>
  readonly settle: (id: string) => Promise<void>
  /** Lets a taken call wait again. */
  readonly putBack: (id: string) => Promise<void>
}

/** Tests in which order journals give calls to workers, and that some run alone. */
export function describeSessionOrder({ title, isShared, newStorage, newJournal }: JournalSuite): void {
  async function lineOf(
    calls: Readonly<Record<string, QueuedFixture>>,
    skip: (reason: string) => never,
  ): Promise<QueueGround> {
    const journal = await newJournal()
    const take = optionalMethod(journal, 'take', skip)
    for (const [id, fixture] of Object.entries(calls)) await journal.claim(waitingFixture(id, fixture), 'caller')
    const write = async (record: ToolCallRecord): Promise<void> => {
      const found = await journal.read(record.id)
      expect(found && (await journal.write(record, found.fence))).toBe(true)
    }
    return {
      journal,
      async take(wanted = takeAll, owner = 'worker') {
        return idsOf(await take(typeof wanted === 'string' ? { invocationId: wanted, limit: 1 } : wanted, owner))
      },
      begin: (id) => write(runningFixture(id, calls[id] ?? { at: 0 })),
      settle: (id) => write(settledOf(id, { session: calls[id]?.session ?? 'one' })),
      putBack: (id) => write(waitingFixture(id, calls[id] ?? { at: 0 })),
    }
  }

  describe(`${title}, if it has take, for calls that run alone,`, () => {
    test('takes one of a session at a time, by its queue or its id, in the order in which they were made', async ({
      skip,
    }) => {
      const calls = { c: { at: 3, isAlone: true }, a: { at: 1, isAlone: true }, b: { at: 2, isAlone: true } }
      const { take, begin, settle } = await lineOf(calls, skip)
      expect([await take('b'), await take('c')]).toEqual([[], []])
      expect(await take()).toEqual(['a'])
      expect([await take(), await take('b')]).toEqual([[], []])
      await begin('a')
      expect([await take(), await take('b')]).toEqual([[], []])
      await settle('a')
      expect(await take('c')).toEqual([])
      expect(await take('b')).toEqual(['b'])
      await settle('b')
      expect(await take()).toEqual(['c'])
    })

    test('takes what may run of those that are asked for by their ids at the same time', async ({ skip }) => {
      const calls = {
        a: { at: 1, isAlone: true },
        b: { at: 2, isAlone: true, queue: 'gpu' },
        d: { at: 1, session: 'two' },
        e: { at: 2, session: 'two' },
        f: { at: 3, session: 'two', isAlone: true },
        g: { at: 1, session: 'three', isAlone: true },
        h: { at: 8, session: 'late', expiresAt: 1_000 },
      }
      const { take, settle } = await lineOf(calls, skip)
      const takeTogether = async (): Promise<string[]> =>
        (await Promise.all([...Object.keys(calls), 'never was'].map((id) => take(id)))).flat()
      const first = await takeTogether()
      // Of two queues either may be first.
      expect(first.filter((id) => id !== 'a' && id !== 'b')).toEqual(['d', 'e', 'g'])
      expect(first).toHaveLength(4)
      expect(await takeTogether()).toEqual([])
      for (const id of first) await settle(id)
      const second = await takeTogether()
      expect(second).toContain('f')
      expect([...first, ...second]).toEqual(expect.arrayContaining(['a', 'b', 'f']))
      expect(second).toHaveLength(2)
    })

    test('takes none beside another call of the session, and none of those behind it', async ({ skip }) => {
      const calls = { one: { at: 1 }, two: { at: 2 }, alone: { at: 3, isAlone: true }, last: { at: 4 } }
      const { take, begin, settle } = await lineOf(calls, skip)
      expect([await take('alone'), await take('last')]).toEqual([[], []])
      expect(await take()).toEqual(['one', 'two'])
      await begin('two')
      await settle('one')
      expect([await take(), await take('alone')]).toEqual([[], []])
      await settle('two')
      expect(await take()).toEqual(['alone'])
      expect([await take(), await take('last')]).toEqual([[], []])
      await settle('alone')
      expect(await take('last')).toEqual(['last'])
    })

    test('keeps no call of another session waiting', async ({ skip }) => {
      const long = 'long '.repeat(100)
      const calls = {
        a: { at: 1, isAlone: true },
        b: { at: 2, isAlone: true, session: 'two' },
        c: { at: 3, session: long },
        d: { at: 4, isAlone: true, session: long },
      }
      const { take, settle } = await lineOf(calls, skip)
      expect(await take()).toEqual(['a', 'b', 'c'])
      await settle('c')
      expect(await take()).toEqual(['d'])
    })

    test('takes none beside a call of another queue, whose order is its own', async ({ skip }) => {
      const calls = { a: { at: 1, isAlone: true, queue: 'gpu' }, b: { at: 2, isAlone: true }, c: { at: 3 } }
      const { take, settle } = await lineOf(calls, skip)
      expect(await take()).toEqual(['b'])
      expect(await take('a')).toEqual([])
      await settle('b')
      expect(await take({ ...takeAll, queue: 'gpu' })).toEqual(['a'])
      expect(await take()).toEqual([])
      await settle('a')
      expect(await take()).toEqual(['c'])
    })

    test('lets those that are left out, or have expired, keep no other waiting', async ({ skip }) => {
      const calls = {
        late: { at: 1, isAlone: true, expiresAt: 1_000 },
        foreign: { at: 2, isAlone: true },
        next: { at: 3, isAlone: true },
      }
      const { take } = await lineOf(calls, skip)
      expect(await take({ ...takeAll, except: ['foreign'] })).toEqual(['next'])
      expect(await take()).toEqual([])
    })

    test('goes on once the call waits again, is closed after its owner died, or is taken back', async ({ skip }) => {
      const calls = { a: { at: 1, isAlone: true }, b: { at: 2, isAlone: true }, c: { at: 3 } }
      const { journal, take, begin, putBack, settle } = await lineOf(calls, skip)
      expect(await take()).toEqual(['a'])
      await begin('a')
      await putBack('a')
      expect(await take()).toEqual(['a'])
      await begin('a')
      const dead = await journal.read('a')
      const fence = await held(journal.takeOver('a', dead?.fence ?? { owner: '', number: 0 }, 'sweep'))
      expect(await take()).toEqual([])
      expect(await journal.write(settledOf('a'), fence)).toBe(true)
      const waiting = await journal.read('b')
      const own = await held(journal.takeOver('b', waiting?.fence ?? { owner: '', number: 0 }, 'caller'))
      expect(await take('c')).toEqual([])
      expect(await journal.write(settledOf('b'), own)).toBe(true)
      expect(await take('c')).toEqual(['c'])
      await settle('c')
    })

    test('says which of them are free, if it has free, and tells no worker of the others, if it has unsent', async ({
      skip,
    }) => {
      const calls = { a: { at: 1, isAlone: true }, b: { at: 2, isAlone: true }, c: { at: 3, session: 'two' } }
      const { journal, take, settle } = await lineOf(calls, skip)
      const free = async (): Promise<string[]> =>
        [...(await optionalMethod(journal, 'free', skip)(['a', 'b', 'c', 'never was']))].toSorted()
      const unsent = async (): Promise<string[]> => {
        await new Promise((resolve) => setTimeout(resolve, 3))
        const found = await optionalMethod(journal, 'unsent', skip)({ queues: ['default'], silentFor: 1, limit: 10 })
        return found.map(({ invocationId }) => invocationId).toSorted()
      }
      expect([await free(), await unsent()]).toEqual([
        ['a', 'c'],
        ['a', 'c'],
      ])
      expect(await take('a')).toEqual(['a'])
      expect([await free(), await unsent()]).toEqual([['c'], ['c']])
      await settle('a')
      expect([await free(), await unsent()]).toEqual([
        ['b', 'c'],
        ['b', 'c'],
      ])
    })

    test('is certain of it while workers race', { timeout: 120_000 }, async ({ skip }) => {
      const storage = await newStorage()
      const journals = Array.from({ length: isShared ? 4 : 1 }, () => storage.open().journal)
      const [journal] = journals as [Promising]
      optionalMethod(journal, 'take', skip)
      const isAlone = (index: number): boolean => index % 3 !== 0
      const sessionOf = (index: number): string => `session ${index % 2}`
      const queueOf = (index: number): string => `queue ${(index >> 1) % 4}`
      const fixtureAt = (index: number): QueuedFixture => ({
        at: index,
        isAlone: isAlone(index),
        session: sessionOf(index),
        queue: queueOf(index),
      })
      const count = 160
      for (let index = 0; index < count; index++)
        await journal.claim(waitingFixture(`${index}`, fixtureAt(index)), 'caller')
      const running = new Set<number>()
      const overlaps: string[] = []
      let settled = 0
      async function work(own: Promising, owner: string, byId: boolean): Promise<void> {
        for (let next = 0; settled < count; next++) {
          const wanted: TakeQuery[] = byId
            ? [0, 1, 2, 3].map((place) => ({ invocationId: `${(next + 7 * place) % count}`, limit: 1 }))
            : [{ ...takeAll, queue: queueOf(2 * next), limit: 2 }]
          const takenCalls = (await Promise.all(wanted.map(async (each) => own.take?.(each, owner)))).flatMap(
            (found) => found ?? [],
          )
          for (const { record, fence } of takenCalls) {
            const index = Number(record.id)
            for (const other of running) {
              if (sessionOf(other) === sessionOf(index) && (isAlone(other) || isAlone(index)))
                overlaps.push(`${other} and ${index}`)
            }
            running.add(index)
            expect(await own.write(runningFixture(record.id, fixtureAt(index)), fence)).toBe(true)
          }
          for (const { record, fence } of takenCalls) {
            running.delete(Number(record.id))
            expect(await own.write(settledOf(record.id, { session: record.session }), fence)).toBe(true)
            settled++
          }
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      }
      await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          work(journals[index % journals.length] ?? journal, `worker ${index}`, index % 2 === 0),
        ),
      )
      expect([overlaps, settled]).toEqual([[], count])
    })
  })
}
