// What the author of an extension implements or names.

// Making tools
export type { ToolConstructor } from './kernel/tool/tool.ts'
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
  McpConfig,
  ParsedOf,
  ToolUi,
} from './kernel/tool/options.ts'
export type { OnCollision } from './kernel/tool/registry.ts'
export type { ReconcileContext, Reconciled } from './kernel/tool/reconciled.ts'
export type { EmptyInput, FromJson } from './kernel/schema/infer.ts'
export type { JsonSchemaObject, JsonType } from './kernel/schema/standard.ts'
export type { SchemaLoss, SchemaReport, TurnBudget } from './formats/_format.ts'

// Running calls
export { catalogueOf, policiesOf } from './kernel/run/served.ts'
export { reconcile } from './kernel/run/reconcile.ts'
export type { RespondOptions } from './kernel/calls-types.ts'
export type { Bus, CallQueue, CarriedCall, ExecutorQueue, OrderedCall, RunOptions } from './kernel/queue-types.ts'
export type { EventNamed, Invocable, InvokeArguments, InvokeResult } from './kernel/executor-types.ts'
export type { CallingProgram, KnownOutcome } from './kernel/call/call.ts'
export type { Approval } from './kernel/call/approval.ts'
export type { RepairStep } from './kernel/call/repair-step.ts'
export type { Conflict } from './kernel/call/context-types.ts'
export type {
  Admitted,
  Authorized,
  Confirmed,
  EffectKey,
  Identified,
  Identity,
  Received,
  Resolved,
  Validated,
  Verdict,
  Resumption,
} from './kernel/call/parcel.ts'
export type {
  CallsInFlight,
  Elsewhere,
  ElsewhereContext,
  EventTargets,
  OutcomeContext,
  RecordsContext,
  ToolLookup,
} from './kernel/executor-context.ts'
export type { Redactor } from './kernel/call/redactor.ts'
export type { Deadline } from './kernel/call/deadline.ts'
export type { Slots } from './kernel/call/slots.ts'
export type { EventEnvelope } from './kernel/call/events.ts'

// Results
export type {
  AudioBlock,
  ImageBlock,
  JsonBlock,
  MarkedBytes,
  MarkedContent,
  MarkedJson,
  ResourceBlock,
  ResourceLinkBlock,
  TextBlock,
} from './kernel/result/content.ts'
export type { ArtifactOption, ArtifactSource, Lines } from './kernel/result/artifact.ts'
export type { ArtifactArgument } from './spool/argument.ts'
export type { LineIndex } from './spool/lines.ts'

// Extending
export type { ApprovalAnswer, ApprovalRequest, Approver } from './kernel/call/approval.ts'
export type { ArtifactStore, Spooling, SpoolReader, SpoolSource, StoredArtifact } from './kernel/result/store.ts'
export type {
  Decision,
  EarlierCalls,
  Entry,
  Gate,
  Middleware,
  Policy,
  PostDecision,
  RefusedArgs,
  Repair,
  RepairedArgs,
  Runner,
  SessionTools,
  ToolHooks,
} from './kernel/ports.ts'
export type { Observer } from './kernel/call/events.ts'
export type { Shelved } from './kernel/result/shelf.ts'
export type { EarlierCall, FoundOut, Recorder, Settlement } from './kernel/recorder.ts'
export type { ResumableCall } from './kernel/call/wait.ts'
export type { WaitReason } from './kernel/call/approval.ts'
export type {
  WaitRecord,
  QueuedWork,
  RecordChange,
  RecoverOptions,
  Journaled,
  ToolCallApproval,
  ToolCallAuditEntry,
  ToolCallRecord,
  ToolCallState,
} from './kernel/call/record.ts'

// The kit that extensions are written with
export {
  booleanOption,
  checkOptions,
  functionOption,
  integerFrom,
  numberFrom,
  oneOf,
  optionsError,
  required,
  stringOption,
  timerOption,
} from './extension/_options.ts'
export type { OptionCheck, OptionChecks } from './extension/_options.ts'
export { callableNames } from './extension/_names.ts'
export type { WantedName } from './extension/_names.ts'
export { causesOf, isForbidden } from './extension/_causes.ts'
export type { SaidError } from './extension/_causes.ts'
export { refusedPortAdvice } from './extension/_ports.ts'
export { isPostgresAddress, postgresFailure } from './extension/_postgres.ts'
export type { PostgresFailure } from './extension/_postgres.ts'
export { Known } from './kernel/outcome/known.ts'
export { timerLength } from './kernel/call/deadline.ts'
export { escapeDeceptive } from './kernel/json/deceptive.ts'
export { reporterOf } from './kernel/reporter.ts'
