import {
  BinaryArtifact,
  createExecutor,
  JsonArtifact,
  memoryStore,
  SpooledArtifact,
  TextArtifact,
  type ArtifactClass,
  type Shelf,
} from 'toolwright'
import { ArtifactError } from 'toolwright/errors'
import type { ArtifactStore } from 'toolwright/extension'
import { expect, test } from 'vitest'
import { work } from './_calls.ts'
import { ArtifactShelf } from './_inside.ts'

class Report extends TextArtifact {
  static override readonly kind: string = 'report'
  static override readonly mediaType: string = 'text/x-report'
}

interface Placed {
  readonly shelf: ArtifactShelf
  readonly store: ArtifactStore
  readonly place: (text: string, session?: string, Class?: ArtifactClass, trusted?: boolean) => Promise<SpooledArtifact>
}

function shelfOver(store: ArtifactStore = memoryStore()): Placed {
  const shelf = new ArtifactShelf(store)
  return {
    shelf,
    store,
    async place(text, session = 'a', Class = TextArtifact, trusted = false) {
      const { mediaType } = Class as unknown as typeof SpooledArtifact
      const { handle } = await store.write(text, { session, mediaType })
      const reader = await store.open(handle, { session })
      return shelf.place(handle, session, reader, { Class, mediaType, trusted, toolName: 'read' })
    },
  }
}

/** The shelf that an extension is given. */
function handed(use: (shelf: Shelf) => void): { tools(request: { readonly shelf: Shelf }): [] } {
  return {
    tools({ shelf }) {
      use(shelf)
      return []
    },
  }
}

test('what is opened is what was placed: its class, its trust, its media type', async () => {
  const { shelf, place } = shelfOver()
  const { handle = '' } = await place('# Title', 'a', Report, true)
  const opened = await shelf.open(handle, 'a')
  expect(opened).toBeInstanceOf(Report)
  expect(opened).toMatchObject({ handle, trusted: true, mediaType: 'text/x-report' })
  expect(await opened.asString()).toBe('# Title')
})

test('a session sees its own artifacts alone, the newest first', async () => {
  const { shelf, place } = shelfOver()
  const first = await place('1', 'a')
  const second = await place('22', 'a', Report)
  await place('3', 'b')
  expect(shelf.list('a')).toEqual([
    {
      handle: second.handle,
      kind: 'report',
      mediaType: 'text/x-report',
      byteLength: 2,
      toolName: 'read',
      Class: Report,
    },
    {
      handle: first.handle,
      kind: 'text',
      mediaType: 'text/plain',
      byteLength: 1,
      toolName: 'read',
      Class: TextArtifact,
    },
  ])
  expect(shelf.list('nobody')).toEqual([])
  expect(shelf.list('__proto__')).toEqual([])
})

test('a handle of another session is answered like one that never was', async () => {
  const { shelf, place } = shelfOver()
  const { handle = '' } = await place('secret', 'a')
  const errors = await Promise.all(
    [handle, `artifact_${'0'.repeat(40)}`].map((each) => shelf.open(each, 'b').catch((error: unknown) => error)),
  )
  for (const error of errors) expect(error).toBeInstanceOf(ArtifactError)
  const [other, unknown] = errors.map((error) => (error as Error).message.replace(/artifact_[0-9a-f]+/, 'X'))
  expect(other).toBe(unknown)
  expect(shelf.list('a')).toHaveLength(1) // asking did not take it from the one it belongs to
  expect(await (await shelf.open(handle, 'a')).asString()).toBe('secret')
})

test('what the store has dropped is not listed any more once that was noticed', async () => {
  const { shelf, store, place } = shelfOver()
  const { handle = '' } = await place('x')
  await store.delete(handle)
  await expect(shelf.open(handle, 'a')).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  expect(shelf.list('a')).toEqual([])
})

test('where lines begin is found out once, for all who open the artifact', async () => {
  const memory = memoryStore()
  let asked = 0
  const store: ArtifactStore = {
    ...memory,
    async open(handle, access) {
      const reader = await memory.open(handle, access)
      return {
        byteLength: reader.byteLength,
        read(start, end) {
          asked += end - start
          return reader.read(start, end)
        },
      }
    },
  }
  const { shelf, place } = shelfOver(store)
  const { handle = '' } = await place(`${'x'.repeat(99)}\n`.repeat(20_000))
  expect(await (await shelf.open(handle, 'a')).lineCount()).toBe(20_000)
  asked = 0
  expect(await (await shelf.open(handle, 'a')).lineCount()).toBe(20_000)
  expect(asked).toBeLessThanOrEqual(1)
})

test.each<[string, readonly ArtifactClass[], ArtifactClass]>([
  ['text/plain', [], TextArtifact],
  ['text/csv; charset=utf-8', [], TextArtifact],
  ['application/json', [], JsonArtifact],
  ['application/problem+json', [], JsonArtifact],
  ['application/octet-stream', [], BinaryArtifact],
  ['image/png', [], BinaryArtifact],
  ['', [], BinaryArtifact],
  ['text/x-report', [], TextArtifact],
  ['text/x-report', [Report], Report],
  ['TEXT/X-Report; charset=utf-8', [Report], Report],
  ['text/plain', [Report], TextArtifact],
  ['application/octet-stream', [SpooledArtifact], BinaryArtifact],
])('an artifact of another process is known by its media type: %s', async (mediaType, classes, Class) => {
  const store = memoryStore()
  const { handle } = await store.write('{}', { session: 'a', mediaType })
  const opened = await new ArtifactShelf(store).open(handle, 'a', classes)
  expect(opened.constructor).toBe(Class)
  expect(opened).toMatchObject({ handle, trusted: false })
})

test('of many artifacts the oldest are forgotten, and opened all the same', async () => {
  const { shelf, place, store } = shelfOver()
  const { handle = '' } = await place('oldest', 'old', Report)
  const reader = await store.open(handle, { session: 'old' })
  for (let number = 0; number < 10_000; number++) {
    shelf.place(`artifact_${number}`, `session ${number % 7}`, reader, {
      Class: TextArtifact,
      mediaType: 'text/plain',
      trusted: false,
      toolName: 'read',
    })
  }
  expect(shelf.list('old')).toEqual([])
  expect(await (await shelf.open(handle, 'old')).asString()).toBe('oldest')
})

test('extensions are given the shelf of the executor, with what its tools returned', async () => {
  let shelf: Shelf | undefined
  const executor = createExecutor({
    tools: [work('large', () => 'x'.repeat(20_000)), work('small', () => 'x')],
    use: [handed((shelfOfExecutor) => (shelf = shelfOfExecutor))],
  })
  await executor.execute({ name: 'small', args: {} }, { session: 'a' })
  const { handle } = await executor.execute({ name: 'large', args: {} }, { session: 'a' })
  expect(shelf?.list('a')).toMatchObject([{ handle, toolName: 'large', kind: 'text', byteLength: 20_000 }])
})
