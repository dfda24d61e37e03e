/**
 * Calls as spans and a metric of OpenTelemetry. This leaf knows the API alone and never an SDK: where none is registered it
 * makes next to nothing, and what is done with spans is the host's. It never tells the token of a call that waits, and tells
 * args and results only where it is told to.
 *
 * @module
 */
import { context, diag, propagation, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api'
import { InvalidConfigurationError, type Confirmed, type Extension, type Middleware, type Observer } from '../index.ts'
import { resultText } from './open-telemetry/_content.ts'
import { genAi } from './open-telemetry/_conventions.ts'
import { ambient, Legs, type Leg, type LegOptions } from './open-telemetry/_legs.ts'

export interface OpenTelemetryOptions {
  /** Whether spans carry the args, with the tool's secrets masked. Default: `false`. */
  readonly recordArgs?: boolean
  /** Whether spans carry what the tool returned, with its secrets masked. Default: `false`. */
  readonly recordResult?: boolean
  /** Makes the spans. Default: the global one, also where it is registered later. */
  readonly tracerProvider?: TracerProvider
  /** Makes the metric. Default: the global one, also where it is registered later. */
  readonly meterProvider?: MeterProvider
}

/**
 * Makes a span `execute_tool {name}` of each call, and counts its duration in `gen_ai.execute_tool.duration`.
 *
 * The span's parent is what is active where the call was given to the executor, and the span itself is active within the
 * handler and in the middleware that is mounted after this. A call that waits for an answer in a later `decide` or `respond`
 * ends its span with `toolwright.status` `pending`; the one that goes on is a new span with a link to it, as long as the
 * process is the same. `error.type` is the code of the error; a call that somebody refused is no failure of the span.
 * Args and results are text, cut at 16,384 characters: what the model sent to a tool that there is (in a resumed call, what the
 * tool was given), and what middleware that is mounted after this lets pass.
 *
 * @param options What is told beside the conventions' least, and whom to.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong or unknown.
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
  const settings = checked(options)
  const legs = new Legs(settings)

  async function within(leg: Leg, call: Confirmed, next: () => Promise<unknown>): Promise<unknown> {
    const value = await running(leg, next)
    if (settings.recordResult && leg.span.isRecording()) {
      quietly(() => {
        const text = resultText(value, call)
        if (text !== undefined) leg.span.setAttribute(genAi.toolCallResult, text)
      })
    }
    return value
  }

  return {
    observers: [(event, tool) => legs.hear(event, tool)],
    middleware: [
      (call, callContext, next) => {
        const leg = quietly(() => legs.enter(call.tool, callContext))
        return leg === undefined ? next() : within(leg, call, next)
      },
    ],
  }
}

/** Runs the tool with its span active; a context manager that breaks has no say in whether it runs. */
function running(leg: Leg, next: () => Promise<unknown>): Promise<unknown> {
  let run: Promise<unknown> | undefined
  quietly(() => {
    context.with(leg.context, () => {
      run = next()
    })
  })
  return run ?? next()
}

/** What an SDK throws is told to whoever looks after it, and changes nothing for the tool. */
function quietly<Value>(tell: () => Value): Value | undefined {
  try {
    return tell()
  } catch (error) {
    diag.error('toolwright: the SDK failed', error)
    return undefined
  }
}

/** What `_meta` of the Model Context Protocol reserves for traces. */
const fields = ['traceparent', 'tracestate'] as const

/**
 * The trace context that is active, for `_meta` of a request of the Model Context Protocol.
 *
 * Baggage is left out: it may say more of the host than a server should know.
 *
 * @returns `traceparent` and, where there is one, `tracestate`; nothing outside a trace, or where no propagator of the W3C
 * format is registered.
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
 * Runs something within the trace context that came in `_meta` of a request: calls are children of the span that sent it, and
 * have a link to the one that is active here.
 *
 * @param meta As it came; what is no trace context is passed over.
 * @param run Called once, at once.
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
  const its: Record<string, string> = {}
  if (typeof carrier !== 'object' || carrier === null) return its
  for (const field of fields) {
    const value: unknown = Object.hasOwn(carrier, field) ? (carrier as Record<string, unknown>)[field] : undefined
    if (typeof value === 'string') its[field] = value
  }
  return its
}

const known = ['recordArgs', 'recordResult', 'tracerProvider', 'meterProvider']

function checked(options: OpenTelemetryOptions): LegOptions {
  if (typeof options !== 'object' || options === null) throw wrong('takes an object of options')
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw wrong(`knows no option \`${name}\`: there are ${known.join(', ')}`)
  }
  const { recordArgs = false, recordResult = false, tracerProvider, meterProvider } = options
  if (typeof recordArgs !== 'boolean') throw wrong('takes true or false as `recordArgs`')
  if (typeof recordResult !== 'boolean') throw wrong('takes true or false as `recordResult`')
  if (tracerProvider !== undefined && typeof tracerProvider.getTracer !== 'function')
    throw wrong('takes a provider of tracers as `tracerProvider`')
  if (meterProvider !== undefined && typeof meterProvider.getMeter !== 'function')
    throw wrong('takes a provider of meters as `meterProvider`')
  return { recordArgs, recordResult, tracerProvider, meterProvider }
}

function wrong(message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`openTelemetry\` ${message}.`)
}
