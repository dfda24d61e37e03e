import type { Approval, Approver } from './call/approval.ts'
import type { ToolValues } from './call/context-types.ts'
import type { Observer } from './call/events.ts'
import type { Authorized, Confirmed, Received, Verdict } from './call/parcel.ts'
import type { ToolResult } from './call/call.ts'
import type { EarlierCalls, Gate, Middleware, Runner } from './ports.ts'
import type { EarlierCall, FoundOut, Recorder } from './recorder.ts'
import type { ArtifactStore } from './result/store.ts'
import type { Issue } from './schema/standard.ts'
import type { ToolDefinition } from './tool/definition.ts'

/** Takes the events of an executor, and says how large they may be. */
export interface EventTargets {
  /** Writes records. Only if an extension brings a journal. */
  readonly recorder: Pick<Recorder, 'note'> | undefined
  readonly watchers: ReadonlySet<Observer>
  /** The largest args, in bytes of UTF-8. */
  readonly argsLimit: number
  /** Takes faults that belong to no call's result. */
  readonly report: (error: unknown) => void
}

/** The tools of a session, by name. */
export interface ToolLookup {
  /** Returns the tool of exactly this name. */
  get(name: string): ToolDefinition | undefined
  /** Returns the tool that a call of this name means: by its name or an alias, in another spelling. */
  resolve(name: string): ToolDefinition | undefined
  list(): readonly ToolDefinition[]
}

/** What the outcome of a call is made with. */
export interface OutcomeContext extends EventTargets {
  readonly exposeErrors: boolean
  /** Returns the tools of a session: the executor's, and those that extensions add. */
  readonly registryFor: (session: string) => ToolLookup
}

/** What runs a handler within middleware. */
export interface RunContext extends EventTargets {
  readonly exposeErrors: boolean
  readonly middleware: readonly Middleware[]
  readonly runners: ReadonlyMap<string, Runner>
  readonly recorder: Pick<Recorder, 'note' | 'commit' | 'remark'> | undefined
}

/** What the gates are asked with. */
export interface GatesContext extends ApprovalContext {
  readonly gates: readonly Gate[]
  readonly earlierCalls: EarlierCalls
  /** How long what a call waits for may stand still, in milliseconds; `0` or `Infinity` for no limit. */
  readonly waitTimeout: number
  /**
   * Returns the approval of a call. Asks the approver, if there is one. Throws a `Wait` to wait for `decide`, and `E_TOOL_DENIED`
   * if the person refuses.
   */
  approve(call: Authorized, ask: Verdict['ask'], context: ApprovalContext): Promise<Approval>
}

/** The calls in flight in one executor. */
export interface CallsInFlight extends Iterable<Received> {
  /** Whether the executor closes, and takes no more calls. */
  readonly isEnding: boolean
  /** Whether the calls that are left are cancelled, since the executor closes. */
  readonly isClosing: boolean
  /** Announces a call that is about to enter. Call the returned function when it has entered or failed. */
  expect(invocationId: string): () => void
  /** Returns the call of an invocation, if it is in flight. */
  get(invocationId: string): Received | undefined
  /** Whether an invocation is in flight, or about to be. */
  has(invocationId: string): boolean
  /** Tells the listeners of an invocation that it has left, or has settled elsewhere. */
  tell(invocationId: string, result?: ToolResult): void
  /** Calls the listener once, when an invocation leaves or settles. Returns an unsubscribe function. */
  next(invocationId: string, listener: (result?: ToolResult) => void): () => void
  /** Waits until an invocation is no longer in flight. Returns its result, if it has one. */
  left(invocationId: string): Promise<ToolResult | undefined>
}

/** What a person is asked with. */
export interface ApprovalContext extends EventTargets {
  readonly approver: Approver | undefined
  /** How long a waiting call waits for a person, in milliseconds; `0` or `Infinity` for no limit. */
  readonly approvalTimeout: number
}

/** What an executor lends to the recorder of its calls. `records(journal)` of `toolwright/records` makes a recorder of it. */
export interface RecordsContext extends OutcomeContext {
  /** Returns the executor's name in records. */
  owner(): string
  readonly inFlight: CallsInFlight
  readonly redaction: {
    /** Returns issues without the validator's message about a secret or its container, for a tool that no call runs. */
    redactIssues(issues: readonly Issue[], secrets: readonly string[]): readonly Issue[]
  }
  readonly spool: { readonly store: ArtifactStore }
  /** The application's values of waiting calls, by the digests of their tokens. Records do not have them. */
  readonly waitingValues: Map<string, ToolValues>
  /**
   * Asks the tool of an earlier call what became of it. Changes no record.
   *
   * @throws What the tool throws, with secrets masked; `E_JOURNAL` if the args are not those of the call.
   */
  findOut(earlier: EarlierCall): Promise<FoundOut>
  /** What runs calls on the workers of a fleet, once it is there. */
  readonly elsewhere: Elsewhere | undefined
}

/** What an executor lends to the extension that runs its calls on workers. */
export interface ElsewhereContext extends OutcomeContext {
  /** Returns the executor's name in records. */
  owner(): string
  readonly inFlight: Pick<CallsInFlight, 'expect'>
  readonly recorder: Recorder | undefined
  /** Whether an extension brings a store, which the workers can share. */
  readonly hasStore: boolean
}

/** Runs calls on the workers of a fleet. */
export interface Elsewhere {
  /** Makes a call that runs on a worker wait. Returns `undefined` if it runs here. */
  handOver(call: Confirmed): Promise<never> | undefined
  /** Returns the result of a call. If it waits for a worker, waits until it has settled, or until `closed` aborts. */
  settled(
    result: Promise<ToolResult>,
    call: Received,
    signal: AbortSignal | undefined,
    closed: AbortSignal,
  ): Promise<ToolResult>
}
