import { createExecutor, tool, type ToolCall, type ToolDefinition, type ToolResult } from 'toolwright'
import { has, same } from '../_assert.ts'
import type { Case } from '../run.ts'

interface AnyFormat {
  definitions(tools: readonly ToolDefinition[]): unknown
  calls(message: unknown): ToolCall[]
  results(results: readonly ToolResult[], message: unknown): unknown
}

const args = { a: 1, b: 2 }
const text = JSON.stringify(args)

/** Each format, and a message of its provider. */
const providers: readonly (readonly [name: string, load: () => Promise<unknown>, message: unknown])[] = [
  [
    'anthropic',
    async () => (await import('toolwright/formats/anthropic')).anthropic({ envelope: true }),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'add', input: args }] },
  ],
  [
    'openai',
    async () => (await import('toolwright/formats/openai')).openai(),
    { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name: 'add', arguments: text } }] },
  ],
  [
    'openai-responses',
    async () => (await import('toolwright/formats/openai-responses')).openaiResponses(),
    { output: [{ type: 'function_call', call_id: 'x', name: 'add', arguments: text }] },
  ],
  [
    'gemini',
    async () => (await import('toolwright/formats/gemini')).gemini(),
    { role: 'model', parts: [{ functionCall: { id: 'x', name: 'add', args } }] },
  ],
  [
    'ai-sdk',
    async () => (await import('toolwright/formats/ai-sdk')).aiSdk(),
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'x', toolName: 'add', input: args }] },
  ],
  [
    'mcp',
    async () => (await import('toolwright/formats/mcp')).mcp(),
    { method: 'tools/call', params: { name: 'add', arguments: args } },
  ],
]

export const formats: readonly Case[] = providers.map(([name, load, message]) => ({
  name: `format: ${name}, there and back`,
  async run() {
    const executor = createExecutor({ tools: [tool('add', ({ a, b }: typeof args) => ({ sum: a + b }))] })
    const format = (await load()) as AnyFormat
    const calls = format.calls(message)
    same(calls.length, 1)
    const reply = JSON.stringify(format.results(await executor.executeToolCalls(calls), message))
    has(reply.includes('sum'), reply)
    if (name === 'anthropic') has(reply.includes('untrusted'), `the envelope: ${reply}`)
    has(JSON.stringify(format.definitions(executor.tools())).includes('add'), 'the definition')
  },
}))
