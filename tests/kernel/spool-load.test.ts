import type * as Toolwright from 'toolwright'
import { artifact, JsonArtifact, type ToolContext } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type * as Spool from '../../src/spool/spool.ts'
import { deferred, heard, names, outcome, text, turn, work } from './_calls.ts'

const spool = '../../src/spool/spool.ts'
const csv = { mediaType: 'text/csv' }
const large = 'line\n'.repeat(10_000)

afterEach(() => {
  vi.doUnmock(spool)
})

/** The package, of which nothing was loaded on demand before. */
async function fresh(): Promise<typeof Toolwright> {
  vi.resetModules()
  return import('toolwright')
}

/** Keeps the spool from loading, until it is unmocked. */
function away(): void {
  vi.doMock(spool, () => {
    throw new Error('Failed to fetch dynamically imported module')
  })
}

/** Lets the spool load only when it is told to, and counts how often it is made. */
function waiting(): { readonly load: () => void; readonly made: () => number } {
  const gate = deferred()
  let made = 0
  vi.doMock(spool, async () => {
    await gate.promise
    const actual = await vi.importActual<typeof Spool>(spool)
    const openSpool: typeof Spool.openSpool = (options) => {
      made++
      return actual.openSpool(options)
    }
    return { ...actual, openSpool }
  })
  return { load: gate.resolve, made: () => made }
}

/** A stream of text, which tells whether it was closed. */
function streaming(): { readonly stream: ReadableStream<string>; readonly isClosed: () => boolean } {
  let isClosed = false
  const stream = new ReadableStream<string>({
    pull: (controller) => controller.enqueue(large),
    cancel() {
      isClosed = true
    },
  })
  return { stream, isClosed: () => isClosed }
}

const sources = [work('large', () => large), work('small', () => ({ rows: [1, 2] }))]
const rows = z.object({ rows: z.string().transform(artifact(JsonArtifact)) })
const counts = work('counts', ({ rows: given }: { rows: JsonArtifact }) => given.length(), {
  inputSchema: rows,
})

describe('without the spool', () => {
  test('a small result is kept, shown, described and read', async () => {
    away()
    const { createExecutor } = await fresh()
    const executor = createExecutor({ tools: sources, use: [artifactTools(), memoryJournal()] })
    const result = await executor.execute({ name: 'small' }, { session: 's', invocationId: 'one' })
    expect(JSON.parse((await result.artifact?.asString()) ?? '')).toEqual({ rows: [1, 2] })
    expect(result.artifact?.toJSON()).toMatchObject({ kind: 'json', byteLength: 14 })
    expect((await executor.execute({ name: 'small' }, { session: 's', invocationId: 'one' })).status).toBe('ok')
    expect(executor.artifacts.list('s')).toEqual([])
    expect(executor.tools().map(({ name }) => name)).toContain('small')
    await executor.close()
  })
})

describe('a spool that does not load', () => {
  test('fails the call with E_INTERNAL, which may not be tried again, and the model hears that the tool ran', async () => {
    away()
    const { createExecutor } = await fresh()
    const executor = createExecutor({ tools: sources })
    const events = heard(executor)
    const result = await executor.execute({ name: 'large' })
    expect(outcome(result)).toBe('error completed E_INTERNAL')
    expect(result.error?.retryable).toBe(false)
    expect(text(result)).toContain('The tool ran, but its result could not be kept')
    expect(names(events)).toBe('call:received tool:start tool:end call:settled')
    expect((await executor.execute({ name: 'small' })).status).toBe('ok')
    expect(executor.artifacts.list(executor.session)).toEqual([])
    vi.doUnmock(spool)
    const { status, handle = '' } = await executor.execute({ name: 'large' })
    expect(status).toBe('ok')
    expect(await (await executor.artifacts.open(handle, executor.session)).asString()).toBe(large)
  })

  test('fails a call without an effect with E_INTERNAL, which may be tried again', async () => {
    away()
    const { createExecutor } = await fresh()
    const executor = createExecutor({ tools: [work('reads', () => large, { traits: { readonly: true } })] })
    const result = await executor.execute({ name: 'reads' })
    expect([outcome(result), result.error?.retryable]).toEqual(['error none E_INTERNAL', true])
  })

  test('closes the stream that it cannot keep, as a result and beside one', async () => {
    away()
    const { createExecutor } = await fresh()
    const [result, beside] = [streaming(), streaming()]
    const keeps = work('keeps', (_, { keep }) => keep(beside.stream as never, csv).catch((error: unknown) => error))
    const executor = createExecutor({ tools: [work('streams', () => result.stream), keeps] })
    expect(outcome(await executor.execute({ name: 'streams' }))).toBe('error completed E_INTERNAL')
    await executor.execute({ name: 'keeps' })
    expect([result.isClosed(), beside.isClosed()]).toEqual([true, true])
  })

  test('fails what asks for an artifact, and it may ask again', async () => {
    away()
    const { createExecutor } = await fresh()
    const executor = createExecutor({ tools: [counts, work('rows', () => Array.from({ length: 9_000 }, () => 1))] })
    const args = { rows: 'artifact_x' }
    expect(outcome(await executor.execute({ name: 'counts', args }))).toBe('error none E_INTERNAL')
    await expect(executor.artifacts.open('artifact_x', 's')).rejects.toMatchObject({ code: 'E_INTERNAL' })
    vi.doUnmock(spool)
    expect(outcome(await executor.execute({ name: 'counts', args }))).toBe('error none E_INVALID_TOOL_ARGS')
    const { handle } = await executor.execute({ name: 'rows' })
    expect(text(await executor.execute({ name: 'counts', args: { rows: handle } }))).toBe('9000')
  })
})

describe('while the spool loads', () => {
  test('calls, handlers and hosts wait for the same one', async () => {
    const { load, made } = waiting()
    const { createExecutor } = await fresh()
    const keeps = work('keeps', (_, { keep }) => keep('a,b', csv))
    const executor = createExecutor({ tools: [...sources, keeps] })
    const settled = ['large', 'keeps', 'large'].map((name) => executor.execute({ name }, { session: 's' }))
    const opened = executor.artifacts.open('artifact_x', 's')
    opened.catch(() => {})
    await turn()
    expect(executor.artifacts.list('s')).toEqual([])
    load()
    expect((await Promise.all(settled)).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
    await expect(opened).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    expect(executor.artifacts.list('s')).toHaveLength(3)
    expect(made()).toBe(1)
  })

  test('a call that is cancelled, out of time or closed ends at once, and its stream is closed', async () => {
    const { load } = waiting()
    const { createExecutor } = await fresh()
    const streams = [streaming(), streaming(), streaming()]
    let count = 0
    const tools = [
      work('streams', () => streams[count++]?.stream),
      work('hurries', () => streams[count++]?.stream, { timeout: 20 }),
    ]
    const executor = createExecutor({ tools })
    const ended = [executor.execute({ name: 'hurries' })]
    const controller = new AbortController()
    ended.push(executor.execute({ name: 'streams' }, { signal: controller.signal }))
    ended.push(executor.execute({ name: 'streams' }))
    await expect.poll(() => count).toBe(3)
    expect(outcome((await ended[0]) ?? expect.fail())).toBe('timed_out completed E_TOOL_TIMEOUT')
    controller.abort()
    expect(outcome((await ended[1]) ?? expect.fail())).toBe('cancelled completed E_TOOL_CANCELLED')
    await executor.close()
    expect(outcome((await ended[2]) ?? expect.fail())).toBe('cancelled completed E_TOOL_CANCELLED')
    expect(streams.map(({ isClosed }) => isClosed())).toEqual([true, true, true])
    load()
    await turn()
    expect(executor.artifacts.list(executor.session)).toEqual([])
  })

  test('nothing is kept for a handler whose call has settled', async () => {
    const { load } = waiting()
    const { createExecutor } = await fresh()
    const { stream, isClosed } = streaming()
    let late: Promise<unknown> | undefined
    const leaves = work('leaves', (_, { keep }: ToolContext) => {
      late = keep(stream as never, csv).catch((error: unknown) => error)
      return 'done'
    })
    const executor = createExecutor({ tools: [leaves] })
    expect((await executor.execute({ name: 'leaves' }, { session: 's' })).status).toBe('ok')
    load()
    expect(await late).toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('settled') })
    expect(isClosed()).toBe(true)
    expect(executor.artifacts.list('s')).toEqual([])
  })
})

test('a repeated call gets its large result from the records, and so does another executor over the same store', async () => {
  const { createExecutor, memoryStore } = await fresh()
  const use = [memoryJournal(), { store: memoryStore() }]
  const named = { session: 's', invocationId: 'one' }
  const first = await createExecutor({ tools: sources, use }).execute({ name: 'large' }, named)
  const second = await createExecutor({ tools: sources, use }).execute({ name: 'large' }, named)
  expect(second.handle).toBe(first.handle)
  expect(await second.artifact?.tail(1)).toBe('line')
})

test('an artifact whose reader does not load can be asked again', async () => {
  away()
  const { createExecutor, TextArtifact } = await fresh()
  const { artifact: given } = await createExecutor({ tools: [work('t', () => 'a\nb\n')] }).execute({ name: 't' })
  expect(given).toBeInstanceOf(TextArtifact)
  await expect(given?.lineCount()).rejects.toMatchObject({ code: 'E_INTERNAL', retryable: true })
  await expect(given?.lines().next()).rejects.toMatchObject({ code: 'E_INTERNAL', retryable: true })
  expect(await given?.asString()).toBe('a\nb\n')
  vi.doUnmock(spool)
  expect(await Promise.all([given?.lineCount(), given?.head(1), given?.tail(1)])).toEqual([2, 'a', 'b'])
})
