import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import type { Format } from 'toolwright'

/** A message of a provider, and where in it the args of its call stand. */
export interface Sent {
  readonly format: Format
  readonly message: object
  readonly path: readonly string[]
}

const name = 'get_forecast'

/** The same call, as each of the six sends it: other fields, another order, other spaces, args as text or as an object. */
export const sent: readonly Sent[] = [
  {
    format: anthropic(),
    message: {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_01', name, input: { city: 'Bergen', days: 3 } }],
    },
    path: ['content', '0', 'input'],
  },
  {
    format: openai(),
    message: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: '{"days": 3, "city": "Bergen"}' } }],
    },
    path: ['tool_calls', '0', 'function', 'arguments'],
  },
  {
    format: openaiResponses(),
    message: {
      output: [{ type: 'function_call', call_id: 'call_2', name, arguments: '{"city":"Bergen","days":3.0}' }],
    },
    path: ['output', '0', 'arguments'],
  },
  {
    format: gemini(),
    message: { role: 'model', parts: [{ functionCall: { name, args: { days: 3, city: 'Bergen' } } }] },
    path: ['parts', '0', 'functionCall', 'args'],
  },
  {
    format: aiSdk(),
    message: {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'call_3', toolName: name, input: { city: 'Bergen', days: 3 } }],
    },
    path: ['content', '0', 'input'],
  },
  {
    format: mcp(),
    message: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: { days: 3, city: 'Bergen' } },
    },
    path: ['params', 'arguments'],
  },
]
