import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { context, metrics, propagation, ROOT_CONTEXT, trace, type Context } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { createExecutor, tool, type ToolResult } from 'toolwright'
import { openTelemetry, traceMeta, withTraceMeta } from 'toolwright/observers/open-telemetry'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enableContexts, telemetry } from './_telemetry.ts'

/** As OTLP/JSON says it. */
interface WireAttribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number }
}
interface WireSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly WireAttribute[]
  readonly events: readonly { readonly name: string }[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code: number; readonly message?: string }
}
interface WirePoint {
  readonly count: number
  readonly sum: number
  readonly explicitBounds: readonly number[]
  readonly bucketCounts: readonly number[]
  readonly attributes: readonly WireAttribute[]
}
interface TraceBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] }
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string }
      readonly schemaUrl?: string
      readonly spans: readonly WireSpan[]
    }[]
  }[]
}
interface MetricBody {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly scope: { readonly name: string }
      readonly metrics: readonly {
        readonly name: string
        readonly unit: string
        readonly histogram?: { readonly dataPoints: readonly WirePoint[] }
      }[]
    }[]
  }[]
}

/** What a collector would have been sent. */
const received: { path: string; type: string; body: string }[] = []
let server: Server
let tracerProvider: TracerProvider
let meterProvider: MeterProvider
let undo = (): void => {}

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => void (body += piece))
    request.on('end', () => {
      received.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body })
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const resource = resourceFromAttributes({ 'service.name': 'agent' })
  tracerProvider = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${url}/v1/traces` }) })],
  })
  const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` })
  meterProvider = new MeterProvider({ resource, readers: [new PeriodicExportingMetricReader({ exporter })] })
  undo = enableContexts()
  trace.setGlobalTracerProvider(tracerProvider)
  metrics.setGlobalMeterProvider(meterProvider)
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
})
afterAll(async () => {
  await tracerProvider.shutdown()
  await meterProvider.shutdown()
  undo()
  await new Promise((resolve) => server.close(resolve))
})

function bodiesOf<Body>(path: string): Body[] {
  return received.filter((each) => each.path === path).map(({ body }) => JSON.parse(body) as Body)
}

/** Every span that has come over the wire, of all scopes. */
async function spans(): Promise<WireSpan[]> {
  await tracerProvider.forceFlush()
  const resources = bodiesOf<TraceBody>('/v1/traces').flatMap(({ resourceSpans }) => resourceSpans)
  return resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
}

function valuesOf({ attributes }: { readonly attributes: readonly WireAttribute[] }): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]))
}

describe('what a collector receives', () => {
  const forecast = tool({
    name: 'forecast',
    description: 'The weather of a city',
    inputSchema: { type: 'object', properties: { city: { type: 'string' }, key: { type: 'string' } } },
    secrets: ['/key'],
    handler: async ({ city }) => {
      const query = trace.getTracer('driver').startSpan('SELECT weather')
      await new Promise((resolve) => setTimeout(resolve, 11))
      query.end()
      return { city, sun: true }
    },
  })
  const remove = tool({ name: 'remove', description: 'Removes', requiresConfirmation: true, handler: () => 'removed' })
  const breaks = tool({
    name: 'breaks',
    description: 'Breaks',
    handler: () => {
      throw new Error('out of paper')
    },
  })

  test('are spans that nest, link and tell what became of each call', async () => {
    const executor = createExecutor({
      tools: [forecast, remove, breaks],
      use: [openTelemetry({ recordArgs: true, recordResult: true })],
    })
    let results: readonly ToolResult[] = []
    const turn = trace.getTracer('agent').startSpan('invoke_agent')
    await context.with(trace.setSpan(ROOT_CONTEXT, turn), async () => {
      results = await executor.executeToolCalls([
        { id: 'toolu_1', name: 'forecast', args: { city: 'Oslo', key: 'sesame' } },
        { id: 'toolu_2', name: 'remove' },
        { id: 'toolu_3', name: 'breaks' },
      ])
    })
    turn.end()
    const token = results[1]?.token ?? ''
    await executor.calls.decide(token, 'allow')

    const all = await spans()
    const [ran, inner, waited, resumed, broke] = ['forecast', 'SELECT', 'remove', 'remove', 'breaks'].map(
      (name, index) => all.filter((span) => span.name.includes(name)).at(index === 3 ? 1 : 0),
    )
    if (!ran || !inner || !waited || !resumed || !broke) throw new Error('a span is missing')
    const { traceId, spanId } = turn.spanContext()
    for (const span of [ran, waited, broke]) expect(span).toMatchObject({ traceId, parentSpanId: spanId, kind: 1 })
    expect(ran).toMatchObject({ name: 'execute_tool forecast', status: { code: 0 }, events: [{ name: 'tool:start' }] })
    expect(valuesOf(ran)).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'forecast',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': 'The weather of a city',
      'gen_ai.tool.call.id': 'toolu_1',
      'gen_ai.tool.call.arguments': '{"city":"Oslo","key":"[secret]"}',
      'gen_ai.tool.call.result': '{"city":"Oslo","sun":true}',
      'toolwright.call.id': results[0]?.callId,
      'toolwright.invocation.id': results[0]?.invocationId,
      'toolwright.session.id': executor.session,
      'toolwright.tool.type': 'server',
      'toolwright.status': 'ok',
      'toolwright.effect': 'completed',
      'toolwright.attempt': 1,
      'toolwright.artifact.size': 26,
    })
    expect(inner).toMatchObject({ traceId, parentSpanId: ran.spanId })
    expect(valuesOf(waited)).toMatchObject({ 'toolwright.status': 'waiting' })
    expect(resumed.links).toMatchObject([{ traceId: waited.traceId, spanId: waited.spanId }])
    expect(resumed.traceId).not.toBe(traceId) // it was decided outside the turn
    expect(valuesOf(resumed)).toMatchObject({ 'toolwright.status': 'ok', 'toolwright.decision': 'allow' })
    expect(broke.status).toMatchObject({ code: 2, message: expect.stringContaining('out of paper') as string })
    expect(valuesOf(broke)).toMatchObject({ 'error.type': 'E_TOOL_DOWNSTREAM_ERROR', 'toolwright.effect': 'unknown' })
  })

  test('are bodies of OTLP, with the scope and the version of the conventions', () => {
    expect(received.length).toBeGreaterThan(0)
    for (const { type } of received) expect(type).toBe('application/json')
    const [body] = bodiesOf<TraceBody>('/v1/traces')
    const scope = body?.resourceSpans[0]?.scopeSpans.find((each) => each.scope.name === 'toolwright')
    expect(scope?.schemaUrl).toMatch(/^https:\/\/opentelemetry\.io\/schemas\/gen-ai/)
    expect(valuesOf(body!.resourceSpans[0]!.resource)).toMatchObject({ 'service.name': 'agent' })
  })

  test('is a histogram of seconds, and nothing of a call that waits, a token or a secret', async () => {
    await meterProvider.forceFlush()
    const scopes =
      bodiesOf<MetricBody>('/v1/metrics')
        .at(-1)
        ?.resourceMetrics.flatMap((each) => each.scopeMetrics) ?? []
    const metric = scopes.find(({ scope }) => scope.name === 'toolwright')?.metrics[0]
    expect(metric).toMatchObject({ name: 'gen_ai.execute_tool.duration', unit: 's' })
    const points = metric?.histogram?.dataPoints ?? []
    expect(points.map((point) => [valuesOf(point), point.count])).toEqual(
      expect.arrayContaining([
        [{ 'gen_ai.tool.name': 'forecast', 'gen_ai.tool.type': 'function' }, 1],
        [{ 'gen_ai.tool.name': 'remove', 'gen_ai.tool.type': 'function' }, 1],
        [{ 'gen_ai.tool.name': 'breaks', 'gen_ai.tool.type': 'function', 'error.type': 'E_TOOL_DOWNSTREAM_ERROR' }, 1],
      ]),
    )
    expect(points.length).toBe(3)
    for (const { explicitBounds, bucketCounts } of points) {
      expect(explicitBounds).toEqual([
        0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
      ])
      expect(bucketCounts.length).toBe(15)
    }
    expect(points.find((point) => valuesOf(point)['gen_ai.tool.name'] === 'forecast')?.sum).toBeGreaterThan(0.01)
    for (const { body } of received) expect(body).not.toMatch(/sesame|\.[0-9a-f]{64}"/)
  })
})

describe('the trace context in `_meta`', () => {
  const remote = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 }
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const now = tool({ name: 'now', description: 'Now', handler: () => 1 })

  test('is that of the call, within its handler', async () => {
    const collector = telemetry()
    const seen: unknown[] = []
    const call = tool({ name: 'call', description: 'Calls', handler: () => void seen.push(traceMeta()) })
    await collector.executor([call]).execute({ name: 'call' })
    const { traceId, spanId } = collector.span('execute_tool call').spanContext()
    expect(seen).toEqual([{ traceparent: `00-${traceId}-${spanId}-01` }])
    expect(traceMeta()).toEqual({})
  })

  test('makes calls children of the span that sent it, with its state, and a link to what is active here', async () => {
    const collector = telemetry()
    const states: unknown[] = []
    const work = tool({
      name: 'work',
      description: 'Works',
      handler: () => void states.push(traceMeta()['tracestate']),
    })
    const inner = collector.executor([now])
    const outer = tool({
      name: 'outer',
      description: 'Calls',
      handler: () => inner.execute({ name: 'now' }).then(() => 1),
    })
    const executor = collector.executor([work, outer])
    const request = collector.tracer.startSpan('POST /mcp')
    const meta = { traceparent, tracestate: 'rojo=00f067aa0ba902b7', progressToken: 1 }
    await context.with(trace.setSpan(ROOT_CONTEXT, request), () =>
      withTraceMeta(meta, () => executor.executeToolCalls([{ name: 'work' }, { name: 'outer' }])),
    )
    for (const name of ['work', 'outer']) {
      const span = collector.span(`execute_tool ${name}`)
      expect(span.parentSpanContext).toMatchObject({ traceId: remote.traceId, spanId: remote.spanId })
      expect(span.links.map((link) => link.context)).toEqual([request.spanContext()])
    }
    expect(collector.span('execute_tool now').links).toEqual([]) // that one has its parent here
    expect(states).toEqual(['rojo=00f067aa0ba902b7'])
  })

  test('makes no link where nothing is active here', async () => {
    const collector = telemetry()
    await withTraceMeta({ traceparent }, () => collector.executor([now]).execute({ name: 'now' }))
    expect(collector.span('execute_tool now')).toMatchObject({
      links: [],
      parentSpanContext: { spanId: remote.spanId },
    })
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', traceparent],
    ['an empty object', {}],
    ['a number in its place', { traceparent: 5 }],
    ['a text that is none', { traceparent: 'x'.repeat(100_000), tracestate: 'y' }],
    ['an identity of zeros', { traceparent: '00-00000000000000000000000000000000-0000000000000000-01' }],
    ['what is only inherited', Object.create({ traceparent })],
    ['a list', [traceparent]],
  ])('is passed over where it is %s', (_, meta) => {
    const active = trace.setSpanContext(ROOT_CONTEXT, { ...remote, spanId: '1111111111111111' })
    const seen: Context[] = []
    const result = context.with(active, () =>
      withTraceMeta(meta as never, () => {
        seen.push(context.active())
        return 'result'
      }),
    )
    expect(result).toBe('result')
    expect(seen).toEqual([active])
  })

  test('is neither written nor read without a propagator', () => {
    propagation.disable()
    const active = trace.setSpanContext(ROOT_CONTEXT, remote)
    expect(context.with(active, traceMeta)).toEqual({})
    expect(withTraceMeta({ traceparent }, () => trace.getActiveSpan())).toBeUndefined()
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  })

  test('leaves baggage and all else out', () => {
    propagation.disable()
    propagation.setGlobalPropagator({
      inject: (_context, carrier, setter) => {
        for (const key of ['baggage', 'traceparent', 'x-tenant']) setter.set(carrier, key, traceparent)
      },
      extract: (from, carrier, getter) => {
        expect(getter.keys(carrier)).toEqual(['traceparent'])
        return from
      },
      fields: () => [],
    })
    expect(traceMeta()).toEqual({ traceparent })
    withTraceMeta({ baggage: 'a=b', traceparent }, () => 1)
    propagation.disable()
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  })
})
