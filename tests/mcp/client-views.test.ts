// What an application sends to the views of MCP Apps, held against the schema that the extension itself publishes.
import { createExecutor, tool, type ToolCall, type ToolResult } from 'toolwright'
import { viewMessages, type ViewMessage } from 'toolwright/mcp/client'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fileOf, missing } from '../servers/installed.ts'

if (missing !== undefined) console.warn(`The messages to views are not held against their schema: ${missing}`)

const board = tool({
  name: 'board',
  description: 'Shows a board',
  inputSchema: { type: 'object', properties: { month: { type: 'integer' } } } as const,
  ui: { resourceUri: 'ui://board' },
  requiresConfirmation: ({ month }) => month === 0,
  timeout: 60_000,
  handler: ({ month }, { signal }) => {
    if (month === 13) throw new Error('There is no such month')
    if (month === 99)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('late'))))
    return { month, sales: 12 }
  },
})
const executor = createExecutor({ tools: [board] })

async function shown(call: ToolCall, signal?: AbortSignal): Promise<ViewMessage[]> {
  return [...viewMessages(call, await executor.execute(call, { signal })).messages]
}

const methods = (messages: readonly ViewMessage[]): string[] => messages.map(({ method }) => method.slice(17))

describe('a view', () => {
  test.each([
    ['nothing', undefined, undefined],
    ['the result alone', { status: 'ok' }, undefined],
    ['the result before the call', { status: 'ok' }, { name: 'board' }],
  ])('is made of a call and its result, and not of %s', (_, call, result) => {
    expect(() => viewMessages(call as never, result as never)).toThrow(
      '`viewMessages` takes a call and its result: viewMessages(call, await executor.execute(call)).',
    )
  })

  test('is sent the args, then the result, also where the tool failed', async () => {
    expect(methods(await shown({ name: 'board', args: { month: 5 } }))).toEqual(['tool-input', 'tool-result'])
    const failed = await shown({ name: 'board', args: { month: 13 } })
    expect(methods(failed)).toEqual(['tool-input', 'tool-result'])
    expect(failed[1]?.params).toMatchObject({ isError: true, content: [{ type: 'text' }] })
  })

  test('is told that a call was given up', async () => {
    const controller = new AbortController()
    const pending = shown({ name: 'board', args: { month: 99 } }, controller.signal)
    controller.abort()
    const messages = await pending
    expect(methods(messages)).toEqual(['tool-input', 'tool-cancelled'])
    expect(messages[1]?.params).toEqual({ reason: 'cancelled' })
  })

  test('is told nothing of a call that waits, and of its outcome once there is one', async () => {
    const call = { name: 'board', args: { month: 0 } }
    const waiting = await executor.execute(call)
    expect(methods(viewMessages(call, waiting).messages)).toEqual(['tool-input'])
    const denied = await executor.calls.decide(waiting.token ?? '', 'deny')
    expect(viewMessages(call, denied).messages[1]).toMatchObject({ params: { reason: 'denied' } })
  })

  test.each([undefined, '', ' ', {}])('is sent no args as an empty object: %j', async (args) => {
    expect((await shown({ name: 'board', args }))[0]?.params).toEqual({ arguments: {} })
  })

  test.each(['[1]', '{"month":', '7', [1], null, 7n, () => {}])(
    'is sent nothing of args that are none: %s',
    async (args) => {
      const [first] = await shown({ name: 'board', args })
      expect(['{}', '{"arguments":{}}']).toContain(JSON.stringify(first?.params))
    },
  )

  test('is sent a copy, which nobody else changes', () => {
    const args = { month: 5 }
    const [first] = viewMessages({ name: 'board', args }, { status: 'waiting' } as ToolResult).messages
    args.month = 6
    expect(first?.params).toEqual({ arguments: { month: 5 } })
  })
})

describe.skipIf(missing !== undefined)('every message to a view', () => {
  test('fits the published schema', async () => {
    const file = fileOf('@modelcontextprotocol/ext-apps', 'dist', 'src', 'generated', 'schema.json')
    const { $defs } = JSON.parse(readFileSync(file, 'utf8')) as { readonly $defs: Record<string, object> }
    const aborted = AbortSignal.abort()
    const messages = [
      ...(await shown({ name: 'board', args: { month: 5 } })),
      ...(await shown({ name: 'board', args: '{"month":13}' })),
      ...(await shown({ name: 'board', args: [1] })),
      ...(await shown({ name: 'board' }, aborted)),
    ]
    const names = { 'tool-input': 'ToolInput', 'tool-result': 'ToolResult', 'tool-cancelled': 'ToolCancelled' } as const
    for (const { jsonrpc, method, params } of messages) {
      expect(jsonrpc).toBe('2.0')
      const name = names[method.slice(17) as keyof typeof names]
      const schema = jsonSchema($defs[`McpUi${name}Notification`] as never)
      expect(await schema['~standard'].validate({ method, params })).not.toHaveProperty('issues')
    }
    expect(new Set(methods(messages)).size).toBe(3)
  })
})
