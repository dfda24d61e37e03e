import type { Gates, InFlight } from './call/in-flight.ts'
import type { ToolResult } from './call/call.ts'
import type {
  Approval,
  Authorized,
  Checked,
  Confirmed,
  Identified,
  Received,
  Resolved,
  Verdict,
} from './call/parcel.ts'
import type { ToolError } from './errors.ts'
import type {
  Approver,
  ArtifactStore,
  Extension,
  Middleware,
  Observer,
  Policy,
  Runner,
  Shelf,
  SpoolSource,
  StoredArtifact,
  ToolValues,
} from './ports.ts'
import type { WaitKeeper, Recorder } from './recorder.ts'
import type { SpooledArtifact } from './result/artifact.ts'
import type { EncodedResult, Receipt } from './result/encode.ts'
import type { Stream } from './run/stream.ts'
import type { Issue } from './schema/standard.ts'
import type { Validation } from './schema/validator.ts'
import type { ToolDefinition } from './tool/definition.ts'
import type { ToolRegistry } from './tool/registry.ts'

/** Asks people. */
export interface Approvals {
  /**
   * Returns the approval of a call. Asks the approver, if there is one. Throws a `Wait` to wait for `decide`, and `E_TOOL_DENIED`
   * if the person refuses.
   */
  approve(call: Authorized, ask: Verdict['ask'], approver: Approver | undefined): Promise<Approval>
  /** Returns the hash of a tool's definition, which an approval is for. */
  fingerprint(tool: ToolDefinition): string
  /** Throws `E_APPROVAL_INVALID` if the tool is not the one that the approval was asked for. */
  requireUnchanged(tool: ToolDefinition | undefined, name: string, fingerprint: string): void
  /** Does so for a call that resumes. Settles one that a person has denied, which needs no tool, with `E_TOOL_DENIED`. */
  admit(received: Received, tool: ToolDefinition | undefined): void
}

/** Hides the secrets of one call: the values that its tool's `secrets` point to, and each repetition of those of the args. */
export interface Redactor {
  /** Returns the args with secrets masked, read from the hashed text. `undefined` before the args are identified. */
  args(): unknown
  /** Returns a text without secret values. */
  text(text: string): string
  /** Returns any value as JSON without secrets: the mask if it exceeds 64 KiB, `undefined` if it cannot be read. */
  value(value: unknown): unknown
  /**
   * Returns a handler's whole result with secrets masked and its marks kept. Bytes stay as they are. Do not pass streams or
   * artifacts.
   *
   * @throws `E_INVALID_TOOL_RESULT` if JSON cannot hold the result.
   */
  result(result: unknown): unknown
  /** Returns issues without the validator's message about a secret or its container, and without keys within a secret. */
  issues(issues: readonly Issue[]): readonly Issue[]
  /** Returns a copy of an error without causes and without secret values. */
  error(error: ToolError): ToolError
}

/** Makes what hides secrets. */
export interface Redaction {
  redactorOf(call: Received, secrets: readonly string[]): Redactor
  /** Does what `Redactor.issues` does, for a tool that no call runs. */
  redactIssues(issues: readonly Issue[], secrets: readonly string[]): readonly Issue[]
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

/** Keeps large results, and opens them for handlers. */
export interface Spool {
  readonly store: ArtifactStore
  readonly shelf: Shelf
  /** Keeps a result that is a stream, an artifact or too large for the result object. */
  keep(output: EncodedResult | SpooledArtifact | Stream, call: Checked): Promise<Receipt>
  /** Keeps an artifact beside the result of a running call. */
  keepBeside(source: SpoolSource, mediaType: string, call: Received): Promise<StoredArtifact>
  /** Opens the artifacts that validated args name. Returns a copy with them, or an issue for each that cannot be opened. */
  openArtifacts(input: unknown, call: Identified): Promise<Validation>
}

/** What the spool is made of. */
export interface SpoolOptions {
  /** Default: a store in memory. */
  readonly store: ArtifactStore | undefined
  readonly extensions: readonly Extension[]
  readonly inlineLimit: number
  readonly report: (error: unknown) => void
}

/** The combined extensions. Every stage gets them beside the call. */
export interface Kernel {
  /** Returns the tools of a session: the executor's, and those that extensions add. */
  readonly registryFor: (session: string) => ToolRegistry
  readonly policies: readonly Policy[]
  readonly approver: Approver | undefined
  readonly middleware: readonly Middleware[]
  readonly runners: ReadonlyMap<string, Runner>
  /** Asks people. */
  readonly approvals: Approvals
  /** Hides secrets. */
  readonly redaction: Redaction
  /** The application's values of waiting calls, by the digests of their tokens. Records do not have them. */
  readonly waitingValues: Map<string, ToolValues>
  readonly spool: Spool
  /** What runs calls on the workers of a fleet. */
  readonly elsewhere: Elsewhere | undefined
  readonly watchers: Set<Observer>
  /** Whether a call needs a copy of its args: if it may wait, or if an extension or a hook takes part. */
  owns(call: Resolved): boolean
  /** Milliseconds; `Infinity` for none. */
  readonly timeout: number
  /** How long a waiting call waits for a person, in milliseconds; `0` or `Infinity` for no limit. */
  readonly approvalTimeout: number
  /** The largest result that stays in the result object, in bytes of text and JSON. */
  readonly inlineLimit: number
  /** The largest args, in bytes of UTF-8. */
  readonly argsLimit: number
  readonly exposeErrors: boolean
  /** Decides which calls of a session run at the same time. */
  readonly gates: Gates
  /** Writes records. Only if an extension brings a journal. */
  readonly recorder: Recorder | undefined
  /** Returns what keeps waiting calls. Without a journal, the first call that waits loads it. */
  waits(): WaitKeeper | Promise<WaitKeeper>
  /** Keeps the calls that wait without a journal, once one has waited. */
  readonly unrecorded: (WaitKeeper & { cancelAll(reason: string): Promise<void> }) | undefined
  /** Returns the executor's name in records. */
  owner(): string
  readonly inFlight: InFlight
  /** Takes faults that belong to no call's result. */
  readonly report: (error: unknown) => void
}
