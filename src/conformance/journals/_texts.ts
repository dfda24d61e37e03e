import { describe, expect, test } from 'vitest'
import type { Fence } from '../../records/index.ts'
import { held, listedBy, oddIds, oddTexts, fixtureRecord, settledOf, unfinishedOf } from './_records.ts'
import type { JournalSuite } from './_suite.ts'

/** Tests that records and ids come back as they were given. */
export function describeTexts({ title, newJournal }: JournalSuite): void {
  describe(`${title} keeps records as plain JSON`, () => {
    test.each(oddTexts)('with %s in them', async (_, text) => {
      const journal = await newJournal()
      const record = fixtureRecord('a', {
        input: { [text.slice(0, 100)]: [text, { text }] },
        error: text,
        session: text,
      })
      const fence = await held(journal.claim(record, 'mine'))
      expect(JSON.stringify((await journal.read('a'))?.record) === JSON.stringify(record)).toBe(true)
      const settled = settledOf('a', { input: text, error: `${text}!` })
      await journal.write(settled, fence)
      expect(JSON.stringify((await journal.read('a'))?.record) === JSON.stringify(settled)).toBe(true)
    })

    test('whose keys are only keys', async () => {
      const journal = await newJournal()
      const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toJSON":1,"then":2}'
      await journal.claim(fixtureRecord('a', { input: JSON.parse(text) as unknown }), 'mine')
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
      const input = { z: 1e300, a: -0.1, 10: 5e-324, 2: 9_007_199_254_740_992, nested }
      await journal.claim(fixtureRecord('a', { input }), 'mine')
      expect(JSON.stringify((await journal.read('a'))?.record.input)).toBe(JSON.stringify(input))
    })

    test('that no caller can change from outside', async () => {
      const journal = await newJournal()
      const record = fixtureRecord('a', { input: { to: 'Oslo' } })
      const fence = await held(journal.claim(record, 'mine'))
      const change = (target: unknown): void => void ((target as { to: string }).to = 'elsewhere')
      change(record.input)
      const first = await journal.read('a')
      expect(first?.record.input).toEqual({ to: 'Oslo' })
      change(first?.record.input)
      Object.assign(first?.fence ?? {}, { owner: 'thief', number: 9 })
      Object.assign(fence, { owner: 'thief', number: 9 })
      for (const { record: listed, fence: listedFence } of await unfinishedOf(journal)) {
        expect(listed.input).toEqual({ to: 'Oslo' })
        change(listed.input)
        Object.assign(listedFence, { owner: 'thief' })
      }
      const second = await journal.read('a')
      expect(second).toEqual({ record: fixtureRecord('a'), fence: { owner: 'mine', number: 0 } })
      const settled = settledOf('a', { input: { to: 'Oslo' } })
      await journal.write(settled, { owner: 'mine', number: 0 })
      change(settled.input)
      for (let reads = 0; reads < 2; reads++) {
        const found = [
          await journal.read('a'),
          ...(await listedBy(journal)),
          ...((await journal.settledOf?.(['a'])) ?? []),
        ]
        for (const one of found) {
          expect(one?.record.input, 'the input that no caller changed').toEqual({ to: 'Oslo' })
          change(one?.record.input)
        }
      }
    })

    test('and refuses what is not', async () => {
      const journal = await newJournal()
      const refused = journal.claim(fixtureRecord('a', { input: { amount: 10n } }), 'mine')
      await expect(refused).rejects.toMatchObject({ code: 'E_JOURNAL' })
      expect(await journal.read('a')).toBe(null)
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      const write = journal.write(fixtureRecord('a', { input: { amount: 10n } }), fence)
      await expect(write).rejects.toMatchObject({ code: 'E_JOURNAL' })
      expect(await journal.read('a'), 'the record that stays').toEqual({ record: fixtureRecord('a'), fence })
    })
  })

  describe(`${title} knows ids apart`, () => {
    test('however odd they are', async () => {
      const journal = await newJournal()
      const fences = new Map<string, Fence>()
      for (const id of oddIds) fences.set(id, await held(journal.claim(fixtureRecord(id), `owner of ${id}`)))
      expect((await unfinishedOf(journal)).map(({ record }) => record.id).toSorted()).toEqual(oddIds.toSorted())
      for (const id of oddIds) {
        expect(await journal.read(id)).toEqual({ record: fixtureRecord(id), fence: fences.get(id) })
        expect(await journal.write(settledOf(id), fences.get(id) ?? { owner: '', number: 0 })).toBe(true)
        expect((await unfinishedOf(journal)).length).toBe(oddIds.length - oddIds.indexOf(id) - 1)
      }
    })

    test('and finds nothing under those that were never claimed', async () => {
      const journal = await newJournal()
      await journal.claim(fixtureRecord('a'), 'mine')
      for (const id of [...oddIds, '', 'A', 'a ', ' a']) expect(await journal.read(id)).toBe(null)
    })

    test.each([
      ['lone surrogates', 'a\ud800'],
      ['NUL', 'a\0b'],
    ])('and refuses those with %s, which databases confuse', async (_, id) => {
      const journal = await newJournal()
      const refusal = { code: 'E_JOURNAL' }
      await expect(journal.claim(fixtureRecord(id), 'mine')).rejects.toMatchObject(refusal)
      await expect(journal.read(id)).rejects.toMatchObject(refusal)
      await expect(journal.takeOver(id, { owner: 'mine', number: 0 }, 'yours')).rejects.toMatchObject(refusal)
      expect(await unfinishedOf(journal)).toEqual([])
    })
  })
}
