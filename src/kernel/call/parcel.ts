import type { Approval } from './approval.ts'
import type { Caller, ToolContext, ToolValues } from './context-types.ts'
import type { Blocker } from './blocker.ts'
import type { Observer } from './events.ts'
import type { CallingProgram, SideEffect, TakenCall, ToolResult } from './call.ts'
import type { Deadline } from './deadline.ts'
import type { Claim } from './lock-table.ts'
import type { Slots } from './slots.ts'
import type { TurnOrder } from './turn-order.ts'
import type { Redactor } from './redactor.ts'
import type { ToolError } from '../errors.ts'
import type { RepairStep } from './repair-step.ts'
import type { Receipt } from '../result/encode.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { ResumableCall } from './wait.ts'
import type { Recording } from './record.ts'

/** The identity of a call: the text that was hashed, its hash, and its value. */
export interface Identity {
  readonly callId: string
  /** RFC 8785 canonical JSON of the args. */
  readonly text: string
  readonly args: unknown
  /** Why the text of the args could not be read. They may be repaired; else the call has no identity. */
  readonly unread?: ToolError
  /** The callId of the args that came in, and how they were repaired. */
  readonly repaired?: { readonly from: string; readonly steps: readonly RepairStep[] }
}

/** The merged answer of the policies: `ask` waits for a person, `result` replaces the run. */
export interface Verdict {
  readonly ask: {
    readonly reason?: string | undefined
    readonly meta?: Readonly<Record<string, unknown>> | undefined
    /** Milliseconds; `Infinity` for no limit. */
    readonly timeout?: number | undefined
  } | null
  readonly result: { readonly value: unknown } | null
}

/** A waiting call that was answered. */
export interface Resumption extends ResumableCall {
  readonly values: ToolValues
  readonly approval: Approval
  /** What the client answered, if the call waited for a client. */
  readonly reply?: { readonly value: unknown }
  /** The callId of the args that were kept, if a person has edited them. */
  readonly editedFrom?: string
  /** Whether the client answered too late. */
  readonly isExpired?: true
  /** Throws `E_APPROVAL_INVALID` if the answer is for another tool; `E_TOOL_DENIED` if it is no, which needs no tool. */
  admit(call: Received, tool: ToolDefinition | undefined): void
  /** Returns the approval, if a question comes. Throws `E_TOOL_DENIED` if no person has given one. */
  requireApproval(): Approval
}

/** What a call does, in the words of its tool: `refund:4711`. Events and records have only its SHA-256. */
export interface EffectKey {
  readonly text: string
  readonly digest: string
}

/** What a gate wants to be told when a call that it has let in is over. */
export interface GateEntry {
  leave?(result: ToolResult | undefined): unknown
}

/** A value as the function that makes it sees it. */
export type Writable<Value> = { -readonly [Field in keyof Value]: Value[Field] }

/** A call. Each state of it has one field more than the state before: a stage that is called too early does not compile. */
export interface Received {
  readonly call: TakenCall
  readonly invocationId: string
  readonly session: string
  readonly principal?: string | undefined
  readonly caller: Caller
  readonly deadline: Deadline
  readonly slots?: Slots | undefined
  readonly order?: TurnOrder | undefined
  readonly watcher?: Observer | undefined
  /** The call whose handler makes this one. */
  readonly parent?: Received | undefined
  /** What the redeemed token brought, if the call waited for an answer. */
  readonly resumption?: Resumption | undefined
  /** Whether the application wants a person to be asked, whatever the policies say. */
  readonly requiresApproval?: boolean | undefined
  /** Milliseconds of the monotonic clock at receipt. */
  readonly receivedAt: number
  /** The number of the next event. */
  seq: number
  /** The record of the call; its recorder owns it. */
  recording?: Recording | undefined
  readonly id: string | number | undefined
  /** The model's program that makes the call, as the provider's message names it. It gives no right. */
  readonly program: CallingProgram | undefined
  readonly context: ToolContext
  /** The name of the tool if it is resolved, else the name in the call. */
  readonly name: string
  /** `null` until the call is identified. */
  readonly callId: string | null
  /** The args as a value, once they are identified. */
  readonly args: unknown
  /** Hides the secrets of the call, if its tool has some. Set before `tool` is. */
  redactor: Redactor | undefined
  /** The side effect so far. */
  effect: SideEffect
  /** The side effect before the last start of the handler. */
  effectBefore: SideEffect
  /** How often the handler was started. */
  attempts: number
  /** The index of the call among those in flight; `InFlight` sets it. */
  place: number
  /** Whether the call runs and counts among those of its session; `Locks` sets it. */
  isRunning: boolean
  /** Whether the call lets the later calls of its turn ask for their locks; `TurnOrder` sets it. */
  hasAsked: boolean
  /** What the call locks or waits for, if other calls may touch the same; `Locks` sets it. */
  claim: Claim | undefined
  /** What the call waits for before it starts, with its secrets masked. */
  blocked: Blocker | undefined
  /** What the call does, if its tool says so. Set before the gates are asked. */
  effectKey: EffectKey | undefined
  /** What is told at the end that gates have let the call in; `null` once it is told. Nothing, if no gate wants to know. */
  entries: GateEntry[] | null | undefined
  /** Milliseconds of the monotonic clock when `tool:start` was emitted. */
  startedAt: number | undefined
  /** The copy of the args or the input that observers got. */
  shown: unknown
}
/** With its tool. */
export interface Resolved extends Received {
  readonly tool: ToolDefinition
}
/** With its identity. */
export interface Identified extends Resolved {
  readonly identity: Identity
  readonly callId: string
}
/** With its input. */
export interface Validated<Input = unknown> extends Identified {
  /** The args after validation: defaults filled in, transforms done. */
  readonly input: Input
}
/** With what the policies say. */
export interface Authorized<Input = unknown> extends Validated<Input> {
  readonly verdict: Verdict | null
}
/** With what a person says. */
export interface Confirmed<Input = unknown> extends Authorized<Input> {
  readonly approval: Approval | null
}
/** It may begin. */
export interface Admitted<Input = unknown> extends Confirmed<Input> {
  /** Whether the call holds a slot of its turn. */
  readonly hasSlot: boolean
}
export interface Ran extends Admitted {
  readonly returned: unknown
}
export interface Checked extends Ran {
  readonly output: unknown
}
export interface Spooled extends Checked {
  readonly receipt: Receipt
}

/** One object for the whole pipeline. It has every field from the start, so that its shape never changes. */
export class Parcel {
  call: TakenCall
  invocationId: string
  session: string
  caller: Caller
  deadline: Deadline
  context!: ToolContext
  principal: string | undefined
  slots: Slots | undefined
  order: TurnOrder | undefined
  watcher: Observer | undefined
  parent: Received | undefined
  resumption: Resumption | undefined
  requiresApproval: boolean | undefined
  receivedAt = 0.5 // an integer would be another shape
  seq = 0
  recording: Recording | undefined
  redactor: Redactor | undefined
  effect: SideEffect = 'none'
  effectBefore: SideEffect = 'none'
  attempts = 0
  place = -1
  isRunning = false
  hasAsked = false
  claim: Claim | undefined
  blocked: Blocker | undefined
  effectKey: EffectKey | undefined
  entries: GateEntry[] | null | undefined
  startedAt: number | undefined
  shown: unknown
  tool: ToolDefinition | undefined
  identity: Identity | undefined
  input: unknown
  verdict: Verdict | null = null
  approval: Approval | null = null
  hasSlot = false
  returned: unknown
  output: unknown
  receipt: Receipt | undefined

  constructor(call: TakenCall, invocationId: string, session: string, caller: Caller, deadline: Deadline) {
    this.call = call
    this.invocationId = invocationId
    this.session = session
    this.caller = caller
    this.deadline = deadline
  }

  get id(): string | number | undefined {
    return this.call.id
  }
  get name(): string {
    return this.tool === undefined ? this.call.name : this.tool.name
  }
  get program(): CallingProgram | undefined {
    return this.call.program
  }
  get callId(): string | null {
    return this.identity === undefined ? null : this.identity.callId
  }
  get args(): unknown {
    return this.identity === undefined ? this.call.args : this.identity.args
  }
}

/** The one cast of the pipeline. The object stays the same, and its type grows by the field that is written. */
function grown(call: Received): Writable<Spooled> {
  return call as Writable<Spooled>
}

// A function for each field: engines write a field that the code names much faster.
export function setTool(call: Received, tool: ToolDefinition): Resolved {
  const next = grown(call)
  next.tool = tool
  return next
}
export function setIdentity(call: Resolved, identity: Identity): Identified {
  const next = grown(call)
  next.identity = identity
  return next
}
export function setInput(call: Identified, input: unknown): Validated {
  const next = grown(call)
  next.input = input
  return next
}
export function setVerdict(call: Validated, verdict: Verdict | null): Authorized {
  const next = grown(call)
  next.verdict = verdict
  return next
}
export function setApproval(call: Authorized, approval: Approval | null): Confirmed {
  const next = grown(call)
  next.approval = approval
  return next
}
export function setHasSlot(call: Confirmed, hasSlot: boolean): Admitted {
  const next = grown(call)
  next.hasSlot = hasSlot
  return next
}
export function setReturned(call: Admitted, returned: unknown): Ran {
  const next = grown(call)
  next.returned = returned
  return next
}
export function setOutput(call: Ran, output: unknown): Checked {
  const next = grown(call)
  next.output = output
  return next
}
export function setReceipt(call: Checked, receipt: Receipt): Spooled {
  const next = grown(call)
  next.receipt = receipt
  return next
}

/** Returns the call with the fields of all stages. Those of stages that have not run are undefined. */
export function stageFields(parcel: Received): Partial<Omit<Spooled, keyof Received>> & Received {
  return parcel
}

/** Returns the input; of a tool with secrets the masked args, since pointers into args do not fit the input. */
export function maskedInput({ redactor, input }: Validated): unknown {
  return redactor === undefined ? input : redactor.args()
}

/** Returns the output with secrets masked. Streams and artifacts have no such form. */
export function maskedOutput({ redactor, output }: Checked): unknown {
  return redactor === undefined ? output : redactor.result(output)
}
