import {
  context,
  createContextKey,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type MeterProvider,
  type Span,
  type SpanContext,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import type { ToolContext, ToolDefinition, ToolEvent, ToolEventOf } from '../../index.ts'
import { escaped, start } from '../_line.ts'
import { textOf } from './_content.ts'
import { conventionalType, genAi, operation, own, samplingAttributes, schemaUrl, scope } from './_conventions.ts'
import { DurationMetric } from './_duration.ts'
import { failureOf, type Failure } from './_failure.ts'

const longestText = 256
const longestDescription = 1_024
const mostWaiting = 10_000

/** Where a context keeps the span that was active here when a call came from elsewhere. */
export const ambient: symbol = createContextKey('toolwright.ambient')

export interface LegOptions {
  readonly tracerProvider: TracerProvider | undefined
  readonly meterProvider: MeterProvider | undefined
  readonly recordArgs: boolean
  readonly recordResult: boolean
}

/** A call from its receipt, or from the answer that it waited for, until it settles or has to wait. */
export interface Leg {
  readonly span: Span
  /** What is active while the tool runs. */
  readonly context: Context
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number
  /** The name of a tool; nothing where it is a text of the model that names none. */
  readonly name: string | undefined
  tool?: ToolDefinition
  call?: ToolContext
  hasArgs?: true
}

/** The legs that are under way, each with its span. */
export class Legs {
  readonly #open = new Map<string, Leg>()
  /** The spans of legs whose calls wait for somebody, the oldest first. */
  readonly #waiting = new Map<string, SpanContext>()
  readonly #options: LegOptions
  readonly #tracer: Tracer
  readonly #duration: DurationMetric

  constructor(options: LegOptions) {
    this.#options = options
    // The global provider of the API hands on to the SDK, also to one that is registered later.
    this.#tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(scope, undefined, { schemaUrl })
    this.#duration = new DurationMetric(options.meterProvider)
  }

  /** The leg of a call whose tool is about to run. */
  enter(tool: ToolDefinition, call: ToolContext): Leg | undefined {
    const leg = this.#open.get(call.invocationId)
    if (leg === undefined) return undefined
    leg.call = call
    describe(leg, tool)
    return leg
  }

  hear(event: ToolEvent, tool: ToolDefinition | undefined): void {
    switch (event.event) {
      case 'call:received':
        this.#begin(event, tool, event.args)
        return
      case 'call:resumed':
        return this.#resume(event, tool)
      case 'call:paused':
        this.#open.get(event.invocationId)?.span.addEvent(event.event, { [own.pauseReason]: event.reason })
        return
      case 'tool:start':
        return this.#start(event)
      case 'call:settled':
        return this.#settle(event, tool)
      default: // progress, and the end of the run, lie within the span and add nothing to it
    }
  }

  #begin(event: ToolEvent, tool: ToolDefinition | undefined, args?: unknown): Leg | undefined {
    const parent = context.active()
    // Only what has an identity, or a tool, has come to a tool by its name.
    const name = tool !== undefined || event.callId !== null ? event.toolName : undefined
    const attributes = samplingAttributes(name ?? shortened(event.toolName))
    const links = this.#linksOf(event.invocationId, parent)
    const title = name === undefined ? operation : `${operation} ${name}`
    const span = this.#tracer.startSpan(title, { kind: SpanKind.INTERNAL, attributes, links }, parent)
    const its = span.spanContext()
    // Without an SDK a span has no identity, or only hands on that of its parent.
    const isOwn = its !== INVALID_SPAN_CONTEXT && its !== trace.getSpanContext(parent) && isSpanContextValid(its)
    if (!isOwn && !this.#duration.isLive) return undefined
    const active = isOwn ? trace.setSpan(parent.deleteValue(ambient), span) : parent
    const leg: Leg = { span, context: active, startedAt: performance.now(), name }
    this.#open.set(event.invocationId, leg)
    if (span.isRecording()) span.setAttributes(identityOf(event))
    if (tool !== undefined) describe(leg, tool)
    // What was sent to a tool that is not there may be secret: nobody says where.
    if (args !== undefined && name !== undefined) this.#recordArgs(leg, args)
    return leg
  }

  #linksOf(invocationId: string, parent: Context): Link[] {
    const waited = this.#waiting.size === 0 ? undefined : this.#waiting.get(invocationId)
    const outer = parent.getValue(ambient) as SpanContext | undefined
    if (waited === undefined && outer === undefined) return []
    this.#waiting.delete(invocationId)
    return [waited, outer].flatMap((its) => (its === undefined ? [] : { context: its }))
  }

  #recordArgs(leg: Leg, args: unknown): void {
    if (!this.#options.recordArgs || leg.hasArgs || !leg.span.isRecording()) return
    const text = textOf(args)
    if (text === undefined) return
    leg.span.setAttribute(genAi.toolCallArguments, text)
    leg.hasArgs = true
  }

  #resume(event: ToolEventOf<'call:resumed'>, tool: ToolDefinition | undefined): void {
    const open = this.#open.get(event.invocationId)
    // Somebody who was asked in process answers within the leg that asked.
    open?.span.addEvent(event.event)
    const leg = open ?? this.#begin(event, tool, event.args)
    leg?.span.setAttribute(own.decision, event.decision)
  }

  #start(event: ToolEventOf<'tool:start'>): void {
    const leg = this.#open.get(event.invocationId)
    if (leg === undefined) return
    leg.span.addEvent(event.event)
    this.#recordArgs(leg, event.input) // where nobody told what the model sent: in a leg that was resumed
  }

  #settle(event: ToolEventOf<'call:settled'>, tool: ToolDefinition | undefined): void {
    const { invocationId, status } = event
    const begun = this.#open.get(invocationId)
    if (begun === undefined && (status === 'ok' || status === 'pending')) return // nobody listened when it began
    // What is sealed, or cannot be resumed, settles without having begun.
    const leg = begun ?? this.#begin(event, tool)
    if (leg === undefined) return
    this.#open.delete(invocationId)
    const { span } = leg
    const failure = failureOf(event, (code) => this.#records(code))
    if (status === 'pending') this.#remember(invocationId, span)
    else if (begun !== undefined) this.#measure(leg, failure)
    if (span.isRecording()) {
      span.setAttributes(outcomeOf(event, leg))
      if (failure !== undefined) tellFailure(span, failure)
    }
    span.end()
  }

  #records(code: string): boolean {
    return code === 'E_INVALID_TOOL_ARGS' ? this.#options.recordArgs : this.#options.recordResult
  }

  #measure({ startedAt, name, tool }: Leg, failure: Failure | undefined): void {
    this.#duration.record((performance.now() - startedAt) / 1_000, name, tool, failure?.type)
  }

  #remember(invocationId: string, span: Span): void {
    if (!isSpanContextValid(span.spanContext())) return
    this.#waiting.set(invocationId, span.spanContext())
    if (this.#waiting.size <= mostWaiting) return
    const [oldest = ''] = this.#waiting.keys()
    this.#waiting.delete(oldest)
  }
}

function describe(leg: Leg, tool: ToolDefinition): void {
  if (leg.tool !== undefined) return
  leg.tool = tool
  if (!leg.span.isRecording()) return
  leg.span.setAttributes({
    [genAi.toolType]: conventionalType(tool.type),
    [genAi.toolDescription]: start(tool.description, longestDescription),
    [own.toolType]: tool.type,
  })
}

function identityOf({ callId, invocationId, session, id }: ToolEvent): Attributes {
  const attributes: Attributes = {
    [own.invocationId]: shortened(invocationId),
    [own.session]: shortened(session),
  }
  if (callId !== null) attributes[own.callId] = callId
  if (typeof id === 'string' || typeof id === 'number') attributes[genAi.toolCallId] = shortened(String(id))
  return attributes
}

function outcomeOf({ status, effect, result }: ToolEventOf<'call:settled'>, { call }: Leg): Attributes {
  const attributes: Attributes = { [own.status]: status, [own.effect]: effect }
  if (call !== undefined) attributes[own.attempt] = call.attempt
  if (typeof result?.byteLength === 'number') attributes[own.artifactSize] = result.byteLength
  return attributes
}

function tellFailure(span: Span, { type, words, isVerdict }: Failure): void {
  span.setAttribute(genAi.errorType, type)
  if (!isVerdict) span.setStatus({ code: SpanStatusCode.ERROR, ...(words !== undefined && { message: words }) })
}

/** A text of anybody's, of bounded length. */
function shortened(text: string): string {
  return escaped(start(text, longestText))
}
