import type { ToolCall } from 'toolwright'

/** A message of a provider, and the calls that are in it for us. */
export interface Fixture {
  readonly title: string
  readonly message: unknown
  readonly calls: readonly ToolCall[]
}

const anthropicMessage = {
  role: 'assistant',
  content: [
    {
      type: 'thinking',
      thinking: 'Two cities, so two calls.',
      signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk',
    },
    { type: 'text', text: 'I will look both up.' },
    {
      type: 'tool_use',
      id: 'toolu_01A',
      name: 'get_forecast',
      input: { city: 'Oslo', days: 3 },
      caller: { type: 'direct' },
    },
    { type: 'text', text: 'And the second one:' },
    { type: 'tool_use', id: 'toolu_01B', name: 'get_forecast', input: { city: 'Bergen' }, caller: { type: 'direct' } },
  ],
}

export const anthropicMessages: readonly Fixture[] = [
  {
    title: 'a response with thinking, text and two calls',
    message: {
      id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
      type: 'message',
      model: 'claude-sonnet-4-5',
      ...anthropicMessage,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 472, output_tokens: 91 },
    },
    calls: [
      { id: 'toolu_01A', name: 'get_forecast', args: { city: 'Oslo', days: 3 } },
      { id: 'toolu_01B', name: 'get_forecast', args: { city: 'Bergen' } },
    ],
  },
  {
    title: 'calls that Anthropic ran itself beside one of ours',
    message: {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_01', name: 'web_search', input: { query: 'weather oslo' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_01',
          content: [{ type: 'web_search_result', url: 'https://yr.no', title: 'Yr', encrypted_content: 'EqgfCioI' }],
        },
        { type: 'mcp_tool_use', id: 'mcptoolu_01', name: 'echo', server_name: 'example', input: { text: 'hi' } },
        {
          type: 'mcp_tool_result',
          tool_use_id: 'mcptoolu_01',
          is_error: false,
          content: [{ type: 'text', text: 'hi' }],
        },
        { type: 'tool_use', id: 'toolu_02', name: 'now', input: {} },
      ],
    },
    calls: [{ id: 'toolu_02', name: 'now', args: {} }],
  },
  {
    title: 'a conversation that ends with the assistant',
    message: [{ role: 'user', content: 'Weather in Oslo and Bergen?' }, anthropicMessage],
    calls: [
      { id: 'toolu_01A', name: 'get_forecast', args: { city: 'Oslo', days: 3 } },
      { id: 'toolu_01B', name: 'get_forecast', args: { city: 'Bergen' } },
    ],
  },
  {
    title: 'the content of a response',
    message: [
      { type: 'text', text: 'One moment.' },
      { type: 'tool_use', id: 'toolu_03', name: 'now', input: {} },
    ],
    calls: [{ id: 'toolu_03', name: 'now', args: {} }],
  },
  {
    title: 'a message of text blocks only',
    message: { role: 'assistant', content: [{ type: 'text', text: 'It rains in Bergen.' }] },
    calls: [],
  },
]

const openaiMessage = {
  role: 'assistant',
  content: null,
  refusal: null,
  annotations: [],
  tool_calls: [
    { id: 'call_1', type: 'function', function: { name: 'get_forecast', arguments: '{"city":"Oslo","days":3}' } },
    { id: 'call_2', type: 'function', function: { name: 'get_forecast', arguments: '{ "city": "Bergen" }' } },
  ],
}
const openaiCalls: readonly ToolCall[] = [
  { id: 'call_1', name: 'get_forecast', args: '{"city":"Oslo","days":3}' },
  { id: 'call_2', name: 'get_forecast', args: '{ "city": "Bergen" }' },
]

export const openaiMessages: readonly Fixture[] = [
  {
    title: 'a completion with two calls',
    message: {
      id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
      object: 'chat.completion',
      created: 1741569952,
      model: 'gpt-5.1',
      choices: [{ index: 0, message: openaiMessage, logprobs: null, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 82, completion_tokens: 17, total_tokens: 99 },
    },
    calls: openaiCalls,
  },
  { title: 'an assistant message', message: openaiMessage, calls: openaiCalls },
  {
    title: 'a conversation that ends with the assistant',
    message: [{ role: 'user', content: 'Hi' }, openaiMessage],
    calls: openaiCalls,
  },
  { title: 'bare tool calls', message: openaiMessage.tool_calls, calls: openaiCalls },
  {
    title: 'a custom call, whose input is free text, after a word to the user',
    message: {
      role: 'assistant',
      content: 'I will run this.',
      tool_calls: [{ id: 'call_3', type: 'custom', custom: { name: 'run_code', input: 'print("{not json")' } }],
    },
    calls: [{ id: 'call_3', name: 'run_code', args: { input: 'print("{not json")' } }],
  },
  {
    title: 'the former function_call',
    message: { role: 'assistant', content: null, function_call: { name: 'now', arguments: '{}' } },
    calls: [{ name: 'now', args: '{}' }],
  },
  {
    title: 'a conversation that ends with the former function_call',
    message: [
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: null, function_call: { name: 'now', arguments: '{}' } },
    ],
    calls: [{ name: 'now', args: '{}' }],
  },
  { title: 'an assistant message that is a string', message: { role: 'assistant', content: 'It rains.' }, calls: [] },
]

const responsesOutput = [
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Two cities.' }] },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'oslo' } },
  {
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Looking both up.', annotations: [] }],
  },
  {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'get_forecast',
    arguments: '{"city":"Oslo","days":3}',
    status: 'completed',
  },
  {
    type: 'code_interpreter_call',
    id: 'ci_1',
    status: 'completed',
    code: '1+1',
    container_id: 'cntr_1',
    outputs: null,
  },
  { type: 'mcp_call', id: 'mcp_1', name: 'roll', server_label: 'dice', arguments: '{"sides":6}', output: '4' },
  { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'run_code', input: 'print(1)' },
]
const responsesCalls: readonly ToolCall[] = [
  { id: 'call_1', name: 'get_forecast', args: '{"city":"Oslo","days":3}' },
  { id: 'call_2', name: 'run_code', args: { input: 'print(1)' } },
]

export const responsesMessages: readonly Fixture[] = [
  {
    title: 'a response with reasoning, hosted calls, text and two calls of ours',
    message: {
      id: 'resp_67ccd2bed1ec8190b14f964abc054267',
      object: 'response',
      created_at: 1741476542,
      status: 'completed',
      error: null,
      model: 'gpt-5.1',
      output: responsesOutput,
      tool_choice: 'auto',
    },
    calls: responsesCalls,
  },
  { title: 'the output of a response', message: responsesOutput, calls: responsesCalls },
  {
    title: 'a whole conversation, in which one call has its answer',
    message: [
      { role: 'user', content: 'Weather?' },
      { type: 'function_call', call_id: 'call_0', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_0', output: '12:00' },
      { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '' },
    ],
    calls: [{ id: 'call_1', name: 'now', args: '' }],
  },
  {
    title: 'output of text only',
    message: [
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'It rains.' }] },
    ],
    calls: [],
  },
]

const geminiContent = {
  role: 'model',
  parts: [
    { text: 'Two cities.', thought: true },
    { text: 'Looking both up.' },
    {
      functionCall: { id: 'fc-1', name: 'get_forecast', args: { city: 'Oslo', days: 3 } },
      thoughtSignature: 'CpcBAdHtim9M',
    },
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { toolCall: { id: 'tc-1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['oslo'] } } },
    { functionCall: { id: 'fc-2', name: 'get_forecast', args: { city: 'Bergen' } } },
  ],
}
const geminiCalls: readonly ToolCall[] = [
  { id: 'fc-1', name: 'get_forecast', args: { city: 'Oslo', days: 3 } },
  { id: 'fc-2', name: 'get_forecast', args: { city: 'Bergen' } },
]

export const geminiMessages: readonly Fixture[] = [
  {
    title: 'a response with a thought, text, code and two calls',
    message: {
      candidates: [{ content: geminiContent, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 52, candidatesTokenCount: 18, totalTokenCount: 70 },
      modelVersion: 'gemini-3-pro',
    },
    calls: geminiCalls,
  },
  {
    title: 'a conversation that ends with the model',
    message: [{ role: 'user', parts: [{ text: 'Weather?' }] }, geminiContent],
    calls: geminiCalls,
  },
  {
    title: 'the chunks of a streamed response, the second call in the last of them',
    message: [
      { candidates: [{ content: { role: 'model', parts: geminiContent.parts.slice(0, 3) } }] },
      { candidates: [{ content: { role: 'model', parts: geminiContent.parts.slice(3) }, finishReason: 'STOP' }] },
    ],
    calls: geminiCalls,
  },
  {
    title: 'the parts of a content',
    message: [{ text: 'One moment.' }, { function_call: { name: 'now', args: {} } }],
    calls: [{ name: 'now', args: {} }],
  },
  {
    title: 'calls in snake case and without ids',
    message: {
      role: 'model',
      parts: [{ function_call: { name: 'now', args: {} } }, { function_call: { name: 'now', args: { zone: 'CET' } } }],
    },
    calls: [
      { name: 'now', args: {} },
      { name: 'now', args: { zone: 'CET' } },
    ],
  },
  { title: 'a content of text only', message: { role: 'model', parts: [{ text: 'It rains.' }] }, calls: [] },
]

const aiSdkMessage = {
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'Two cities.' },
    { type: 'text', text: 'Looking both up.' },
    { type: 'tool-call', toolCallId: 'call_1', toolName: 'get_forecast', input: { city: 'Oslo', days: 3 } },
    { type: 'tool-call', toolCallId: 'ws_1', toolName: 'web_search', input: { query: 'oslo' }, providerExecuted: true },
    { type: 'tool-result', toolCallId: 'ws_1', toolName: 'web_search', output: { type: 'json', value: [] } },
    { type: 'tool-call', toolCallId: 'call_2', toolName: 'get_forecast', input: { city: 'Bergen' } },
  ],
}
const aiSdkCalls: readonly ToolCall[] = [
  { id: 'call_1', name: 'get_forecast', args: { city: 'Oslo', days: 3 } },
  { id: 'call_2', name: 'get_forecast', args: { city: 'Bergen' } },
]

export const aiSdkMessages: readonly Fixture[] = [
  {
    title: 'an assistant message with reasoning and a call that the provider executed',
    message: aiSdkMessage,
    calls: aiSdkCalls,
  },
  {
    title: 'response messages, in which one call has its result',
    message: [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_0', toolName: 'now', input: {} }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_0', toolName: 'now', output: { type: 'text', value: '12:00' } },
        ],
      },
      aiSdkMessage,
    ],
    calls: aiSdkCalls,
  },
  {
    title: 'a result of generateText with a call that the SDK has refused itself',
    message: {
      finishReason: 'tool-calls',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input: {} },
        { type: 'tool-call', toolCallId: 'call_2', toolName: 'nope', input: '{', dynamic: true, invalid: true },
        { type: 'tool-error', toolCallId: 'call_2', toolName: 'nope', input: '{', error: 'No such tool' },
      ],
      toolCalls: [
        { type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input: {} },
        { type: 'tool-call', toolCallId: 'call_2', toolName: 'nope', input: '{', dynamic: true, invalid: true },
      ],
      toolResults: [],
    },
    calls: [{ id: 'call_1', name: 'now', args: {} }],
  },
  {
    title: 'a result of version 4, whose calls have args',
    message: {
      finishReason: 'tool-calls',
      text: '',
      toolCalls: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'now', args: { zone: 'CET' } }],
      toolResults: [],
    },
    calls: [{ id: 'call_1', name: 'now', args: { zone: 'CET' } }],
  },
  {
    title: 'bare tool calls',
    message: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input: {} }],
    calls: [{ id: 'call_1', name: 'now', args: {} }],
  },
]

export const mcpMessages: readonly Fixture[] = [
  {
    title: 'a request',
    message: {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'get_forecast', arguments: { city: 'Oslo', days: 3 }, _meta: { progressToken: 'p1' } },
    },
    calls: [{ id: 7, name: 'get_forecast', args: { city: 'Oslo', days: 3 } }],
  },
  {
    title: 'a batch with other requests and a notification in it',
    message: [
      { jsonrpc: '2.0', id: 'a', method: 'tools/list' },
      { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'now' } },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } },
      { jsonrpc: '2.0', method: 'tools/call', params: { name: 'nobody_waits' } },
      { jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'now', arguments: {} } },
    ],
    calls: [
      { id: 'b', name: 'now' },
      { id: 0, name: 'now', args: {} },
    ],
  },
  {
    title: 'a request as the handlers of a server get it',
    message: { method: 'tools/call', params: { name: 'now', arguments: {} } },
    calls: [{ name: 'now', args: {} }],
  },
]

/** The messages of every format, by its name. */
export const messages: Readonly<Record<string, readonly Fixture[]>> = {
  anthropic: anthropicMessages,
  openai: openaiMessages,
  'openai-responses': responsesMessages,
  gemini: geminiMessages,
  'ai-sdk': aiSdkMessages,
  mcp: mcpMessages,
}
