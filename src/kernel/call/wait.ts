import type { Caller } from './context-types.ts'
import type { TakenCall } from './call.ts'
import type { WaitReason, Question } from './approval.ts'
import type { WaitRecord, QueuedWork, Recording } from './record.ts'

/** A stage throws it to let the call wait for an answer. */
export class Wait {
  readonly reason: WaitReason
  readonly question: Question
  /** How long the answer may take, in milliseconds. `0` for no limit. */
  readonly timeout: number
  /** What the call waits in, if it waits for a worker. */
  readonly work: QueuedWork | undefined

  constructor(reason: WaitReason, question: Question, timeout: number, work?: QueuedWork) {
    this.reason = reason
    this.question = question
    this.timeout = timeout
    this.work = work
  }
}

/** A call that waits for an answer, with everything that it needs to go through the pipeline again. */
export interface ResumableCall extends Pick<WaitRecord, 'reason' | 'digest' | 'fingerprint' | 'expiresAt'> {
  /** The call as it was. `args` is the canonical text that was hashed. */
  readonly call: TakenCall
  readonly callId: string | null
  readonly invocationId: string
  readonly session: string
  readonly principal: string | undefined
  readonly caller: Caller
  /** The invocation whose handler made the call. */
  readonly parent?: string | undefined
  /** Whether a person approved the call before a client was asked. */
  readonly isApproved: boolean
  /** The client that holds the call now. */
  readonly lease?: WaitingCall['lease']
  /** The wait, if a worker has taken the call. The record keeps it until the call settles. */
  readonly taken?: WaitRecord
  /** The number of the call's next event. */
  readonly seq: number
  readonly recording: Recording | undefined
}

/**
 * A waiting call as the application sees it. With it, `decide` and `respond` need no token. It works in the process that listed it:
 * neither a copy of it nor its JSON is of use.
 */
export interface WaitingCall extends Omit<Question, 'input'> {
  readonly invocationId: string
  readonly callId: string | null
  /** The provider's id of the call. */
  readonly id?: string | number
  readonly toolName: string
  readonly session: string
  /** The invocation whose handler makes the call. */
  readonly parent?: string
  readonly reason: Exclude<WaitReason, 'worker'>
  /** The args, with secrets masked. */
  readonly args: unknown
  /** Milliseconds since the epoch, as `expiresAt` and `until`. */
  readonly createdAt: number
  readonly expiresAt: number
  /** The client that is at it. */
  readonly lease?: { readonly holder: string; readonly until: number }
}

/** Returns the invocation that a token or a waiting call names. There may be no such invocation. */
export function invocationOf(token: unknown): string {
  if (typeof token === 'string') return token.slice(0, Math.max(0, token.lastIndexOf('.')))
  try {
    return String((token as WaitingCall).invocationId)
  } catch {
    return '' // what it is tells the part that redeems it
  }
}
