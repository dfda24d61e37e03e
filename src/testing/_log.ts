// What was called, as a fold over the events of an executor.
import { InvalidConfigurationError } from '../errors.ts'
import type { Observer } from '../extension.ts'
import type { CallStatus, ContentBlock, Extension, SideEffect, ToolError, ToolEvent, ToolResult } from '../index.ts'

/** A call, as its events tell of it. It changes until the call has settled. */
export interface ObservedCall {
  readonly tool: string
  /** With secrets masked. If a person edited the args, as edited; if the call came in elsewhere, as they were validated. */
  readonly args: unknown
  /** `null` if the args have no canonical form or the tool is not known. */
  readonly callId: string | null
  readonly invocationId: string
  readonly session: string
  readonly status: CallStatus | 'running'
  /** `'none'` until the call has settled. */
  readonly effect: SideEffect
  readonly error: ToolError | undefined
  /** What the model was told. `undefined` until the call has settled, and if another executor settled it. */
  readonly content: readonly ContentBlock[] | undefined
  /** Whether a person was asked. */
  readonly asked: boolean
  /** What the handler emitted or yielded. */
  readonly progress: readonly { readonly type: string; readonly data: unknown }[]
  readonly events: readonly ToolEvent[]
}

/** The calls and events of an executor since it is observed. Both lists are live. */
export interface CallLog {
  /** In order of receipt: calls of one message stand in the order of the message, whatever ran first. At most 100,000. */
  readonly calls: readonly ObservedCall[]
  /** The events of these calls. */
  readonly events: readonly ToolEvent[]
  /** Forgets the calls so far, also what those that still run emit later. A call that waits is new again when it goes on. */
  readonly clear: () => void
  /** Ends the observation. What was called stays. */
  readonly stop: () => void
}

/** The most calls of a log. Beyond them the oldest go, a thousand at a time. */
export const longestLog = 100_000
const forgottenAtOnce = 1_000

/** A call of a log, with its place in the order of events. */
export class LoggedCall implements ObservedCall {
  tool: string
  args: unknown
  callId: string | null
  readonly invocationId: string
  readonly session: string
  status: CallStatus | 'running' = 'running'
  effect: SideEffect = 'none'
  error: ToolError | undefined = undefined
  content: readonly ContentBlock[] | undefined = undefined
  asked = false
  readonly progress: { readonly type: string; readonly data: unknown }[] = []
  readonly events: ToolEvent[] = []
  /** The number of the event with which it came in. */
  readonly #start: number
  #end = Infinity

  constructor({ toolName, callId, invocationId, session }: ToolEvent, place: number) {
    this.tool = toolName
    this.callId = callId
    this.invocationId = invocationId
    this.session = session
    this.#start = place
  }

  /** Whether it came in after another call had settled. */
  isAfter(other: LoggedCall): boolean {
    return other.#end < this.#start
  }

  take(event: ToolEvent, place: number, result: ToolResult | undefined): void {
    this.events.push(event)
    switch (event.event) {
      case 'call:received':
        this.args = event.args
        break
      case 'call:repaired':
        this.callId = event.callId
        this.args = event.args
        break
      case 'call:waiting':
        if (event.reason === 'approval') this.asked = true
        if (event.inProcess !== true) this.status = 'waiting'
        break
      case 'call:resumed':
        this.status = 'running'
        this.callId = event.callId
        if (event.args !== undefined) this.args = event.args
        break
      case 'tool:start':
        if (this.events[0]?.event !== 'call:received') this.args ??= event.input
        break
      case 'tool:progress':
        this.progress.push({ type: event.type, data: event.data })
        break
      case 'call:settled':
        this.#end = place
        this.status = event.status
        this.effect = event.effect
        this.error = event.error
        this.content = result?.content
        break
      case 'call:blocked':
      case 'tool:end':
    }
  }
}

/** A log, with what fills it and what it has lost. */
export class KeptLog implements CallLog {
  readonly calls: LoggedCall[] = []
  readonly events: ToolEvent[] = []
  readonly #current = new Map<string, LoggedCall>()
  #count = 0
  #lost = 0
  /** Set until `stop`. */
  isOpen = true
  /** Returns the names of the tools of a session, if it is the log of an executor. */
  toolsOf: ((session: string) => readonly string[]) | undefined = undefined
  /** Ends the observation of an executor. */
  undo: (() => void) | undefined = undefined

  /** How many of the oldest calls are gone. */
  get lost(): number {
    return this.#lost
  }

  readonly take: Observer = (event, _tool, result) => {
    if (!this.isOpen) return
    const place = this.#count++
    const call = this.#callOf(event, place)
    if (call === undefined) return
    this.events.push(event)
    call.take(event, place, result)
  }

  /** An id that is given twice names two calls, and a call may go on that came in at another executor. */
  #callOf(event: ToolEvent, place: number): LoggedCall | undefined {
    const { invocationId } = event
    const current = this.#current.get(invocationId)
    const isNew = event.event === 'call:received' || (event.event === 'call:resumed' && current === undefined)
    if (!isNew) return current
    const call = new LoggedCall(event, place)
    this.#current.set(invocationId, call)
    if (this.calls.push(call) >= longestLog + forgottenAtOnce) this.#forgetOldest()
    return call
  }

  #forgetOldest(): void {
    const oldest = new Set(this.calls.splice(0, forgottenAtOnce))
    this.#lost += forgottenAtOnce
    const forgotten = new Set([...oldest].flatMap(({ events }) => events))
    for (const call of oldest) {
      if (this.#current.get(call.invocationId) === call) this.#current.delete(call.invocationId)
    }
    const left = this.events.filter((event) => !forgotten.has(event))
    this.events.length = 0
    for (const event of left) this.events.push(event)
  }

  readonly clear = (): void => {
    this.calls.length = this.events.length = this.#lost = 0
    this.#current.clear()
  }

  readonly stop = (): void => {
    this.isOpen = false
    this.undo?.()
  }
}

const logs = new WeakMap<object, KeptLog>()

/** Makes a log that a matcher finds by this object: an executor, or an extension that is a log too. */
export function keepLog(subject: object): KeptLog {
  const log = new KeptLog()
  logs.set(subject, log)
  logs.set(log, log)
  return log
}

/** Returns the log of an object, if it has one. */
export function keptLog(subject: unknown): KeptLog | undefined {
  return typeof subject === 'object' && subject !== null ? logs.get(subject) : undefined
}

/**
 * Makes an extension that is also the log of every executor that it is given to.
 *
 * @param extension What the extension does beside. It becomes the log itself.
 */
export function withCallLog<Own extends Extension>(extension: Own): Own & CallLog {
  const log = keepLog(extension)
  const { calls, events, clear, stop } = log
  const observers = [...(extension.observers ?? []), log.take]
  return Object.assign(extension, { observers, calls, events, clear, stop })
}

/** @throws `E_INVALID_CONFIGURATION` if nothing observes the subject, since a matcher of it would pass or fail for no reason. */
export function logOf(subject: unknown): KeptLog {
  const log = keptLog(subject)
  if (log !== undefined) return log
  throw new InvalidConfigurationError(
    'Nothing observes this, so what it calls is not known. Call observe(executor) before the calls are made, and give the matcher that executor, or its log.',
  )
}
