import { InvalidToolArgsError, ToolNotFoundError } from 'toolwright/errors'
import { mcp } from 'toolwright/formats/mcp'
import { describe, expect, test } from 'vitest'
import { formatConformance, type ReadAnswer } from '../conformance/formats.ts'
import { messages } from './_messages.ts'
import { failure, forecast, forPeople, now, pixel, resultOf, textResult } from './_tools.ts'

interface ToolReply {
  content: { text: string }[]
  isError?: boolean
}
type Reply = ToolReply & { id?: string | number; result?: ToolReply }

formatConformance('mcp', mcp, {
  own: messages['mcp']!,
  foreign: Object.entries(messages).flatMap(([name, all]) => (name === 'mcp' ? [] : all)),
  answersIn: (reply) =>
    [reply as Reply | Reply[]].flat().map((response): ReadAnswer => {
      const { content, isError } = response.result ?? response
      return { id: response.id, text: content.map(({ text }) => text).join('\n'), failed: isError === true }
    }),
  refused: { providerOptions: { mcp: { title: 'No name' } } },
  asking: (calls) =>
    calls.map(({ id, name, args }) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: args },
    })),
})

describe('the definitions of mcp', () => {
  test('say everything that the protocol has a field for', () => {
    expect(mcp().definitions([forecast, forPeople])).toEqual([
      {
        name: 'get_forecast',
        title: 'Forecast',
        description: 'Weather forecast for a city\n\nExamples of args:\n{"city":"Oslo","days":3}',
        inputSchema: forecast.describe().inputSchema,
        outputSchema: forecast.describe().outputSchema,
        icons: [{ src: 'https://example.com/sun.png' }],
        annotations: {
          title: 'Sun',
          readOnlyHint: true,
          idempotentHint: false,
          openWorldHint: true,
        },
        _meta: { owner: 'me', ui: { resourceUri: 'ui://weather/forecast', visibility: ['model', 'app'] } },
      },
    ])
  })

  test('have neither title nor metadata where there are none', () => {
    expect(Object.keys(mcp().definitions([now])[0] as object)).toEqual([
      'name',
      'description',
      'inputSchema',
      'annotations',
    ])
  })
})

describe('the calls of mcp', () => {
  test('a request without a name is still a call', () => {
    expect(mcp().calls({ jsonrpc: '2.0', id: 1, method: 'tools/call' })).toEqual([{ id: 1, name: '' }])
  })
})

describe('the results of mcp', () => {
  test('are a response with the id of the request, number or string', () => {
    expect(mcp().results([textResult(7, 'Sunny')])).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: { content: [{ type: 'text', text: 'Sunny' }] },
    })
  })

  test('of a batch are a batch, even of one', () => {
    const batch = [{ jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'now' } }]
    expect(mcp().results([textResult('b', '12:00')], batch)).toEqual([
      { jsonrpc: '2.0', id: 'b', result: { content: [{ type: 'text', text: '12:00' }] } },
    ])
  })

  test('of a bare request are the bare result', () => {
    const request = { method: 'tools/call', params: { name: 'now' } }
    const result = resultOf({ content: [{ type: 'text', text: '12:00' }] })
    expect(mcp().results([result], request)).toEqual({ content: [{ type: 'text', text: '12:00' }] })
  })

  test('that are one object are structured content, and text for clients that do not read it', () => {
    const json = (data: unknown) => mcp().results([resultOf({ id: 1, content: [{ type: 'json', data }] })])
    expect(json({ temperature: 21 })).toHaveProperty('result', {
      content: [{ type: 'text', text: '{"temperature":21}' }],
      structuredContent: { temperature: 21 },
    })
    expect(json([1])).toHaveProperty('result', { content: [{ type: 'text', text: '[1]' }] })
  })

  test('that failed are results, but a name that no tool has is an error of the protocol', () => {
    const text = 'InvalidToolArgsError: "city" is missing'
    const invalid = { ...failure(1, text), error: new InvalidToolArgsError(text) }
    const unknown = { ...failure(2, 'No tool "x". Available: now.'), error: new ToolNotFoundError('No tool "x".') }
    expect(mcp().results([invalid, unknown])).toEqual([
      { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }], isError: true } },
      { jsonrpc: '2.0', id: 2, error: { code: -32602, message: 'No tool "x". Available: now.' } },
    ])
  })

  test('carry every block of the protocol as it is', () => {
    const content = [
      { type: 'image', data: pixel, mimeType: 'image/png' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'as read' } },
      { type: 'resource_link', uri: 'https://yr.no', name: 'Yr' },
    ] as const
    expect(mcp().results([resultOf({ id: 1, content })])).toHaveProperty('result.content', content)
  })

  test('wrap the text of embedded resources too', () => {
    const content = [{ type: 'resource', resource: { uri: 'file:///a.txt', text: 'as read' } }] as const
    expect(mcp({ envelope: true }).results([resultOf({ id: 1, content })])).toHaveProperty(
      'result.content.0.resource.text',
      expect.stringMatching(/^<untrusted_content_/),
    )
  })
})
