import { createExecutor, shown, type ContentBlock, type Extension, type ToolResult } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { redact } from 'toolwright/middleware/redact'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { outcome, text, work } from './_calls.ts'
import { places } from './_journals.ts'

async function resultOf(returned: unknown, options: object = {}, use: Extension[] = []): Promise<ToolResult> {
  const executor = createExecutor({ tools: [work('t', () => returned, options)], use })
  return executor.execute({ name: 't', args: { key: 'hunter22' } }, { session: 's' })
}

async function kept({ artifact }: ToolResult): Promise<unknown> {
  return JSON.parse((await artifact?.asString()) ?? 'null')
}

const rows = [{ order: 1 }, { order: 2 }]
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const

describe('content that is shown beside a value', () => {
  test('is what the model reads, and the value is the artifact', async () => {
    const result = await resultOf(shown('2 orders', rows))
    expect(result.content).toEqual([{ type: 'text', text: '2 orders' }])
    expect(result.artifact?.toJSON()).toEqual({ kind: 'json', mediaType: 'application/json', byteLength: 25 })
    expect(await kept(result)).toEqual(rows)
    const blocks: ContentBlock[] = [{ type: 'text', text: 'a' }, image, { type: 'json', data: 1 }]
    expect((await resultOf(shown(blocks, null))).content).toMatchObject(blocks)
  })

  test('leaves the check to the value, which may be changed by it', async () => {
    const outputSchema = z.object({ count: z.coerce.number() })
    const good = await resultOf(shown('three', { count: '3' }), { outputSchema })
    expect([text(good), await kept(good)]).toEqual(['three', { count: 3 }])
    const bad = await resultOf(shown('none', { count: 'x' }), { outputSchema })
    expect(outcome(bad)).toBe('error completed E_INVALID_TOOL_RESULT')
  })

  test.each<[string, unknown]>([
    ['a value that is no JSON', shown('x', 1n)],
    ['no value', shown('x', undefined)],
    ['content that is no blocks', shown(5 as never, 1)],
    ['a block without a type', shown([{}] as never, 1)],
  ])('is refused with %s', async (_, returned) => {
    expect(outcome(await resultOf(returned))).toBe('error completed E_INVALID_TOOL_RESULT')
  })

  test('is whole beside a large value, whose handle it tells', async () => {
    const large = Array.from({ length: 4_000 }, (_, order) => ({ order }))
    const result = await resultOf(shown([{ type: 'text', text: '4,000 orders' }, image], large), {}, [artifactTools()])
    expect(result.content.slice(0, 2)).toEqual([{ type: 'text', text: '4,000 orders' }, image])
    expect(text(result)).toMatch(
      /\(\d+,\d+ bytes of application\/json, not shown\. All of it is kept as artifact_[0-9a-f]+\./,
    )
    expect(text(result)).toContain(result.handle)
    expect(text(result)).not.toContain('order":')
    expect(await kept(result)).toEqual(large)
  })

  test('is a preview if it is large itself, and both can be read on', async () => {
    const words = Array.from({ length: 4_000 }, (_, line) => `line ${line}`).join('\n')
    const executor = createExecutor({ tools: [work('t', () => shown(words, rows))], use: [artifactTools()] })
    const result = await executor.execute({ name: 't' })
    expect(text(result)).toContain('line 0\nline 1\n')
    expect(text(result).length).toBeLessThan(4_000)
    expect(await kept(result)).toEqual(rows)
    const [handle] = /artifact_[0-9a-f]+/.exec(text(result)) ?? []
    expect(handle).not.toBe(result.handle)
    const found = await executor.execute({ name: 'artifact_grep', args: { artifact: handle, pattern: 'line 3999' } })
    expect(text(found)).toContain('line 3999')
  })

  test('hides secrets in both', async () => {
    const result = await resultOf(shown('used hunter22', { key: 'hunter22', used: 'hunter22' }), { secrets: ['/key'] })
    expect(text(result)).toBe('used [secret]')
    expect(await kept(result)).toEqual({ key: '[secret]', used: '[secret]' })
  })

  test('goes to a program as the value', async () => {
    const executor = createExecutor({
      tools: [work('t', () => shown('2 orders', rows), { allowedCallers: ['program'] })],
    })
    const { content } = await executor.execute({ name: 't', program: { type: 'program' } })
    expect(content).toMatchObject([{ type: 'json', data: rows }])
  })

  test('passes through middleware', async () => {
    const result = await resultOf(shown('it is abc', { word: 'abc' }), {}, [redact({ patterns: [/abc/] })])
    expect([text(result), await kept(result)]).toEqual(['it is ***', { word: '***' }])
  })

  test.each(places)('is the same when the call is repeated, value and all (%s)', async (_, make) => {
    const tool = work('t', () => shown('xx', 12)) // of the same length: the one must not be taken for the other
    const executor = createExecutor({ tools: [tool], use: [make().open()] })
    const options = { invocationId: 'one', session: 's' }
    const results = [await executor.execute({ name: 't' }, options), await executor.execute({ name: 't' }, options)]
    for (const result of results) expect([text(result), await kept(result)]).toEqual(['xx', 12])
    await executor.close()
  })
})
