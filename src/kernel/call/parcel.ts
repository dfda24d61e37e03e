import type { SpooledArtifact } from '../result/artifact.ts'
import type { Caller, SideEffect, TakenCall } from './call.ts'
import type { ContentBlock } from '../result/content.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { Fence, Observer, ToolContext } from '../ports.ts'
import type { OpenRecord } from '../../records/record.ts'

/** The time that a call has, counted over work and not over waiting for people or slots. */
export interface Deadline {
  /** Aborts at the deadline and when the caller gives the call up; made on first use. */
  readonly signal: AbortSignal
  /**
   * Waits for work: rejects at the deadline or on abort, whatever the work does.
   *
   * @param next Reads what the work gives. What others made is read here: a value that passes through a promise first may be
   * a thenable by then, and delay that promise for ever.
   * @param late Called when the work ends after the call was given up or has settled.
   */
  within<Value, Next = Value>(
    work: Value | PromiseLike<Value>,
    next?: (value: Value) => Next | PromiseLike<Next>,
    late?: (isError: boolean) => void,
  ): Promise<Next>
  /** Waits for a person or a slot: the clock stands still, abort still ends it. */
  outside<Value, Next = Value>(
    wait: Value | PromiseLike<Value>,
    next?: (value: Value) => Next | PromiseLike<Next>,
  ): Promise<Next>
  /** Whether work goes on, also work that was given up. */
  readonly isWorking: boolean
  /** Calls the listener each time when no work goes on any more. */
  onRest(listener: () => void): void
  /** Throws where the deadline has passed, the caller has given up, or the call is over. */
  check(): void
  /** Whether the call has settled: what still comes is late, and heard by nobody. */
  readonly isOver: boolean
  /** Sets what the work may take, in milliseconds, before anything has been waited for. */
  limit(timeout: number): void
  /** Gives the call up for a reason of ours. */
  cancel(message: string): void
  /** Stops the clock and lets go of the caller's signal. */
  end(): void
}

/** A first-in-first-out queue for a turn's slots. */
export interface Slots {
  /** Takes a slot: at once, or when the promise resolves. */
  enter(): Promise<void> | undefined
  /** Gives the slot back, or the place in the queue of one that never got it. */
  leave(turn: Promise<void> | undefined): void
}

/** The exact text that was hashed, its hash, and the value that it stands for. */
export interface Identity {
  readonly callId: string
  /** RFC 8785 canonical JSON of the args. */
  readonly text: string
  readonly args: unknown
}

/** What the policies together say: `ask` waits for an answer, `result` stands in for the run. */
export interface Verdict {
  readonly ask: {
    readonly reason?: string | undefined
    readonly meta?: Readonly<Record<string, unknown>> | undefined
  } | null
  readonly result: { readonly value: unknown } | null
}

/** How a request for approval was answered. */
export interface Approval {
  readonly decision: 'allow' | 'deny'
  readonly decidedBy?: string | undefined
  readonly note?: string | undefined
  readonly always?: boolean | undefined
}

/** The answer for which a call was paused. */
export interface Resumption {
  /** Whom it was paused for. */
  readonly reason: 'approval' | 'client'
  /** The hash of the tool's definition when it was paused. */
  readonly fingerprint: string
  readonly approval: Approval
  /** The client's own value, where the call waited for a client. */
  readonly reply?: { readonly value: unknown }
  /** Whether a person had approved of the call before the client was asked. */
  readonly isApproved?: true
  /** The call whose args were edited into those of this one. */
  readonly editedFrom?: string
  /** The client was silent for too long. */
  readonly isExpired?: true
}

/** What leaves the house with the result. */
export interface Receipt {
  readonly content: readonly ContentBlock[]
  readonly artifact: SpooledArtifact
  readonly handle: string | undefined
}

// The states of the call are types, each with one field more than the one before: a stage that is called too early
// does not compile.
export interface Received {
  readonly call: TakenCall
  readonly id: string | number | undefined
  readonly invocationId: string
  readonly session: string
  readonly principal: string | undefined
  readonly caller: Caller
  readonly context: ToolContext
  readonly deadline: Deadline
  readonly slots: Slots | undefined
  readonly watcher: Observer | undefined
  /** What a redeemed token brings, where the call waited for somebody. */
  readonly resumption: Resumption | undefined
  /** Milliseconds of the monotonic clock at receipt. */
  readonly receivedAt: number
  /** The name of the tool where it is resolved, else the name that was asked for. */
  readonly name: string
  /** `null` until the call is identified. */
  readonly callId: string | null
  /** The args as a value, once they are identified. */
  readonly args: unknown
  /** What is known of the side effect so far. */
  effect: SideEffect
  /** The number of the next event. */
  seq: number
  /** How often the handler was started. */
  attempts: number
  /** The fold of the events so far, where there is a journal. */
  record: OpenRecord | undefined
  /** Where it stands among the calls that are under way, which keep this up to date. */
  place: number
  /** Whether it has been let in to run and has not ended, which the session's gates keep up to date. */
  isRunning: boolean
  /** Milliseconds of the monotonic clock at the start of the run, where anybody was told of it. */
  startedAt: number | undefined
  /** What those who watch were shown of the args, or of the input: they alone hold it. */
  shown: unknown
  /** Says that the journal's record is ours. */
  fence: Fence | undefined
  /** The last write of the record: one that was given up may still land, and the next must not land before it. */
  writing: Promise<void> | undefined
}
export interface Resolved extends Received {
  readonly tool: ToolDefinition
}
export interface Identified extends Resolved {
  readonly identity: Identity
  readonly callId: string
}
export interface Validated extends Identified {
  /** The args after validation: defaults filled in, transforms done. */
  readonly input: unknown
}
export interface Authorized extends Validated {
  readonly verdict: Verdict | null
}
export interface Confirmed extends Authorized {
  readonly approval: Approval | null
}
export interface Ran extends Confirmed {
  readonly returned: unknown
}
export interface Checked extends Ran {
  readonly output: unknown
}
export interface Spooled extends Checked {
  readonly receipt: Receipt
}

/** The field that makes each state out of the one before it. */
interface Stamps {
  tool: [Received, Resolved]
  identity: [Resolved, Identified]
  input: [Identified, Validated]
  verdict: [Validated, Authorized]
  approval: [Authorized, Confirmed]
  returned: [Confirmed, Ran]
  output: [Ran, Checked]
  receipt: [Checked, Spooled]
}

/** What the executor knows of a call when it comes in. */
export type Reception = Pick<
  Received,
  | 'call'
  | 'invocationId'
  | 'session'
  | 'principal'
  | 'caller'
  | 'deadline'
  | 'slots'
  | 'watcher'
  | 'resumption'
  | 'receivedAt'
  | 'seq'
  | 'record'
  | 'fence'
>

/** One object for the whole walk, with every field from the start, so that the engine never changes its shape. */
class Parcel implements Reception {
  readonly call: TakenCall
  readonly invocationId: string
  readonly session: string
  readonly principal: string | undefined
  readonly caller: Caller
  readonly deadline: Deadline
  readonly slots: Slots | undefined
  readonly watcher: Observer | undefined
  readonly resumption: Resumption | undefined
  readonly receivedAt: number
  readonly context: ToolContext
  effect: SideEffect = 'none'
  attempts = 0
  place = -1
  isRunning = false
  startedAt: number | undefined = undefined
  shown: unknown = undefined
  record: OpenRecord | undefined
  fence: Fence | undefined
  writing: Promise<void> | undefined = undefined
  seq: number
  tool: ToolDefinition | undefined = undefined
  identity: Identity | undefined = undefined
  input: unknown = undefined
  verdict: Verdict | null = null
  approval: Approval | null = null
  returned: unknown = undefined
  output: unknown = undefined
  receipt: Receipt | undefined = undefined

  constructor(reception: Reception, contextOf: (parcel: Received) => ToolContext) {
    this.call = reception.call
    this.invocationId = reception.invocationId
    this.session = reception.session
    this.principal = reception.principal
    this.caller = reception.caller
    this.deadline = reception.deadline
    this.slots = reception.slots
    this.watcher = reception.watcher
    this.resumption = reception.resumption
    this.receivedAt = reception.receivedAt
    this.seq = reception.seq
    this.record = reception.record
    this.fence = reception.fence
    this.context = contextOf(this)
  }

  get id(): string | number | undefined {
    return this.call.id
  }
  get name(): string {
    return this.tool === undefined ? this.call.name : this.tool.name
  }
  get callId(): string | null {
    return this.identity === undefined ? null : this.identity.callId
  }
  get args(): unknown {
    return this.identity === undefined ? this.call.args : this.identity.args
  }
}

/** Takes a call in: the first state. */
export function receive(reception: Reception, contextOf: (parcel: Received) => ToolContext): Received {
  return new Parcel(reception, contextOf)
}

/** Adds a stage's one field: the object stays the same, its type grows. */
export function stamp<Field extends keyof Stamps>(
  parcel: Stamps[Field][0],
  field: Field,
  value: Spooled[Field],
): Stamps[Field][1] {
  // The one cast of the passage: what the types promise from here on is exactly what was just written.
  const open = parcel as { -readonly [Name in keyof Spooled]: Spooled[Name] }
  open[field] = value
  return open
}

/** How far a call has come, for the one place that settles whatever became of it. */
export function progressOf(parcel: Received): Partial<Pick<Spooled, keyof Stamps>> & Received {
  return parcel
}
