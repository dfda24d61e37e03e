import type { ToolError, CallStatus } from '../errors.ts'
import type { ContentBlock } from '../result/content.ts'
import type { Caller } from './context-types.ts'
import type { CallingProgram, SideEffect, ToolResult } from './call.ts'
import type { Approval, WaitReason, Question } from './approval.ts'
import type { Blocker } from './blocker.ts'
import type { RepairStep } from './repair-step.ts'

/** The state of a call. */
export type ToolCallState =
  'PENDING' | 'APPROVAL_REQUIRED' | 'APPROVED' | 'EXECUTING' | 'COMPLETED' | 'FAILED' | 'DENIED' | 'SEALED'

/** What has become of a record: its standing, that it waits for a worker, or that its cancellation was requested. */
export type RecordChange = 'waiting' | 'running' | 'settled' | 'queued' | 'cancelled'

/** One line of a record's audit trail. */
export interface ToolCallAuditEntry {
  readonly state: ToolCallState
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly note?: string
}

/** A request for approval and its answer, in a record. */
export interface ToolCallApproval extends Partial<Approval & Omit<Question, 'input'>> {
  readonly required: boolean
  /** Milliseconds since the epoch. */
  readonly decidedAt?: number
}

/** How a call waits for a worker. */
export interface QueuedWork {
  readonly queue: string
  /** How many workers have taken the call. */
  readonly attempts: number
  /** Whether it may run again after its worker has died: the tool is `readonly` or `idempotent`. */
  readonly isRepeatable?: true
  /** Whether no other call of its session may run meanwhile. */
  readonly isAlone?: true
  /** What the application carries of the call's values. It is not masked. */
  readonly values?: unknown
}

/** What a record keeps of a waiting call until the call settles. */
export interface WaitRecord {
  readonly reason: WaitReason
  /** SHA-256 of the token or random. */
  readonly digest: string
  /** The hash of the tool's definition as the wait began. */
  readonly fingerprint: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** What the person or the client is asked, in words. Records of older versions have it in `approval` alone. */
  readonly prompt?: string
  /** The client that is at it. Times are milliseconds since the epoch. */
  readonly lease?: { readonly holder: string; readonly since: number; readonly until: number }
  /** The canonical text of the args. It is not masked, since the call resumes from it. */
  readonly text: string
  /** The provider's result, if it ran the tool itself. */
  readonly result?: unknown
  /** The provider's id of the call, if `toolCallId` has only its beginning. */
  readonly id?: string
  /** Whether a person approved the call before. */
  readonly isApproved?: true
  /** How it waits for a worker. */
  readonly work?: QueuedWork
}

/** The record of one invocation as plain JSON: a fold over its events, except for `journal`. */
export interface ToolCallRecord {
  /** The `invocationId`. */
  readonly id: string
  readonly callId: string | null
  readonly name: string
  readonly session: string
  /** The provider's id of the call. An id above 1,024 characters becomes its beginning and its SHA-256. */
  readonly toolCallId?: string | number
  /** The bridge that the model called, if its args named the tool. */
  readonly via?: string
  /** The callId before a person edited the args. */
  readonly editedFrom?: string
  /** The callId of the args that came in, if they did not fit and were repaired, and how they were. */
  readonly repairedFrom?: string
  readonly repairs?: readonly RepairStep[]
  /** The SHA-256 of the tool's `effectKey` of the call. */
  readonly effectKey?: string
  /** The invocation whose handler makes the call. */
  readonly parent?: string
  /** The invocation about which this record says what became of it. Its own id is that with `~reconciled`. */
  readonly reconciles?: string
  /** The args, with secrets masked. */
  readonly input: unknown
  readonly state: ToolCallState
  readonly approval: ToolCallApproval
  readonly status?: CallStatus
  readonly effect: SideEffect
  readonly error?: string
  readonly isError?: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly startedAt?: number
  readonly completedAt?: number
  /** From receipt to settlement, in milliseconds of a monotonic clock. If the call waited, from its resumption. */
  readonly durationMs?: number
  readonly auditTrail: readonly ToolCallAuditEntry[]
  /** The number of the next event. */
  readonly seq: number
  /** The fields that only a journal has. */
  readonly journal?: Journaled
}

/** The record of a running call; its recorder owns it. */
export interface Recording {
  readonly record: ToolCallRecord
  readonly fence?: { readonly number: number } | undefined
}

/** What the recorder adds to a record in a journal. */
export interface Journaled {
  readonly caller: Caller
  readonly principal?: string
  readonly program?: CallingProgram
  /** The executor that wrote the record last, and the number of its fence. */
  readonly owner: string
  readonly fence: number
  /** Whether `tool:start` was emitted, and no `tool:end` was recorded since. */
  readonly hasStarted?: true
  readonly awaits?: WaitRecord
  /** The wait of a call that a worker has taken, so that another can begin it again. */
  readonly work?: WaitRecord
  /** The canonical text of the args, not masked: of a tool with `reconcile`, from the start of its run until its effect is known. */
  readonly args?: string
  /** What was found out about the call after it had settled with the effect `unknown`. Another record has all of it. */
  readonly finding?: { readonly status: CallStatus; readonly effect: SideEffect }
  /** The content for the model, for a replay. Above 64 KiB its kinds and size in words. */
  readonly result?: readonly ContentBlock[]
  /** The store's handle of content that is too large for `result`, and the SHA-256 of its JSON text. */
  readonly stored?: { readonly handle: string; readonly sha256: string }
  readonly handle?: string
  readonly artifact?: { readonly kind: string; readonly mediaType: string; readonly byteLength: number }
  readonly failure?: ReturnType<ToolError['toJSON']>
  readonly skipped?: true
  /** SHA-256 of `previous` and the settled record. */
  readonly digest?: string
  /**
   * The digest of the owner's settlement before. If no record has it, that settlement was lost before `call:settled` was
   * emitted, or the record was removed or changed.
   */
  readonly previous?: string
}

/** A deep copy of a record for views. Large args are cut. */
export interface ToolCallSnapshot extends Omit<ToolCallRecord, 'updatedAt' | 'editedFrom' | 'input' | 'journal'> {
  /** The same as `id`. */
  readonly invocationId: string
  /** The same as `name`. */
  readonly toolName: string
  /** The args, with secrets masked. Above 16,384 bytes of JSON they are cut. */
  readonly args?: unknown
  /** What a person or a client is asked, and when the question expires, if the call waits. */
  readonly prompt?: string
  readonly expiresAt?: number
  readonly result?: readonly ContentBlock[]
  /** The result's artifact. Only large ones have a handle. */
  readonly artifact?: Journaled['artifact']
  readonly handle?: string
  /** What was found out about the call after it had settled with the effect `unknown`. */
  readonly finding?: Journaled['finding']
  /** What the call waits for before it starts, if it is in flight here. */
  readonly blocked?: Blocker
  /** The first 200 characters of the input as JSON. */
  readonly inputPreview: string
}

/** How to treat the calls that dead executors left unfinished. */
export interface RecoverOptions {
  /** `'crash'` closes the calls, `'manual'` only lists them. Default: `'crash'`. */
  readonly strategy?: 'crash' | 'manual'
  /** Whether to keep calls that wait for an answer and have not expired. Default: `'keep'`. */
  readonly approvals?: 'keep' | 'seal'
  /**
   * How long an owner may be silent before it counts as dead, in milliseconds. Owners give a sign of life every 5,000 ms, so
   * a value below 10,000 may close calls of a living owner. Default: 30,000.
   */
  readonly staleAfter?: number
  /**
   * Whether calls of dead workers wait for another worker if they had not started, or may run again. Default: whether the
   * executor has an extension with `elsewhere`.
   */
  readonly rerun?: boolean
  /** How many workers may take a call before it is closed. Default: 3. */
  readonly attempts?: number
  /** Whether to ask tools with `reconcile` what became of their calls, before these are closed. Default: `true`. */
  readonly reconcile?: boolean
}

/** The unfinished calls that `recover` found. */
export interface Recovery {
  /** The results of the closed calls. Those that `reconcile` found done are `ok`. Put them into conversations that lack them. */
  readonly sealed: readonly ToolResult[]
  /** The calls that wait for another worker. */
  readonly requeued: readonly { readonly invocationId: string; readonly queue: string; readonly attempts: number }[]
  /** The calls of dead executors that `'manual'` left as they are. */
  readonly kept: readonly ToolCallRecord[]
  /** The calls that waited too long, as `expire` closes them. */
  readonly expired: readonly ToolCallSnapshot[]
}
