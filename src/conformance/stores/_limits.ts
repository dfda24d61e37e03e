import { describe, expect, test } from 'vitest'
import { createExecutor, tool } from '../../index.ts'
import { thrownBy, spooling, type StoreSuite } from './_suite.ts'

/** Tests that a store refuses what is larger than it takes. */
export function describeLimits({ title, create }: StoreSuite): void {
  describe(`${title} refuses what is larger than it takes`, () => {
    const maximumBytes = 2_000_000

    test.each<[string, () => string | Uint8Array]>([
      ['text', () => 'x'.repeat(maximumBytes)],
      ['text whose characters have more bytes than one', () => 'é'.repeat(maximumBytes / 2)],
      ['bytes', () => new Uint8Array(maximumBytes)],
    ])('%s, and takes what is just as large', async (_, fitting) => {
      const store = await create({ maximumBytes })
      const { byteLength } = await store.write(fitting(), spooling)
      expect(byteLength).toBe(maximumBytes)
      const fittingText = fitting()
      const tooMuch = typeof fittingText === 'string' ? `${fittingText}x` : new Uint8Array(maximumBytes + 1)
      expect(await thrownBy(() => store.write(tooMuch, spooling))).toMatchObject({
        code: 'E_ARTIFACT',
        message: expect.stringContaining('2,000,000 bytes'),
      })
    })

    test('a stream without an end, while it reads it, and closes the stream', async () => {
      const store = await create({ maximumBytes })
      let count = 0
      let isClosed = false
      async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
        try {
          for (; count < 400_000_000; count += 1_048_576) yield new Uint8Array(1_048_576).fill(120)
        } finally {
          isClosed = true
        }
      }
      const refusal = await thrownBy(() => store.write(endless(), spooling))
      expect(refusal).toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('2,000,000 bytes') })
      expect(count).toBeLessThan(32_000_000) // a store may fetch some pieces ahead
      expect(isClosed).toBe(true)
    })

    test('a result: the model reads how it begins, the tool has run, and the next call is fine', async () => {
      const store = await create({ maximumBytes })
      async function* endless(): AsyncGenerator<string, void, undefined> {
        yield 'id,total\n'
        for (let sent = 0; sent < 400_000_000; sent += 1_000_000) yield '1,200\n'.repeat(166_667)
      }
      const executor = createExecutor({
        tools: [
          tool('endless', () => ReadableStream.from(endless())),
          tool('long', () => `id,total\n${'1,200\n'.repeat(1_000_000)}`),
          tool('fine', () => 'line\n'.repeat(10_000)),
        ],
        use: [{ store }],
      })
      for (const name of ['endless', 'long']) {
        const result = await executor.execute({ name }, { session: 'one' })
        expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
        expect(result.error?.message).toMatch(/larger than the 2,000,000 bytes[^]*It begins: id,total\n1,200\n/)
        expect(JSON.stringify(result.content)).toContain('It begins: id,total')
      }
      const { status, artifact } = await executor.execute({ name: 'fine' }, { session: 'one' })
      expect([status, await artifact?.tail(1)]).toEqual(['ok', 'line'])
    })
  })
}
