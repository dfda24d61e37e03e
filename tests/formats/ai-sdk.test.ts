import { aiSdk } from 'toolwright/formats/ai-sdk'
import { describe, expect, test } from 'vitest'
import { formatConformance, type ReadAnswer } from '../conformance/formats.ts'
import { messages } from './_messages.ts'
import { failure, forecast, forPeople, hosted, now, pixel, resultOf, textResult } from './_tools.ts'

interface Reply {
  content: { toolCallId: string; toolName: string; output: { type: string; value: unknown } }[]
}

formatConformance('ai-sdk', aiSdk, {
  own: messages['ai-sdk']!,
  foreign: Object.entries(messages).flatMap(([name, all]) => (name === 'ai-sdk' ? [] : all)),
  answersIn: (reply) =>
    (reply as Reply).content.map(({ toolCallId: id, toolName, output }): ReadAnswer => ({
      id,
      text: String(output.value),
      failed: output.type.startsWith('error-'),
      repeated: toolName,
    })),
  refused: { libraryOptions: { 'ai-sdk': { type: 'web_search' } } },
  asking: (calls) => ({
    role: 'assistant',
    content: calls.map(({ id: toolCallId, name: toolName, args: input }) => ({
      type: 'tool-call',
      toolCallId,
      toolName,
      input,
    })),
  }),
})

describe('the definitions of ai-sdk', () => {
  test('are those that a language model takes', () => {
    expect(aiSdk().definitions([forecast, now, forPeople])).toEqual([
      {
        type: 'function',
        name: 'get_forecast',
        description: 'Weather forecast for a city',
        inputSchema: forecast.describe().inputSchema,
        inputExamples: [{ input: { city: 'Oslo', days: 3 } }],
        strict: true,
      },
      { type: 'function', name: 'now', description: 'The time', inputSchema: now.describe().inputSchema },
    ])
  })

  test('of tools that a provider runs are their options', () => {
    const search = { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} }
    const tools = [hosted({ libraryOptions: { 'ai-sdk': search } }), hosted({})]
    expect(aiSdk().definitions(tools)).toEqual([search])
    expect(aiSdk({ version: 6 }).definitions(tools)).toEqual([search])
    expect(aiSdk({ version: 5 }).definitions(tools)).toEqual([{ ...search, type: 'provider-defined' }])
  })
})

describe('the calls of ai-sdk', () => {
  test('a result whose fields are getters, some of which throw, is read', () => {
    class Result {
      readonly finishReason = 'tool-calls'
      get toolCalls(): object[] {
        return [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input: {} }]
      }
      get toolResults(): unknown[] {
        return []
      }
      get output(): never {
        throw new Error('No output generated.')
      }
    }
    expect(aiSdk().detect(new Result())).toBe(true)
    expect(aiSdk().calls(new Result())).toEqual([{ id: 'call_1', name: 'now', args: {} }])
  })

  test('a call that the provider executes is not ours before its result is there either', () => {
    const content = [
      { type: 'tool-call', toolCallId: 'ws_1', toolName: 'web_search', input: {}, providerExecuted: true },
      { type: 'tool-call', toolCallId: 'a', toolName: 'now', input: {}, providerExecuted: false },
    ]
    expect(aiSdk().calls({ role: 'assistant', content })).toEqual([{ id: 'a', name: 'now', args: {} }])
  })

  test('the text that a language model gives as input stays text', () => {
    const content = [{ type: 'tool-call', toolCallId: 'a', toolName: 'now', input: '{"zone":"CET"}' }]
    const result = { content, finishReason: { unified: 'tool-calls' } }
    expect(aiSdk().calls(result)).toEqual([{ id: 'a', name: 'now', args: '{"zone":"CET"}' }])
  })
})

describe('a conversation of ai-sdk', () => {
  test('asks for a call whose id an earlier call had, which was answered', () => {
    const call = (toolName: string) => ({ type: 'tool-call', toolCallId: 'call_0', toolName, input: {} })
    const answer = { type: 'tool-result', toolCallId: 'call_0', toolName: 'now', output: { type: 'text', value: 'x' } }
    const conversation = [
      { role: 'assistant', content: [call('now')] },
      { role: 'tool', content: [answer] },
      { role: 'assistant', content: [call('run_code')] },
    ]
    expect(aiSdk().calls(conversation)).toEqual([{ id: 'call_0', name: 'run_code', args: {} }])
    expect(aiSdk().results([textResult('call_0', '1')], conversation)).toHaveProperty('content.0.toolName', 'run_code')
    expect(aiSdk().calls([...conversation, { role: 'tool', content: [answer] }])).toEqual([])
  })
})

describe('the results of ai-sdk', () => {
  test('are one tool message, each with an output of its kind', () => {
    const results = [
      textResult('a', 'Sunny'),
      resultOf({ id: 'b', content: [{ type: 'json', data: { temperature: 21 } }] }),
      failure('c', 'RangeError: too far'),
      resultOf({ id: 'd', status: 'error', isError: true, content: [{ type: 'json', data: { code: 7 } }] }),
    ]
    expect(aiSdk().results(results)).toEqual({
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'a', toolName: 'get_forecast', output: { type: 'text', value: 'Sunny' } },
        {
          type: 'tool-result',
          toolCallId: 'b',
          toolName: 'get_forecast',
          output: { type: 'json', value: { temperature: 21 } },
        },
        {
          type: 'tool-result',
          toolCallId: 'c',
          toolName: 'get_forecast',
          output: { type: 'error-text', value: 'RangeError: too far' },
        },
        {
          type: 'tool-result',
          toolCallId: 'd',
          toolName: 'get_forecast',
          output: { type: 'error-json', value: { code: 7 } },
        },
      ],
    })
  })

  test('have the name that was called, where it was an alias', () => {
    const message = {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'weather', input: {} }],
    }
    expect(aiSdk().results([textResult('a', 'x')], message)).toHaveProperty('content.0.toolName', 'weather')
  })

  test.each([
    [5, { type: 'media', mediaType: 'image/png', data: pixel }],
    [6, { type: 'image-data', mediaType: 'image/png', data: pixel }],
    [7, { type: 'file', mediaType: 'image/png', data: { type: 'data', data: pixel } }],
  ] as const)('carry pictures as version %i writes them', (version, part) => {
    const result = resultOf({
      id: 'a',
      content: [
        { type: 'text', text: 'A map:' },
        { type: 'image', data: pixel, mimeType: 'image/png' },
      ],
    })
    expect(aiSdk({ version }).results([result])).toHaveProperty('content.0.output', {
      type: 'content',
      value: [{ type: 'text', text: 'A map:' }, part],
    })
  })

  test('carry the contents of resources as files with their names', () => {
    const resource = { uri: 'file:///tmp/r.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' }
    const result = resultOf({ id: 'a', content: [{ type: 'resource', resource }] })
    const value = (version: 6 | 7) => (aiSdk({ version }).results([result]) as Reply).content[0]?.output.value
    expect(value(6)).toEqual([{ type: 'file-data', mediaType: 'application/pdf', data: 'JVBERg==', filename: 'r.pdf' }])
    expect(value(7)).toEqual([
      { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'JVBERg==' }, filename: 'r.pdf' },
    ])
  })
})
