import type { Extension, ToolCallRecord } from 'toolwright'
import {
  isSettled,
  type Fence,
  type Found,
  type Journal,
  type Listed,
  type RecordQuery,
  records,
} from 'toolwright/records'
import { describe, expect, test, vi } from 'vitest'
import { flood, requireBoundedRecord } from './_extremes.ts'

/** One place where records lie, which any number of journals may be opened on; on memory, only one. */
export interface JournalStorage {
  open(): Extension & { readonly journal: Journal }
  /** Puts another text in the place of a record's, as a fault of a disk or a hand would; where it outlives the process. */
  damage?(id: string, text: string): unknown
}

/** A journal all of whose answers are promises. What it leaves out stays out. */
export interface Promising extends Journal {
  claim(...given: Parameters<Journal['claim']>): Promise<Fence | null>
  write(...given: Parameters<Journal['write']>): Promise<boolean>
  read(invocationId: string): Promise<Found | null>
  takeOver(...given: Parameters<Journal['takeOver']>): Promise<Fence | null>
  beat(owner: string): Promise<void | readonly string[]>
}

/** A journal whose answers can all be waited for, whether it has them at once or not. */
export function promising(journal: Journal): Promising {
  return {
    ...journal,
    claim: async (...given) => journal.claim(...given),
    write: async (...given) => journal.write(...given),
    read: async (invocationId) => journal.read(invocationId),
    takeOver: async (...given) => journal.takeOver(...given),
    beat: async (owner) => journal.beat(owner),
  }
}

/** An extension whose journal gives promises alone. */
export type Opened<Made extends { readonly journal: Journal }> = Omit<Made, 'journal'> & { readonly journal: Promising }

export function opened<Made extends { readonly journal: Journal }>(extension: Made): Opened<Made> {
  return { ...extension, journal: promising(extension.journal) }
}

/** A record as it is first written, or with some of its fields changed. */
export function recordOf(id: string, changes: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return {
    id,
    callId: 'c'.repeat(64),
    name: 'send',
    session: 'one',
    input: { to: 'Oslo' },
    state: 'EXECUTING',
    approval: { required: false },
    effect: 'unknown',
    createdAt: 1_000,
    updatedAt: 1_001,
    auditTrail: [{ state: 'EXECUTING', timestamp: 1_001 }],
    seq: 2,
    ...changes,
  }
}

export function settledOf(id: string, changes: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return recordOf(id, { state: 'COMPLETED', status: 'ok', effect: 'completed', ...changes })
}

/** A record that waits for an answer. */
export function waitingOf(
  id: string,
  changes: Partial<ToolCallRecord> = {},
  pause: Partial<NonNullable<NonNullable<ToolCallRecord['journal']>['awaits']>> = {},
): ToolCallRecord {
  const awaits = { reason: 'approval', digest: 'd', fingerprint: 'f', expiresAt: 9_000, text: '{}', ...pause } as const
  return recordOf(id, {
    state: 'APPROVAL_REQUIRED',
    journal: { caller: 'model', owner: 'mine', fence: 0, awaits },
    ...changes,
  })
}

/** What a query lists. */
export async function listOf(journal: Journal, query: RecordQuery = {}): Promise<Listed[]> {
  const listed: Listed[] = []
  for await (const entry of journal.list(query)) listed.push(entry)
  return listed
}

/** Everything that is not settled. */
export async function unfinishedOf(journal: Journal): Promise<Listed[]> {
  return [...(await listOf(journal, { state: 'waiting' })), ...(await listOf(journal, { state: 'running' }))]
}

/** A fence, where there has to be one. */
export async function held(fence: ReturnType<Journal['claim']>): Promise<Fence> {
  const given = await fence
  if (given === null) throw new Error('there was no fence')
  return given
}

const oddTexts = [
  ['a line separator', 'a\u2028b\u2029c'],
  ['emoji', 'a 👩‍👩‍👧 family and a 🇳🇴 flag'],
  ['control characters', '\0\u0001\b\t\n\v\f\r\u001b\u007f\u0085'],
  ['quotes and backslashes', `'"\`\\''""\\\\ $1 ?1 :id @id %s %_ ; -- /* */ $$`],
  ['right-to-left marks', '\u202eabc\u202c \u2066def\u2069'],
  ['a noncharacter and a byte order mark', '\ufeffa\uffff\ufdd0'],
  ['what looks like an escape', '\\u0000 \\ud800'],
  ['a lone surrogate', 'a\ud800b\udfffc'],
  ['nothing', ''],
  ['a megabyte', 'grüße '.repeat(180_000)],
] as const

const oddIds = [
  `'; DROP TABLE calls; --`,
  `x' OR '1'='1`,
  `"; DROP SCHEMA public CASCADE; --`,
  '$1',
  '?1',
  '%',
  '_',
  '\\',
  '*',
  'null',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '00',
  ' ',
  'x',
  'x ',
  'X',
  'e\u0301',
  '\u00e9',
  '\u2028',
  '\n',
  '👩‍👩‍👧',
  '\ufffd',
  'a'.repeat(1_000),
  `${'a'.repeat(999)}b`,
]

/**
 * What every `Journal` promises.
 *
 * @param makeStorage Gives a place without records.
 * @param isShared Whether several journals may be opened on one place, as processes do.
 */
export function journalConformance(
  title: string,
  makeStorage: () => JournalStorage | Promise<JournalStorage>,
  isShared: boolean,
): void {
  async function newStorage(): Promise<{
    open(): Pick<Extension, 'close'> & { readonly journal: Promising }
    damage(id: string, text: string): Promise<void>
  }> {
    const storage = await makeStorage()
    return {
      open: () => opened(storage.open()),
      async damage(id, text) {
        if (storage.damage === undefined) throw new Error('a storage that is shared has to say how it is damaged')
        await storage.damage(id, text)
      },
    }
  }

  async function newJournal(): Promise<Promising> {
    return (await newStorage()).open().journal
  }

  test(`${title} is given no record above 1 MiB beside its args, whatever comes in`, async () => {
    const extension = (await makeStorage()).open()
    const { journal } = extension
    const ids = new Set<string>()
    const seen = (record: ToolCallRecord): ToolCallRecord => {
      ids.add(record.id)
      requireBoundedRecord(JSON.parse(JSON.stringify(record)) as ToolCallRecord)
      return record
    }
    const watched: Journal = {
      ...journal,
      claim: (record, owner) => journal.claim(seen(record), owner),
      write: (record, fence) => journal.write(seen(record), fence),
    }
    await flood([records(watched)])
    expect(ids.size).toBeGreaterThan(20)
    for (const id of ids) requireBoundedRecord((await journal.read(id))!.record)
    await extension.close?.()
  })

  describe(`${title} claims`, () => {
    test('a record for its owner, and gives it back with its fence', async () => {
      const journal = await newJournal()
      const record = recordOf('a')
      const fence = await journal.claim(record, 'mine')
      expect(fence).toEqual({ owner: 'mine', number: 0 })
      expect(await journal.read('a')).toEqual({ record, fence })
    })

    test('a record once, and what came later changes nothing', async () => {
      const journal = await newJournal()
      const record = recordOf('a')
      const fence = await journal.claim(record, 'mine')
      expect(await journal.claim(recordOf('a', { name: 'other' }), 'yours')).toBe(null)
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
      const asked = Array.from({ length: 20 }, async (_, index) =>
        journals[index % journals.length]?.claim(recordOf('a', { seq: index }), `owner ${index}`),
      )
      const fences = (await Promise.all(asked)).filter((fence) => fence !== null)
      expect(fences).toHaveLength(1)
      const kept = await journals[0]?.read('a')
      expect(kept?.fence).toEqual(fences[0])
      expect(`owner ${kept?.record.seq}`).toBe(fences[0]?.owner)
    })

    test('many records at the same time, each for its owner', async () => {
      const journal = await newJournal()
      const ids = Array.from({ length: 700 }, (_, index) => `call ${index}`)
      const fences = await Promise.all(ids.map((id) => journal.claim(recordOf(id), `owner of ${id}`)))
      expect(fences).toEqual(ids.map((id) => ({ owner: `owner of ${id}`, number: 0 })))
      const read = await Promise.all(ids.map((id) => journal.read(id)))
      expect(read.map((found) => found?.record.id)).toEqual(ids)
    })
  })

  describe(`${title} writes`, () => {
    test('what the holder of the fence says, again and again', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(recordOf('a', { state: 'APPROVAL_REQUIRED' }), 'mine'))
      expect(await journal.write(recordOf('a'), fence)).toBe(true)
      expect(await journal.write(recordOf('a'), fence)).toBe(true)
      const settled = settledOf('a', { completedAt: 2_000 })
      expect(await journal.write(settled, fence)).toBe(true)
      expect((await journal.read('a'))?.record).toEqual(settled)
    })

    test('another line after the settlement, and the record stays settled', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(recordOf('a'), 'mine'))
      await journal.write(settledOf('a'), fence)
      const late = settledOf('a', { auditTrail: [{ state: 'COMPLETED', timestamp: 3_000, note: 'late' }] })
      expect(await journal.write(late, fence)).toBe(true)
      expect((await journal.read('a'))?.record).toEqual(late)
      expect(await unfinishedOf(journal)).toEqual([])
    })

    test('one of several that one holder did not wait for', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(recordOf('a'), 'mine'))
      const writes = Array.from({ length: 10 }, (_, seq) => journal.write(recordOf('a', { seq }), fence))
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
      const record = recordOf('a')
      const fence = await held(journal.claim(record, 'mine'))
      expect(await journal.write(settledOf('a'), change(fence))).toBe(false)
      expect(await journal.takeOver('a', change(fence), 'yours')).toBe(null)
      expect(await journal.read('a')).toEqual({ record, fence })
    })

    test('nothing where there is no record', async () => {
      const journal = await newJournal()
      expect(await journal.write(recordOf('a'), { owner: 'mine', number: 0 })).toBe(false)
      expect(await journal.read('a')).toBe(null)
    })

    test('nothing into another record that its owner holds by the same number', async () => {
      const journal = await newJournal()
      const fence = await held(journal.claim(recordOf('a'), 'mine'))
      await journal.claim(recordOf('b'), 'mine')
      await journal.write(settledOf('a'), fence)
      expect((await journal.read('b'))?.record.state).toBe('EXECUTING')
    })
  })

  describe(`${title} hands a record over`, () => {
    test('to whoever knows its fence, and the record itself stays as it was', async () => {
      const journal = await newJournal()
      const record = recordOf('a')
      const former = await held(journal.claim(record, 'mine'))
      const fence = await held(journal.takeOver('a', former, 'yours'))
      expect(fence).toEqual({ owner: 'yours', number: 1 })
      expect(await journal.read('a')).toEqual({ record, fence })
      expect(await journal.write(settledOf('a'), fence)).toBe(true)
    })

    test('for good: the former holder never writes again, not even where the owner is the same', async () => {
      const journal = await newJournal()
      const first = await held(journal.claim(recordOf('a'), 'mine'))
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
      const former = await held(journals[0]?.claim(recordOf('a'), 'mine') ?? Promise.resolve(null))
      const asked = Array.from({ length: 20 }, async (_, index) =>
        journals[index % journals.length]?.takeOver('a', former, `owner ${index}`),
      )
      const fences = (await Promise.all(asked)).filter((fence) => fence !== null)
      expect(fences).toHaveLength(1)
      expect((await journals[0]?.read('a'))?.fence).toEqual(fences[0])
    })

    test('only as it was read: not where its holder has written since', async () => {
      const journal = await newJournal()
      const mine = await held(journal.claim(recordOf('a', { state: 'APPROVAL_REQUIRED' }), 'mine'))
      const read = await journal.read('a')
      const [listed] = await unfinishedOf(journal)
      await journal.write(recordOf('a'), mine)
      for (const stale of [mine, read?.fence ?? mine, listed?.fence ?? mine]) {
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
        await journals[0]?.claim(recordOf(id, { state: 'APPROVAL_REQUIRED' }), 'mine')
        const redeem = async (journal: Journal, owner: string): Promise<boolean> => {
          const found = await journal.read(id)
          if (found?.record.state !== 'APPROVAL_REQUIRED') return false
          const fence = await journal.takeOver(id, found.fence, owner)
          return fence !== null && journal.write({ ...found.record, state: 'EXECUTING' }, fence)
        }
        const asked = Array.from({ length: 12 }, async (_, index) => {
          for (let turn = 0; turn < index; turn++) await journals[turn % journals.length]?.read(id)
          const journal = journals[index % journals.length]
          return journal !== undefined && redeem(journal, `owner ${index}`)
        })
        expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1)
      }
    })

    test('either before its holder settles it or not at all: what was settled stays', async () => {
      const journal = await newJournal()
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const id = `call ${index}`
          const fence = await held(journal.claim(recordOf(id), 'mine'))
          const settle = (): Promise<boolean> => journal.write(settledOf(id), fence)
          const take = (): Promise<Fence | null> => journal.takeOver(id, fence, 'yours')
          if (index % 2 === 0) {
            const [isWritten, taken] = await Promise.all([settle(), take()])
            return [isWritten, taken !== null, isSettled((await journal.read(id))?.record.state ?? 'PENDING')]
          }
          const [taken, isWritten] = await Promise.all([take(), settle()])
          return [isWritten, taken !== null, isSettled((await journal.read(id))?.record.state ?? 'PENDING')]
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

  describe(`${title} lists`, () => {
    test('what is not settled, and nothing else', async () => {
      const journal = await newJournal()
      for (const state of ['PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING'] as const) {
        await journal.claim(recordOf(state, { state }), 'mine')
      }
      for (const state of ['COMPLETED', 'FAILED', 'DENIED', 'SEALED'] as const) {
        await journal.claim(recordOf(state, { state }), 'mine')
        const fence = await held(journal.claim(recordOf(`later ${state}`), 'mine'))
        await journal.write(recordOf(`later ${state}`, { state }), fence)
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
    async function claimAll(journal: Promising, given: readonly ToolCallRecord[]): Promise<void> {
      await Promise.all(given.map((record) => journal.claim(record, `owner of ${record.id}`)))
    }

    async function idsOf(journal: Journal, query: RecordQuery): Promise<string[]> {
      return (await listOf(journal, query)).map(({ record }) => record.id)
    }

    test('records newest first, by when the call was received, then by id', async () => {
      const journal = await newJournal()
      await claimAll(journal, [
        recordOf('b', { createdAt: 2_000 }),
        settledOf('d', { createdAt: 1_000 }),
        waitingOf('a', { createdAt: 2_000 }),
        recordOf('c', { createdAt: 3_000 }),
      ])
      expect(await idsOf(journal, {})).toEqual(['c', 'b', 'a', 'd'])
      expect(await idsOf(journal, { limit: 2 })).toEqual(['c', 'b'])
      expect(await idsOf(journal, { limit: 0 })).toEqual([])
      expect(await idsOf(journal, { before: { createdAt: 2_000, id: 'b' } })).toEqual(['a', 'd'])
      expect(await idsOf(journal, { before: { createdAt: 2_000, id: 'b' }, limit: 1 })).toEqual(['a'])
      expect(await idsOf(journal, { before: { createdAt: 1_000, id: 'd' } })).toEqual([])
    })

    test('the records of each standing, session, reason and owner', async () => {
      const journal = await newJournal()
      await claimAll(journal, [
        recordOf('running', { createdAt: 5 }),
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
      await journal.write(recordOf('a'), fence)
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
        sessions.map((session, index) => recordOf(`call ${index}`, { session })),
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
        recordOf('running'),
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
        recordOf('running', { updatedAt: 1 }),
        waitingOf('waiting', { updatedAt: 1 }),
      ])
      expect(await idsOf(journal, { settledBefore: 5_000 })).toEqual(['early'])
      expect(await idsOf(journal, { settledBefore: 9_000 })).toEqual(['late', 'early'])
      expect(await idsOf(journal, { settledBefore: 9_000, state: 'waiting' })).toEqual([])
    })

    test('what the owner has been silent about for long enough', async () => {
      const journal = await newJournal()
      await claimAll(journal, [recordOf('silent'), recordOf('beating'), waitingOf('waiting')])
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
      await Promise.all(ids.map((id) => journal.claim(recordOf(id), 'dead')))
      const listed: string[] = []
      for await (const { record, fence } of journal.list({ state: 'running' })) {
        listed.push(record.id)
        const mine = await held(journal.takeOver(record.id, fence, 'mine'))
        expect(await journal.write({ ...record, state: 'SEALED' }, mine)).toBe(true)
      }
      expect(listed.toSorted()).toEqual(ids.toSorted())
      expect(await unfinishedOf(journal)).toEqual([])
    })

    test('as much as somebody wants to see, and leaves nothing open', async () => {
      const journal = await newJournal()
      await Promise.all(Array.from({ length: 250 }, (_, index) => journal.claim(recordOf(`call ${index}`), 'mine')))
      for (let round = 0; round < 30; round++) {
        for await (const { record } of journal.list({ state: 'running' })) {
          expect(record.state).toBe('EXECUTING')
          break
        }
      }
      expect(await journal.claim(recordOf('next'), 'mine')).not.toBe(null)
    })

    test('for how long an owner gave no sign of life, and a beat is one', async () => {
      const journal = await newJournal()
      await journal.claim(recordOf('silent'), 'silent')
      await journal.claim(recordOf('beating'), 'beating')
      await new Promise((resolve) => setTimeout(resolve, 60))
      const before = performance.now()
      await journal.beat('beating')
      await journal.beat('nobody')
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
      const taken = await held(journal.claim(recordOf('taken'), 'dead'))
      const written = await held(journal.claim(recordOf('written'), 'alive'))
      await new Promise((resolve) => setTimeout(resolve, 60))
      const before = performance.now()
      await journal.takeOver('taken', taken, 'alive')
      await journal.write(recordOf('written'), written)
      const listed = await unfinishedOf(journal)
      const elapsed = performance.now() - before
      expect(listed.map(({ idle }) => idle <= elapsed + 5)).toEqual([true, true])
    })
  })

  /** A method that a journal may leave out. Without it there is nothing to test. */
  function optional<Name extends keyof Journal>(
    journal: Promising,
    name: Name,
    skip: (reason: string) => never,
  ): NonNullable<Journal[Name]> {
    return journal[name] ?? skip(`the journal has no ${name}`)
  }

  describe(`${title}, if it has settledOf,`, () => {
    test('gives those that have settled of those that are asked for', async ({ skip }) => {
      const journal = await newJournal()
      const settledRecords = optional(journal, 'settledOf', skip)
      await journal.claim(recordOf('running'), 'mine')
      await journal.claim(waitingOf('waiting'), 'mine')
      for (const id of oddIds) await journal.claim(settledOf(id), 'mine')
      const found = await settledRecords(['running', 'waiting', 'never was', 'a\ud800', ...oddIds.slice(3)])
      expect(found.map(({ record }) => record.id).toSorted()).toEqual(oddIds.slice(3).toSorted())
      for (const { record, fence } of found) expect(await journal.read(record.id)).toEqual({ record, fence })
      expect(await settledRecords([])).toEqual([])
    })

    test('gives a thousand at once', async ({ skip }) => {
      const journal = await newJournal()
      const settledRecords = optional(journal, 'settledOf', skip)
      const ids = Array.from({ length: 1_000 }, (_, index) => `call ${index}`)
      await Promise.all(ids.map((id) => journal.claim(settledOf(id), 'mine')))
      expect(await settledRecords(ids)).toHaveLength(1_000)
    })
  })

  describe(`${title}, if it has watch,`, () => {
    const soon = { timeout: 20_000, interval: 20 }

    test('tells when a record begins to wait, goes on, and settles, and of no other', async ({ skip }) => {
      const journal = await newJournal()
      const told: string[] = []
      await journal.claim(settledOf('before'), 'mine')
      const end = optional(journal, 'watch', skip)((id, session) => void told.push(`${id} of ${session}`))
      const fence = await held(journal.claim(recordOf('a', { session: 's' }), 'mine'))
      for (const record of [waitingOf('a', { session: 's' }), recordOf('a', { session: 's' })]) {
        told.length = 0
        await journal.write(record, fence)
        await vi.waitFor(() => expect(told).toContain('a of s'), soon)
      }
      told.length = 0
      await journal.write(settledOf('a', { session: 's' }), fence)
      await vi.waitFor(() => expect(told).toContain('a of s'), soon)
      await journal.claim(settledOf('b', { session: 't' }), 'mine')
      await vi.waitFor(() => expect(told).toContain('b of t'), soon)
      expect(new Set(told)).toEqual(new Set(['a of s', 'b of t']))
      end()
    })

    test('tells each listener until it ends, also if another throws', async ({ skip }) => {
      const journal = await newJournal()
      const watch = optional(journal, 'watch', skip)
      const [first, second]: string[][] = [[], []]
      const endings = [
        watch(() => {
          throw new Error('broken')
        }),
        watch((id) => void first?.push(id)),
        watch((id) => void second?.push(id)),
      ]
      await journal.claim(settledOf('a'), 'mine')
      await vi.waitFor(() => expect([first?.includes('a'), second?.includes('a')]).toEqual([true, true]), soon)
      endings[1]?.()
      await journal.claim(settledOf('b'), 'mine')
      await vi.waitFor(() => expect(second).toContain('b'), soon)
      expect(first).not.toContain('b')
      for (const end of endings) end()
    })

    test('tells of sessions with odd names', async ({ skip }) => {
      const journal = await newJournal()
      const told = new Map<string, string>()
      const end = optional(journal, 'watch', skip)((id, session) => void told.set(id, session))
      const sessions = new Map(oddTexts.map(([, session], index) => [`call ${index}`, session]))
      for (const [id, session] of sessions) await journal.claim(settledOf(id, { session }), 'mine')
      await vi.waitFor(() => expect(told.size).toBe(sessions.size), soon)
      for (const [id, session] of sessions) expect(told.get(id) === session).toBe(true)
      end()
    })
  })

  describe(`${title}, if it has requestCancel,`, () => {
    test('tells an owner with each beat what to cancel, until it has settled', async ({ skip }) => {
      const journal = await newJournal()
      const requestCancel = optional(journal, 'requestCancel', skip)
      const fence = await held(journal.claim(recordOf('a'), 'mine'))
      await journal.claim(recordOf('b'), 'mine')
      await journal.claim(recordOf('c'), 'yours')
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
      const requestCancel = optional(journal, 'requestCancel', skip)
      const fence = await held(journal.claim(recordOf('a'), 'mine'))
      await requestCancel('a')
      expect(await journal.read('a')).toEqual({ record: recordOf('a'), fence })
      await held(journal.takeOver('a', fence, 'yours'))
      expect(await journal.beat('mine')).toEqual([])
      expect(await journal.beat('yours')).toEqual(['a'])
    })

    test('asks for nothing that has settled, or never was', async ({ skip }) => {
      const journal = await newJournal()
      const requestCancel = optional(journal, 'requestCancel', skip)
      await journal.claim(settledOf('a'), 'mine')
      expect(await requestCancel('a')).toBe(false)
      expect(await requestCancel('b')).toBe(false)
      expect(await journal.beat('mine')).toEqual([])
    })
  })

  describe(`${title}, if it has delete,`, () => {
    /** Settled records of one chain, each a millisecond after the one before. */
    function chainOf(count: number): ToolCallRecord[] {
      return Array.from({ length: count }, (_, index) => {
        const journal = {
          caller: 'model',
          owner: 'mine',
          fence: 0,
          digest: `digest ${index}`,
          previous: index === 0 ? '' : `digest ${index - 1}`,
        } as const
        return settledOf(`call ${index}`, { createdAt: index, completedAt: index, journal })
      })
    }

    test('deletes what has settled before a time, oldest first, and nothing that has not settled', async ({ skip }) => {
      const journal = await newJournal()
      const deleteSettled = optional(journal, 'delete', skip)
      await journal.claim(recordOf('running', { createdAt: 1, updatedAt: 1 }), 'mine')
      await journal.claim(waitingOf('waiting', { createdAt: 1, updatedAt: 1 }), 'mine')
      for (const record of chainOf(6)) await journal.claim(record, 'mine')
      const idsOf = async (settledBefore: number, limit: number): Promise<string[]> =>
        (await deleteSettled({ settledBefore, limit })).map(({ invocationId }) => invocationId).toSorted()
      expect(await idsOf(5, 2)).toEqual(['call 0', 'call 1'])
      expect(await journal.read('call 1')).toBe(null)
      expect(await idsOf(5, 100)).toEqual(['call 2', 'call 3', 'call 4'])
      expect(await idsOf(5, 100)).toEqual([])
      expect(await idsOf(9, 0)).toEqual([])
      const left = (await listOf(journal)).map(({ record }) => record.id)
      expect(left).toEqual(['call 5', 'waiting', 'running'])
    })

    test('tells what the records named in the store', async ({ skip }) => {
      const journal = await newJournal()
      const deleteSettled = optional(journal, 'delete', skip)
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
      const deleteSettled = optional(journal, 'delete', skip)
      const fence = await held(journal.claim(settledOf('a', { completedAt: 1 }), 'mine'))
      await deleteSettled({ settledBefore: 2, limit: 10 })
      expect(await journal.write(settledOf('a'), fence)).toBe(false)
      expect(await journal.takeOver('a', fence, 'yours')).toBe(null)
    })

    test('lists each record at most once to a caller that reads pages meanwhile, and loses none that stays', async ({
      skip,
    }) => {
      const journal = await newJournal()
      const deleteSettled = optional(journal, 'delete', skip)
      await Promise.all(chainOf(350).map((record) => journal.claim(record, 'mine')))
      const read: string[] = []
      for await (const { record } of journal.list({ state: 'settled' })) {
        if (read.length === 50) await deleteSettled({ settledBefore: 150, limit: 1_000 })
        read.push(record.id)
      }
      expect(new Set(read).size).toBe(read.length)
      const stays = Array.from({ length: 200 }, (_, index) => `call ${349 - index}`)
      expect(read.slice(0, 200)).toEqual(stays)
    })

    test('keeps the digest at which it cuts a chain, if it is durable, however the deletions are spread', async ({
      skip,
    }) => {
      const journal = await newJournal()
      const deleteSettled = optional(journal, 'delete', skip)
      if (!journal.isDurable) skip('what does not outlive the process has no chain')
      const cuts = optional(journal, 'cuts', skip)
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
        const [first] = (await listOf(journal)).toReversed()
        if (first !== undefined) expect(await cuts()).toContain(first.record.journal?.previous)
      }
    })
  })

  describe(`${title} keeps records as plain JSON`, () => {
    test.each(oddTexts)('with %s in them', async (_, text) => {
      const journal = await newJournal()
      const record = recordOf('a', { input: { [text.slice(0, 100)]: [text, { text }] }, error: text, session: text })
      const fence = await held(journal.claim(record, 'mine'))
      expect(JSON.stringify((await journal.read('a'))?.record) === JSON.stringify(record)).toBe(true)
      const settled = settledOf('a', { input: text, error: `${text}!` })
      await journal.write(settled, fence)
      expect(JSON.stringify((await journal.read('a'))?.record) === JSON.stringify(settled)).toBe(true)
    })

    test('whose keys are only keys', async () => {
      const journal = await newJournal()
      const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toJSON":1,"then":2}'
      await journal.claim(recordOf('a', { input: JSON.parse(text) as unknown }), 'mine')
      const input = (await journal.read('a'))?.record.input ?? {}
      expect(JSON.stringify(input)).toBe(text)
      expect(Object.getPrototypeOf(input)).toBe(Object.prototype)
      expect(Object.hasOwn(input, '__proto__')).toBe(true)
      expect('polluted' in {}).toBe(false)
    })

    test('with numbers, nesting and the order of keys as they were', async () => {
      const journal = await newJournal()
      let nested: unknown = 'deep'
      for (let depth = 0; depth < 250; depth++) nested = depth % 2 === 0 ? [nested] : { nested }
      const input = { z: 1e300, a: -0.1, 10: 5e-324, 2: 9_007_199_254_740_993, nested }
      await journal.claim(recordOf('a', { input }), 'mine')
      expect(JSON.stringify((await journal.read('a'))?.record.input)).toBe(JSON.stringify(input))
    })

    test('that nobody can change from outside', async () => {
      const journal = await newJournal()
      const record = recordOf('a', { input: { to: 'Oslo' } })
      const fence = await held(journal.claim(record, 'mine'))
      const change = (target: unknown): void => void ((target as { to: string }).to = 'elsewhere')
      change(record.input)
      const first = await journal.read('a')
      expect(first?.record.input).toEqual({ to: 'Oslo' })
      change(first?.record.input)
      Object.assign(first?.fence ?? {}, { owner: 'thief', number: 9 })
      Object.assign(fence, { owner: 'thief', number: 9 })
      for (const { record: listed, fence: shown } of await unfinishedOf(journal)) {
        expect(listed.input).toEqual({ to: 'Oslo' })
        change(listed.input)
        Object.assign(shown, { owner: 'thief' })
      }
      const second = await journal.read('a')
      expect(second).toEqual({ record: recordOf('a'), fence: { owner: 'mine', number: 0 } })
    })

    test('and refuses what is none', async () => {
      const journal = await newJournal()
      const refused = journal.claim(recordOf('a', { input: { amount: 10n } }), 'mine')
      await expect(refused).rejects.toMatchObject({ code: 'E_JOURNAL' })
      expect(await journal.read('a')).toBe(null)
      expect(await journal.claim(recordOf('a'), 'mine')).not.toBe(null)
    })
  })

  describe(`${title} knows ids apart`, () => {
    test('however odd they are', async () => {
      const journal = await newJournal()
      const fences = new Map<string, Fence>()
      for (const id of oddIds) fences.set(id, await held(journal.claim(recordOf(id), `owner of ${id}`)))
      expect((await unfinishedOf(journal)).map(({ record }) => record.id).toSorted()).toEqual(oddIds.toSorted())
      for (const id of oddIds) {
        expect(await journal.read(id)).toEqual({ record: recordOf(id), fence: fences.get(id) })
        expect(await journal.write(settledOf(id), fences.get(id) ?? { owner: '', number: 0 })).toBe(true)
        expect((await unfinishedOf(journal)).length).toBe(oddIds.length - oddIds.indexOf(id) - 1)
      }
    })

    test('and finds nothing under those that were never claimed', async () => {
      const journal = await newJournal()
      await journal.claim(recordOf('a'), 'mine')
      for (const id of [...oddIds, '', 'A', 'a ', ' a']) expect(await journal.read(id)).toBe(null)
    })

    test.each([
      ['lone surrogates', 'a\ud800'],
      ['NUL', 'a\0b'],
    ])('and refuses those with %s, which databases confuse', async (_, id) => {
      const journal = await newJournal()
      const refusal = { code: 'E_JOURNAL' }
      await expect(journal.claim(recordOf(id), 'mine')).rejects.toMatchObject(refusal)
      await expect(journal.read(id)).rejects.toMatchObject(refusal)
      await expect(journal.takeOver(id, { owner: 'mine', number: 0 }, 'yours')).rejects.toMatchObject(refusal)
      expect(await unfinishedOf(journal)).toEqual([])
    })
  })

  if (!isShared) return

  describe(`${title} is shared`, () => {
    test('by journals that see what each other wrote', async () => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      expect([one.isDurable, other.isDurable]).toEqual([true, true])
      const fence = await held(one.claim(recordOf('a'), 'one'))
      expect(await other.read('a')).toEqual({ record: recordOf('a'), fence })
      expect(await other.claim(recordOf('a'), 'other')).toBe(null)
      const taken = await held(other.takeOver('a', fence, 'other'))
      expect(await one.write(settledOf('a'), fence)).toBe(false)
      expect((await unfinishedOf(one)).map((entry) => entry.fence)).toEqual([taken])
      expect(await other.write(settledOf('a'), taken)).toBe(true)
      expect(await unfinishedOf(one)).toEqual([])
    })

    test('by journals that see each other alive', async () => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      await one.claim(recordOf('a'), 'one')
      await new Promise((resolve) => setTimeout(resolve, 60))
      expect((await unfinishedOf(other))[0]?.idle).toBeGreaterThanOrEqual(55)
      const before = performance.now()
      await one.beat('one')
      const [seen] = await unfinishedOf(other)
      expect(seen?.idle).toBeLessThanOrEqual(performance.now() - before + 5)
    })

    test('by journals that hear of each other, if they have watch', async ({ skip }) => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      const told: string[] = []
      await one.claim(settledOf('before'), 'one')
      const end = optional(other, 'watch', skip)((id, session) => void told.push(`${id} of ${session}`))
      // A watch begins when it can: until then, what is settled now may be missed.
      for (let index = 0; told.length === 0; index++) {
        await one.claim(settledOf(`call ${index}`), 'one')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(told[0]).toMatch(/^call \d+ of one$/)
      end()
    })

    test('by journals that ask each other to cancel, and see each other settle, if they can', async ({ skip }) => {
      const storage = await newStorage()
      const [one, other] = [storage.open().journal, storage.open().journal]
      const fence = await held(one.claim(recordOf('a'), 'one'))
      expect(await optional(other, 'requestCancel', skip)('a')).toBe(true)
      expect(await one.beat('one')).toEqual(['a'])
      expect(await optional(other, 'settledOf', skip)(['a'])).toEqual([])
      await one.write(settledOf('a'), fence)
      expect(await optional(other, 'settledOf', skip)(['a'])).toEqual([
        { record: settledOf('a'), fence: expect.anything() as Fence },
      ])
    })

    test('by eight that are opened and used at the same time on a new place', async () => {
      const storage = await newStorage()
      const journals = Array.from({ length: 8 }, () => storage.open().journal)
      const claims = journals.flatMap((journal, index) =>
        Array.from({ length: 25 }, (_, number) => journal.claim(recordOf(`call ${number}`), `owner ${index}`)),
      )
      expect((await Promise.all(claims)).filter((fence) => fence !== null)).toHaveLength(25)
    })
  })

  describe(`${title} has a record that is damaged`, () => {
    const whole = recordOf('b')
    const damages: readonly (readonly [string, string])[] = [
      ['cut off', JSON.stringify(whole).slice(0, 120)],
      ['empty', ''],
      ['null', 'null'],
      ['a list', '[]'],
      ['an id alone', '{"id":"b"}'],
      ['another record', JSON.stringify(recordOf('a'))],
      ['in a state that there is not', JSON.stringify({ ...whole, state: 'LOST' })],
      ['without an audit trail', JSON.stringify({ ...whole, auditTrail: undefined })],
      ['with a hole in its audit trail', JSON.stringify({ ...whole, auditTrail: [null] })],
      ['without a number', JSON.stringify({ ...whole, seq: undefined })],
      ['without what a journal adds', JSON.stringify({ ...whole, journal: null })],
    ]

    async function withDamage(text: string): Promise<Promising> {
      const storage = await newStorage()
      const { journal } = storage.open()
      for (const id of ['a', 'b', 'c']) await journal.claim(recordOf(id), 'mine')
      await storage.damage('b', text)
      return journal
    }

    test.each(damages)('(%s), and says so to who reads it', async (_, text) => {
      const journal = await withDamage(text)
      const refusal = { code: 'E_JOURNAL', retryable: false, message: expect.stringContaining('"b"') as string }
      await expect(journal.read('b')).rejects.toMatchObject(refusal)
      expect((await journal.read('a'))?.record).toEqual(recordOf('a'))
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

    test('and refuses to list past it where nobody is told', async () => {
      const journal = await withDamage('null')
      await expect(unfinishedOf(journal)).rejects.toMatchObject({ code: 'E_JOURNAL' })
    })
  })

  describe(`${title} keeps what it answered`, () => {
    test('when it is closed and opened again', async () => {
      const storage = await newStorage()
      const first = storage.open()
      const fence = await held(first.journal.claim(recordOf('a'), 'mine'))
      await first.journal.claim(settledOf('b'), 'mine')
      await first.close?.()
      const second = storage.open()
      expect(await second.journal.read('a')).toEqual({ record: recordOf('a'), fence })
      expect((await second.journal.read('b'))?.record).toEqual(settledOf('b'))
      expect(await second.journal.write(settledOf('a'), fence)).toBe(true)
    })

    test('when it is closed at once, also what nobody has waited for yet', async () => {
      const storage = await newStorage()
      const first = storage.open()
      await first.journal.claim(recordOf('a'), 'mine')
      const claims = Array.from({ length: 30 }, (_, index) => first.journal.claim(recordOf(`call ${index}`), 'mine'))
      const [outcomes] = await Promise.all([Promise.allSettled(claims), first.close?.()])
      const { journal } = storage.open()
      for (const [index, { status }] of outcomes.entries()) {
        expect((await journal.read(`call ${index}`)) !== null).toBe(status === 'fulfilled')
      }
    })

    test('and refuses everything afterwards', async () => {
      const extension = (await newStorage()).open()
      const { journal } = extension
      const fence = await held(journal.claim(recordOf('a'), 'mine'))
      await extension.close?.()
      await extension.close?.()
      const refusal = { code: 'E_JOURNAL', message: expect.stringContaining('closed') as string }
      await expect(journal.claim(recordOf('b'), 'mine')).rejects.toMatchObject(refusal)
      await expect(journal.write(settledOf('a'), fence)).rejects.toMatchObject(refusal)
      await expect(journal.read('a')).rejects.toMatchObject(refusal)
      await expect(journal.takeOver('a', fence, 'yours')).rejects.toMatchObject(refusal)
      await expect(unfinishedOf(journal)).rejects.toMatchObject(refusal)
      await expect(journal.beat('mine')).rejects.toMatchObject(refusal)
    })
  })
}
