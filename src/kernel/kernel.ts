import type { InFlight } from './call/in-flight.ts'
import type { Locks } from './call/locks.ts'
import type { Checked, Confirmed, Identified, Received, Resolved } from './call/parcel.ts'
import type { ArtifactStore, SpoolSource, StoredArtifact } from './result/store.ts'
import type { Extension, Policy } from './ports.ts'
import type { Observer } from './call/events.ts'
import type { Shelf } from './result/shelf.ts'
import type { WaitKeeper, Recorder } from './recorder.ts'
import type { SpooledArtifact } from './result/artifact.ts'
import type { EncodedResult, Receipt } from './result/encode.ts'
import type { Stream } from './run/stream.ts'
import type { Issue } from './schema/standard.ts'
import type { Validation } from './schema/validator.ts'
import type { ToolRegistry } from './tool/registry.ts'
import type { Redactor } from './call/redactor.ts'
import type { RepairContext } from './call/repaired.ts'
import type { GatesContext, RecordsContext, RunContext, ElsewhereContext } from './executor-context.ts'

/** Makes what hides secrets. */
export interface Redaction {
  redactorOf(call: Received, secrets: readonly string[]): Redactor
  /** Does what `Redactor.issues` does, for a tool that no call runs. */
  redactIssues(issues: readonly Issue[], secrets: readonly string[]): readonly Issue[]
}

/** Keeps large results, and opens them for handlers. */
export interface Spool {
  readonly store: ArtifactStore
  readonly shelf: Shelf
  /** Keeps a result that is a stream, an artifact or too large for the result object. */
  keep(output: EncodedResult | SpooledArtifact | Stream, call: Checked): Promise<Receipt>
  /** Keeps an artifact beside the result of a running call. */
  keepBeside(source: SpoolSource, described: { mediaType: string }, call: Received): Promise<StoredArtifact>
  /** Lists an artifact that is in the store already, as a result of a call. */
  remember(artifact: SpooledArtifact, handle: string, call: Received): void
  /** Opens the artifacts that validated args name. Returns a copy with them, or an issue for each that cannot be opened. */
  openArtifacts(input: unknown, call: Identified): Promise<Validation>
}

/** What the spool is made of. */
export interface SpoolOptions {
  /** Default: a store in memory. */
  readonly store: ArtifactStore | undefined
  readonly extensions: readonly Extension[]
  readonly inlineLimit: number
  readonly loadOnDemand: () => Promise<typeof import('#on-demand')>
  readonly report: (error: unknown) => void
}

/** The combined extensions. Every stage gets them beside the call. */
export interface Kernel extends RecordsContext, RunContext, ElsewhereContext, GatesContext {
  readonly registryFor: (session: string) => ToolRegistry
  readonly policies: readonly Policy[]
  /** Repairs args that a schema refused. */
  readonly repairArgs: RepairContext['repairArgs']
  /** Hides secrets. */
  readonly redaction: Redaction
  readonly spool: Spool
  readonly watchers: Set<Observer>
  /** Whether a call needs a copy of its args: if it may wait, or if an extension or a hook takes part. */
  owns(call: Resolved): boolean
  /** Milliseconds; `Infinity` for none. */
  readonly timeout: number
  /** The largest result that stays in the result object, in bytes of text and JSON. */
  readonly inlineLimit: number
  /** Decides which calls run at the same time. */
  readonly locks: Locks
  /** Lets a call through the gates. The first that comes to one loads what asks them. */
  passGates(call: Confirmed): void | Promise<void>
  /** What asks the gates, once it is loaded. */
  readonly gatekeeper: Pick<typeof import('#on-demand'), 'passGates' | 'leaveGates'> | undefined
  readonly recorder: Recorder | undefined
  /** Returns what keeps waiting calls. Without a journal, the first call that waits loads it. */
  waits(): WaitKeeper | Promise<WaitKeeper>
  /** Keeps the calls that wait without a journal, once one has waited. */
  readonly unrecorded: (WaitKeeper & { cancelAll(reason: string): Promise<void> }) | undefined
  readonly inFlight: InFlight
}
