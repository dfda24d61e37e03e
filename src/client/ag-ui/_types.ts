import type { ToolCall, ToolDefinition, ToolResult } from '../../index.ts'

/** An event of AG-UI 1.0. */
export interface AgUiEvent {
  readonly [field: string]: unknown
  readonly type: string
}

/** A message of a thread. */
export interface AgUiMessage {
  readonly id: string
  readonly role: string
  readonly content?: unknown
  /** Of an assistant: the calls of the message. */
  readonly toolCalls?: readonly AgUiToolCall[]
  /** Of a tool: the call that it answers. */
  readonly toolCallId?: string
  /** Of a tool: why it failed. */
  readonly error?: string
}

/** A call in a message of an assistant. */
export interface AgUiToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** What a front end sends to start a run: the fields of it that are read here. The model gets all of them. */
export interface AgUiInput {
  readonly threadId: string
  readonly runId: string
  readonly messages: readonly AgUiMessage[]
  /** The tools of the page. */
  readonly tools?: readonly { readonly name: string; readonly description: string; readonly parameters?: unknown }[]
  /** Answers to interrupts. */
  readonly resume?: readonly { readonly interruptId: string; readonly status: string; readonly payload?: unknown }[]
  readonly state?: unknown
  readonly context?: readonly unknown[]
  readonly forwardedProps?: unknown
}

/** What the model gets beside the input. */
export interface AgUiTurn {
  /** The tools that the model may see in this session, those of the page included. */
  readonly tools: readonly ToolDefinition[]
  /** What settled since the model was asked last. The messages of the input have it too. */
  readonly results: readonly ToolResult[]
  readonly session: string
  /** Aborts when the run is given up. */
  readonly signal: AbortSignal
}

/**
 * Asks the model once. Returns its calls, or a stream of AG-UI events: text, and the calls as `TOOL_CALL_START`, `TOOL_CALL_ARGS`
 * and `TOOL_CALL_END`. It is asked again, with the messages that came since, until it calls nothing.
 */
export type AgUiModel = (
  input: AgUiInput,
  turn: AgUiTurn,
) => AsyncIterable<AgUiEvent> | readonly ToolCall[] | Promise<readonly ToolCall[]>
