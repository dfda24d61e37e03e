import { tool, type Format } from 'toolwright'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'
import { formatConformance, type ReadAnswer } from '../conformance/formats.ts'
import { messages } from './_messages.ts'
import { failure, forPeople, forecast, hosted, now, pixel, resultOf, strictForecast, textResult } from './_tools.ts'

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
  refused: { providerOptions: { openai: { type: 'web_search' } } },
  asking: (calls) => ({
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
  }),
})

describe('the definitions of openai', () => {
  test('are functions, with strict only where the author says so', () => {
    expect(openai().definitions([forecast, now, forPeople])).toEqual([
      {
        type: 'function',
        function: {
          name: 'get_forecast',
          description: 'Weather forecast for a city\n\nExamples of args:\n{"city":"Oslo","days":3}',
          parameters: strictForecast,
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

  test('of tools that a server runs are their options, if it takes their type', () => {
    const search = { type: 'builtin_function', function: { name: '$web_search' } }
    const format = openai({ toolTypes: ['builtin_function'] })
    expect(format.definitions([hosted({ providerOptions: { openai: search } }), hosted({})])).toEqual([search])
  })

  test('of tools with a handler are functions if their options are only for the Responses API', () => {
    const reports: unknown[] = []
    const format = openai({ report: (error) => reports.push(error) })
    const search = (options: Record<string, unknown>) =>
      tool({ name: 'search', description: 'Searches', providerOptions: { openai: options }, handler: () => 'found' })
    const parameters = search({}).describe().inputSchema
    const plain = { name: 'search', description: 'Searches', parameters }
    expect(
      format.definitions([
        search({ type: 'web_search', search_context_size: 'low' }),
        search({ strict: true, defer_loading: true, allowed_callers: ['programmatic'] }),
      ]),
    ).toEqual([
      { type: 'function', function: plain },
      { type: 'function', function: { ...plain, strict: true } },
    ])
    expect(reports.map((error) => (error as Error).message)).toEqual([
      'The options of tool "search": chat completions take no tool of type "web_search". Use the format openai-responses, or name the type in `toolTypes` if the server takes it. It is offered without those options.',
      'The options of tool "search": chat completions have no allowed_callers, defer_loading; the format openai-responses has. It is offered without those options.',
    ])
  })

  test('write a grammar as chat completions take it, in whichever of the two ways it was given', () => {
    const lines = { syntax: 'regex', definition: '\\d+' }
    for (const grammar of [
      { type: 'grammar', grammar: lines },
      { type: 'grammar', ...lines },
    ]) {
      const dial = tool({
        name: 'dial',
        description: 'Dials',
        inputSchema: { type: 'object', properties: { input: { type: 'string' } } },
        providerOptions: { openai: { type: 'custom', format: grammar } },
        handler: () => null,
      })
      expect(openai().definitions([dial])).toEqual([
        { type: 'custom', custom: { name: 'dial', description: 'Dials', format: { type: 'grammar', grammar: lines } } },
      ])
      expect(openaiResponses().definitions([dial])).toEqual([
        { type: 'custom', name: 'dial', description: 'Dials', format: { type: 'grammar', ...lines } },
      ])
    }
  })
})

describe('the calls of openai', () => {
  test('pieces that are no calls are refused by name, not passed over', () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [null, { id: 'call_1', type: 'function' }, { id: 7, function: {} }],
    }
    const format: Format = openai()
    expect(format.calls(message)).toEqual([{ name: '' }, { id: 'call_1', name: '' }, { id: 7, name: '' }])
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
      { role: 'tool', tool_call_id: 'call_2', content: 'RangeError: too far' },
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
