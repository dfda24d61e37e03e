import { describe, expect, test } from 'vitest'
import { SpooledArtifact } from '../../index.ts'
import { utf8Decoder, utf8Encoder, allBytes, thrownBy, sha256Of, spooling, type StoreSuite } from './_suite.ts'

/** Tests that a store takes copies, and keeps nothing of what it is not given whole. */
export function describeCopies({ title, create }: StoreSuite): void {
  describe(`${title} takes a copy`, () => {
    test.each([
      ['bytes', utf8Encoder.encode('before')],
      ['a Buffer', Buffer.from('before')],
    ])('of %s that their owner goes on to change', async (_, bytes) => {
      const store = await create()
      const { handle } = await store.write(bytes, spooling)
      bytes.fill(0)
      expect(utf8Decoder.decode(await allBytes(store, handle))).toBe('before')
    })

    test('of a buffer that a stream fills again and again', async () => {
      const store = await create()
      const buffer = Buffer.alloc(3)
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        for (const text of ['one', 'two', 'six']) {
          buffer.write(text)
          yield buffer
        }
        buffer.fill(0)
      }
      const { handle, sha256: hash } = await store.write(source(), spooling)
      expect(utf8Decoder.decode(await allBytes(store, handle))).toBe('onetwosix')
      expect(hash).toBe(sha256Of('onetwosix'))
    })

    test('and hashes what it keeps, also if the bytes change while it writes', async () => {
      const store = await create()
      const bytes = new Uint8Array(8_000_000)
      const writing = store.write(bytes, spooling)
      bytes.fill(1)
      const { handle, sha256: hash } = await writing
      expect(sha256Of(await allBytes(store, handle))).toBe(hash)
    })
  })

  describe(`${title} keeps nothing`, () => {
    test('of a source that throws half-way', async () => {
      const store = await create()
      const trouble = new Error('source broke')
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        yield utf8Encoder.encode('half')
        throw trouble
      }
      expect(await thrownBy(() => store.write(source(), spooling))).toBe(trouble)
      const next = await store.write('next', spooling)
      expect(utf8Decoder.decode(await allBytes(store, next.handle))).toBe('next')
    })

    test('of a write that is given up, and closes its source', async () => {
      const store = await create()
      const leaving = new AbortController()
      let isClosed = false
      async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
        try {
          for (let index = 0; ; index++) {
            if (index === 3) leaving.abort()
            yield utf8Encoder.encode('more')
          }
        } finally {
          isClosed = true
        }
      }
      const refusal = await thrownBy(() => store.write(source(), { ...spooling, signal: leaving.signal }))
      expect(refusal).toBe(leaving.signal.reason)
      expect(isClosed).toBe(true)
      const next = await store.write('next', spooling)
      expect(utf8Decoder.decode(await allBytes(store, next.handle))).toBe('next')
    })
  })

  test(`${title} makes artifacts that the base class reads`, async () => {
    const store = await create()
    const { handle } = await store.write('a\nb\nc', spooling)
    const artifact = new SpooledArtifact({ reader: await store.open(handle, { session: 'one' }), handle })
    expect(await artifact.asString()).toBe('a\nb\nc')
    expect(JSON.stringify(artifact)).toBe(
      JSON.stringify({ kind: 'artifact', mediaType: 'application/octet-stream', byteLength: 5, handle }),
    )
  })
}
