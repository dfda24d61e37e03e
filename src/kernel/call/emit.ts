import type { EventTargets } from '../executor-context.ts'
import { copyOf } from '../json/copy.ts'
import { bounded } from '../json/json-text.ts'
import { shortened } from '../json/shortened.ts'
import { isThenable, unawaited } from '../json/thenable.ts'
import { shortId, type ToolResult } from './call.ts'
import type { ToolEventName, Bodies, ToolEvent, Observer } from './events.ts'
import { type Received, stageFields, type Writable } from './parcel.ts'
import type { Redactor } from './redactor.ts'
import type { ToolDefinition } from '../tool/definition.ts'

/** Whether a recorder or an observer takes events. Ask before you build one: unused events cost nothing. */
export function isWatched(parcel: Received, targets: EventTargets): boolean {
  return targets.recorder !== undefined || hasObservers(parcel, targets)
}

function hasObservers(parcel: Received, targets: EventTargets): boolean {
  return targets.watchers.size > 0 || parcel.watcher !== undefined
}

export function emit<Name extends ToolEventName>(
  parcel: Received,
  targets: EventTargets,
  name: Name,
  body: Bodies[Name],
): void {
  const event = eventOf(parcel, targets, name, body)
  recordEvent(event, parcel, targets)
  publish(event, parcel, targets)
}

export function emitProgress(parcel: Received, targets: EventTargets, type: string, data: unknown): void {
  if (isWatched(parcel, targets)) emit(parcel, targets, 'tool:progress', { type, data })
}

const longestText = 16_384
const largestData = 65_536

/** The events whose texts and data come from outside, in any size. */
const unbounded = new Set<ToolEventName>(['call:blocked', 'call:waiting', 'call:resumed', 'tool:progress'])

/** Cuts the texts and data of a body to the limits of an event. Args have their own limit. */
function fitting<Body extends object>(body: Body, { argsLimit }: EventTargets): Body {
  const members = Object.entries(body).map(([name, value]: [string, unknown]) => {
    if (name === 'args' || name === 'input') return [name, bounded(value, argsLimit)]
    const isText = typeof value === 'string' && name !== 'data'
    return [name, isText ? shortened(value, longestText) : bounded(value, largestData)]
  })
  return Object.fromEntries(members) as Body
}

/** Folds an event into the record and uses its number. */
export function recordEvent(event: ToolEvent, parcel: Received, targets: EventTargets): void {
  targets.recorder?.note(parcel, event)
  countEvent(event, parcel, targets)
}

/** Uses the number of an event, and copies args or input for observers, since the handler or the caller holds them too. */
export function countEvent(event: ToolEvent, parcel: Received, targets: EventTargets): void {
  parcel.seq++ // only now: an event that could not be recorded leaves no gap
  if (hasObservers(parcel, targets)) shield(event, parcel, targets)
}

type Mask = 'args' | 'text' | 'value'

/** What hides a secret in a field from outside: the masked args, or a method of the redactor. */
type Masks = { readonly [Name in ToolEventName]: { readonly [Field in keyof Bodies[Name]]?: Mask } }

const masks: Masks = {
  'call:received': { args: 'args' },
  'call:repaired': { args: 'args' },
  'call:blocked': { keys: 'value' },
  'call:waiting': { prompt: 'text', why: 'text', meta: 'value', input: 'args' },
  'call:resumed': { note: 'text', args: 'args' },
  'tool:start': { input: 'args' },
  'tool:progress': { type: 'text', data: 'value' },
  'tool:end': {},
  'call:settled': {},
}

function maskedBody<Name extends ToolEventName>(name: Name, body: Bodies[Name], redactor: Redactor): Bodies[Name] {
  const masked = { ...body } as Record<string, unknown>
  for (const [field, method] of Object.entries<Mask>(masks[name])) {
    if (masked[field] !== undefined) masked[field] = redactor[method](masked[field] as never)
  }
  return masked as Bodies[Name]
}

/**
 * Makes an event of a raw body, with the secrets of its call masked. Only the errors of results and retries are masked before.
 * Each shape has one literal: engines build those fastest.
 */
export function eventOf<Name extends ToolEventName>(
  parcel: Received,
  targets: EventTargets,
  event: Name,
  body: Bodies[Name],
): ToolEvent {
  const { callId, invocationId, name: toolName, session, principal, program, seq, redactor, call, effectKey } = parcel
  const own = redactor === undefined ? body : maskedBody(event, body, redactor)
  const id = shortId(parcel.id)
  const open: Record<string, unknown> =
    id === undefined
      ? { event, callId, invocationId, toolName, session, seq, timestamp: Date.now() }
      : { event, callId, invocationId, id, toolName, session, seq, timestamp: Date.now() }
  if (principal !== undefined) open['principal'] = principal
  if (program !== undefined) open['program'] = program
  if (event === 'call:received') {
    if (call.via !== undefined) open['via'] = call.via
    if (parcel.parent !== undefined) open['parent'] = parcel.parent.invocationId
  }
  if (effectKey !== undefined && (event === 'tool:start' || event === 'call:settled'))
    open['effectKey'] = effectKey.digest
  setBody(open, event, own, targets)
  return open as unknown as ToolEvent
}

/** Sets the fields of each event that every call has by their names, which takes engines a third of the time. */
function setBody(open: Record<string, unknown>, event: ToolEventName, body: object, targets: EventTargets): void {
  switch (event) {
    case 'call:received':
      open['args'] = (body as Bodies['call:received']).args
      return
    case 'tool:start':
      open['input'] = (body as Bodies['tool:start']).input
      return
    case 'tool:end': {
      const { isError, durationMs } = body as Bodies['tool:end']
      open['isError'] = isError
      open['durationMs'] = durationMs
      return
    }
    case 'call:settled': {
      const { status, effect, error, result, durationMs } = body as Bodies['call:settled']
      open['status'] = status
      open['effect'] = effect
      if (error !== undefined) open['error'] = error
      if (result !== undefined) open['result'] = result
      open['durationMs'] = durationMs
      return
    }
    default:
      Object.assign(open, unbounded.has(event) ? fitting(body, targets) : body)
  }
}

/** Copies args or input for observers. If validation changed nothing, the input reuses the copy of the args. */
function shield(event: Writable<ToolEvent>, parcel: Received, { argsLimit }: EventTargets): void {
  switch (event.event) {
    case 'call:received':
    case 'call:repaired':
    case 'call:resumed':
      event.args = parcel.shown = copyOf(event.args, parcel.shown)
      return
    case 'tool:start':
    case 'call:waiting': {
      const copy = copyOf(event.input, parcel.shown)
      // Args were measured on receipt, but a validator may return a larger input.
      event.input = parcel.shown = copy === parcel.shown ? copy : bounded(copy, argsLimit)
      return
    }
    default: // others have nothing that is held elsewhere
  }
}

/** Emits an event to all observers. */
export function publish(
  event: ToolEvent,
  parcel: Received | undefined,
  targets: EventTargets,
  result?: ToolResult,
): void {
  const tool = parcel === undefined ? undefined : stageFields(parcel).tool
  for (const watcher of targets.watchers) notify(watcher, targets, event, tool, result)
  if (parcel?.watcher !== undefined) notify(parcel.watcher, targets, event, tool, result)
}

function notify(
  watcher: Observer,
  targets: EventTargets,
  event: ToolEvent,
  tool: ToolDefinition | undefined,
  result: ToolResult | undefined,
): void {
  try {
    const done: unknown = watcher(event, tool, result)
    if (isThenable(done)) void unawaited(done, targets.report)
  } catch (error) {
    targets.report(error)
  }
}
