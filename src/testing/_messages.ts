// What a scripted turn is in the messages of each provider.
import { isToolError } from '../errors.ts'
import type { Format } from '../index.ts'

/** A turn with nothing left open: what the model says, and the calls that it makes. */
export interface SpokenTurn {
  readonly text: string | undefined
  readonly calls: readonly SpokenCall[]
}

export interface SpokenCall {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

export type MessageFields = Record<string, unknown>

type MessageWriter = (turn: SpokenTurn) => MessageFields

/** The args as a provider writes them that takes JSON text. */
export function jsonArgs(args: unknown): string {
  return typeof args === 'string' ? args : JSON.stringify(args ?? {})
}

function spokenBlocks<Block>(
  { text, calls }: SpokenTurn,
  textBlock: (text: string) => Block,
  callBlock: (call: SpokenCall) => Block,
): Block[] {
  return [...(text === undefined ? [] : [textBlock(text)]), ...calls.map(callBlock)]
}

const tokens = { total_tokens: 2 }

const messageWriters: Readonly<Record<string, MessageWriter>> = {
  anthropic: (turn) => ({
    id: 'msg_script',
    type: 'message',
    role: 'assistant',
    model: 'script',
    content: spokenBlocks<MessageFields>(
      turn,
      (text) => ({ type: 'text', text, citations: null }),
      ({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }),
    ),
    stop_reason: turn.calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }),

  openai: ({ text, calls }) => {
    const toolCalls = calls.map(({ id, name, args }) => {
      return { id, type: 'function', function: { name, arguments: jsonArgs(args) } }
    })
    const message = {
      role: 'assistant',
      content: text ?? null,
      refusal: null,
      ...(calls.length > 0 && { tool_calls: toolCalls }),
    }
    const choice = { index: 0, logprobs: null, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', message }
    const usage = { prompt_tokens: 1, completion_tokens: 1, ...tokens }
    return { id: 'chatcmpl_script', object: 'chat.completion', created: 0, model: 'script', choices: [choice], usage }
  },

  'openai-responses': (turn) => ({
    id: 'resp_script',
    object: 'response',
    created_at: 0,
    model: 'script',
    status: 'completed',
    error: null,
    output: spokenBlocks<MessageFields>(
      turn,
      (text) => ({
        type: 'message',
        id: 'msg_script',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      }),
      ({ id, name, args }) => ({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: jsonArgs(args),
        status: 'completed',
      }),
    ),
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      ...tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }),

  gemini: (turn) => {
    const parts = spokenBlocks<MessageFields>(
      turn,
      (text) => ({ text }),
      ({ id, name, args }) => ({ functionCall: { id, name, args } }),
    )
    return {
      candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: 'script',
    }
  },

  'ai-sdk': (turn) => ({
    role: 'assistant',
    content: spokenBlocks<MessageFields>(
      turn,
      (text) => ({ type: 'text', text }),
      ({ id, name, args }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: args }),
    ),
  }),
}

export const scriptedFormats: readonly string[] = Object.keys(messageWriters)

/** Returns a turn as the provider's message. */
export function messageOfTurn(format: string, turn: SpokenTurn): MessageFields {
  return messageWriters[format]?.(turn) ?? {}
}

/** Returns what a message of a provider says, for a model that takes no messages of it. */
export function turnOfMessage(format: Format<unknown, never>, message: unknown): SpokenTurn {
  let calls: SpokenCall[] = []
  try {
    calls = format.calls(message as never).map(({ id = '', name, args }) => ({ id: String(id), name, args }))
  } catch (error) {
    if (!isToolError(error)) throw error // a message without calls may be none of this format
  }
  const texts: string[] = []
  collectTexts(message, texts, 8)
  return { text: texts.length === 0 ? undefined : texts.join(''), calls }
}

/** The members that hold what a message says, with every provider. */
const speaking = ['content', 'text', 'message', 'choices', 'output', 'candidates', 'parts']

function collectTexts(value: unknown, texts: string[], depth: number): void {
  if (typeof value !== 'object' || value === null || depth === 0) return
  if (Array.isArray(value)) for (const item of value) collectTexts(item, texts, depth - 1)
  for (const name of Array.isArray(value) ? [] : speaking) {
    const member = (value as MessageFields)[name]
    if (typeof member === 'string') texts.push(member)
    else collectTexts(member, texts, depth - 1)
  }
}
