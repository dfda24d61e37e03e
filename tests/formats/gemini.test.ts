import { tool } from 'toolwright'
import { gemini } from 'toolwright/formats/gemini'
import { describe, expect, test } from 'vitest'
import { formatConformance, type ReadAnswer } from '../conformance/formats.ts'
import { messages } from './_messages.ts'
import { failure, forecast, forPeople, hosted, now, pixel, resultOf, textResult } from './_tools.ts'

interface Reply {
  parts: { functionResponse: { id?: string; name: string; response: { output?: unknown; error?: unknown } } }[]
}

formatConformance('gemini', gemini, {
  own: messages['gemini']!,
  foreign: Object.entries(messages).flatMap(([name, all]) => (name === 'gemini' ? [] : all)),
  answersIn: (reply) =>
    (reply as Reply).parts.map(({ functionResponse: { id, name, response } }): ReadAnswer => ({
      id,
      text: String(response.output ?? response.error),
      failed: 'error' in response,
      repeated: name,
    })),
  refused: { providerOptions: { google: { type: 'google_search' } } },
  asking: (calls) => ({ role: 'model', parts: calls.map((functionCall) => ({ functionCall })) }),
})

describe('the definitions of gemini', () => {
  test('are one tool with all declarations, whose schema is JSON Schema as it is', () => {
    expect(gemini().definitions([forecast, now, forPeople])).toEqual([
      {
        functionDeclarations: [
          {
            name: 'get_forecast',
            description: 'Weather forecast for a city\n\nExamples of args:\n{"city":"Oslo","days":3}',
            parametersJsonSchema: forecast.describe().inputSchema,
            behavior: 'BLOCKING',
          },
          { name: 'now', description: 'The time', parametersJsonSchema: now.describe().inputSchema },
        ],
      },
    ])
  })

  test('of tools that Google runs stand beside the declarations', () => {
    const search = hosted({ providerOptions: { google: { googleSearch: {} } } })
    const context = hosted({ providerOptions: { gemini: { urlContext: {} } } })
    expect(gemini().definitions([search, now, context])).toEqual([
      { functionDeclarations: [expect.objectContaining({ name: 'now' })] },
      { googleSearch: {} },
      { urlContext: {} },
    ])
    expect(gemini().definitions([search])).toEqual([{ googleSearch: {} }])
    expect(gemini().definitions([])).toEqual([])
  })
})

describe('the declarations of gemini', () => {
  test('leave out a tool of Google that stands among the options of a tool with a handler, and report it', () => {
    for (const options of [{ googleSearch: {} }, { url_context: {} }, { behavior: 'BLOCKING', codeExecution: {} }]) {
      const reports: unknown[] = []
      const search = tool({
        name: 'search',
        description: 'Searches',
        providerOptions: { google: options },
        handler: () => 'found',
      })
      const [made] = gemini({ report: (error) => reports.push(error) }).definitions([search]) as [
        { functionDeclarations: unknown[] },
      ]
      expect(made.functionDeclarations).toEqual([
        { name: 'search', description: 'Searches', parametersJsonSchema: search.describe().inputSchema },
      ])
      expect(reports).toMatchObject([{ code: 'E_INVALID_CONFIGURATION' }])
    }
  })
})

describe('the calls of gemini', () => {
  test('a call without name or args is still a call', () => {
    expect(gemini().calls({ role: 'model', parts: [{ functionCall: {} }] })).toEqual([{ name: '' }])
  })

  test('a blocked response asks nothing', () => {
    expect(gemini().calls({ candidates: [], promptFeedback: { blockReason: 'SAFETY' } })).toEqual([])
  })
})

describe('the results of gemini', () => {
  test('are one content, with output and error in their own fields', () => {
    expect(gemini().results([textResult('fc-1', 'Sunny'), failure('fc-2', 'RangeError: too far')])).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { id: 'fc-1', name: 'get_forecast', response: { output: 'Sunny' } } },
        { functionResponse: { id: 'fc-2', name: 'get_forecast', response: { error: 'RangeError: too far' } } },
      ],
    })
  })

  test('have no id where the call had none, and the name that was called', () => {
    const message = {
      role: 'model',
      parts: [{ functionCall: { name: 'weather', args: {} } }, { functionCall: { name: 'now' } }],
    }
    const results = [
      resultOf({ content: [{ type: 'text', text: 'a' }], toolName: 'get_forecast' }),
      resultOf({ content: [{ type: 'text', text: 'b' }], toolName: 'now' }),
    ]
    expect(gemini().results(results, message)).toHaveProperty('parts', [
      { functionResponse: { name: 'weather', response: { output: 'a' } } },
      { functionResponse: { name: 'now', response: { output: 'b' } } },
    ])
  })

  test('keep JSON as JSON, also where its keys are those of the wrapper, or it is null', () => {
    const json = (data: unknown) => gemini().results([resultOf({ id: 'a', content: [{ type: 'json', data }] })])
    expect(json({ error: null, rows: [] })).toHaveProperty('parts.0.functionResponse.response', {
      output: { error: null, rows: [] },
    })
    expect(json([1, 2])).toHaveProperty('parts.0.functionResponse.response', { output: [1, 2] })
    expect(json(null)).toHaveProperty('parts.0.functionResponse.response', { output: null })
  })

  test('carry pictures within the response, so that there are as many parts as calls', () => {
    const result = resultOf({ id: 'a', content: [{ type: 'image', data: pixel, mimeType: 'image/png' }] })
    expect(gemini().results([result])).toHaveProperty('parts', [
      {
        functionResponse: {
          id: 'a',
          name: 'get_forecast',
          response: { output: '(attached)' },
          parts: [{ inlineData: { mimeType: 'image/png', data: pixel } }],
        },
      },
    ])
    expect(gemini({ media: false }).results([result])).toHaveProperty('parts.0.functionResponse', {
      id: 'a',
      name: 'get_forecast',
      response: { output: '[image left out, this tool result cannot carry it: image/png, 70 bytes]' },
    })
  })

  test('make text of JSON to put it into an envelope', () => {
    const result = resultOf({ id: 'a', content: [{ type: 'json', data: { a: 1 } }] })
    expect(gemini({ envelope: true }).results([result])).toHaveProperty(
      'parts.0.functionResponse.response.output',
      expect.stringContaining('\n{"a":1}\n'),
    )
  })
})
