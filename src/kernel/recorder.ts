import type { ToolCall, ToolResult } from './call/call.ts'
import type { CallOptions, ToolValues } from './call/context-types.ts'
import type { Bodies, ToolEvent } from './call/events.ts'
import type { Received, Resumption } from './call/parcel.ts'
import type { RecoverOptions, Recovery, ToolCallRecord, ToolCallSnapshot, WaitRecord } from './call/record.ts'
import type { ResumableCall, Wait, WaitingCall } from './call/wait.ts'
import type { DecideOptions, RecordedCalls, RespondOptions } from './calls-types.ts'
import type { CallQueue, ExecutorQueue, RunOptions } from './queue-types.ts'
import type { SpooledArtifact } from './result/artifact.ts'
import type { Reconciled } from './tool/reconciled.ts'

/** The outcome of a call, for a recorder. */
export interface Settlement {
  readonly result: ToolResult
  /** The description of the result's artifact. */
  readonly artifact: ReturnType<SpooledArtifact['toJSON']> | undefined
}

/** A call that ran before, and of which it is not known what it did. */
export interface EarlierCall
  extends
    Pick<ToolCall, 'id' | 'name' | 'program'>,
    Pick<Received, 'invocationId' | 'session' | 'principal' | 'caller'> {
  readonly callId: string | null
  /** The canonical text of its args. */
  readonly text: string
  /** When its handler began, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly values?: ToolValues | undefined
  /** Ends the question. */
  readonly signal?: AbortSignal | undefined
}

/** What its tool says of an earlier call. */
export type FoundOut =
  | Exclude<Reconciled, { readonly effect: 'completed' }>
  | {
      readonly effect: 'completed'
      /** Checks and keeps the result. Call it at most once, or `end`. */
      settle(): Promise<Settlement>
      /** Gives the result up. */
      end(): void
    }

/** A call that begins to wait: its result, what it needs to go on, and the body of `call:waiting`. */
export interface BeginningWait {
  readonly result: ToolResult
  readonly wait: WaitRecord
  readonly body: Bodies['call:waiting']
}

/** Takes the answers to waiting calls. */
export interface Answers {
  /** Redeems the token of a call that waits for a person, or the call itself. */
  decide(token: string | WaitingCall, decision: 'allow' | 'deny', options: DecideOptions): Promise<Resumption>
  /** Redeems the token of a call that waits for a client. */
  respond(token: string | WaitingCall, value: unknown, options: RespondOptions): Promise<Resumption>
}

/** Redeems a token and resumes its call. */
export type Resume = <None extends undefined>(
  token: string | WaitingCall,
  redeem: () => Promise<Resumption | None>,
  options: Pick<CallOptions, 'signal'>,
) => Promise<ToolResult | None>

/** Keeps the records of one executor's calls. `records(journal)` of `toolwright/records` makes one for any journal. */
export interface Recorder {
  /** Whether the records outlive the process. */
  readonly isDurable: boolean
  /** Folds an event into the record of its call. Writes nothing. */
  note(call: Received, event: ToolEvent): void
  /**
   * Writes the record of a call, with one more event if it is given.
   *
   * @throws `E_JOURNAL`, `E_DUPLICATE_INVOCATION`, `E_SEALED`.
   */
  commit(call: Received, event?: ToolEvent): void | Promise<void>
  /** Writes the outcome of a call. Returns the digest that chains it to the outcome before, if the journal is durable. */
  settle(call: Received, event: ToolEvent, settlement: Settlement): string | undefined | Promise<string | undefined>
  /** Makes the result of a call that begins to wait, with its token, its event and the part of its record. */
  begin(call: Received, wait: Wait): BeginningWait
  /** Folds `call:waiting` into the record of a call, and writes what the call needs to go on. */
  wait(call: Received, event: ToolEvent, beginning: BeginningWait): void | Promise<void>
  /** Adds a line to the audit trail of a call that has settled. */
  remark(call: Received, note: string): void
  /** Finds the waiting call of a token or a `WaitingCall`. Changes no call. */
  find(token: unknown): Promise<ResumableCall | undefined>
  /** Takes a waiting call, which uses up its token. Returns `undefined` if another executor took it first. */
  take(call: ResumableCall): Promise<ResumableCall | undefined>
  /** Returns the result of a call that has settled since it began to wait. */
  outcome(invocationId: string): Promise<ToolResult | undefined>
  /**
   * Returns the result of an invocation that the journal has, if it has settled or still waits.
   *
   * @throws `E_DUPLICATE_INVOCATION` if it is still running, or was another call.
   */
  recall(call: Received): Promise<ToolResult | undefined>
  /** Returns a snapshot of an invocation's record. `call` is the call itself, if it is in flight here. */
  snapshot(invocationId: string, call?: Received): Promise<ToolCallSnapshot | undefined>
  readonly answers: Answers
  readonly calls: RecorderCalls
  readonly queue: WorkQueue
  /** Returns the calls that wait for a worker as an executor shows them, which resumes them. */
  queueFor(resume: Resume): ExecutorQueue
  readonly findings: {
    /** Returns the result of a call that has settled. If it is not known what the call did, asks its tool first. */
    reconcile(invocationId: string): Promise<ToolResult>
  }
  /**
   * Notes that an invocation does something, if nothing is noted, or `former` is. Returns the invocation that is noted then. Only
   * if the journal can.
   */
  readonly claimEffect?:
    ((scope: string, effectKey: string, invocationId: string, former?: string) => Promise<string>) | undefined
  /** Closes the calls that dead executors left unfinished. */
  recover(options: RecoverOptions): Promise<Recovery>
  /** Stops the recorder. It writes nothing more. */
  close(): void
}

/** What ends a wait for a call. */
export interface SettledOptions {
  readonly signal?: AbortSignal | undefined
  /** Aborts if the executor that waits closes. */
  readonly closed?: AbortSignal | undefined
}

/** The recorded calls, as an executor asks for them. */
export interface RecorderCalls extends RecordedCalls {
  settled(call: ToolResult | string, options?: SettledOptions): Promise<ToolResult>
}

/** The calls in the records that wait for a worker. */
export interface WorkQueue extends CallQueue {
  /**
   * Takes a call that waits for a worker. Returns `undefined` if it waits no more, or if the executor closes.
   *
   * @throws `E_UNAVAILABLE` if its tool is not here, or is another version.
   */
  redeem(invocationId: string, options: RunOptions): Promise<Resumption | undefined>
  /** Returns the wait that puts a call back, if its worker closes and the call may run again. */
  waitAgain(call: Received, thrown: unknown): Wait | undefined
  /** Returns the record of a call. */
  record(invocationId: string): Promise<ToolCallRecord | undefined>
}

/** The part of a recorder that keeps waiting calls. */
export type WaitKeeper = Pick<Recorder, 'begin' | 'wait' | 'find' | 'take' | 'outcome' | 'answers' | 'calls'>
