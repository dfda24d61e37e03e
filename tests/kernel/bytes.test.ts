import {
  BinaryArtifact,
  bytes,
  createExecutor,
  JsonArtifact,
  TextArtifact,
  tool,
  ToolFailure,
  type ToolResult,
} from 'toolwright'
import { TableArtifact } from 'toolwright/artifacts/table'
import { describe, expect, test } from 'vitest'
import { text } from './_calls.ts'

async function* pieces(count: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let index = 0; index < count; index++) yield new Uint8Array(1_000).fill(index)
}

function run(handler: () => unknown, options: object = {}): Promise<ToolResult> {
  const executor = createExecutor({ tools: [tool({ name: 'get', description: 'Gets', handler, ...options })] })
  return executor.execute({ name: 'get' }, { session: 's' })
}

describe('bytes of a media type', () => {
  test('that are no text are kept in the store, however few they are', async () => {
    const result = await run(() => bytes(new Uint8Array([37, 80, 68, 70]), { mediaType: 'application/pdf' }))
    expect(result.artifact).toBeInstanceOf(BinaryArtifact)
    expect(result.artifact).toMatchObject({ mediaType: 'application/pdf', handle: result.artifact?.handle })
    expect(text(result)).toContain(
      `4 bytes of application/pdf, not shown. All of it is kept as ${result.artifact?.handle}`,
    )
  })

  test('flow to the store without being whole in memory', async () => {
    const result = await run(() => bytes(pieces(1_000), { mediaType: 'image/tiff' }))
    expect(result.artifact?.mediaType).toBe('image/tiff')
    expect(result.artifact?.byteLength()).toBe(1_000_000)
  })

  test('that are text are shown, and kept once they are many', async () => {
    const few = await run(() => bytes('a,b\n1,2\n', { mediaType: 'text/csv' }))
    expect(few.artifact).toBeInstanceOf(TextArtifact)
    expect(few.artifact).toMatchObject({ mediaType: 'text/csv' })
    expect(text(few)).toContain('a,b\n1,2')
    const many = await run(() => bytes('a,b\n'.repeat(10_000), { mediaType: 'text/csv; charset=utf-8' }))
    expect(many.artifact).toBeInstanceOf(TextArtifact)
    expect(many.artifact?.handle).toBeDefined()
    expect(text(many)).toContain('40,000 bytes of text/csv; charset=utf-8')
  })

  test('that are JSON are read as JSON', async () => {
    const { artifact } = await run(() => bytes('{"a":1}', { mediaType: 'application/vnd.api+json' }))
    expect(artifact).toBeInstanceOf(JsonArtifact)
    expect(await (artifact as JsonArtifact).value()).toEqual({ a: 1 })
  })

  test('are of the class that the tool names', async () => {
    const csv = (count: number) => () => bytes('a,b\n1,2\n'.repeat(count), { mediaType: 'text/csv' })
    expect((await run(csv(1), { artifact: TableArtifact })).artifact).toBeInstanceOf(TableArtifact)
    expect((await run(csv(9_999), { artifact: TableArtifact })).artifact).toBeInstanceOf(TableArtifact)
  })

  test('whose stream fails end the call as an artifact that could not be kept', async () => {
    async function* broken(): AsyncGenerator<Uint8Array, void, undefined> {
      yield new Uint8Array(9)
      throw new Error('cut')
    }
    const result = await run(() => bytes(broken(), { mediaType: 'application/pdf' }))
    const error = { code: 'E_ARTIFACT', category: 'application', retryable: false }
    expect(result).toMatchObject({ status: 'error', effect: 'completed', error })
  })

  test.each([
    [9, new ToolFailure('cut', { category: 'network', retryable: true })],
    [99_999, Object.assign(new Error('cut'), { code: 'ECONNRESET' })],
  ])('whose stream fails after %i bytes keep what the failure says of itself', async (length, failure) => {
    async function* broken(): AsyncGenerator<Uint8Array, void, undefined> {
      yield new Uint8Array(length)
      throw failure
    }
    const result = await run(() => bytes(broken(), { mediaType: 'application/pdf' }))
    expect(result.error).toMatchObject({ code: 'E_ARTIFACT', category: 'network', retryable: true })
  })
})
