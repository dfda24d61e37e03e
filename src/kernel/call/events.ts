import { bounded } from '../json/bounded.ts'
import { toldId, type CallStatus, type SideEffect } from './call.ts'
import { copyOf } from '../json/copy.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import type { ToolError } from '../errors.ts'
import { begun, fold } from '../../records/fold.ts'
import { redactorOf } from './secrets.ts'
import { progressOf, type Received } from './parcel.ts'
import type { Question } from './pause.ts'
import type { Kernel, Ledger, Observer } from '../ports.ts'
import { shortened } from '../json/text.ts'
import { isThenable, unawaited } from '../json/thenable.ts'
import { Written } from '../json/written.ts'

/** What an event of each type says beside the envelope. */
interface Bodies {
  /** A call came in. */
  'call:received': { readonly args: unknown }
  /** Somebody has to answer before the call can go on. */
  'call:paused': Question & {
    /** What kind of answer it waits for. */
    readonly reason: 'approval' | 'client'
    readonly token?: string
    readonly expiresAt: number
  }
  /** Somebody answered. */
  'call:resumed': {
    readonly decision: 'allow' | 'deny'
    readonly decidedBy?: string | undefined
    readonly note?: string | undefined
    readonly always?: boolean | undefined
    /** The callId of the call whose args were edited. */
    readonly editedFrom?: string
    /** The args as they were edited. */
    readonly args?: unknown
  }
  /** The onion of middleware and handler begins. */
  'tool:start': { readonly input: unknown }
  /** What a generator yields and `context.emit` says. */
  'tool:progress': { readonly type: string; readonly data: unknown }
  /** The onion is done, whatever came of it. */
  'tool:end': { readonly isError: boolean; readonly durationMs: number }
  /** The outcome. */
  'call:settled': {
    readonly status: CallStatus
    readonly effect: SideEffect
    readonly error?: ToolError
    readonly result?: { readonly mediaType: string; readonly byteLength: number; readonly handle?: string }
    readonly digest?: string
    readonly durationMs: number
  }
}

export type ToolEventName = keyof Bodies

/** What every event carries. */
export interface EventEnvelope {
  /** `null` where the args have no canonical form or the tool is not known. */
  readonly callId: string | null
  readonly invocationId: string
  /** The provider's id of the call; of one above 1,024 characters its beginning and its SHA-256. */
  readonly id?: string | number
  readonly toolName: string
  readonly session: string
  /** For whom the call is made, if the host says so. */
  readonly principal?: string
  /** Counts the events of one invocation from 0, without gaps. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly timestamp: number
}

/** An event of one type. */
export type ToolEventOf<Name extends ToolEventName> = Name extends ToolEventName
  ? EventEnvelope & { readonly event: Name } & Bodies[Name]
  : never

/** Everything that can be observed of a call: one closed union, of which records, telemetry and views are folds. */
export type ToolEvent = ToolEventOf<ToolEventName>

/** Whether anybody would see an event: makers of events ask first, so that an event nobody listens to costs nothing. */
export function isWatched(parcel: Received, kernel: Kernel): boolean {
  return kernel.ledger !== undefined || hasObservers(parcel, kernel)
}

function hasObservers(parcel: Received, kernel: Kernel): boolean {
  return kernel.watchers.size > 0 || parcel.watcher !== undefined
}

/** Tells everybody who watches what happened. */
export function announce<Name extends ToolEventName>(
  parcel: Received,
  kernel: Kernel,
  name: Name,
  body: Bodies[Name],
): void {
  publish(happen(parcel, kernel, name, body), parcel, kernel)
}

/** Tells of progress, where anybody would hear it. */
export function announceProgress(parcel: Received, kernel: Kernel, type: string, data: unknown): void {
  if (!isWatched(parcel, kernel)) return
  const { tool, identity } = progressOf(parcel)
  const redactor = tool === undefined || tool.secrets.length === 0 ? undefined : redactorOf({ tool, identity })
  const body = redactor === undefined ? { type, data } : { type: redactor.words(type), data: redactor.told(data) }
  announce(parcel, kernel, 'tool:progress', body)
}

const longestText = 16_384
const largestData = 65_536
const largestKeptArgs = 262_144

/** The events whose words and data others choose, without an end. */
const unbounded = new Set<ToolEventName>(['call:paused', 'call:resumed', 'tool:progress'])

/** Returns the body with texts and data that fit into an event; args have the limit of their own. */
function fitting<Body extends object>(body: Body, { argsLimit }: Kernel): Body {
  const members = Object.entries(body).map(([name, value]: [string, unknown]) => {
    if (name === 'args' || name === 'input') return [name, bounded(value, argsLimit)]
    const isText = typeof value === 'string' && name !== 'data'
    return [name, isText ? shortened(value, longestText) : bounded(value, largestData)]
  })
  return Object.fromEntries(members) as Body
}

/** Makes an event, and folds it into the record of its call: what is written down before it is told. */
export function happen<Name extends ToolEventName>(
  parcel: Received,
  kernel: Kernel,
  name: Name,
  body: Bodies[Name],
): ToolEvent {
  const event = eventOf(parcel, name, unbounded.has(name) ? fitting(body, kernel) : body)
  const field = shielded[name]
  const { ledger } = kernel
  if (ledger !== undefined) {
    const record = (parcel.record ??= begun(event))
    fold(record, event)
    if (field === 'args') record.input = argsFor(record.input, parcel, ledger)
  }
  parcel.seq++ // what could not be folded has not happened
  // What the handler or the caller holds too is copied for those who watch.
  if (field !== undefined && hasObservers(parcel, kernel)) copyField(event, field, parcel, kernel)
  return event
}

/** The args as a record has them, whatever becomes of them elsewhere. */
function argsFor(args: unknown, parcel: Received, { keeps }: Ledger): unknown {
  const { identity, tool } = progressOf(parcel)
  // A call goes on from its text. What its record shows of the args stays for good.
  if (identity !== undefined && identity.text.length > largestKeptArgs) return bounded(copyOf(args), largestKeptArgs)
  if (!keeps) return copyOf(args)
  const isShown = identity !== undefined && tool?.secrets.length === 0
  const text = isShown ? identity.text : JSON.stringify(args)
  return text === undefined ? undefined : new Written(text)
}

/** An event, written in one go for each of its two shapes: an engine makes such objects fastest. */
function eventOf(parcel: Received, event: ToolEventName, body: object): ToolEvent {
  const { callId, invocationId, name: toolName, session, principal, seq } = parcel
  const id = toldId(parcel.id)
  const timestamp = Date.now()
  if (principal !== undefined) body = { principal, ...body }
  const made: unknown =
    id === undefined
      ? { event, callId, invocationId, toolName, session, seq, timestamp, ...body }
      : { event, callId, invocationId, id, toolName, session, seq, timestamp, ...body }
  return made as ToolEvent
}

/** Where validation has changed nothing, the input is shown by the copy that shows the args. */
function copyField(event: ToolEvent, field: 'args' | 'input', parcel: Received, { argsLimit }: Kernel): void {
  const open = event as unknown as Record<string, unknown>
  const copy = copyOf(open[field], parcel.shown)
  // Args were measured when they came. A validator may have made something larger of them.
  open[field] = parcel.shown = field === 'args' || copy === parcel.shown ? copy : bounded(copy, argsLimit)
}

/** The events that show what others hold too. */
const shielded: Partial<Record<ToolEventName, 'args' | 'input'>> = {
  'call:received': 'args',
  'call:resumed': 'args',
  'call:paused': 'input',
  'tool:start': 'input',
}

/** Gives an event to everybody who watches. */
export function publish(event: ToolEvent, parcel: Received | undefined, kernel: Kernel): void {
  const tool = parcel === undefined ? undefined : progressOf(parcel).tool
  for (const watcher of kernel.watchers) tell(watcher, event, tool, kernel)
  if (parcel?.watcher !== undefined) tell(parcel.watcher, event, tool, kernel)
}

function tell(watcher: Observer, event: ToolEvent, tool: ToolDefinition | undefined, kernel: Kernel): void {
  try {
    const done: unknown = watcher(event, tool)
    if (isThenable(done)) void unawaited(done, kernel.report)
  } catch (error) {
    kernel.report(error)
  }
}
