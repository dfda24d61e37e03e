// Making tools
export { clientTool, Tool, tool } from './kernel/tool/tool.ts'
export type { ToolConstructor } from './kernel/tool/tool.ts'
export { ToolExecutionType, ToolIntent } from './kernel/tool/options.ts'
export type {
  BoundOptions,
  CheckedHandlerField,
  CheckedResult,
  ClassConfig,
  ClientToolDescription,
  ConfirmationPreview,
  DirectContext,
  ErasedConfig,
  ErasedHandler,
  HandlerField,
  LibraryToolOptions,
  McpConfig,
  ParsedOf,
  ProviderToolOptions,
  ToolConfig,
  ToolHandler,
  ToolOptions,
  ToolTraits,
  ToolType,
  ToolTypes,
  ToolUi,
} from './kernel/tool/options.ts'
export type { ToolDefinition, ToolDescription, ToolLike } from './kernel/tool/definition.ts'
export type { EmptyInput, FromJson, InputOf, OutputOf, Schema } from './kernel/schema/infer.ts'
export type {
  Issue,
  JsonSchema,
  JsonSchemaObject,
  JsonType,
  StandardJSONSchemaV1,
  StandardSchemaV1,
} from './kernel/schema/standard.ts'
export type { Format, SchemaLoss, SchemaReport, TurnBudget } from './formats/_format.ts'

// Running calls
export { createExecutor } from './kernel/executor.ts'
export type {
  Bus,
  CallQuery,
  CallQueue,
  CarriedCall,
  DecideOptions,
  EventNamed,
  Inbox,
  PruneQuery,
  RespondOptions,
  RunOptions,
  ToolExecutor,
  TurnOptions,
  WaitingQuery,
  Weighing,
} from './kernel/executor-types.ts'
export type { ExecutorOptions } from './kernel/assemble.ts'
export { ToolRegistry } from './kernel/tool/registry.ts'
export type { OnCollision } from './kernel/tool/registry.ts'
export { outputsOf } from './kernel/outcome/result.ts'
export type { CallingProgram, CallStatus, SideEffect, ToolCall, ToolResult } from './kernel/call/call.ts'
export type {
  Approval,
  Authorized,
  Confirmed,
  Identified,
  Identity,
  Received,
  Resolved,
  Validated,
  Verdict,
} from './kernel/call/parcel.ts'
export type { Elsewhere, Redactor } from './kernel/kernel.ts'
export type { Deadline } from './kernel/call/deadline.ts'
export type { Slots } from './kernel/call/slots.ts'
export type { EventEnvelope, ToolEvent, ToolEventName, ToolEventOf } from './kernel/call/events.ts'

// Identity
export { canonicalize, computeCallId } from './kernel/json/canonical.ts'
export { parseJson } from './kernel/json/parse.ts'

// Results
export { content, json, shown } from './kernel/result/content.ts'
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
} from './kernel/result/content.ts'
export { SpooledArtifact } from './kernel/result/artifact.ts'
export { BinaryArtifact, JsonArtifact, TextArtifact } from './kernel/result/kinds.ts'
export type { ArtifactClass, ArtifactOption, ArtifactQuery, ArtifactSource, Lines } from './kernel/result/artifact.ts'
export { artifact } from './spool/argument.ts'
export type { ArtifactArgument } from './spool/argument.ts'
export type { LineIndex } from './spool/lines.ts'
export { memoryStore } from './spool/memory.ts'
export type { MemoryStore } from './spool/memory.ts'
export { masked } from './redaction/masked.ts'

// Extending
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approver,
  ArtifactStore,
  Decision,
  Extension,
  Middleware,
  Observer,
  Policy,
  Runner,
  Shelf,
  Shelved,
  Spooling,
  SpoolReader,
  SpoolSource,
  StoredArtifact,
  ToolContext,
  Caller,
  CallOptions,
  PostDecision,
  Recorder,
  Settlement,
  ToolHooks,
  ToolValues,
} from './kernel/ports.ts'
export type { PausedCall, PauseReason, Resumption, WaitingCall } from './kernel/call/pause.ts'
export type {
  PauseRecord,
  QueuedWork,
  RecordChange,
  Recovery,
  RecoverOptions,
  Journaled,
  ToolCallApproval,
  ToolCallAuditEntry,
  ToolCallRecord,
  ToolCallSnapshot,
  ToolCallState,
} from './kernel/call/record.ts'

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
  LeasedError,
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
  UnavailableError,
  UncanonicalArgsError,
  ValidatorFailedError,
} from './kernel/errors.ts'
export type { ErrorCategory, ErrorCode, ToolErrorDetails } from './kernel/errors.ts'
