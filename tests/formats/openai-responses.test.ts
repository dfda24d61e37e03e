import { tool } from 'toolwright'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'
import { formatConformance, type ReadAnswer } from '../conformance/formats.ts'
import { messages } from './_messages.ts'
import { failure, forPeople, forecast, hosted, now, pixel, resultOf, strictForecast, textResult } from './_tools.ts'

type Reply = {
  type: string
  call_id: string
  output: string | { text?: string }[]
  caller?: { caller_id: string }
}[]

formatConformance('openai-responses', openaiResponses, {
  own: messages['openai-responses']!,
  foreign: Object.entries(messages).flatMap(([name, all]) => (name === 'openai-responses' ? [] : all)),
  answersIn: (reply) =>
    (reply as Reply).map(({ call_id: id, output, caller }): ReadAnswer => {
      const shown = typeof output === 'string' ? output : output.map((part) => part.text ?? '').join('\n')
      const text = caller === undefined ? shown : String(JSON.parse(shown)) // a program reads JSON
      return { id, text, failed: text.startsWith('Error: '), repeated: caller?.caller_id }
    }),
  refused: { providerOptions: { openai: { container: { type: 'auto' } } } },
  asking: (calls) => ({
    object: 'response',
    output: calls.map(({ id, name, args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: args,
      caller: { type: 'program', caller_id: name },
    })),
  }),
})

describe('the definitions of openai-responses', () => {
  test('are not strict unless the author says so, for the API would rewrite the schema', () => {
    expect(openaiResponses().definitions([forecast, now, forPeople])).toEqual([
      {
        type: 'function',
        name: 'get_forecast',
        description: 'Weather forecast for a city\n\nExamples of args:\n{"city":"Oslo","days":3}',
        parameters: strictForecast,
        strict: true,
      },
      { type: 'function', name: 'now', description: 'The time', parameters: now.describe().inputSchema, strict: false },
    ])
  })

  test('of tools that take free text are custom', () => {
    const run = tool({
      name: 'run_code',
      description: 'Runs code',
      providerOptions: { openai: { type: 'custom', format: { type: 'text' } } },
      handler: () => null,
    })
    expect(openaiResponses().definitions([run])).toEqual([
      { type: 'custom', name: 'run_code', description: 'Runs code', format: { type: 'text' } },
    ])
  })

  test('of tools that OpenAI runs are their options', () => {
    const interpreter = { type: 'code_interpreter', container: { type: 'auto' } }
    expect(openaiResponses().definitions([hosted({ providerOptions: { openai: interpreter } })])).toEqual([interpreter])
  })
})

describe('the calls of openai-responses', () => {
  test('a single item is read too', () => {
    const item = { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{}' }
    expect(openaiResponses().detect(item)).toBe(true)
    expect(openaiResponses().calls(item)).toEqual([{ id: 'call_1', name: 'now', args: '{}' }])
  })

  test('an answer without an id answers no call without an id', () => {
    const items = [
      { type: 'function_call', name: 'now' },
      { type: 'function_call_output', output: 'x' },
    ]
    expect(openaiResponses().calls(items)).toEqual([{ name: 'now' }])
  })
})

describe('a conversation of openai-responses', () => {
  test('asks for a call whose id an earlier call had, which was answered', () => {
    const asked = { type: 'function_call', call_id: 'call_0', name: 'now', arguments: '{}' }
    const answer = { type: 'function_call_output', call_id: 'call_0', output: '12:00' }
    const items = [asked, answer, { ...asked, type: 'custom_tool_call', name: 'run_code', input: '1' }]
    expect(openaiResponses().calls(items)).toEqual([{ id: 'call_0', name: 'run_code', args: { input: '1' } }])
    expect(openaiResponses().results([textResult('call_0', '1')], items)).toMatchObject([
      { type: 'custom_tool_call_output' },
    ])
    expect(openaiResponses().calls([...items, answer])).toEqual([])
  })
})

describe('the results of openai-responses', () => {
  test('are an item each', () => {
    expect(
      openaiResponses().results([textResult('call_1', 'Sunny'), failure('call_2', 'RangeError: too far')]),
    ).toEqual([
      { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
      { type: 'function_call_output', call_id: 'call_2', output: 'RangeError: too far' },
    ])
  })

  test('answer custom calls in their own way, and calls of a program to the program', () => {
    const message = {
      object: 'response',
      output: [
        { type: 'custom_tool_call', call_id: 'call_1', name: 'run_code', input: '1' },
        {
          type: 'function_call',
          call_id: 'call_2',
          name: 'now',
          arguments: '{}',
          caller: { type: 'program', caller_id: 'prog_1' },
        },
      ],
    }
    expect(openaiResponses().results([textResult('call_1', '1'), textResult('call_2', '12:00')], message)).toEqual([
      { type: 'custom_tool_call_output', call_id: 'call_1', output: '1' },
      {
        type: 'function_call_output',
        call_id: 'call_2',
        output: '"12:00"',
        caller: { type: 'program', caller_id: 'prog_1' },
      },
    ])
  })

  test('answer a function and a custom tool that were called with one id each in its own way', () => {
    const message = [
      { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'call_1', name: 'run_code', input: '1' },
    ]
    expect(openaiResponses().results([textResult('call_1', '12:00'), textResult('call_1', '1')], message)).toEqual([
      { type: 'function_call_output', call_id: 'call_1', output: '12:00' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: '1' },
    ])
  })

  test('carry pictures and PDF documents', () => {
    const result = resultOf({
      id: 'call_1',
      content: [
        { type: 'image', data: pixel, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///tmp/r.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' } },
        { type: 'text', text: 'both' },
      ],
    })
    expect(openaiResponses().results([result])).toHaveProperty('0.output', [
      { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${pixel}` },
      { type: 'input_file', filename: 'r.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
      { type: 'input_text', text: 'both' },
    ])
  })

  test('that failed with a picture first say so before it', () => {
    const result = { ...failure('a', ''), content: [{ type: 'image', data: pixel, mimeType: 'image/png' } as const] }
    expect(openaiResponses().results([result])).toHaveProperty('0.output.0', { type: 'input_text', text: 'Error' })
  })
})
