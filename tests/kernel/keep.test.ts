import { createHash } from 'node:crypto'
import { createExecutor, JsonArtifact, memoryStore, TextArtifact, type ToolContext } from 'toolwright'
import { expect, test } from 'vitest'
import { deferred, outcome, pause, text, work } from './_calls.ts'

const csv = { mediaType: 'text/csv' }

async function* piecesOf(count: number, piece: string): AsyncGenerator<Uint8Array, void, undefined> {
  for (let index = 0; index < count; index++) yield new TextEncoder().encode(piece)
}

test('a handler keeps an artifact beside its result, and tells its handle', async () => {
  const log = 'a,b\n1,2\n'
  const executor = createExecutor({ tools: [work('export', (_, { keep }) => keep(log, csv))] })
  const result = await executor.execute({ name: 'export' }, { session: 's' })
  const sha256 = createHash('sha256').update(log).digest('hex')
  const [shelved] = executor.artifacts.list('s')
  expect(JSON.parse(text(result).replace(/^[^{]*/, ''))).toMatchObject({ data: { byteLength: 8, sha256 } })
  expect(shelved).toMatchObject({ mediaType: 'text/csv', byteLength: 8, toolName: 'export', kind: 'text' })
  const artifact = await executor.artifacts.open(shelved?.handle ?? '', 's')
  expect(artifact).toBeInstanceOf(TextArtifact)
  expect(await artifact.asString()).toBe(log)
})

test('JSON is read as JSON, and the trust of the tool is that of its artifacts', async () => {
  const keeps = work('keeps', (_, { keep }) => keep('[1,2]', { mediaType: 'application/json' }), { trusted: true })
  const executor = createExecutor({ tools: [keeps] })
  await executor.execute({ name: 'keeps' }, { session: 's' })
  const artifact = await executor.artifacts.open(executor.artifacts.list('s')[0]?.handle ?? '', 's')
  expect(artifact).toBeInstanceOf(JsonArtifact)
  expect(artifact.trusted).toBe(true)
})

test('another session cannot open what a handler kept', async () => {
  let handle = ''
  const keeps = work('keeps', async (_, { keep }) => ({ handle } = await keep('secret', csv)))
  const executor = createExecutor({ tools: [keeps] })
  await executor.execute({ name: 'keeps' }, { session: 'mine' })
  expect(executor.artifacts.list('theirs')).toEqual([])
  await expect(executor.artifacts.open(handle, 'theirs')).rejects.toMatchObject({ code: 'E_ARTIFACT' })
})

test('a stream is kept while it is read, and one that is too large is refused with the reason', async () => {
  const whole: unknown[] = []
  const streams = work('streams', async (_, { keep }) => {
    whole.push(await keep(piecesOf(1_000, 'x'.repeat(100)), csv))
    whole.push(await keep(piecesOf(3_000, 'x'.repeat(100)), csv).catch((error: unknown) => error))
  })
  const executor = createExecutor({ tools: [streams], use: [{ store: memoryStore({ maximumBytes: 200_000 }) }] })
  await executor.execute({ name: 'streams' })
  const words = expect.stringContaining('200,000 bytes')
  expect(whole).toMatchObject([{ byteLength: 100_000 }, { code: 'E_ARTIFACT', message: words }])
})

test('a store that fails makes a retryable error of the handler, in words', async () => {
  const store = { ...memoryStore(), write: () => Promise.reject(new Error('ENOSPC: no space left')) }
  let thrown: unknown
  const keeps = work('keeps', (_, { keep }) => keep('x', csv).catch((error: unknown) => (thrown = error) && 'on'))
  const result = await createExecutor({ tools: [keeps], use: [{ store }] }).execute({ name: 'keeps' })
  expect(text(result)).toBe('on')
  expect(thrown).toMatchObject({ code: 'E_ARTIFACT', retryable: true, message: expect.stringContaining('ENOSPC') })
})

test('after the call has settled, nothing is kept: neither what is asked for then, nor what was under way', async () => {
  const release = deferred()
  const contexts: ToolContext[] = []
  const late: Promise<unknown>[] = []
  async function* slow(): AsyncGenerator<Uint8Array, void, undefined> {
    yield new Uint8Array([1])
    await release.promise
    yield new Uint8Array([2])
  }
  const leaves = work('leaves', (_, context) => {
    contexts.push(context)
    late.push(context.keep(slow(), csv).catch((error: unknown) => error))
    return 'done'
  })
  const executor = createExecutor({ tools: [leaves] })
  await executor.execute({ name: 'leaves' }, { session: 's' })
  await expect(contexts[0]?.keep('x', csv)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  release.resolve()
  expect(await late[0]).toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('settled') })
  expect(executor.artifacts.list('s')).toEqual([])
})

test('a stream that never ends is left at the deadline of the call', async () => {
  let isClosed = false
  async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        await pause(5)
        yield new Uint8Array(10)
      }
    } finally {
      isClosed = true
    }
  }
  const keeps = work('keeps', (_, { keep }) => keep(endless(), csv), { timeout: 60 })
  const result = await createExecutor({ tools: [keeps] }).execute({ name: 'keeps' })
  expect(outcome(result)).toBe('timed_out unknown E_TOOL_TIMEOUT')
  await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true)
})

test('a direct call has no store', async () => {
  const keeps = work('keeps', (_, { keep }) => keep('x', csv).catch((error: unknown) => error))
  expect(await keeps({})).toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('executor') })
})

test.each<[string, unknown, unknown?]>([
  ['no media type', 'x'],
  ['a media type under another name', 'x', { mimeType: 'text/csv' }],
  ['a media type that is not in an object', 'x', 'text/csv'],
  ['nothing', undefined, csv],
  ['an object', { a: 1 }, csv],
])('what is kept is refused with what `keep` takes: %s', async (_, source, described) => {
  const keeps = work('keeps', (__, { keep }) => keep(source as never, described as never))
  const { error } = await createExecutor({ tools: [keeps] }).execute({ name: 'keeps' })
  expect(error?.message).toMatch(/`bytes` and `keep` take text, a Uint8Array or a stream .* and \{ mediaType \}\./)
})
