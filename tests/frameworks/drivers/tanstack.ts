import { chat, type AnyTextAdapter, type StreamChunk } from '@tanstack/ai'
import type { ToolExecutor } from 'toolwright'
import { tanstackTools } from 'toolwright/frameworks/tanstack'
import type { Call, Driver } from '../_kit.ts'

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly toolCallId?: string
}

/** A model that makes the calls of each turn, and then says that it is done. */
export function adapterOf(...turns: readonly (readonly Call[])[]): { adapter: AnyTextAdapter; asked: Message[][] } {
  const asked: Message[][] = []
  async function* chatStream({ messages }: { readonly messages: Message[] }): AsyncGenerator<object, void, undefined> {
    asked.push([...messages])
    const calls = turns[asked.length - 1] ?? []
    const base = { model: 'fake', timestamp: 0 }
    yield { type: 'RUN_STARTED', runId: 'run', threadId: 'thread', ...base }
    for (const [index, { id, name, args }] of calls.entries()) {
      const named = { toolCallId: id, toolCallName: name, toolName: name, ...base }
      yield { type: 'TOOL_CALL_START', index, ...named }
      yield { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: JSON.stringify(args), ...base }
      yield { type: 'TOOL_CALL_END', ...named }
    }
    if (calls.length === 0) {
      yield { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant', ...base }
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'done', content: 'done', ...base }
      yield { type: 'TEXT_MESSAGE_END', messageId: 'm', ...base }
    }
    const finishReason = calls.length === 0 ? 'stop' : 'tool_calls'
    yield { type: 'RUN_FINISHED', runId: 'run', threadId: 'thread', finishReason, ...base }
  }
  const adapter = { kind: 'text', name: 'fake', model: 'fake', '~types': {}, chatStream }
  return { adapter: adapter as unknown as AnyTextAdapter, asked }
}

/** The messages that a client sends with its answer. */
export function answered({ id, name, args }: Call, approved: unknown): object[] {
  const part = {
    type: 'tool-call',
    id,
    name,
    arguments: JSON.stringify(args),
    state: 'approval-responded',
    approval: { id: `approval_${id}`, needsApproval: true, approved },
  }
  return [
    { id: 'm1', role: 'user', parts: [{ type: 'text', content: 'go' }] },
    { id: 'm2', role: 'assistant', parts: [part] },
  ]
}

export interface Chat {
  readonly chunks: StreamChunk[]
  /** What the model read as the result of a call. */
  readonly resultOf: (id: string) => string | undefined
}

/** One request of a client. */
export async function request(
  executor: ToolExecutor,
  calls: readonly Call[],
  {
    messages,
    signal,
    session = 'chat-1',
    context,
  }: { messages?: object[]; signal?: AbortSignal; session?: string; context?: object } = {},
): Promise<Chat> {
  const { tools, middleware } = tanstackTools({ executor, session })
  const { adapter, asked } = adapterOf(...(messages === undefined ? [calls] : []))
  const abortController = new AbortController()
  signal?.addEventListener('abort', () => abortController.abort())
  const chunks: StreamChunk[] = []
  const run = chat({
    adapter,
    messages: (messages ?? [{ role: 'user', content: 'go' }]) as never,
    tools,
    middleware: [middleware],
    abortController,
    context: context ?? {},
  })
  for await (const chunk of run as AsyncIterable<StreamChunk>) chunks.push(chunk)
  const resultOf = (id: string): string | undefined => {
    const found = asked.at(-1)?.find((message) => message.role === 'tool' && message.toolCallId === id)
    return found === undefined ? undefined : textOf(found.content)
  }
  return { chunks, resultOf }
}

/** Returns the words of a result: those of its error, if it is one. */
function textOf(content: unknown): string {
  if (typeof content !== 'string') return JSON.stringify(content)
  const { error } = (content.startsWith('{') ? JSON.parse(content) : {}) as { readonly error?: string }
  return error ?? content
}

export const driver: Driver = {
  name: 'TanStack AI',
  asksNoPerson: true, // about calls whose args decide
  async run({ executor }, call, { signal, session } = {}) {
    const { resultOf } = await request(executor, [call], { ...(signal && { signal }), ...(session && { session }) })
    return { words: resultOf(call.id), isAsked: false }
  },
}
