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
import type { CallStatus, ToolContext, ToolDefinition, ToolEvent, ToolEventOf } from '../../index.ts'
import { escapeDeceptive } from '../../extension.ts'
import { headOf } from '../_line.ts'
import { attributeJson } from './_content.ts'
import {
  conventionalType,
  genAi,
  operation,
  ownAttributes,
  samplingAttributes,
  schemaUrl,
  instrumentationScope,
} from './_conventions.ts'
import { DurationMetric } from './_duration.ts'
import { failureOf, type SpanFailure } from './_failure.ts'

const longestAttribute = 256
const longestDescription = 1_024
const mostWaitingSpans = 10_000

/** The context key of the local span that was active when a remote call arrived. */
export const ambient: symbol = createContextKey('toolwright.ambient')

export interface SpanSettings {
  readonly tracerProvider: TracerProvider | undefined
  readonly meterProvider: MeterProvider | undefined
  readonly recordArgs: boolean
  readonly recordResult: boolean
}

/** The span of a call, from its receipt or its resumption until it settles or waits. */
export interface CallSpan {
  readonly span: Span
  /** The context that is active while the tool runs. */
  readonly context: Context
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number
  /** The name of the tool. `undefined` if the model named an unknown tool. */
  readonly name: string | undefined
  tool?: ToolDefinition
  call?: ToolContext
  hasArgs?: true
}

/** The spans of the running calls. */
export class Spans {
  readonly #open = new Map<string, CallSpan>()
  /** The ended spans of waiting calls, the oldest first. */
  readonly #waiting = new Map<string, SpanContext>()
  readonly #options: SpanSettings
  readonly #tracer: Tracer
  readonly #duration: DurationMetric

  constructor(options: SpanSettings) {
    this.#options = options
    // The global provider delegates to the SDK, even if the SDK is registered later.
    this.#tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(instrumentationScope, undefined, {
      schemaUrl,
    })
    this.#duration = new DurationMetric(options.meterProvider)
  }

  /** Returns the span of a call whose tool is about to run. */
  enter(tool: ToolDefinition, call: ToolContext): CallSpan | undefined {
    const entry = this.#open.get(call.invocationId)
    if (entry === undefined) return undefined
    entry.call = call
    describeSpan(entry, tool)
    return entry
  }

  observe(event: ToolEvent, tool: ToolDefinition | undefined): void {
    switch (event.event) {
      case 'call:received':
        this.#receive(event, tool)
        return
      case 'call:repaired':
        return this.#repair(event)
      case 'call:blocked':
        this.#open.get(event.invocationId)?.span.addEvent(event.event, blockerAttributes(event))
        return
      case 'call:resumed':
        return this.#resume(event, tool)
      case 'call:waiting':
        return this.#wait(event)
      case 'tool:start':
        return this.#start(event)
      case 'call:settled':
        return this.#settle(event, tool)
      default: // progress and the end of the run add nothing to the span
    }
  }

  #receive(event: ToolEventOf<'call:received'>, tool: ToolDefinition | undefined): void {
    const { args, via } = event
    const entry = this.#begin(event, tool, args)
    if (typeof via === 'string') entry?.span.setAttribute(ownAttributes.via, attributeText(via))
  }

  #begin(event: ToolEvent, tool: ToolDefinition | undefined, args?: unknown): CallSpan | undefined {
    const parent = context.active()
    // Without a tool and a call id, the name is not a known tool's.
    const name = tool !== undefined || event.callId !== null ? event.toolName : undefined
    const attributes = samplingAttributes(name ?? attributeText(event.toolName))
    const links = this.#linksOf(event.invocationId, parent)
    const title = name === undefined ? operation : `${operation} ${name}`
    const span = this.#tracer.startSpan(title, { kind: SpanKind.INTERNAL, attributes, links }, parent)
    const spanContext = span.spanContext()
    // Without an SDK, a span has no identity, or its parent's.
    const isOwn =
      spanContext !== INVALID_SPAN_CONTEXT &&
      spanContext !== trace.getSpanContext(parent) &&
      isSpanContextValid(spanContext)
    if (!isOwn && !this.#duration.isLive) return undefined
    const active = isOwn ? trace.setSpan(parent.deleteValue(ambient), span) : parent
    const entry: CallSpan = { span, context: active, startedAt: performance.now(), name }
    this.#open.set(event.invocationId, entry)
    if (span.isRecording()) span.setAttributes(identityAttributes(event))
    if (tool !== undefined) describeSpan(entry, tool)
    // Args for an unknown tool may contain secrets, and no definition marks them.
    if (args !== undefined && name !== undefined) this.#recordArgs(entry, args)
    return entry
  }

  #linksOf(invocationId: string, parent: Context): Link[] {
    const waited = this.#waiting.size === 0 ? undefined : this.#waiting.get(invocationId)
    const outer = parent.getValue(ambient) as SpanContext | undefined
    if (waited === undefined && outer === undefined) return []
    this.#waiting.delete(invocationId)
    return [waited, outer].flatMap((linked) => (linked === undefined ? [] : { context: linked }))
  }

  #recordArgs(entry: CallSpan, args: unknown, isRepaired = false): void {
    if (!this.#options.recordArgs || (entry.hasArgs && !isRepaired) || !entry.span.isRecording()) return
    const text = attributeJson(args)
    if (text === undefined) return
    entry.span.setAttribute(genAi.toolCallArguments, text)
    entry.hasArgs = true
  }

  /** The call is another one now. */
  #repair(event: ToolEventOf<'call:repaired'>): void {
    const entry = this.#open.get(event.invocationId)
    if (entry === undefined) return
    const { span } = entry
    span.addEvent(event.event)
    if (!span.isRecording()) return
    span.setAttributes(identityAttributes(event))
    const steps: readonly unknown[] = Array.isArray(event.steps) ? event.steps : []
    const names = steps.map((each) => (each as { readonly step?: unknown } | undefined | null)?.step)
    const texts = names.filter((name) => typeof name === 'string').map((name) => attributeText(name))
    span.setAttribute(ownAttributes.repairSteps, [...new Set(texts)])
    this.#recordArgs(entry, event.args, true)
  }

  #resume(event: ToolEventOf<'call:resumed'>, tool: ToolDefinition | undefined): void {
    const open = this.#open.get(event.invocationId)
    // If an approver in this process answered, the call's span is still open.
    open?.span.addEvent(event.event)
    const entry = open ?? this.#begin(event, tool, event.args)
    entry?.span.setAttribute(ownAttributes.decision, event.decision)
  }

  /** Ends the span of a call that waits: a resumption begins another. While an approver is asked here, the span goes on. */
  #wait({ event, invocationId, reason, inProcess }: ToolEventOf<'call:waiting'>): void {
    const entry = this.#open.get(invocationId)
    if (entry === undefined) return
    const { span } = entry
    span.addEvent(event, { [ownAttributes.waitReason]: reason })
    if (inProcess === true) return
    this.#open.delete(invocationId)
    this.#remember(invocationId, span)
    if (span.isRecording()) {
      const effect = reason === 'client' ? 'unknown' : 'none'
      span.setAttributes(outcomeOf({ status: 'waiting', effect }, entry))
    }
    span.end()
  }

  #start(event: ToolEventOf<'tool:start'>): void {
    const entry = this.#open.get(event.invocationId)
    if (entry === undefined) return
    entry.span.addEvent(event.event)
    this.#recordArgs(entry, event.input) // only if no earlier event had the args: in a resumed call
  }

  #settle(event: ToolEventOf<'call:settled'>, tool: ToolDefinition | undefined): void {
    const { invocationId, status } = event
    const begun = this.#open.get(invocationId)
    if (begun === undefined && status === 'ok') return // its beginning was not recorded
    // A call that is sealed, or cannot be resumed, settles without an earlier event.
    const entry = begun ?? this.#begin(event, tool)
    if (entry === undefined) return
    this.#open.delete(invocationId)
    const { span } = entry
    const failure = failureOf(event, (code) => this.#records(code))
    if (begun !== undefined) this.#measure(entry, failure)
    if (span.isRecording()) {
      span.setAttributes(outcomeOf(event, entry))
      if (failure !== undefined) recordFailure(span, failure)
    }
    span.end()
  }

  #records(code: string): boolean {
    return code === 'E_INVALID_TOOL_ARGS' ? this.#options.recordArgs : this.#options.recordResult
  }

  #measure({ startedAt, name, tool }: CallSpan, failure: SpanFailure | undefined): void {
    this.#duration.record((performance.now() - startedAt) / 1_000, name, tool, failure?.type)
  }

  #remember(invocationId: string, span: Span): void {
    if (!isSpanContextValid(span.spanContext())) return
    this.#waiting.set(invocationId, span.spanContext())
    if (this.#waiting.size <= mostWaitingSpans) return
    const [oldest = ''] = this.#waiting.keys()
    this.#waiting.delete(oldest)
  }
}

function describeSpan(entry: CallSpan, tool: ToolDefinition): void {
  if (entry.tool !== undefined) return
  entry.tool = tool
  if (!entry.span.isRecording()) return
  entry.span.setAttributes({
    [genAi.toolType]: conventionalType(tool.type),
    [genAi.toolDescription]: headOf(tool.description, longestDescription),
    [ownAttributes.toolType]: tool.type,
  })
}

function identityAttributes({ callId, invocationId, session, id }: ToolEvent): Attributes {
  const attributes: Attributes = {
    [ownAttributes.invocationId]: attributeText(invocationId),
    [ownAttributes.session]: attributeText(session),
  }
  if (callId !== null) attributes[ownAttributes.callId] = callId
  if (typeof id === 'string' || typeof id === 'number') attributes[genAi.toolCallId] = attributeText(String(id))
  return attributes
}

/** Returns what a call waits for before it starts. Events of other packages may say anything. */
function blockerAttributes({ by, gate, keys, behind }: ToolEventOf<'call:blocked'>): Attributes {
  const attributes: Attributes = {}
  for (const [name, text] of [
    [ownAttributes.blockedBy, by],
    [ownAttributes.blockedGate, gate],
    [ownAttributes.blockedBehind, behind],
  ] as const) {
    if (typeof text === 'string') attributes[name] = attributeText(text)
  }
  if (Array.isArray(keys)) attributes[ownAttributes.blockedKeys] = keys.map((key) => attributeText(String(key)))
  return attributes
}

function outcomeOf(
  { status, effect, result }: Pick<ToolEventOf<'call:settled'>, 'effect' | 'result'> & { readonly status: CallStatus },
  { call }: CallSpan,
): Attributes {
  const attributes: Attributes = { [ownAttributes.status]: status, [ownAttributes.effect]: effect }
  if (call !== undefined) attributes[ownAttributes.attempt] = call.attempt
  if (typeof result?.byteLength === 'number') attributes[ownAttributes.artifactSize] = result.byteLength
  return attributes
}

function recordFailure(span: Span, { type, words, isVerdict }: SpanFailure): void {
  span.setAttribute(genAi.errorType, type)
  if (!isVerdict) span.setStatus({ code: SpanStatusCode.ERROR, ...(words !== undefined && { message: words }) })
}

/** Returns the beginning of an untrusted text, escaped. */
function attributeText(text: string): string {
  return escapeDeceptive(headOf(text, longestAttribute))
}
