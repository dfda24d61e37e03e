import { describe, expect, test } from 'vitest'
import { createExecutor, tool } from '../../index.ts'
import type { ArtifactStore } from '../../extension.ts'
import type { StoreUnderTest } from '../stores.ts'
import { utf8Decoder, allBytes, thrownBy, spooling } from './_suite.ts'

const megabyte = new Uint8Array(1_048_576).fill(7)

/** Gives megabytes, and then waits for what `end` does. */
async function* megabytes(count: number, end?: () => unknown): AsyncGenerator<Uint8Array, void, undefined> {
  for (let index = 0; index < count; index++) yield megabyte
  await end?.()
}

/** Tests that nothing is left of what failed. */
export function describeLeftovers(
  title: string,
  open: (limits?: { readonly maximumBytes?: number }) => Promise<StoreUnderTest>,
): void {
  /** Runs with a store in which there is one artifact, and checks that there is no more afterwards. */
  async function leavesNothing(
    skip: (reason: string) => never,
    act: (store: ArtifactStore) => unknown,
    limits?: { readonly maximumBytes?: number },
  ): Promise<void> {
    const { store, count = skip('left out: the store does not count what it keeps') } = await open(limits)
    const { handle } = await store.write('warm', spooling)
    const before = await count()
    await act(store)
    // A call is over at its deadline, and the store cleans up after it.
    await expect.poll(count, { timeout: 10_000 }).toBe(before)
    const next = await store.write('next', spooling)
    for (const [leftover, text] of [
      [handle, 'warm'],
      [next.handle, 'next'],
    ] as const) {
      expect(utf8Decoder.decode(await allBytes(store, leftover))).toBe(text)
    }
  }

  describe(`${title} leaves nothing`, () => {
    test('of a stream that breaks after many pieces', ({ skip }) =>
      leavesNothing(skip, async (store) => {
        const trouble = new Error('source broke')
        const source = megabytes(12, () => Promise.reject(trouble))
        expect(await thrownBy(() => store.write(source, spooling))).toBe(trouble)
      }))

    test('of a stream that was given up while it gave nothing', ({ skip }) =>
      leavesNothing(skip, async (store) => {
        const leaving = new AbortController()
        const source = megabytes(12, () => {
          setTimeout(() => leaving.abort(), 10)
          return new Promise(() => {})
        })
        const refusal = await thrownBy(() => store.write(source, { ...spooling, signal: leaving.signal }))
        expect(refusal).toBe(leaving.signal.reason)
      }))

    test('of a stream that is larger than it takes', ({ skip }) =>
      leavesNothing(
        skip,
        async (store) => {
          expect(await thrownBy(() => store.write(megabytes(12), spooling))).toMatchObject({ code: 'E_ARTIFACT' })
        },
        { maximumBytes: 2_000_000 },
      ))

    test('of a write that was given up before it began', ({ skip }) =>
      leavesNothing(skip, async (store) => {
        const signal = AbortSignal.abort()
        expect(await thrownBy(() => store.write('late', { ...spooling, signal }))).toBe(signal.reason)
      }))

    test('of a result that breaks half-way: a typed error, and the next call is fine', ({ skip }) =>
      leavesNothing(skip, async (store) => {
        const executor = createExecutor({
          tools: [
            tool('broken', () => ReadableStream.from(megabytes(12, () => Promise.reject(new Error('source broke'))))),
            tool('fine', () => 'fine'),
          ],
          use: [{ store }],
        })
        const result = await executor.execute({ name: 'broken' }, { session: 'one' })
        expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
        expect(await executor.execute({ name: 'fine' })).toMatchObject({ status: 'ok' })
      }))

    test('of a result that never ends, when the caller gives the call up', ({ skip }) =>
      leavesNothing(skip, async (store) => {
        const leaving = new AbortController()
        async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
          for (let index = 0; ; index++) {
            if (index === 12) leaving.abort()
            yield megabyte
          }
        }
        const executor = createExecutor({
          tools: [tool('endless', () => ReadableStream.from(endless()))],
          use: [{ store }],
        })
        const result = await executor.execute({ name: 'endless' }, { session: 'one', signal: leaving.signal })
        expect(result).toMatchObject({ status: 'cancelled', error: { code: 'E_TOOL_CANCELLED' } })
      }))
  })
}
