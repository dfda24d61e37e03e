import { tool } from 'toolwright'
import { anthropic } from 'toolwright/formats/anthropic'
import { describe, expect, test } from 'vitest'
import { formatConformance, type ReadAnswer } from '../conformance/formats.ts'
import { messages } from './_messages.ts'
import { failure, forecast, forPeople, hosted, now, pixel, resultOf, textResult, trustedArtifact } from './_tools.ts'

interface Reply {
  role: string
  content: {
    tool_use_id: string
    content: string | { type: string; text?: string }[]
    is_error?: boolean
    toolset_name?: string
  }[]
}

formatConformance('anthropic', anthropic, {
  own: messages['anthropic']!,
  foreign: Object.entries(messages).flatMap(([name, all]) => (name === 'anthropic' ? [] : all)),
  answersIn: (reply) =>
    (reply as Reply).content.map(({ tool_use_id: id, content, is_error: failed, toolset_name }): ReadAnswer => ({
      id,
      text: typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n'),
      failed: failed === true,
      repeated: toolset_name,
    })),
  refused: { providerOptions: { anthropic: { name: 'web_search' } } },
  asking: (calls) => ({
    role: 'assistant',
    content: calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args, toolset_name: name })),
  }),
})

describe('the definitions of anthropic', () => {
  test('have the schema, the examples, and what the author says for Anthropic', () => {
    expect(anthropic().definitions([forecast, now, forPeople])).toEqual([
      {
        name: 'get_forecast',
        description: 'Weather forecast for a city',
        input_schema: forecast.describe().inputSchema,
        input_examples: [{ city: 'Oslo', days: 3 }],
        cache_control: { type: 'ephemeral' },
      },
      { name: 'now', description: 'The time', input_schema: now.describe().inputSchema },
    ])
  })

  test('are copies, so that nobody who changes one changes the tool', () => {
    const [first] = anthropic().definitions([forecast])
    first!.input_schema.properties!['city'] = { type: 'changed' }
    expect(forecast.describe().inputSchema.properties).toHaveProperty('city.type', 'string')
    expect(anthropic().definitions([forecast])).not.toEqual([first])
  })

  test('of tools that Anthropic runs are their options, and nothing where there are none', () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
    expect(anthropic().definitions([hosted({ providerOptions: { anthropic: search } })])).toEqual([search])
    expect(anthropic().definitions([hosted({ providerOptions: { openai: { type: 'web_search' } } })])).toEqual([])
  })

  test('of tools with a type of Anthropic’s own that we run have neither description nor schema', () => {
    const bash = tool({
      name: 'bash',
      description: 'Runs a command',
      providerOptions: { anthropic: { type: 'bash_20250124' } },
      handler: () => null,
    })
    expect(anthropic().definitions([bash])).toEqual([{ name: 'bash', type: 'bash_20250124' }])
  })
})

describe('the calls of anthropic', () => {
  test('a call without name or id is still a call, so that it is refused and answered', () => {
    const message = {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a' },
        { type: 'tool_use', name: 7, id: {} },
      ],
    }
    expect(anthropic().calls(message)).toEqual([{ id: 'a', name: '' }, { name: '' }])
  })

  test('a conversation that ends with our answer asks nothing', () => {
    const answered = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'now', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '12:00' }] },
    ]
    expect(anthropic().calls(answered)).toEqual([])
    expect(anthropic().detect(answered)).toBe(false)
  })
})

describe('the results of anthropic', () => {
  test('are one user message, with text as a string and failures flagged', () => {
    expect(
      anthropic().results([textResult('toolu_01A', 'Sunny'), failure('toolu_01B', 'Error: no such city')]),
    ).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01A', content: 'Sunny' },
        { type: 'tool_result', tool_use_id: 'toolu_01B', content: 'Error: no such city', is_error: true },
      ],
    })
  })

  test('carry JSON as compact text', () => {
    const result = resultOf({ id: 'a', content: [{ type: 'json', data: { temperature: 21.5 } }] })
    expect(anthropic().results([result])).toHaveProperty('content.0.content', '{"temperature":21.5}')
  })

  test('carry pictures and PDF documents, and say of other media that they were left out', () => {
    const result = resultOf({
      id: 'a',
      content: [
        { type: 'text', text: 'A map:' },
        { type: 'image', data: pixel, mimeType: 'image/png' },
        { type: 'image', data: 'PHN2Zy8+', mimeType: 'image/svg+xml' },
        { type: 'resource', resource: { uri: 'file:///r.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' } },
        { type: 'resource_link', uri: 'https://yr.no', name: 'Yr' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'as read' } },
      ],
    })
    expect(anthropic().results([result])).toHaveProperty('content.0.content', [
      { type: 'text', text: 'A map:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
      { type: 'text', text: '[image left out, this tool result cannot carry it: image/svg+xml, 6 bytes]' },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
        title: 'file:///r.pdf',
      },
      { type: 'text', text: 'Yr: https://yr.no\nfile:///a.txt:\nas read' },
    ])
  })

  test('of failed calls are text only, for the API takes nothing else with is_error', () => {
    const result = {
      ...failure('a', 'Error: half done'),
      content: [{ type: 'image', data: pixel, mimeType: 'image/png' }],
    }
    expect(anthropic().results([result as ReturnType<typeof failure>])).toHaveProperty(
      'content.0.content',
      '[image left out, this tool result cannot carry it: image/png, 70 bytes]',
    )
  })

  test('have no blank text, which the API refuses', () => {
    const result = resultOf({
      id: 'a',
      content: [
        { type: 'text', text: ' \n' },
        { type: 'image', data: pixel, mimeType: 'image/png' },
        { type: 'text', text: '' },
      ],
    })
    expect(anthropic().results([result])).toHaveProperty('content.0.content.length', 1)
    expect(anthropic().results([textResult('a', ' ')])).toHaveProperty('content.0.content', '(no output)')
  })

  test('name the toolset that the call belongs to', () => {
    const message = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a', name: 'screenshot', input: {}, toolset_name: 'computer' }],
    }
    expect(anthropic().results([textResult('a', 'ok')], message)).toHaveProperty('content.0.toolset_name', 'computer')
  })

  test('of trusted tools say so in their envelope', () => {
    const format = anthropic({ envelope: true })
    const trusted = textResult('a', 'mine', { artifact: trustedArtifact('mine') })
    expect(format.results([trusted])).toHaveProperty(
      'content.0.content',
      expect.stringMatching(/^<trusted_content_([0-9a-f]{32})>\nmine\n<\/trusted_content_\1>$/),
    )
  })
})
