import { tool } from 'toolwright'
import { openai } from 'toolwright/formats/openai'
import { describe, expect, test } from 'vitest'
import { formatConformance, type ReadAnswer } from '../conformance/formats.ts'
import { messages } from './_messages.ts'
import { failure, forecast, forPeople, hosted, now, pixel, resultOf, textResult } from './_tools.ts'

type Reply = { role: string; tool_call_id?: string; content: string }[]

formatConformance('openai', openai, {
  own: messages['openai']!,
  foreign: Object.entries(messages).flatMap(([name, all]) => (name === 'openai' ? [] : all)),
  answersIn: (reply) =>
    (reply as Reply).map(({ tool_call_id: id, content }): ReadAnswer => ({
      id,
      text: content,
      failed: content.startsWith('Error: '),
    })),
  asking: (calls) => ({
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
  }),
})

describe('the definitions of openai', () => {
  test('are functions, with strict only where the author says so and the schema as it is', () => {
    expect(openai().definitions([forecast, now, forPeople])).toEqual([
      {
        type: 'function',
        function: {
          name: 'get_forecast',
          description: 'Weather forecast for a city',
          parameters: forecast.describe().inputSchema,
          strict: true,
        },
      },
      { type: 'function', function: { name: 'now', description: 'The time', parameters: now.describe().inputSchema } },
    ])
  })

  test('of tools that take free text are custom', () => {
    const run = tool({
      name: 'run_code',
      description: 'Runs code',
      inputSchema: { type: 'object', properties: { input: { type: 'string' } } },
      providerOptions: { openai: { type: 'custom', format: { type: 'text' } } },
      handler: () => null,
    })
    expect(openai().definitions([run])).toEqual([
      { type: 'custom', custom: { name: 'run_code', description: 'Runs code', format: { type: 'text' } } },
    ])
  })

  test('of tools that OpenAI runs are their options', () => {
    const search = { type: 'web_search' }
    expect(openai().definitions([hosted({ providerOptions: { openai: search } }), hosted({})])).toEqual([search])
  })
})

describe('the calls of openai', () => {
  test('pieces that are no calls are refused by name, not passed over', () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [null, { id: 'call_1', type: 'function' }, { id: 7, function: {} }],
    }
    expect(openai().calls(message)).toEqual([{ name: '' }, { id: 'call_1', name: '' }, { id: 7, name: '' }])
  })

  test('a message that was put together from a stream without its role is read too', () => {
    const message = { tool_calls: [{ id: 'a', type: 'function', function: { name: 'now', arguments: '{}' } }] }
    expect(openai().calls(message)).toEqual([{ id: 'a', name: 'now', args: '{}' }])
  })

  test('arguments that a lenient server gives as a value stay a value', () => {
    const message = {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'a', function: { name: 'now', arguments: { x: 1 } } }],
    }
    expect(openai().calls(message)).toEqual([{ id: 'a', name: 'now', args: { x: 1 } }])
  })
})

describe('the results of openai', () => {
  test('are a message each, failures saying so once', () => {
    const results = [
      textResult('call_1', 'Sunny'),
      failure('call_2', 'RangeError: too far'),
      failure('call_3', 'Error: no'),
    ]
    expect(openai().results(results)).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: 'Error: RangeError: too far' },
      { role: 'tool', tool_call_id: 'call_3', content: 'Error: no' },
    ])
  })

  test('name in words what text cannot carry', () => {
    const result = resultOf({
      id: 'call_1',
      content: [
        { type: 'json', data: [1, 2], text: '[1,2]' },
        { type: 'image', data: pixel, mimeType: 'image/png' },
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///r.bin', blob: 'AAAA' } },
        { type: 'resource_link', uri: 'https://yr.no', name: 'Yr', description: 'the source' },
      ],
    })
    expect(openai().results([result])).toHaveProperty(
      '0.content',
      [
        '[1,2]',
        '[image left out, this tool result cannot carry it: image/png, 70 bytes]',
        '[audio left out, this tool result cannot carry it: audio/wav, 4 bytes]',
        '[resource file:///r.bin left out, this tool result cannot carry it: 3 bytes]',
        'Yr: https://yr.no (the source)',
      ].join('\n'),
    )
  })

  test('answer a former function_call in its former way', () => {
    const message = { role: 'assistant', content: null, function_call: { name: 'now', arguments: '{}' } }
    const result = resultOf({ toolName: 'now', content: [{ type: 'text', text: '12:00' }] })
    expect(openai().results([result], message)).toEqual([{ role: 'function', name: 'now', content: '12:00' }])
  })

  test('of calls without an id have one that no other result has', () => {
    const result = resultOf({ content: [{ type: 'text', text: 'x' }] })
    expect(openai().results([result])).toEqual([{ role: 'tool', tool_call_id: 'inv_1', content: 'x' }])
  })

  test('that failed say so before their envelope begins', () => {
    expect(openai({ envelope: true }).results([failure('a', 'Error: no')])).toHaveProperty(
      '0.content',
      expect.stringMatching(/^Error: <untrusted_content_([0-9a-f]{32})>\nError: no\n<\/untrusted_content_\1>$/),
    )
  })
})
