import { describe, expect, test } from 'vitest'
import { isToolError } from '../../index.ts'
import { utf8Decoder, allBytes, thrownBy, spooling, type StoreSuite } from './_suite.ts'

/** Tests that a handle opens an artifact of its session alone, and that what is deleted is gone. */
export function describeGuards({ title, create }: StoreSuite): void {
  describe(`${title} guards`, () => {
    test('handles are random: equal bytes have different ones', async () => {
      const store = await create()
      const written = await Promise.all(Array.from({ length: 20 }, () => store.write('the same', spooling)))
      expect(new Set(written.map(({ handle }) => handle)).size).toBe(20)
      expect(new Set(written.map(({ sha256: hash }) => hash)).size).toBe(1)
      for (const { handle } of written) {
        expect(handle).toMatch(/^artifact_[0-9a-f]{40}$/)
        expect(utf8Decoder.decode(await allBytes(store, handle))).toBe('the same')
      }
    })

    test('an artifact of another session is as unknown as one that never was', async () => {
      const store = await create()
      const { handle } = await store.write('secret', spooling)
      const other = await thrownBy(() => store.open(handle, { session: 'two' }))
      expect(other).toMatchObject({ code: 'E_ARTIFACT' })
      const never = handle.replace(/.{8}$/, handle.endsWith('00000000') ? '11111111' : '00000000')
      const unknown = await thrownBy(() => store.open(never, { session: 'two' }))
      expect(String(other).replace(handle, '')).toBe(String(unknown).replace(never, ''))
      expect(utf8Decoder.decode(await allBytes(store, handle))).toBe('secret')
    })

    test('sessions are told apart, whatever their names are made of', async () => {
      const store = await create()
      const sessions = [
        '',
        '\0',
        '\ud800',
        '\ud801',
        '\ufffd',
        'é',
        'e\u0301',
        '"',
        '\r\n',
        ' ',
        '  ',
        'x'.repeat(5_000),
      ]
      for (const session of sessions) {
        const { handle } = await store.write('secret', { ...spooling, session })
        for (const other of sessions.filter((name) => name !== session)) {
          expect(await thrownBy(() => store.open(handle, { session: other }))).toMatchObject({ code: 'E_ARTIFACT' })
        }
        expect(utf8Decoder.decode(await allBytes(store, handle, session))).toBe('secret')
      }
    })

    test('equal bytes that two sessions wrote stay apart', async () => {
      const store = await create()
      const mine = await store.write('the same', { ...spooling, session: 'one' })
      const yours = await store.write('the same', { ...spooling, session: 'two' })
      await thrownBy(() => store.open(mine.handle, { session: 'two' }))
      await thrownBy(() => store.open(yours.handle, { session: 'one' }))
      await store.delete(mine.handle)
      expect(utf8Decoder.decode(await allBytes(store, yours.handle, 'two'))).toBe('the same')
    })

    test.each([
      ['nothing', ''],
      ['a path', '../../../../etc/passwd'],
      ['an absolute path', '/etc/passwd'],
      ['a path behind a prefix', 'artifact_../../../../../../../../../../etc/passwd'],
      ['a NUL', 'artifact_\0'],
      ['a prototype', '__proto__'],
      ['a constructor', 'constructor'],
      ['a megabyte', 'x'.repeat(1_000_000)],
      ['a line break at the end', `artifact_${'0'.repeat(40)}\n`],
      ['capitals', `ARTIFACT_${'A'.repeat(40)}`],
    ])('a handle that is %s opens nothing and deletes nothing', async (_, handle) => {
      const store = await create()
      const receipt = await store.write('kept', spooling)
      const refusal = await thrownBy(() => store.open(handle, { session: 'one' }))
      expect(isToolError(refusal) && refusal.code).toBe('E_ARTIFACT')
      expect(String(refusal).length).toBeLessThan(500)
      await store.delete(handle)
      expect(utf8Decoder.decode(await allBytes(store, receipt.handle))).toBe('kept')
    })
  })

  describe(`${title} deletes`, () => {
    test('an artifact, and no other of equal bytes', async () => {
      const store = await create()
      const first = await store.write('the same', spooling)
      const second = await store.write('the same', spooling)
      await store.delete(first.handle)
      expect(await thrownBy(() => store.open(first.handle, { session: 'one' }))).toMatchObject({ code: 'E_ARTIFACT' })
      expect(utf8Decoder.decode(await allBytes(store, second.handle))).toBe('the same')
      const third = await store.write('the same', spooling)
      expect(utf8Decoder.decode(await allBytes(store, third.handle))).toBe('the same')
    })

    test('twice, and what never was, without a word', async () => {
      const store = await create()
      const { handle } = await store.write('gone', spooling)
      await store.delete(handle)
      await store.delete(handle)
      await store.delete(`artifact_${'0'.repeat(40)}`)
    })

    test('while others write the same', async () => {
      const store = await create()
      const contents = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const { handle } = await store.write('contested', spooling)
          if (index % 2 === 0) await store.delete(handle)
          return index % 2 === 0 ? undefined : handle
        }),
      )
      for (const handle of contents) {
        if (handle !== undefined) expect(utf8Decoder.decode(await allBytes(store, handle))).toBe('contested')
      }
    })
  })
}
