// Making tools
export { clientTool, Tool, tool } from './kernel/tool/tool.ts'
export { ToolExecutionType, ToolIntent } from './kernel/tool/options.ts'
export type { ToolTraits } from './kernel/tool/traits.ts'
export type {
  LibraryToolOptions,
  ProviderToolOptions,
  ToolConfig,
  ToolHandler,
  ToolOptions,
  ToolType,
  ToolTypes,
} from './kernel/tool/options.ts'
export type { ToolDefinition, ToolDescription, ToolLike } from './kernel/tool/definition.ts'
export type { InputOf, OutputOf, Schema } from './kernel/schema/infer.ts'
export type { Issue, JsonSchema, StandardJSONSchemaV1, StandardSchemaV1 } from './kernel/schema/standard.ts'
export type { Format } from './formats/_format.ts'

// Running calls
export { createExecutor } from './kernel/executor.ts'
export type { CallQuery, DecideOptions, ExecutorCalls, PruneQuery, WaitingQuery } from './kernel/calls-types.ts'
export type { ToolExecutor, TurnOptions, Evaluation } from './kernel/executor-types.ts'
export type { ExecutorOptions } from './kernel/assemble.ts'
export { ToolRegistry } from './kernel/tool/registry.ts'
export { outputsOf } from './kernel/outcome/result.ts'
export type { CallStatus } from './kernel/errors.ts'
export type { SideEffect, ToolCall, ToolResult } from './kernel/call/call.ts'
export type { ToolEvent, ToolEventName, ToolEventOf } from './kernel/call/events.ts'

// Identity
export { canonicalize, computeCallId } from './kernel/json/canonical.ts'
export { parseJson } from './kernel/json/parse.ts'

// Results
export { bytes, content, json, shown } from './kernel/result/content.ts'
export type { ContentBlock } from './kernel/result/content.ts'
export { SpooledArtifact } from './kernel/result/artifact.ts'
export { BinaryArtifact, JsonArtifact, TextArtifact } from './kernel/result/kinds.ts'
export type { ArtifactClass, ArtifactQuery } from './kernel/result/artifact.ts'
export { artifact } from './spool/argument.ts'
export { memoryStore } from './spool/memory.ts'
export type { MemoryStore } from './spool/memory.ts'
export { masked } from './redaction/masked.ts'

// Extending
export type { Extension } from './kernel/ports.ts'
export type { Shelf } from './kernel/result/shelf.ts'
export type { ToolContext, Caller, CallOptions, ToolValues } from './kernel/call/context-types.ts'
export type { WaitingCall } from './kernel/call/wait.ts'
export type { Recovery, ToolCallSnapshot } from './kernel/call/record.ts'

// Errors
export { isToolError, ToolError, ToolFailure } from './kernel/errors.ts'
export type { ErrorCode, ToolErrorDetails } from './kernel/errors.ts'
