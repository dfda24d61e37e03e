import type { ArtifactClass, SpooledArtifact } from './result/artifact.ts'
import type { Caller, ToolCall, ToolResult, ToolValues } from './call/call.ts'
import type { ToolDefinition, ToolLike } from './tool/definition.ts'
import type { ToolEvent } from './call/events.ts'
import type { Confirmed, Received, Resolved, Validated } from './call/parcel.ts'
import type { Pause } from './call/pause.ts'
import type { Awaited, Journaled, ToolCallRecord } from '../records/record.ts'
import type { ToolRegistry } from './tool/registry.ts'
import type { ArtifactShelf } from '../spool/shelf.ts'

/** What a handler, a policy and a middleware know of the call that they serve. */
export interface ToolContext {
  readonly callId: string
  /** This occurrence of the call: the idempotency key to hand to other systems. */
  readonly invocationId: string
  readonly toolName: string
  readonly session: string
  /** For whom the call is made, if the host says so. */
  readonly principal: string | undefined
  readonly caller: Caller
  /** Aborts at the deadline and when the caller gives the call up. */
  readonly signal: AbortSignal
  /** 1 for the first run, one more for each retry. */
  readonly attempt: number
  readonly values: ToolValues
  /** The same object as `values`, under the name that Strands handlers read. */
  readonly invocationState: ToolValues
  /** The call as Strands handlers read it. */
  readonly toolUse: { readonly name: string; readonly toolUseId: string | number | undefined; readonly input: unknown }
  /** Tells whoever watches of progress, as a `tool:progress` event. */
  readonly emit: (type: string, data?: unknown) => void
}

/** A policy's whole vocabulary: nothing (no objection), ask somebody, refuse, or stand in for the run. */
export type Decision =
  | void
  | undefined
  | { readonly decision: 'ask'; readonly reason?: string; readonly meta?: Readonly<Record<string, unknown>> }
  | { readonly decision: 'deny'; readonly reason?: string; readonly toolResult?: unknown }
  | { readonly result: unknown }

/** Decides whether a validated call may run. One that throws denies. */
export interface Policy {
  readonly name: string
  /** Says that the policy counts by session, so that a host whose clients choose their sessions can warn of it. */
  readonly scope?: 'session'
  decide(call: Validated, context: ToolContext): Decision | Promise<Decision>
}

/** What a person is asked. */
export interface ApprovalRequest {
  readonly invocationId: string
  readonly callId: string
  readonly toolName: string
  readonly session: string
  /** The question, in words: the tool's `confirmationMessage`, else `Allow <name> to execute?`. */
  readonly prompt: string
  /** The args after validation; of a tool with secrets, its masked args as they came. */
  readonly input: unknown
  /** The reason of the policy that asks. */
  readonly why?: string | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

export interface ApprovalAnswer {
  readonly decision: 'allow' | 'deny'
  readonly decidedBy?: string | undefined
  /** A word to the model where the decision is `deny`; for the record where it is `allow`. */
  readonly note?: string | undefined
  /** The person does not want to be asked again; remembering it is the host's policy. */
  readonly always?: boolean | undefined
}

/** Asks a person, in process. */
export interface Approver {
  /** How long to wait for the answer, in milliseconds. Default: 300,000. */
  readonly timeout?: number
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
}

/** Wraps the run. `next` takes no argument: what was approved is what runs. It may be called again only after it rejected. */
export type Middleware = (call: Confirmed, context: ToolContext, next: () => Promise<unknown>) => Promise<unknown>

/** Runs the tools of one execution type. */
export interface Runner {
  readonly type: string
  run(call: Confirmed, context: ToolContext): unknown
}

/** What a store takes in: everything at once, or in pieces. */
export type SpoolSource = string | Uint8Array | AsyncIterable<Uint8Array>

/** Reads ranges of bytes; the kernel makes lines of them. */
export interface SpoolReader {
  readonly byteLength: number
  /** As it was written, where the store knows it. */
  readonly mediaType?: string | undefined
  /** The bytes from `start` up to and without `end`; both lie within the length. */
  read(start: number, end: number): Uint8Array | Promise<Uint8Array>
}

export interface Spooling {
  readonly session: string
  readonly mediaType: string
  readonly signal?: AbortSignal | undefined
}

/** Keeps what is too large for a result object. Handles are random, and open in the session alone that wrote them. */
export interface ArtifactStore {
  write(
    source: SpoolSource,
    spooling: Spooling,
  ): Promise<{ readonly handle: string; readonly sha256: string; readonly byteLength: number }>
  open(handle: string, access: { readonly session: string }): SpoolReader | Promise<SpoolReader>
  delete(handle: string): Promise<void>
}

/** An artifact on the shelf, as it can be told of without opening it. */
export interface Shelved {
  readonly handle: string
  readonly kind: string
  readonly mediaType: string
  readonly byteLength: number
  /** The tool whose result it is. */
  readonly toolName: string
  readonly Class: ArtifactClass
}

/** The artifacts in an executor's store, as tools may open them. */
export interface Shelf {
  /** Those of a session that were kept lately, the newest first. */
  list(session: string): readonly Shelved[]
  /**
   * Opens one in the session that it belongs to.
   *
   * @param classes Chosen by their media types where this executor did not keep the artifact itself.
   * @throws `E_ARTIFACT` where there is none in this session, or the store cannot be read.
   */
  open(handle: string, session: string, classes?: readonly ArtifactClass[]): Promise<SpooledArtifact>
}

/** Proves that its holder is the one that may write to a record: who, and which writing of the record it was. */
export interface Fence {
  readonly owner: string
  readonly number: number
}

/** A record, and who holds it. */
export interface Found {
  readonly record: ToolCallRecord
  readonly fence: Fence
}

/** A record that is not settled, and for how long its owner has given no sign of life. */
export interface Unfinished extends Found {
  /** Milliseconds since the owner's last beat, by the journal's own clock. */
  readonly idle: number
}

/**
 * Keeps the records of calls, so that they outlive the process. What it has answered is kept, whatever happens next. A journal
 * that has an answer at once may give it without a promise, and refuse by throwing.
 */
export interface Journal {
  /** Whether it outlives the process: then settled records are chained by digests. */
  readonly isDurable: boolean
  /** The first write of a record, by its owner; nothing where there is a record of this invocation already. */
  claim(record: ToolCallRecord, owner: string): Fence | null | Promise<Fence | null>
  /** Puts the record as it is now in the place of what there was; `false` where somebody else holds it. */
  write(record: ToolCallRecord, fence: Fence): boolean | Promise<boolean>
  /** A record and its present fence; nothing where there is none. */
  read(invocationId: string): Found | null | Promise<Found | null>
  /**
   * Takes a record over from who holds it by `fence`: nothing where it is settled, or anything was written since that fence
   * was read. Of many who try, one succeeds.
   */
  takeOver(invocationId: string, fence: Fence, owner: string): Fence | null | Promise<Fence | null>
  /**
   * Every record that is not settled.
   *
   * @param report Told of each that is damaged, which is left out then; without it such a record ends the list with an error.
   */
  unfinished(report?: (error: unknown) => void): AsyncIterable<Unfinished>
  /** A sign of life of an owner. */
  beat(owner: string): void | Promise<void>
}

/**
 * Watches every event, and cannot steer: what it throws is reported, and the call goes on. It is told of the tool too, where the
 * call has found one. Nothing of an event is the handler's or the caller's; all who watch share it, and what an input has in
 * common with the args: who changes something for itself changes a copy.
 */
export type Observer = (event: ToolEvent, tool?: ToolDefinition) => void

/** Translates between this package and one provider's messages, in pure functions. */
export interface Format {
  readonly name: string
  /** Whether a message, or a provider's whole response, is of this format. */
  detect(message: unknown): boolean
  /** The tools, in the shape that the provider's request takes. */
  definitions(tools: readonly ToolDefinition[]): unknown[]
  /** The calls that a message asks of us, in its order; those that the provider ran itself are not among them. */
  calls(message: unknown): ToolCall[]
  /** The reply to the message, in the shape that the provider takes. */
  results(results: readonly ToolResult[], message?: unknown): unknown
}

/** Extends an executor through any of its doors; what a leaf's factory returns. */
export interface Extension {
  readonly policies?: readonly Policy[]
  readonly approver?: Approver
  readonly middleware?: readonly Middleware[]
  readonly runners?: readonly Runner[]
  readonly store?: ArtifactStore
  readonly journal?: Journal
  readonly observers?: readonly Observer[]
  /**
   * Tools that belong to a session rather than to the executor; as long as it is the same array, they are the same tools. They go
   * before the executor's own of the same name. `isTaken` tells whether a name belongs to another source; a tool with an
   * `mcpConfig` is set aside if it does, since a server may list any name.
   */
  tools?(session: string, shelf: Shelf, isTaken: (name: string) => boolean): readonly ToolLike[]
  /** Hears that the extension gives other tools than before by itself, and not because of a call; gives the undo. */
  onToolsChange?(listener: () => void): () => void
  /** How a model goes on with an artifact of which it was shown the beginning, in a sentence. */
  guide?(artifact: SpooledArtifact): string
  /** Lets go of what the extension holds, when the executor closes. */
  close?(): void | Promise<void>
}

/** Keeps the calls of tools that are not concurrent apart from the others of their session. */
export interface Gates {
  /** Takes a place: at once, or when the promise resolves; it rejects with `E_TOOL_TIMEOUT` if the line does not move. */
  enter(call: Confirmed): Promise<void> | undefined
  /** Gives the place back once the work of the call has ended, or leaves the line. */
  leave(call: Received): void
  /** Whether calls of a session wait for each other. */
  hasLine(session: string): boolean
}

/** An outcome, as it is written down. */
export interface Settlement {
  readonly result: ToolResult
  /** What may be told of the artifact. */
  readonly artifact: ReturnType<SpooledArtifact['toJSON']> | undefined
  /** What the call needs to go on, where it is paused. */
  readonly awaits?: Awaited | undefined
  /** Where the content is kept, if the result says only what it is. */
  readonly stored?: Journaled['stored'] | undefined
}

/** Writes the records of calls into the journal, at the moments that count. */
export interface Ledger {
  /** Whether the journal keeps records as they are, so that their args may be handed over as text. */
  readonly keeps: boolean
  /** Makes the record as it is now durable. Throws `E_JOURNAL`, `E_DUPLICATE_INVOCATION`, `E_SEALED`. */
  commit(received: Received): void | Promise<void>
  /** Whether the outcome is to be chained to a record that another executor may have claimed. */
  mayLoseClaim(received: Received, outcome: Pick<Settlement, 'result' | 'awaits'>): boolean
  /** Makes the outcome durable; gives the digest that chains it to the one before, where the journal is durable. */
  settle(received: Received, settlement: Settlement): string | undefined | Promise<string | undefined>
  /** Adds a line to the audit trail of a call that is over. */
  remark(received: Received, note: string): void
}

/** The doors, put together: what every stage is handed beside the call. */
export interface Kernel {
  /** The tools of a session: those of the executor, and what extensions add for the session. */
  readonly registryFor: (session: string) => ToolRegistry
  readonly policies: readonly Policy[]
  readonly approver: Approver | undefined
  readonly middleware: readonly Middleware[]
  readonly runners: ReadonlyMap<string, Runner>
  readonly store: ArtifactStore
  readonly shelf: ArtifactShelf
  /** What the extensions say of how to go on with an artifact. */
  guide(artifact: SpooledArtifact): string
  readonly watchers: Set<Observer>
  /** Whether a call gets a copy of its args: if it may wait, or if anything decides about it or remembers it. */
  owns(call: Resolved): boolean
  /** Milliseconds; `Infinity` for none. */
  readonly timeout: number
  /** Bytes of text and JSON up to which a result stays in the result object. */
  readonly inlineLimit: number
  /** Bytes of UTF-8 that args may have. */
  readonly argsLimit: number
  readonly exposeErrors: boolean
  /** Who may run beside whom in a session. */
  readonly gates: Gates
  /** Writes records down, where there is a journal. */
  readonly ledger: Ledger | undefined
  /** Keeps a call that waits for somebody until its token is redeemed. */
  hold(received: Received, pause: Pause): { readonly token: string; readonly awaits: Awaited }
  /** Hears that a call is over, and that its result is about to be given. */
  leave(received: Received): void
  /** Where faults go that belong to no call's result. */
  readonly report: (error: unknown) => void
}
