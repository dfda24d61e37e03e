import type { ContentBlock, ToolCall, ToolResult } from '../../index.ts'
import type { AgUiEvent, AgUiMessage } from './_types.ts'

interface StreamedCall {
  readonly name: string
  args: string
}

/** What the model says when it is asked once, folded from its events. */
export class ModelReply {
  #id: string | undefined
  #text = ''
  #last = ''
  readonly #calls = new Map<string, StreamedCall>()
  readonly #answered = new Set<string>()

  /** Folds an event. Parts that are not about texts or calls are for the page alone. */
  take({ type, messageId, toolCallId, toolCallName, parentMessageId, delta }: AgUiEvent): void {
    const id = (this.#last = typeof toolCallId === 'string' ? toolCallId : this.#last) // later chunks need not name it
    const words = typeof delta === 'string' ? delta : ''
    switch (type) {
      case 'TEXT_MESSAGE_START':
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK':
        this.#text += words
        if (typeof messageId === 'string') this.#id ??= messageId
        break
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_CHUNK':
        if (!this.#calls.has(id) && typeof toolCallName === 'string') {
          this.#calls.set(id, { name: toolCallName, args: '' })
        }
        if (typeof parentMessageId === 'string') this.#id ??= parentMessageId
        this.#extend(id, words)
        break
      case 'TOOL_CALL_ARGS':
        this.#extend(id, words)
        break
      case 'TOOL_CALL_RESULT':
        this.#answered.add(id) // the provider ran the tool itself
        break
      default:
    }
  }

  /** The calls that are to be run. */
  get calls(): ToolCall[] {
    return [...this.#calls]
      .filter(([id]) => !this.#answered.has(id))
      .map(([id, { name, args }]) => ({ id, name, args: args === '' ? {} : args }))
  }

  /** The message of the assistant, for the next request of the model. */
  message(): AgUiMessage {
    const toolCalls = Array.from(this.#calls, ([id, { name, args }]) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: args },
    }))
    return {
      id: this.#id ?? crypto.randomUUID(),
      role: 'assistant',
      ...(this.#text !== '' && { content: this.#text }),
      ...(toolCalls.length > 0 && { toolCalls }),
    }
  }

  #extend(id: string, words: string): void {
    const call = this.#calls.get(id)
    if (call !== undefined) call.args += words
  }
}

/** Returns the events of calls that the model gave as values. */
export function announced(calls: readonly ToolCall[]): AgUiEvent[] {
  return calls.flatMap(({ id, name, args }) => {
    const toolCallId = String(id)
    const delta = argsText(args ?? {})
    return [
      event('TOOL_CALL_START', { toolCallId, toolCallName: name }),
      ...(delta === undefined ? [] : [event('TOOL_CALL_ARGS', { toolCallId, delta })]),
      event('TOOL_CALL_END', { toolCallId }),
    ]
  })
}

/** Returns args as text. What is no JSON has none: its call says why. */
function argsText(args: unknown): string | undefined {
  try {
    return typeof args === 'string' ? args : JSON.stringify(args)
  } catch {
    return undefined
  }
}

/** Returns the event of a result that settled. */
export function resultEvent(result: ToolResult): AgUiEvent {
  const { invocationId, callId, status, effect, handle } = result
  const toolwright = { invocationId, callId, status, effect, ...(handle !== undefined && { handle }) }
  const { id, role, content, toolCallId } = resultMessage(result)
  return event('TOOL_CALL_RESULT', { messageId: id, toolCallId, content, role, metadata: { toolwright } })
}

/** Returns the message of a result, for the next request of the model. */
export function resultMessage({ id, invocationId, content, isError }: ToolResult): AgUiMessage {
  const words = content.map(blockWords).join('\n')
  return {
    id: `tool-${invocationId}`,
    role: 'tool',
    content: words,
    toolCallId: String(id ?? invocationId),
    ...(isError && { error: words }),
  }
}

function blockWords(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'json') return block.text ?? JSON.stringify(block.data)
  return `[${block.type}]`
}

/** Makes an event of now. */
export function event(type: string, body: object): AgUiEvent {
  return { type, timestamp: Date.now(), ...body }
}
