import { type CallingProgram, type SettledStatus, type SideEffect, toldId } from './call.ts'
import { copyOf } from '../json/copy.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { InvalidConfigurationError, type ToolError } from '../errors.ts'
import { stageFields, type Approval, type Received } from './parcel.ts'
import type { Kernel, Redactor } from '../kernel.ts'
import type { Observer } from '../ports.ts'
import { isThenable, unawaited } from '../json/thenable.ts'
import { bounded } from '../json/json-text.ts'
import { shortened } from '../json/shortened.ts'
import type { WaitReason, Question } from './wait.ts'

/** The fields of each type of event beside the envelope. */
export interface Bodies {
  /** A call came in. */
  'call:received': { readonly args: unknown }
  /** The call waits: for the answer of a person or a client, or for a worker. It is the last event until `call:resumed`. */
  'call:waiting': Question & {
    /** What the call waits for. */
    readonly reason: WaitReason
    readonly token?: string
    readonly expiresAt: number
    /** Set while the approver of this executor is asked. The call then goes on by itself. */
    readonly inProcess?: true
  }
  /** A person or a client answered. */
  'call:resumed': Approval & {
    /** The callId before the args were edited. */
    readonly editedFrom?: string
    /** The edited args. */
    readonly args?: unknown
  }
  /** The middleware chain starts. */
  'tool:start': { readonly input: unknown }
  /**
   * A value that a generator yields or that `context.emit` is given. Of type `retry`: the handler starts again, and the data has
   * the number of the `attempt` from 1 and the `error` of the one before, `{ code, message }`.
   */
  'tool:progress': { readonly type: string; readonly data: unknown }
  /** The middleware chain has ended. `durationMs` counts from `tool:start`: all attempts, and the waits between. */
  'tool:end': { readonly isError: boolean; readonly durationMs: number }
  /** The call has its final result. */
  'call:settled': {
    readonly status: SettledStatus
    readonly effect: SideEffect
    readonly error?: ToolError
    readonly result?: { readonly mediaType: string; readonly byteLength: number; readonly handle?: string }
    readonly digest?: string
    readonly durationMs: number
  }
}

export type ToolEventName = keyof Bodies

const eventNames: Readonly<Record<ToolEventName | '*', true>> = {
  'call:received': true,
  'call:waiting': true,
  'call:resumed': true,
  'tool:start': true,
  'tool:progress': true,
  'tool:end': true,
  'call:settled': true,
  '*': true,
}

/** @throws `E_INVALID_CONFIGURATION` if there is no event of this name, since its listener would never be called. */
export function requireEventName(name: unknown): void {
  if (typeof name === 'string' && Object.hasOwn(eventNames, name)) return
  const known = [...Object.keys(eventNames), 'tools:changed'].join(', ')
  throw new InvalidConfigurationError(`There is no event ${JSON.stringify(String(name))}. Listen to one of ${known}.`)
}

/** The fields of every event. */
export interface EventEnvelope {
  /** `null` if the args have no canonical form or the tool is not known. */
  readonly callId: string | null
  readonly invocationId: string
  /** The provider's id of the call. An id above 1,024 characters becomes its beginning and its SHA-256. */
  readonly id?: string | number
  readonly toolName: string
  readonly session: string
  /** For whom the call is made, if the application says so. */
  readonly principal?: string
  /** The model's program that makes the call, if a program makes it. */
  readonly program?: CallingProgram
  /** The number of the event within its invocation: from 0, without gaps. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  /** How many events of progress were left out before this one, if a stream of one call was not read in time. */
  readonly omitted?: number
}

/** An event of one type. */
export type ToolEventOf<Name extends ToolEventName> = Name extends ToolEventName
  ? EventEnvelope & { readonly event: Name } & Bodies[Name]
  : never

/** Everything that can be observed of a call, as one closed union. Records, telemetry and views are folds over it. */
export type ToolEvent = ToolEventOf<ToolEventName>

/** Whether a recorder or an observer takes events. Callers ask before they build one, so that unused events cost nothing. */
export function isWatched(parcel: Received, kernel: Kernel): boolean {
  return kernel.recorder !== undefined || hasObservers(parcel, kernel)
}

function hasObservers(parcel: Received, kernel: Kernel): boolean {
  return kernel.watchers.size > 0 || parcel.watcher !== undefined
}

/** Records an event and emits it. */
export function emit<Name extends ToolEventName>(
  parcel: Received,
  kernel: Kernel,
  name: Name,
  body: Bodies[Name],
): void {
  const event = eventOf(parcel, kernel, name, body)
  recordEvent(event, parcel, kernel)
  publish(event, parcel, kernel)
}

/** Emits progress, if a recorder or an observer takes events. */
export function emitProgress(parcel: Received, kernel: Kernel, type: string, data: unknown): void {
  if (isWatched(parcel, kernel)) emit(parcel, kernel, 'tool:progress', { type, data })
}

const longestText = 16_384
const largestData = 65_536

/** The events whose texts and data come from outside, in any size. */
const unbounded = new Set<ToolEventName>(['call:waiting', 'call:resumed', 'tool:progress'])

/** Cuts the texts and data of a body to the limits of an event. Args have their own limit. */
function fitting<Body extends object>(body: Body, { argsLimit }: Kernel): Body {
  const members = Object.entries(body).map(([name, value]: [string, unknown]) => {
    if (name === 'args' || name === 'input') return [name, bounded(value, argsLimit)]
    const isText = typeof value === 'string' && name !== 'data'
    return [name, isText ? shortened(value, longestText) : bounded(value, largestData)]
  })
  return Object.fromEntries(members) as Body
}

/** Folds an event into the record and uses its number. */
export function recordEvent(event: ToolEvent, parcel: Received, kernel: Kernel): void {
  kernel.recorder?.note(parcel, event)
  countEvent(event, parcel, kernel)
}

/** Uses the number of an event, and copies args or input for observers, since the handler or the caller holds them too. */
export function countEvent(event: ToolEvent, parcel: Received, kernel: Kernel): void {
  parcel.seq++ // only now: an event that could not be recorded leaves no gap
  const field = shielded[event.event]
  if (field !== undefined && hasObservers(parcel, kernel)) copyField(event, field, parcel, kernel)
}

/** What hides a secret in a field that comes from a caller, a handler or a person: the masked args, or a method of the redactor. */
type Masks = {
  readonly [Name in ToolEventName]?: { readonly [Field in keyof Bodies[Name]]?: 'args' | 'text' | 'value' }
}

const masks: Masks = {
  'call:received': { args: 'args' },
  'call:waiting': { prompt: 'text', why: 'text', meta: 'value', input: 'args' },
  'call:resumed': { note: 'text', args: 'args' },
  'tool:start': { input: 'args' },
  'tool:progress': { type: 'text', data: 'value' },
}

function maskedBody<Name extends ToolEventName>(name: Name, body: Bodies[Name], redactor: Redactor): Bodies[Name] {
  const masked = { ...body } as Record<string, unknown>
  for (const [field, method] of Object.entries(
    (masks[name] ?? {}) as Readonly<Record<string, 'args' | 'text' | 'value'>>,
  )) {
    if (masked[field] !== undefined) masked[field] = redactor[method](masked[field] as never)
  }
  return masked as Bodies[Name]
}

/**
 * Makes an event, with the secrets of its call masked. It takes a raw body: no emitter has to mask. Only the error of a result is
 * masked before, with the result.
 *
 * Each of its two shapes has one literal, which engines build fastest.
 */
export function eventOf<Name extends ToolEventName>(
  parcel: Received,
  kernel: Kernel,
  event: Name,
  body: Bodies[Name],
): ToolEvent {
  const { callId, invocationId, name: toolName, session, principal, program, seq, redactor } = parcel
  const own = redactor === undefined ? body : maskedBody(event, body, redactor)
  const id = toldId(parcel.id)
  const open: Record<string, unknown> =
    id === undefined
      ? { event, callId, invocationId, toolName, session, seq, timestamp: Date.now() }
      : { event, callId, invocationId, id, toolName, session, seq, timestamp: Date.now() }
  if (principal !== undefined) open['principal'] = principal
  if (program !== undefined) open['program'] = program
  // Engines set a field by its name in a third of the time.
  if (event === 'call:received') open['args'] = (own as Bodies['call:received']).args
  else if (event === 'tool:start') open['input'] = (own as Bodies['tool:start']).input
  else Object.assign(open, unbounded.has(event) ? fitting(own, kernel) : own)
  return open as unknown as ToolEvent
}

/** Copies a field for observers. If validation changed nothing, the input reuses the copy of the args. */
function copyField(event: ToolEvent, field: 'args' | 'input', parcel: Received, { argsLimit }: Kernel): void {
  const open = event as unknown as Record<string, unknown>
  const copy = copyOf(open[field], parcel.shown)
  // Args were measured on receipt, but a validator may return a larger input.
  open[field] = parcel.shown = field === 'args' || copy === parcel.shown ? copy : bounded(copy, argsLimit)
}

/** The fields that handlers or callers hold too. */
const shielded: Partial<Record<ToolEventName, 'args' | 'input'>> = {
  'call:received': 'args',
  'call:resumed': 'args',
  'call:waiting': 'input',
  'tool:start': 'input',
}

/** Emits an event to all observers. */
export function publish(event: ToolEvent, parcel: Received | undefined, kernel: Kernel): void {
  const tool = parcel === undefined ? undefined : stageFields(parcel).tool
  for (const watcher of kernel.watchers) notify(watcher, event, tool, kernel)
  if (parcel?.watcher !== undefined) notify(parcel.watcher, event, tool, kernel)
}

function notify(watcher: Observer, event: ToolEvent, tool: ToolDefinition | undefined, kernel: Kernel): void {
  try {
    const done: unknown = watcher(event, tool)
    if (isThenable(done)) void unawaited(done, kernel.report)
  } catch (error) {
    kernel.report(error)
  }
}
