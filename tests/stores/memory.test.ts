import { memoryStore } from 'toolwright'
import type { ArtifactStore } from 'toolwright/extension'
import { describeStore } from 'toolwright/conformance/stores'
import { describe, expect, test } from 'vitest'

describeStore('memoryStore', (limits) => ({ store: memoryStore(limits) }))

describe('memoryStore has room for so many bytes', () => {
  const spooling = { session: 'one', mediaType: 'text/plain' }

  function isKept(store: ArtifactStore, handle: string): boolean {
    try {
      void store.open(handle, { session: 'one' })
      return true
    } catch {
      return false
    }
  }

  test('and drops the oldest first', async () => {
    const store = memoryStore({ maximumBytes: 30 })
    const handles: string[] = []
    for (let index = 0; index < 5; index++) handles.push((await store.write('x'.repeat(10), spooling)).handle)
    expect(handles.map((handle) => isKept(store, handle))).toEqual([false, false, true, true, true])
  })

  test('and what was read again is not the oldest any more', async () => {
    const store = memoryStore({ maximumBytes: 30 })
    const first = await store.write('x'.repeat(10), spooling)
    const second = await store.write('x'.repeat(10), spooling)
    await store.write('x'.repeat(10), spooling)
    await store.open(first.handle, { session: 'one' })
    await store.write('x'.repeat(10), spooling)
    expect([isKept(store, first.handle), isKept(store, second.handle)]).toEqual([true, false])
  })

  test('and another session cannot keep an artifact alive by asking for it', async () => {
    const store = memoryStore({ maximumBytes: 20 })
    const first = await store.write('x'.repeat(10), spooling)
    const second = await store.write('x'.repeat(10), spooling)
    expect(() => store.open(first.handle, { session: 'two' })).toThrow()
    await store.write('x'.repeat(10), spooling)
    expect([isKept(store, first.handle), isKept(store, second.handle)]).toEqual([false, true])
  })

  test('and keeps what it had where it refuses what is larger than all of the room', async () => {
    const store = memoryStore({ maximumBytes: 10 })
    const small = await store.write('x', spooling)
    await expect(store.write('x'.repeat(11), spooling)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    expect(isKept(store, small.handle)).toBe(true)
    const large = await store.write('x'.repeat(10), spooling)
    expect([isKept(store, small.handle), isKept(store, large.handle)]).toEqual([false, true])
  })

  test('and is empty when it is cleared, with room as in the beginning', async () => {
    const store = memoryStore({ maximumBytes: 20 })
    const first = await store.write('x'.repeat(20), spooling)
    expect(store.size).toBe(1)
    const reader = await store.open(first.handle, { session: 'one' })
    store.clear()
    expect([store.size, isKept(store, first.handle)]).toEqual([0, false])
    expect(new TextDecoder().decode(await reader.read(0, 20))).toBe('x'.repeat(20))
    const again = [await store.write('y'.repeat(10), spooling), await store.write('z'.repeat(10), spooling)]
    expect(again.map(({ handle }) => isKept(store, handle))).toEqual([true, true])
    expect(store.size).toBe(2)
  })

  test('and what is deleted makes room', async () => {
    const store = memoryStore({ maximumBytes: 20 })
    const first = await store.write('x'.repeat(10), spooling)
    const second = await store.write('x'.repeat(10), spooling)
    await store.delete(second.handle)
    await store.delete(second.handle)
    const third = await store.write('x'.repeat(10), spooling)
    expect([isKept(store, first.handle), isKept(store, third.handle)]).toEqual([true, true])
  })

  test('and a reader that was opened before reads on after the artifact was dropped', async () => {
    const store = memoryStore({ maximumBytes: 10 })
    const first = await store.write('0123456789', spooling)
    const reader = await store.open(first.handle, { session: 'one' })
    await store.write('x'.repeat(10), spooling)
    expect(new TextDecoder().decode(await reader.read(0, 10))).toBe('0123456789')
  })

  test('and a write that fails takes none of it', async () => {
    const store = memoryStore({ maximumBytes: 20 })
    const first = await store.write('x'.repeat(10), spooling)
    async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
      yield new Uint8Array(20)
      throw new Error('source broke')
    }
    await expect(store.write(source(), spooling)).rejects.toThrow('source broke')
    await store.write('x'.repeat(10), spooling)
    expect(isKept(store, first.handle)).toBe(true)
  })
})
