// The port of this family. `toolwright` exports it, since applications and other packages bring formats too.
import type { ToolCall, ToolDefinition, ToolResult } from '../index.ts'

/** How much of the results of one turn a reply may hold. */
export interface TurnBudget {
  /** The most tokens of all results together. The largest are shortened first, and say so with their handles. */
  readonly tokens: number
  /** Counts the tokens of a text. Default: a quarter of its bytes. */
  readonly estimateTokens?: (text: string) => number
}

/**
 * Translates between this package and one provider's messages, in pure functions. The parameters are the provider's types:
 * of a tool, of a message and of a reply. Messages of an unknown type go into a `Format` without parameters.
 */
export interface Format<Definition = unknown, Message = unknown, Reply = unknown> {
  readonly name: string
  /** Whether a message, or a provider's whole response, is of this format. */
  detect(message: unknown): boolean
  /** Returns the tools in the shape of the provider's request. */
  definitions(tools: readonly ToolDefinition[]): Definition[]
  /**
   * Returns the calls of a message in order, without those that the provider ran itself.
   *
   * @param tools Those whose definitions the model saw. Args that it wrote for a lowered schema are returned as the tool takes
   *   them, so that the `callId` is the same with every provider. Default: none, and args stay as the model wrote them.
   * @throws `E_INVALID_CONFIGURATION` if it is no message of this format. The error names the format that reads it.
   */
  calls(message: Message, tools?: readonly ToolDefinition[]): ToolCall[]
  /** Returns how the schemas of tools go out, and what they lose. */
  report?(tools: readonly ToolDefinition[]): SchemaReport[]
  /** Returns the reply to the message in the provider's shape. */
  results(results: readonly ToolResult[], message?: Message, budget?: TurnBudget): Reply
}

/** One thing that a provider's dialect of JSON Schema cannot express, and what the format did about it. */
export interface SchemaLoss {
  /** A JSON Pointer into the tool's own input schema. */
  readonly pointer: string
  readonly keyword: string
  readonly done:
    | 'dropped'
    | 'in words'
    | 'inlined'
    | 'widened'
    | 'closed'
    | 'nullable'
    | 'wrapped'
    | 'renamed'
    | 'as pairs'
    | 'as fields'
    | 'as text'
  /** The words, the new name, or what stands there now. */
  readonly note?: string
}

/** How one tool's input schema goes to a provider. */
export interface SchemaReport {
  readonly toolName: string
  readonly schema: 'as it is' | 'lowered' | 'strict'
  readonly losses: readonly SchemaLoss[]
  /** The reason why the schema is not strict, or could not be lowered, although that was asked for. */
  readonly refused?: string
}
