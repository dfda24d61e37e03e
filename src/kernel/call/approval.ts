import type { RepairStep } from './repair-step.ts'

/** Who a waiting call waits for: a person, the client that runs the tool, or a worker of a fleet. */
export type WaitReason = 'approval' | 'client' | 'worker'

/** What a person or a client is asked. */
export interface Question {
  /** In words: at most 4,096 characters. */
  readonly prompt: string
  /** Why a policy wants it asked: at most 1,024 characters. */
  readonly why?: string
  readonly meta?: Readonly<Record<string, unknown>>
  /** How the args were repaired, if they did not fit as they came. */
  readonly repaired?: readonly RepairStep[]
  /** The args after validation. If the tool has secrets, its masked args before validation. */
  readonly input: unknown
}

/** What a person is asked. `prompt` is the tool's `confirmationMessage`, else `Allow <name> to execute?`. */
export interface ApprovalRequest extends Question {
  readonly invocationId: string
  readonly callId: string
  readonly toolName: string
  readonly session: string
}

/** The answer to a request for approval. */
export interface ApprovalAnswer {
  readonly decision: 'allow' | 'deny'
  readonly decidedBy?: string | undefined
  /** A message to the model if the decision is `deny`, to the record if it is `allow`. */
  readonly note?: string | undefined
  /** The person does not want to be asked again. A policy of the application has to remember it. */
  readonly always?: boolean | undefined
}

/** Asks a person, in process. */
export interface Approver {
  /** How long to wait for the answer, in milliseconds. Default: 300,000. */
  readonly timeout?: number
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
}

/** The answer to a request for approval, as the call keeps it. */
export type Approval = ApprovalAnswer
