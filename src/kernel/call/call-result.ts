import type { SpooledArtifact } from '../result/artifact.ts'
import type { ContentBlock } from '../result/content.ts'
import type { ToolError, CallStatus } from '../errors.ts'
import type { SideEffect, ToolResult } from './call.ts'
import type { Writable } from './parcel.ts'

/** The result of a call. A replay has the same JSON, since that leaves out how long the call took. */
export class CallResult implements Writable<ToolResult> {
  // Only declared: most results have none of these.
  declare id?: string | number
  declare via?: string
  declare artifact?: SpooledArtifact
  declare handle?: string
  declare error?: ToolError
  declare output?: unknown
  declare skipped?: true
  declare token?: string
  declare expiresAt?: number
  invocationId: string
  callId: string | null
  toolName: string
  status: CallStatus
  effect: SideEffect
  isError: boolean
  content: readonly ContentBlock[]
  durationMs: number
  #value: unknown

  constructor(
    of: Pick<ToolResult, 'invocationId' | 'callId' | 'toolName'>,
    status: CallStatus,
    effect: SideEffect,
    content: readonly ContentBlock[],
    durationMs: number,
    value?: unknown,
  ) {
    this.invocationId = of.invocationId
    this.callId = of.callId
    this.toolName = of.toolName
    this.status = status
    this.effect = effect
    this.isError = status !== 'ok' && status !== 'waiting'
    this.content = content
    this.durationMs = durationMs
    this.#value = value
  }

  /** Returns a result with other fields. Its class has no name in itself, since a build renames a class which does, and programs print it. */
  static of(result: ToolResult, changes: Partial<ToolResult>): ToolResult {
    const { status, effect, content, durationMs } = result
    const copy = new this(result, status, effect, content, durationMs, result.value)
    return Object.assign(copy, result, changes)
  }

  /** Not enumerable: the content of the JSON has it. */
  get value(): unknown {
    return #value in this && this.status === 'ok' ? this.#value : undefined
  }
  set value(value) {
    this.#value = value
  }

  toJSON(): Omit<ToolResult, 'durationMs'> {
    const { durationMs: _durationMs, ...json } = this as ToolResult
    return json
  }
}
