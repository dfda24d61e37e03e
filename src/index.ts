// Making tools
export { clientTool, Tool, tool } from './kernel/tool.ts'
export type {
  BoundOptions,
  CheckedHandlerField,
  CheckedResult,
  ClientToolDescription,
  HandlerField,
  ToolConfig,
  ToolHandler,
} from './kernel/tool.ts'
export type { DirectContext } from './kernel/direct.ts'
export { ToolExecutionType, ToolIntent } from './kernel/tool-options.ts'
export type {
  ErasedConfig,
  ErasedHandler,
  LibraryToolOptions,
  McpConfig,
  PostDecision,
  ProviderToolOptions,
  ToolHooks,
  ToolOptions,
  ToolTraits,
  ToolType,
  ToolTypes,
  ToolUi,
} from './kernel/tool-options.ts'
export type { ToolDefinition, ToolDescription, ToolLike } from './kernel/definition.ts'
export type { EmptyInput, FromJson, InputOf, OutputOf, Schema } from './kernel/infer.ts'
export type {
  Issue,
  JsonSchema,
  JsonSchemaObject,
  JsonType,
  StandardJSONSchemaV1,
  StandardSchemaV1,
} from './kernel/standard.ts'

// Running calls
export { createExecutor } from './kernel/executor.ts'
export type { ToolExecutor, TurnOptions } from './kernel/executor.ts'
export type { ExecutorOptions } from './kernel/assemble.ts'
export type { DecideOptions } from './kernel/resume.ts'
export type { RecoverOptions, Recovery } from './kernel/recover.ts'
export { ToolRegistry } from './kernel/registry.ts'
export type { OnCollision } from './kernel/registry.ts'
export type { Caller, CallOptions, CallStatus, SideEffect, ToolCall, ToolResult, ToolValues } from './kernel/call.ts'
export type {
  Approval,
  Authorized,
  Confirmed,
  Deadline,
  Identified,
  Identity,
  Received,
  Resolved,
  Resumption,
  Slots,
  Validated,
  Verdict,
} from './kernel/parcel.ts'
export type { EventEnvelope, ToolEvent, ToolEventName, ToolEventOf } from './kernel/events.ts'

// Identity
export { canonicalize, computeCallId } from './kernel/canonical.ts'
export { parseJson } from './kernel/parse.ts'

// Results
export { content, json } from './kernel/content.ts'
export type {
  AudioBlock,
  ContentBlock,
  ImageBlock,
  JsonBlock,
  MarkedContent,
  MarkedJson,
  ResourceBlock,
  ResourceLinkBlock,
  TextBlock,
} from './kernel/content.ts'
export { SpooledArtifact } from './kernel/artifact.ts'
export { BinaryArtifact, JsonArtifact, TextArtifact } from './kernel/artifact-kinds.ts'
export type { ArtifactClass, ArtifactOption, ArtifactQuery, ArtifactSource, Lines } from './kernel/artifact.ts'
export { artifact } from './kernel/artifact-argument.ts'
export type { ArtifactArgument } from './kernel/artifact-argument.ts'
export type { LineIndex } from './kernel/line-index.ts'
export { memoryStore } from './kernel/memory-store.ts'
export type { MemoryStore } from './kernel/memory-store.ts'
export { masked, toldResult } from './kernel/mask.ts'

// Extending
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approver,
  ArtifactStore,
  Decision,
  Extension,
  Fence,
  Format,
  Found,
  Journal,
  Unfinished,
  Middleware,
  Observer,
  Policy,
  Runner,
  Shelf,
  Shelved,
  Spooling,
  SpoolReader,
  SpoolSource,
  ToolContext,
} from './kernel/ports.ts'
export { foldEvent } from './kernel/fold.ts'
export { keeping } from './kernel/keeping.ts'
export type { Keeper } from './kernel/keeping.ts'
export type { KeptRecord } from './kernel/kept-record.ts'
export { digestOf, isSettled } from './kernel/record.ts'
export type {
  Awaited,
  Journaled,
  ToolCallApproval,
  ToolCallAuditEntry,
  ToolCallRecord,
  ToolCallSnapshot,
  ToolCallState,
} from './kernel/record.ts'

// Errors
export {
  ApprovalExpiredError,
  ApprovalInvalidError,
  ArtifactError,
  ClientToolError,
  DuplicateInvocationError,
  IllegalTransitionError,
  InternalError,
  InvalidConfigurationError,
  InvalidExecutionTypeError,
  InvalidInitialToolValueError,
  InvalidToolArgsError,
  InvalidToolResultError,
  isToolError,
  JournalError,
  SchemaConversionError,
  SealedError,
  ToolAlreadyRegisteredError,
  ToolCancelledError,
  ToolDeniedError,
  ToolDownstreamError,
  ToolError,
  ToolFailure,
  ToolNoHandlerError,
  ToolNotFoundError,
  ToolTimeoutError,
  UncanonicalArgsError,
  ValidatorFailedError,
} from './kernel/errors.ts'
export type { ErrorCategory, ErrorCode, ToolErrorDetails } from './kernel/errors.ts'
