import type { Observer } from './call/events.ts'
import type { Confirmed, Validated } from './call/parcel.ts'
import type { RepairStep } from './call/repair-step.ts'
import type { Approver } from './call/approval.ts'
import type { Elsewhere, RecordsContext, ElsewhereContext } from './executor-context.ts'
import type { Recorder } from './recorder.ts'
import type { SpooledArtifact } from './result/artifact.ts'
import type { Issue } from './schema/standard.ts'
import type { ToolDefinition, ToolLike } from './tool/definition.ts'
import type { ArtifactStore } from './result/store.ts'
import type { Caller, CallOptions, ToolContext } from './call/context-types.ts'
import type { ToolCallSnapshot } from './call/record.ts'
import type { KnownOutcome, ToolResult } from './call/call.ts'
import type { Shelf } from './result/shelf.ts'

/** A policy's decision: no objection (nothing), ask a person (`timeout`: milliseconds), deny, or replace the run with a result. */
export type Decision =
  | void
  | undefined
  | {
      readonly decision: 'ask'
      readonly reason?: string
      readonly meta?: Readonly<Record<string, unknown>>
      readonly timeout?: number
    }
  | { readonly decision: 'deny'; readonly reason?: string; readonly toolResult?: unknown }
  | { readonly result: unknown }

/** Decides whether a validated call may run. A policy that throws denies it. */
export interface Policy {
  readonly name: string
  /** Set if the policy counts by session. An application whose clients choose their sessions can warn of it. */
  readonly scope?: 'session'
  /** The names of tools in its options. An executor reports one that is a bridge's, since the policy is never asked about that. */
  readonly names?: readonly string[]
  decide(call: Validated, context: ToolContext): Decision | Promise<Decision>
  /** Returns what `decide` would, for `executor.evaluate`. It must not count: an evaluated call never settles. Default: `decide`. */
  evaluate?(call: Validated, context: ToolContext): Decision | Promise<Decision>
}

/** The decision of `postToolUse`: nothing keeps the result, `update` merges into it, `replace` replaces it. */
export type PostDecision =
  | void
  | undefined
  | { readonly update: { readonly result: unknown } }
  | { readonly replace: { readonly content: unknown } }

/** A tool's last policy, and its innermost middleware. */
export interface ToolHooks<Input = unknown> {
  readonly preToolUse?: (call: Validated<Input>, context: ToolContext) => Decision | Promise<Decision>
  readonly postToolUse?: (
    call: Validated<Input>,
    result: unknown,
    context: ToolContext,
  ) => PostDecision | Promise<PostDecision>
}

/** Args instead of those that were refused, and how they were made: at most 64 steps. */
export interface RepairedArgs {
  readonly args: unknown
  readonly steps: readonly RepairStep[]
}

/** Args that were refused. */
export interface RefusedArgs {
  readonly tool: ToolDefinition
  /** A copy of the args; their text, if that is no JSON. */
  readonly args: unknown
  /** Where the schema refused them. Nothing, if their text is no JSON. */
  readonly issues: readonly Issue[] | undefined
  /** Returns what the schema refuses in other args; nothing, if they fit. */
  readonly check: (args: unknown) => Promise<readonly Issue[] | undefined>
}

/**
 * Returns args instead of those that were refused, or nothing. It is asked once for a call, within its deadline, and never about
 * args that are valid. What it returns is validated anew: if that is refused, the first error stands.
 */
export type Repair = (
  refused: RefusedArgs,
) => RepairedArgs | undefined | void | Promise<RepairedArgs | undefined | void>

/** Wraps the run. `next` takes no argument, since the approved input runs. Call it again only after it rejected. */
export type Middleware<Input = unknown> = (
  call: Confirmed<Input>,
  context: ToolContext,
  next: () => Promise<unknown>,
) => Promise<unknown>

/**
 * What a gate says of a call: it may begin (nothing), it settles with an outcome that is known, or a person is asked first.
 * `leave` is told once when the call is over, whatever came of it; of nothing, if the gate answered after that.
 */
export type Entry =
  | void
  | undefined
  | {
      readonly outcome?: KnownOutcome
      readonly ask?: { readonly reason?: string; readonly meta?: Readonly<Record<string, unknown>> }
      leave?(result: ToolResult | undefined): void
    }

/** The calls before the one that a gate is asked about. */
export interface EarlierCalls {
  /** Waits until a call has settled, here or in another process. Returns its result; nothing, if it is not known. */
  settled(invocationId: string, options?: Pick<CallOptions, 'signal'>): Promise<ToolResult | undefined>
  /** Does what `executor.calls.reconcile` does. */
  reconcile(invocationId: string): Promise<ToolResult>
  /** Returns the state of a call; nothing, if it has no record. */
  get(invocationId: string): Promise<ToolCallSnapshot | undefined>
  /**
   * Notes in the journal that a call does what its `effectKey` says, so that no other process does it too. Returns the invocation
   * that is noted: another one, if that was first. Only if the journal keeps it.
   *
   * @param scope Where it is done once.
   * @param former The invocation that is noted now, whose place the call takes.
   */
  readonly claim?: ((scope: string, call: Confirmed, former?: string) => Promise<string>) | undefined
  /** Notes a former invocation again, in the place of a call that did nothing. */
  readonly giveBack?: ((scope: string, call: Confirmed, former: string) => Promise<unknown>) | undefined
  /** Takes faults that belong to no call's result. */
  readonly report: (error: unknown) => void
}

/**
 * Lets a call begin that policies and people have allowed, before it takes its locks and a slot of its turn. Waiting here is no work:
 * the clock of the call stands still, and later calls of its turn go on. After `waitTimeout` the call is `timed_out`. A gate that
 * throws refuses the call, whose effect is `none`.
 */
export interface Gate {
  readonly name: string
  enter(call: Confirmed, context: ToolContext, calls: EarlierCalls): Entry | Promise<Entry>
  /** Says for what a call waits here, in words such as `for "refund:1"`. It is asked when the call has waited too long. */
  waitsFor?(call: Confirmed): string | undefined
}

/** Runs the tools of one execution type. */
export interface Runner {
  readonly type: string
  run(call: Confirmed, context: ToolContext): unknown
}

/** What an extension makes the tools of a session with. */
export interface SessionTools {
  readonly session: string
  /** The artifacts in the executor's store. */
  readonly shelf: Shelf
  /**
   * Tells whether a name belongs to another source. A tool with an `mcpConfig` is then left out, since a server may list any
   * name.
   */
  readonly isTaken: (name: string) => boolean
  /**
   * Returns all tools of the session that a caller may see, also those of other extensions, and those that are not offered. The
   * array is the same until the tools change. Call it later, such as in a handler.
   *
   * @param caller Default: every caller.
   * @throws `E_INVALID_CONFIGURATION` while the tools of the session are asked for.
   */
  readonly catalogue: (caller?: Caller) => readonly ToolDefinition[]
}

/** Extends an executor at any of these extension points. The factories of extensions return it. */
export interface Extension {
  readonly policies?: readonly Policy[]
  readonly approver?: Approver
  readonly middleware?: readonly Middleware[]
  readonly gates?: readonly Gate[]
  /** Repairs args that a schema refused. At most one extension brings it. */
  readonly repair?: Repair
  readonly runners?: readonly Runner[]
  readonly store?: ArtifactStore
  /** Makes the recorder of the executor. The journals bring it. */
  readonly records?: (context: RecordsContext) => Recorder
  readonly observers?: readonly Observer[]
  /** Makes what runs calls on workers. `fleet` brings it. */
  readonly elsewhere?: (context: ElsewhereContext) => Elsewhere
  /**
   * Returns the tools of a session. The same array means the same tools. They take precedence over the executor's own of the
   * same name.
   */
  tools?(request: SessionTools): readonly ToolLike[]
  /**
   * Returns `false` for a tool that a caller is not shown, and may call all the same. It is asked when `executor.tools` makes a
   * list, and not again until the tools of the session change.
   */
  offers?(tool: ToolDefinition, caller: Caller, session: string): boolean
  /** Set if pages declare its tools. Those yield to a tool of the same name of any other source, also to one that comes later. */
  readonly isGuest?: boolean
  /** Subscribes to changes of the extension's tools that no call caused. Returns an unsubscribe function. */
  onToolsChange?(listener: () => void): () => void
  /** Returns a sentence that tells the model how to read on in an artifact after its preview. */
  guide?(artifact: SpooledArtifact): string
  /** Closes the extension. Called when the executor closes. */
  close?(): void | Promise<void>
}
