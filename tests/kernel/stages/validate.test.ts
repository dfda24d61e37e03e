import { createExecutor, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { data, heard, names, outcome, pause, text } from '../_calls.ts'

const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number().default(10) }),
  handler: ({ a, b }) => a + b,
})

describe('validate', () => {
  test('goes on with what the schema gives back: defaults, transforms, no unknown keys', async () => {
    const inputSchema = z.object({ city: z.string().trim().toLowerCase(), days: z.number().default(3) })
    const echo = tool({ name: 'echo', description: 'd', inputSchema, handler: (input) => input })
    const result = await createExecutor({ tools: [echo] }).execute({ name: 'echo', args: { city: ' OSLO ', more: 1 } })
    expect(data(result)).toEqual({ city: 'oslo', days: 3 })
  })

  test('refuses what does not fit, tells where, and does not run', async () => {
    const executor = createExecutor({ tools: [add] })
    const events = heard(executor)
    const result = await executor.execute({ name: 'add', args: { a: '1' } })
    expect(outcome(result)).toBe('error none E_INVALID_TOOL_ARGS')
    expect(text(result)).toMatch(/args\.a: /)
    expect(text(result)).toContain('Recommendations: ')
    expect(result.error?.issues).toMatchObject([{ path: ['a'] }])
    expect(result.callId).toMatch(/^[0-9a-f]{64}$/)
    expect(names(events)).toBe('call:received call:settled')
  })

  test('a tool without a schema takes no arguments', async () => {
    const now = tool({ name: 'now', description: 'd', handler: () => 1 })
    const executor = createExecutor({ tools: [now] })
    expect((await executor.execute({ name: 'now' })).status).toBe('ok')
    expect((await executor.execute({ name: 'now', args: {} })).status).toBe('ok')
    for (const args of [{ a: 1 }, [], 'null', '5']) {
      expect((await executor.execute({ name: 'now', args })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    }
  })

  test('raw JSON Schema is validated too, from the first call on', async () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } as const
    const raw = tool({ name: 'raw', description: 'd', inputSchema, handler: ({ a }) => a })
    const executor = createExecutor({ tools: [raw] })
    const [good, bad] = await executor.executeToolCalls([
      { name: 'raw', args: { a: 1 } },
      { name: 'raw', args: { a: 'x' } },
    ])
    expect([good?.status, bad?.error?.code]).toEqual(['ok', 'E_INVALID_TOOL_ARGS'])
  })

  test('secrets are in no word of the refusal', async () => {
    const inputSchema = {
      type: 'object',
      properties: { password: { const: 'right' }, nested: { properties: { pin: { enum: ['1'] } } } },
    }
    const login = tool({
      name: 'login',
      description: 'd',
      inputSchema,
      secrets: ['/password', '/nested/pin'],
      handler: () => 1,
    } as never)
    const executor = createExecutor({ tools: [login] })
    const events = heard(executor)
    const result = await executor.execute({ name: 'login', args: { password: 'canary', nested: { pin: 'canary' } } })
    expect(outcome(result)).toBe('error none E_INVALID_TOOL_ARGS')
    expect(JSON.stringify([result, result.error?.message, result.error?.issues, events])).not.toContain('canary')
  })

  test('where something is asked about the call, nobody outside holds what was decided on', async () => {
    const seen: unknown[] = []
    const args = { a: { b: 1 } }
    const inputSchema = { type: 'object' } as const
    const t = tool({
      name: 't',
      description: 'd',
      inputSchema,
      handler: (input) => void seen.push(JSON.stringify(input)),
    })
    const policy = {
      name: 'slow',
      async decide({ input, args: raw }: { input: unknown; args: unknown }) {
        await pause(5)
        seen.push(JSON.stringify(input), JSON.stringify(raw))
      },
    }
    const executor = createExecutor({ tools: [t], use: [{ policies: [policy] }] })
    const running = executor.execute({ name: 't', args })
    args.a.b = 2
    await running
    expect(seen).toEqual(['{"a":{"b":1}}', '{"a":{"b":1}}', '{"a":{"b":1}}'])
  })
})
