import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { TextArtifact } from '../../index.ts'
import type { SpoolReader } from '../../extension.ts'
import { utf8Decoder, utf8Encoder, allBytes, pieceStream, sha256Of, spooling, type StoreSuite } from './_suite.ts'

/** Tests that a store keeps what it is given, and reads any part of it. */
export function describeBytes({ title, create }: StoreSuite): void {
  describe(`${title} keeps`, () => {
    test.each<[string, string | Uint8Array | (() => AsyncIterable<Uint8Array>), string]>([
      ['text', 'grüß dich\n', 'grüß dich\n'],
      ['empty text', '', ''],
      ['bytes', utf8Encoder.encode('bytes'), 'bytes'],
      ['no bytes', new Uint8Array(), ''],
      ['a view into a larger buffer', utf8Encoder.encode('a view').subarray(2), 'view'],
      ['a Buffer', Buffer.from('a buffer'), 'a buffer'],
      ['a stream', () => pieceStream('one', ' and ', 'two'), 'one and two'],
      ['an empty stream', () => pieceStream(), ''],
      ['a stream of empty pieces', () => pieceStream('', 'x', '', ''), 'x'],
      [
        'a stream whose pieces end within a character',
        () => pieceStream(utf8Encoder.encode('€').subarray(0, 1), utf8Encoder.encode('€').subarray(1)),
        '€',
      ],
      ['text that is longer than any piece', '😀'.repeat(700_001), '😀'.repeat(700_001)],
      ['text with odd pairs of surrogates', `x${'😀'.repeat(600_000)}\ud83d`, `x${'😀'.repeat(600_000)}\ufffd`],
    ])('%s, and says its hash and its length', async (_, input, text) => {
      const store = await create()
      const source = typeof input === 'function' ? input() : input
      const { handle, sha256: hash, byteLength } = await store.write(source, spooling)
      const bytes = await allBytes(store, handle)
      expect(utf8Decoder.decode(bytes) === text).toBe(true)
      expect(byteLength).toBe(bytes.byteLength)
      expect(hash).toBe(sha256Of(text))
    })

    test.each([
      'text/plain; charset=utf-8',
      'image/svg+xml',
      '',
      'x/ü',
      'x/\0\r\nX-Evil: 1',
      'x/\ud800',
      `x/${'y'.repeat(300)}`,
    ])('the media type %j, as it was written', async (mediaType) => {
      const store = await create()
      const { handle } = await store.write('text', { session: 'one', mediaType })
      expect((await store.open(handle, { session: 'one' })).mediaType).toBe(mediaType)
    })

    test('bytes that are no text at all', async () => {
      const store = await create()
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256)
      const { handle } = await store.write(bytes, spooling)
      expect(Buffer.compare(await allBytes(store, handle), bytes)).toBe(0)
    })

    test('a stream of 20 MB', async () => {
      const store = await create()
      const hash = createHash('sha256')
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        for (let index = 0; index < 320; index++) {
          const piece = new Uint8Array(65_536).fill(index % 251)
          hash.update(piece)
          yield piece
        }
      }
      const written = await store.write(source(), spooling)
      expect(written.byteLength).toBe(20_971_520)
      expect(written.sha256).toBe(hash.digest('hex'))
      const reader = await store.open(written.handle, { session: 'one' })
      expect([...(await reader.read(65_535, 65_538))]).toEqual([0, 1, 1])
      expect([...(await reader.read(20_971_519, 20_971_520))]).toEqual([319 % 251])
    })
  })

  describe(`${title} reads`, () => {
    test('any range', async () => {
      const store = await create()
      const { handle } = await store.write('0123456789', spooling)
      const reader: SpoolReader = await store.open(handle, { session: 'one' })
      expect(reader.byteLength).toBe(10)
      for (const [start, end, text] of [
        [0, 10, '0123456789'],
        [0, 1, '0'],
        [9, 10, '9'],
        [3, 7, '3456'],
        [0, 0, ''],
        [5, 5, ''],
        [10, 10, ''],
      ] as const) {
        expect(utf8Decoder.decode(await reader.read(start, end))).toBe(text)
      }
    })

    test('many ranges at once', async () => {
      const store = await create()
      const { handle } = await store.write('0123456789'.repeat(1_000), spooling)
      const reader = await store.open(handle, { session: 'one' })
      const ranges = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => reader.read(index * 10, index * 10 + 3)),
      )
      expect(new Set(ranges.map((bytes) => utf8Decoder.decode(bytes)))).toEqual(new Set(['012']))
    })

    test('lines across the borders of chunks', async () => {
      const store = await create()
      const text = Array.from({ length: 30_000 }, (_, index) => `line ${index} €`).join('\n')
      const { handle } = await store.write(text, spooling)
      const artifact = new TextArtifact({ reader: await store.open(handle, { session: 'one' }), handle })
      expect(await artifact.lineCount()).toBe(30_000)
      expect(await artifact.tail(2)).toBe('line 29998 €\nline 29999 €')
      expect(await artifact.grep('line 15000 ')).toEqual([{ line: 15_000, text: 'line 15000 €' }])
    })
  })
}
