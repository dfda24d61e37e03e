/**
 * Records calls as spans and a metric of OpenTelemetry. This observer uses only the API: the application chooses the SDK. Without an SDK
 * it does almost nothing. It must not record the token of a waiting call, and records args and results only on request.
 *
 * @module
 */
import { context, diag, propagation, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api'
import type { Extension } from '../index.ts'
import {
  booleanOption,
  checkOptions,
  type Confirmed,
  type Middleware,
  type Observer,
  type OptionCheck,
} from '../extension.ts'
import { resultText } from './open-telemetry/_content.ts'
import { genAi } from './open-telemetry/_conventions.ts'
import { ambient, Spans, type CallSpan, type SpanSettings } from './open-telemetry/_spans.ts'

/** The options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** Whether spans record the args, with the tool's secrets masked. Default: `false`. */
  readonly recordArgs?: boolean
  /** Whether spans record the result, with the tool's secrets masked. Default: `false`. */
  readonly recordResult?: boolean
  /** Makes the spans. Default: the global provider, even if it is registered later. */
  readonly tracerProvider?: TracerProvider
  /** Makes the metric. Default: the global provider, even if it is registered later. */
  readonly meterProvider?: MeterProvider
}

/**
 * Returns an extension that records each call as a span `execute_tool {name}`, and its duration in the histogram
 * `gen_ai.execute_tool.duration`.
 *
 * The span's parent is the active span of the caller of the executor. The span is active in the handler, and in middleware
 * that is mounted after this extension. A waiting call ends its span with `toolwright.status` `waiting`. A later `decide` or
 * `respond` starts a new span, with a link to the first one if it runs in the same process. `error.type` is the code of the
 * error. A refusal by a policy or an approver is not an error of the span.
 *
 * Args and results are recorded as text, cut at 16,384 characters. The args are those of the model, or, in a resumed call, the
 * tool's input. Args for an unknown tool are not recorded. The result is the one that this extension's middleware gets.
 *
 * @param options What to record beyond the defaults, and the providers.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong or unknown.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { openTelemetry } from 'toolwright/observers/open-telemetry'
 *
 * const executor = createExecutor({ use: [openTelemetry({ recordArgs: true })] })
 * ```
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/execute-tool.md
 * @experimental
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Extension & {
  readonly observers: readonly [Observer]
  readonly middleware: readonly [Middleware]
} {
  const settings = spanSettings(options)
  const spans = new Spans(settings)

  function record(value: unknown, { span }: CallSpan, call: Confirmed): void {
    quietly(() => {
      const text = span.isRecording() ? resultText(value, call) : undefined
      if (text !== undefined) span.setAttribute(genAi.toolCallResult, text)
    })
  }

  return {
    observers: [(event, tool) => spans.observe(event, tool)],
    middleware: [
      (call, callContext, next) => {
        const entry = quietly(() => spans.enter(call.tool, callContext))
        if (entry === undefined) return next()
        const running = runIn(entry, next)
        if (!settings.recordResult) return running
        return running.then((value) => {
          record(value, entry, call)
          return value
        })
      },
    ],
  }
}

/** Runs the tool with its span active. The tool runs even if the context manager throws. */
function runIn(entry: CallSpan, next: () => Promise<unknown>): Promise<unknown> {
  let run: Promise<unknown> | undefined
  quietly(() => {
    context.with(entry.context, () => {
      run = next()
    })
  })
  return run ?? next()
}

/** Runs code that calls the SDK. Reports its errors to OpenTelemetry's diagnostics, so that the call does not fail. */
function quietly<Value>(record: () => Value): Value | undefined {
  try {
    return record()
  } catch (error) {
    diag.error('toolwright: the SDK failed', error)
    return undefined
  }
}

/** The fields of `_meta` that the Model Context Protocol reserves for traces. */
const traceFields = ['traceparent', 'tracestate'] as const

/**
 * Returns the active trace context, for `_meta` of a request of the Model Context Protocol.
 *
 * Baggage is left out, because it may contain data of the application that the server should not get.
 *
 * @returns `traceparent`, and `tracestate` if there is one. Empty outside a trace, or if no propagator of the W3C format is
 * registered.
 * @example
 * ```ts
 * import { traceMeta } from 'toolwright/observers/open-telemetry'
 *
 * const request = { method: 'tools/call', params: { name: 'forecast', arguments: {}, _meta: { ...traceMeta() } } }
 * ```
 * @see https://modelcontextprotocol.io/community/seps/414-request-meta
 * @experimental
 */
export function traceMeta(): Record<string, string> {
  const carrier: Record<string, unknown> = {}
  propagation.inject(context.active(), carrier)
  return picked(carrier)
}

/**
 * Runs a function in the trace context of a request's `_meta`. Calls in it are children of the client's span, and have a
 * link to the span that is active here.
 *
 * @param meta As received. Anything else than a trace context is ignored.
 * @param run Called once, synchronously.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { openTelemetry, withTraceMeta } from 'toolwright/observers/open-telemetry'
 *
 * const executor = createExecutor({ tools: [tool('now', () => Date.now())], use: [openTelemetry()] })
 * const meta = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
 * const result = await withTraceMeta(meta, () => executor.execute({ name: 'now' }))
 * ```
 * @see https://modelcontextprotocol.io/community/seps/414-request-meta
 * @experimental
 */
export function withTraceMeta<Result>(meta: Readonly<Record<string, unknown>> | undefined, run: () => Result): Result {
  const here = context.active()
  const remote = propagation.extract(trace.deleteSpan(here), picked(meta))
  if (trace.getSpanContext(remote) === undefined) return run()
  const local = trace.getSpanContext(here)
  return context.with(local === undefined ? remote : remote.setValue(ambient, local), run)
}

function picked(carrier: unknown): Record<string, string> {
  const traceContext: Record<string, string> = {}
  if (typeof carrier !== 'object' || carrier === null) return traceContext
  for (const field of traceFields) {
    const value: unknown = Object.hasOwn(carrier, field) ? (carrier as Record<string, unknown>)[field] : undefined
    if (typeof value === 'string') traceContext[field] = value
  }
  return traceContext
}

function spanSettings(options: OpenTelemetryOptions): SpanSettings {
  checkOptions('openTelemetry', options, {
    recordArgs: booleanOption,
    recordResult: booleanOption,
    tracerProvider: withMethod('getTracer', 'a provider of tracers'),
    meterProvider: withMethod('getMeter', 'a provider of meters'),
  })
  const { recordArgs = false, recordResult = false, tracerProvider, meterProvider } = options
  return { recordArgs, recordResult, tracerProvider, meterProvider }
}

function withMethod(method: string, expected: string): OptionCheck {
  return { expected, accepts: (value) => typeof (value as Record<string, unknown> | null)?.[method] === 'function' }
}
