import type { Turn } from './_servers.ts'

const answer = 'It rains in Bergen.'
const args = '{"city":"Bergen","days":2}'
const halves = [args.slice(0, 12), args.slice(12)]

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-5-5', stop_sequence: null }
const usage = { input_tokens: 472, output_tokens: 91 }

function anthropicTurn(content: readonly object[], stop_reason: string, deltas: readonly object[]): Turn {
  const block = { ...content[0], ...(stop_reason === 'tool_use' ? { input: {} } : { text: '' }) }
  return {
    body: { ...message, content, stop_reason, usage },
    events: [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
  }
}

/** Two turns of the Messages API: a call, then the answer. */
export const anthropicTurns: readonly Turn[] = [
  anthropicTurn(
    [{ type: 'tool_use', id: 'toolu_1', name: 'get_forecast', input: JSON.parse(args) as object }],
    'tool_use',
    halves.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  ),
  anthropicTurn([{ type: 'text', text: answer }], 'end_turn', [{ type: 'text_delta', text: answer }]),
]

const completion = { id: 'chatcmpl-1', created: 1_741_569_952, model: 'gpt-5.1' }

function chatTurn(said: object, finish_reason: string, deltas: readonly object[]): Turn {
  const chunk = (delta: object, reason: string | null): object => ({
    ...completion,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
  })
  return {
    body: {
      ...completion,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...said }, finish_reason, logprobs: null }],
      usage: { prompt_tokens: 82, completion_tokens: 17, total_tokens: 99 },
    },
    events: [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish_reason), '[DONE]'],
  }
}

const call = { id: 'call_1', type: 'function', function: { name: 'get_forecast', arguments: args } }

/** Two turns of chat completions. */
export const chatTurns: readonly Turn[] = [
  chatTurn({ content: null, tool_calls: [call] }, 'tool_calls', [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ index: 0, ...call, function: { ...call.function, arguments: '' } }],
    },
    ...halves.map((half) => ({ tool_calls: [{ index: 0, function: { arguments: half } }] })),
  ]),
  chatTurn({ content: answer }, 'stop', [{ role: 'assistant', content: '' }, { content: answer }]),
]

function responsesTurn(item: Readonly<Record<string, unknown>>, empty: object, deltas: readonly object[]): Turn {
  const response = { id: 'resp_1', object: 'response', created_at: 1_741_476_542, model: 'gpt-5.1', error: null }
  const done = { ...response, status: 'completed', output: [item], tools: [], tool_choice: 'auto' }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, ...empty, status: 'in_progress' } },
    ...deltas.map((delta) => ({ item_id: item['id'], output_index: 0, ...delta })),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: done },
  ]
  return { body: done, events: events.map((event, sequence_number) => ({ ...event, sequence_number })) }
}

const part = { type: 'output_text', annotations: [] }

/** Two turns of the Responses API. */
export const responsesTurns: readonly Turn[] = [
  responsesTurn(
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'get_forecast',
      arguments: args,
    },
    { arguments: '' },
    [
      ...halves.map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: args },
    ],
  ),
  responsesTurn(
    { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [{ ...part, text: answer }] },
    { content: [] },
    [
      { type: 'response.content_part.added', content_index: 0, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', content_index: 0, delta: answer, logprobs: [] },
      { type: 'response.content_part.done', content_index: 0, part: { ...part, text: answer } },
    ],
  ),
]

function geminiTurn(parts: readonly object[]): Turn {
  const chunk = (shown: readonly object[]): object => ({
    candidates: [{ content: { role: 'model', parts: shown }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 52, candidatesTokenCount: 18, totalTokenCount: 70 },
    modelVersion: 'gemini-3-pro',
  })
  return { body: chunk(parts), events: parts.map((each) => chunk([each])) }
}

/** Two turns of the Gemini API. */
export const geminiTurns: readonly Turn[] = [
  geminiTurn([
    { text: 'One moment.' },
    { functionCall: { id: 'fc-1', name: 'get_forecast', args: JSON.parse(args) as object }, thoughtSignature: 'CpcB' },
  ]),
  geminiTurn([{ text: answer.slice(0, 5) }, { text: answer.slice(5) }]),
]
