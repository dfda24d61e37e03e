import type { ToolEvent } from './call/events.ts'
import type { Confirmed, Validated } from './call/parcel.ts'
import type { Question } from './call/wait.ts'
import type { Elsewhere, Kernel } from './kernel.ts'
import type { Recorder } from './recorder.ts'
import type { ArtifactClass, SpooledArtifact } from './result/artifact.ts'
import type { ToolDefinition, ToolLike } from './tool/definition.ts'

/** Who makes the call. It decides which tools are visible. An app names the server that it came from. */
export type Caller = 'model' | 'user' | { readonly app: string }

/** The application's data in the context of handlers, policies and middleware. Applications merge their fields into this interface. */
// oxlint-disable-next-line typescript/no-empty-object-type -- applications add the members by declaration merging
export interface ToolValues {}

/** The application's options for a call. They are never read from the call itself. */
export interface CallOptions {
  /** Default: `'model'`. */
  readonly caller?: Caller | undefined
  /** Handles and approvals work only in the session that made them. Default: one random id for each executor. */
  readonly session?: string | undefined
  /** For whom the call is made, such as a user's id. A principal may have many sessions. Default: not known. */
  readonly principal?: string | undefined
  readonly values?: ToolValues | undefined
  /** Cancels the call. The caller gets the result at once, even if the handler continues. */
  readonly signal?: AbortSignal | undefined
  /** The identity of this occurrence, for at-most-once execution. Default: a new one. */
  readonly invocationId?: string | undefined
  /** Makes a call that is not refused wait for `decide`, even if no policy asks or there is an `approver`. Default: `false`. */
  readonly requireApproval?: boolean | undefined
}

/** The context of a call for handlers, policies and middleware. */
export interface ToolContext {
  readonly callId: string
  /** The id of this occurrence. Use it as the idempotency key for other systems. */
  readonly invocationId: string
  readonly toolName: string
  readonly session: string
  /** For whom the call is made, if the application says so. */
  readonly principal: string | undefined
  readonly caller: Caller
  /** Aborts at the deadline and when the caller cancels. */
  readonly signal: AbortSignal
  /** 1 for the first run, plus 1 for each retry and for each worker that took the call before. */
  readonly attempt: number
  /** Grows with each executor that takes the call over: a condition for writes elsewhere. `0` if none did. */
  readonly fence: number
  readonly values: ToolValues
  /** Emits a `tool:progress` event. */
  readonly emit: (type: string, data?: unknown) => void
  /**
   * Keeps an artifact beside the result, in the executor's store and in this session. Secrets in it are not masked.
   *
   * Rejects with `E_ARTIFACT` if the store cannot take it, the call has settled, or the tool is called directly.
   */
  readonly keep: (source: SpoolSource, described: { readonly mediaType: string }) => Promise<StoredArtifact>
}

/** What a store returns for an artifact that it wrote. */
export interface StoredArtifact {
  readonly handle: string
  readonly sha256: string
  readonly byteLength: number
}

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
  decide(call: Validated, context: ToolContext): Decision | Promise<Decision>
  /** Returns what `decide` would, for `executor.evaluate`. It must not count: a evaluated call never settles. Default: `decide`. */
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

/** Wraps the run. `next` takes no argument, since the approved input runs. Call it again only after it rejected. */
export type Middleware<Input = unknown> = (
  call: Confirmed<Input>,
  context: ToolContext,
  next: () => Promise<unknown>,
) => Promise<unknown>

/** Runs the tools of one execution type. */
export interface Runner {
  readonly type: string
  run(call: Confirmed, context: ToolContext): unknown
}

/** The bytes for a store, at once or in pieces. */
export type SpoolSource = string | Uint8Array | AsyncIterable<Uint8Array>

/** Reads ranges of bytes. The kernel splits them into lines. */
export interface SpoolReader {
  readonly byteLength: number
  /** The media type of the write, if the store knows it. */
  readonly mediaType?: string | undefined
  /** Returns the bytes from `start` up to but not including `end`. Both are within the length. */
  read(start: number, end: number): Uint8Array | Promise<Uint8Array>
}

export interface Spooling {
  readonly session: string
  readonly mediaType: string
  readonly signal?: AbortSignal | undefined
}

/** Keeps what is too large for a result object. Handles are random, and open only in the session that wrote them. */
export interface ArtifactStore {
  write(source: SpoolSource, spooling: Spooling): Promise<StoredArtifact>
  open(handle: string, access: { readonly session: string }): SpoolReader | Promise<SpoolReader>
  delete(handle: string): Promise<void>
}

/** The description of an artifact on the shelf. */
export interface Shelved {
  readonly handle: string
  readonly kind: string
  readonly mediaType: string
  readonly byteLength: number
  /** The tool whose result it is. */
  readonly toolName: string
  readonly Class: ArtifactClass
}

/** The artifacts in an executor's store, for tools to open. */
export interface Shelf {
  /** Returns the recent artifacts of a session, newest first. */
  list(session: string): readonly Shelved[]
  /**
   * Opens an artifact in its session.
   *
   * @param classes Chosen by media type, if another executor kept the artifact.
   * @throws `E_ARTIFACT` if the session has no such artifact, or the store cannot be read.
   */
  open(handle: string, session: string, classes?: readonly ArtifactClass[]): Promise<SpooledArtifact>
}

/**
 * Takes every event, with the tool if it is resolved. It cannot affect the call: its errors are reported. The handler and
 * the caller hold no part of an event. All observers share it, and the input may share parts with the args, so an observer
 * has to copy what it changes.
 */
export type Observer = (event: ToolEvent, tool?: ToolDefinition) => void

/** Extends an executor at any of these extension points. The factories of extensions return it. */
export interface Extension {
  readonly policies?: readonly Policy[]
  readonly approver?: Approver
  readonly middleware?: readonly Middleware[]
  readonly runners?: readonly Runner[]
  readonly store?: ArtifactStore
  /** Makes the recorder of the executor. The journals bring it. */
  readonly records?: (kernel: Kernel) => Recorder
  readonly observers?: readonly Observer[]
  /** Makes what runs calls on workers, of the kernel and whether an extension brings a store. `fleet` brings it. */
  readonly elsewhere?: (kernel: Kernel, hasStore: boolean) => Elsewhere
  /**
   * Returns the tools of a session. The same array means the same tools. They take precedence over the executor's own of the
   * same name. `isTaken` tells whether a name belongs to another source. A tool with an `mcpConfig` is then left out, since a
   * server may list any name.
   */
  tools?(session: string, shelf: Shelf, isTaken: (name: string) => boolean): readonly ToolLike[]
  /** Set if pages declare its tools. Those yield to a tool of the same name of any other source, also to one that comes later. */
  readonly isGuest?: boolean
  /** Subscribes to changes of the extension's tools that no call caused. Returns an unsubscribe function. */
  onToolsChange?(listener: () => void): () => void
  /** Returns a sentence that tells the model how to read on in an artifact after its preview. */
  guide?(artifact: SpooledArtifact): string
  /** Closes the extension. Called when the executor closes. */
  close?(): void | Promise<void>
}
