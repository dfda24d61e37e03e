import { createExecutor, tool, type Format } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { expect, test } from 'vitest'
import { z } from 'zod'

const place = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('city'), name: z.string(), within: z.tuple([z.number(), z.literal(['km', 'mi'])]) }),
  z.object({ kind: z.literal('point'), at: z.record(z.string(), z.number()) }),
])

const search = tool({
  name: 'search_flats',
  description: 'Finds flats to rent',
  inputSchema: z.object({
    place,
    rent: z.number().int().positive().max(9_999),
    note: z.string().nullish().describe('null clears the note of the last search'),
    tags: z.record(z.string(), z.array(z.string())).optional(),
  }),
  handler: (input) => input,
})

/** What the user wants, as the tool takes it. */
const wanted = {
  place: { kind: 'city', name: 'Oslo', within: [5, 'km'] },
  rent: 900,
  note: null,
  tags: { pets: ['cat'] },
}

// What each model writes for the schema that it is shown.
const fields = { kind: 'city', name: 'Oslo', within: { item1: 5, item2: 'km' } }
const tags = [{ key: 'pets', value: ['cat'] }]
const forOpenAi = JSON.stringify({ place: fields, rent: 900, note: { value: null }, tags })
const forAnthropic = { place: fields, rent: 900, note: null, tags }

const conversations: readonly (readonly [Format, message: unknown])[] = [
  [
    anthropic({ strict: true }),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'search_flats', input: forAnthropic }] },
  ],
  [
    openai({ strict: true }),
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'search_flats', arguments: forOpenAi } }],
    },
  ],
  [
    openaiResponses({ strict: true }),
    [{ type: 'function_call', call_id: 'call_1', name: 'search_flats', arguments: forOpenAi }],
  ],
  [
    gemini({ parameters: 'openapi' }),
    { role: 'model', parts: [{ functionCall: { name: 'search_flats', args: forAnthropic } }] },
  ],
  [
    aiSdk({ dialect: 'xai' }),
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'search_flats', input: forAnthropic }],
    },
  ],
]

test('one call of five providers, each in the shape of its own schema, is one call', async () => {
  const executor = createExecutor({ tools: [search] })
  const direct = await executor.execute({ name: 'search_flats', args: wanted })
  expect(direct.status).toBe('ok')
  for (const [format, message] of conversations) {
    expect(format.report?.(executor.tools())[0]?.losses.length, format.name).toBeGreaterThan(0)
    const calls = format.calls(message, executor.tools())
    expect(calls, format.name).toMatchObject([{ name: 'search_flats', args: wanted }])
    const [result] = await executor.executeToolCalls(calls)
    expect([result?.status, result?.callId], format.name).toEqual(['ok', direct.callId])
    // Without the tools, the args stay as the model wrote them, and the tool does not take them.
    const [raw] = await executor.executeToolCalls(format.calls(message))
    expect(raw?.error?.code, format.name).toBe('E_INVALID_TOOL_ARGS')
  }
  await executor.close()
})
