import { createExecutor, ToolFailure, type ToolResult } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'
import { work } from './_calls.ts'

const executor = createExecutor({
  tools: [
    work('small', () => ({ a: 1 })),
    work('large', () => 'line\n'.repeat(8_000)),
    work('fails', () => {
      throw new ToolFailure('No such order.', { recommendations: ['List the orders.'] })
    }),
    work('waits', () => 1, { requiresConfirmation: true }),
    work('answer', () => 1, { type: 'output', handler: undefined }),
  ],
})
const results = await executor.executeToolCalls(
  ['small', 'large', 'fails', 'waits', 'answer'].map((name) => ({ id: `call_${name}`, name, args: { b: 2 } })),
)

/** A result after it was stored as JSON. */
function stored(result: ToolResult): ToolResult {
  return JSON.parse(JSON.stringify(result)) as ToolResult
}

describe('the JSON of a result', () => {
  const always = ['callId', 'content', 'effect', 'id', 'invocationId', 'isError', 'status', 'toolName']

  test.each([
    ['small', ['artifact']],
    ['large', ['artifact', 'handle']],
    ['fails', ['error']],
    ['waits', ['expiresAt']],
    ['answer', ['artifact', 'output']],
  ])('has these members and no other: %s', (name, more) => {
    const result = results.find(({ toolName }) => toolName === name)
    if (result === undefined) throw new Error('there is no such result')
    expect(Object.keys(stored(result)).toSorted()).toEqual([...always, ...more].toSorted())
    expect(JSON.stringify(result)).not.toContain(result.token ?? 'a token')
  })

  test.each([aiSdk, anthropic, gemini, mcp, openai, openaiResponses].map((make) => [make().name, make()] as const))(
    'gives the same reply as the result itself: %s',
    (_, format) => {
      for (const result of results) {
        expect(format.results([stored(result)])).toEqual(format.results([result]))
      }
    },
  )
})
