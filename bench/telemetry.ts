// What telemetry adds to a call. The floor is that of `overhead.ts`, and once more with a span that is made by hand, which is
// what the SDK itself costs. Without an SDK it has to cost what an observer and a middleware cost that do nothing.
import { context, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { AlwaysOffSampler, InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { createExecutor, tool, type Extension } from 'toolwright'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import * as zod from 'zod'
import { floorOf } from './_floor.ts'
import { compare, printTable } from './_runner.ts'
import { args, searchSchema } from './_search.ts'

const exporter = new InMemorySpanExporter()
let count = 0
/** Keeps spans in memory, but not all of them. */
const forgetful = {
  onStart() {},
  onEnd() {
    if (++count % 1_000 === 0) exporter.reset()
  },
  async forceFlush() {},
  async shutdown() {},
}
const spanProcessors = [new SimpleSpanProcessor({ exporter }), forgetful]
const tracerProvider = new TracerProvider({ spanProcessors })
const unsampled = new TracerProvider({ spanProcessors, sampler: new AlwaysOffSampler() })
const meterProvider = new MeterProvider()
const tracer = tracerProvider.getTracer('bench')

const inputSchema = searchSchema(zod)
const handlers: Record<string, () => unknown> = {
  'a handler that returns at once': () => 'done',
  'an async handler': async () => 'done',
}

// As an SDK that is set up does it: from then on promises carry contexts, and every variant pays for that.
const contexts = new AsyncLocalStorageContextManager()

for (const isSetUp of [false, true]) {
  if (isSetUp) context.setGlobalContextManager(contexts.enable())
  for (const [title, handler] of Object.entries(handlers)) {
    const variants = isSetUp ? withSdk(handler) : withoutSdk(handler)
    printTable(await compare(`${title}, ${isSetUp ? 'with' : 'no'} SDK`, variants))
  }
}

function withoutSdk(handler: () => unknown): Record<string, () => unknown> {
  const nothing: Extension = { observers: [() => {}], middleware: [(_call, _context, next) => next()] }
  return {
    floor: floorFor(handler),
    'whole pipeline': pipeline(handler),
    '… an observer and a middleware that do nothing': pipeline(handler, nothing),
    '… openTelemetry': pipeline(handler, openTelemetry()),
  }
}

function withSdk(handler: () => unknown): Record<string, () => unknown> {
  return {
    floor: floorFor(handler),
    'floor, and a span by hand': spanned(floorFor(handler)),
    'whole pipeline': pipeline(handler),
    '… spans that are not sampled': pipeline(handler, openTelemetry({ tracerProvider: unsampled })),
    '… spans': pipeline(handler, openTelemetry({ tracerProvider })),
    '… the metric': pipeline(handler, openTelemetry({ meterProvider })),
    '… spans and the metric': pipeline(handler, openTelemetry({ tracerProvider, meterProvider })),
    '… with args and result': pipeline(
      handler,
      openTelemetry({ tracerProvider, meterProvider, recordArgs: true, recordResult: true }),
    ),
  }
}

function pipeline(handler: () => unknown, ...use: Extension[]): () => unknown {
  const search = tool({ name: 'search', description: 'Searches', inputSchema, handler })
  const executor = createExecutor({ tools: [search], use })
  const call = { id: 'call_1', name: 'search', args }
  return () => executor.execute(call)
}

function floorFor(handler: () => unknown): () => Promise<unknown> {
  const floor = floorOf('search', inputSchema, handler)
  return () => floor(args)
}

function spanned(floor: () => Promise<unknown>): () => Promise<unknown> {
  return async () => {
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' }
    const span = tracer.startSpan('execute_tool search', { kind: SpanKind.INTERNAL, attributes })
    const value = await context.with(trace.setSpan(context.active(), span), floor)
    span.setAttributes({ 'gen_ai.tool.call.id': 'call_1', 'gen_ai.tool.type': 'function' })
    span.end()
    return value
  }
}
