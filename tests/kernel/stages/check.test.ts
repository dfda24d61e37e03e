import { content, createExecutor, json } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { data, never, outcome, soon, text, work } from '../_calls.ts'

const outputSchema = z.object({ a: z.number(), b: z.number().default(2) })

async function run(
  handler: () => unknown,
  options: object = {},
): Promise<{ line: string; data: unknown; text: string }> {
  const result = await soon(
    createExecutor({ tools: [work('t', handler, { outputSchema, ...options })], timeout: 50 }).execute({ name: 't' }),
  )
  return { line: outcome(result), data: data(result), text: text(result) }
}

describe('check', () => {
  test('lets out what the schema gives back', async () => {
    expect(await run(() => ({ a: 1, more: 1 }))).toMatchObject({ line: 'ok completed', data: { a: 1, b: 2 } })
    expect(await run(() => json({ a: 1 }))).toMatchObject({ line: 'ok completed', data: { a: 1, b: 2 } })
  })

  test('keeps the mark of JSON, so that what looks like text or blocks stays data', async () => {
    const any = { outputSchema: z.any() }
    const rows = [{ type: 'text', text: 'a row of data' }]
    expect(await run(() => json(rows), any)).toMatchObject({ line: 'ok completed', data: rows })
    expect(await run(() => json('words'), any)).toMatchObject({ line: 'ok completed', data: 'words' })
    expect(await run(() => rows, any)).toMatchObject({ line: 'ok completed', data: undefined, text: 'a row of data' })
  })

  test.each<[string, () => unknown]>([
    ['another type', () => ({ a: 'x' })],
    ['nothing', () => undefined],
    ['text', () => 'text'],
    ['a value of another type in a mark', () => json({ a: 'x' })],
    ['content without a value', () => content([{ type: 'text', text: 'x' }])],
    [
      'content with two values',
      () =>
        content([
          { type: 'json', data: { a: 1 } },
          { type: 'json', data: { a: 1 } },
        ]),
    ],
    ['content with a wrong value', () => content([{ type: 'json', data: { a: 'x' } }])],
  ])('refuses %s: the tool has run, and its result is not one', async (_, handler) => {
    expect((await run(handler)).line).toBe('error completed E_INVALID_TOOL_RESULT')
  })

  test('looks into content by its one value', async () => {
    const blocks = [
      { type: 'text' as const, text: 'Sum' },
      { type: 'json' as const, data: { a: 1 } },
    ]
    expect(await run(() => content(blocks))).toMatchObject({ line: 'ok completed' })
  })

  test('names the place', async () => {
    expect((await run(() => ({ a: 'x' }))).text).toContain('result.a: ')
  })

  test('a schema that breaks or never answers', async () => {
    const own = (validate: () => unknown): object => ({ '~standard': { version: 1, vendor: 'own', validate } })
    const throwing = own(() => {
      throw new Error('no')
    })
    expect((await run(() => 1, { outputSchema: throwing })).line).toBe('error completed E_VALIDATOR_FAILED')
    expect((await run(() => 1, { outputSchema: own(() => never) })).line).toMatch(
      /^timed_out (completed|unknown) E_TOOL_TIMEOUT$/,
    )
  })

  test('raw JSON Schema is one too', async () => {
    const raw = { outputSchema: { type: 'array' } }
    expect((await run(() => [1], raw)).line).toBe('ok completed')
    expect((await run(() => ({}), raw)).line).toBe('error completed E_INVALID_TOOL_RESULT')
  })
})
