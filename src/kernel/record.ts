import type { CallStatus, SideEffect } from './call.ts'
import type { Approval } from './parcel.ts'
import type { ContentBlock } from './content.ts'

/** Where a call stands. */
export type ToolCallState =
  'PENDING' | 'APPROVAL_REQUIRED' | 'APPROVED' | 'EXECUTING' | 'COMPLETED' | 'FAILED' | 'DENIED' | 'SEALED'

/** One line of a record's audit trail. */
export interface ToolCallAuditEntry {
  readonly state: ToolCallState
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly note?: string
}

/** What became of a request for approval, as the record keeps it. */
export interface ToolCallApproval extends Partial<Approval> {
  readonly required: boolean
  readonly decidedAt?: number
  readonly meta?: Readonly<Record<string, unknown>>
}

/** The durable record of one invocation, as plain JSON. */
export interface ToolCallRecord {
  readonly id: string
  readonly name: string
  readonly callId: string | null
  readonly session: string
  /** The executor instance that wrote it last. */
  readonly owner: string
  readonly input: unknown
  readonly state: ToolCallState
  readonly approval: ToolCallApproval
  readonly status?: CallStatus
  readonly effect: SideEffect
  readonly result?: readonly ContentBlock[]
  readonly error?: string
  readonly isError?: boolean
  readonly startedAt?: number
  readonly completedAt?: number
  readonly durationMs?: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly auditTrail: readonly ToolCallAuditEntry[]
}

/** A change to a record: the fields that change, and the line for its audit trail. */
export interface RecordEntry {
  readonly change: Partial<Omit<ToolCallRecord, 'id' | 'auditTrail'>>
  readonly audit: ToolCallAuditEntry
}
