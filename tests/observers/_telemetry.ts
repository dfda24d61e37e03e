import { context, metrics, propagation, trace, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type HistogramMetricData,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import { createExecutor, type Extension, type Tool, type ToolExecutor } from 'toolwright'
import { openTelemetry, type OpenTelemetryOptions } from 'toolwright/observers/open-telemetry'

/** The real SDK, with exporters that keep everything in memory. */
export interface Telemetry {
  /** What the leaf takes as its options. */
  readonly providers: Required<Pick<OpenTelemetryOptions, 'tracerProvider' | 'meterProvider'>>
  /** A tracer of the application's own. */
  readonly tracer: Tracer
  /** The spans of calls that ended, in that order. */
  calls(): readonly ReadableSpan[]
  /** The one span of that name. */
  span(name: string): ReadableSpan
  /** The points of the histogram. */
  durations(): Promise<HistogramMetricData['dataPoints']>
  /** An executor that tells of its calls. */
  executor(tools: readonly Tool[], options?: OpenTelemetryOptions, ...use: Extension[]): Reporting
}

export interface Reporting extends ToolExecutor {
  /** What went wrong that is no call's fault. */
  readonly reports: readonly unknown[]
}

export function telemetry(sampler?: Sampler): Telemetry {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    ...(sampler && { sampler }),
  })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 2 ** 30 })],
  })
  const providers = { tracerProvider, meterProvider }
  return {
    providers,
    tracer: tracerProvider.getTracer('host'),
    calls: () => exporter.getFinishedSpans().filter(({ instrumentationScope: { name } }) => name === 'toolwright'),
    span: (name) => {
      const [span, ...others] = exporter.getFinishedSpans().filter((each) => each.name === name)
      if (span === undefined || others.length > 0) throw new Error(`there is no one span "${name}"`)
      return span
    },
    durations: async () => {
      await meterProvider.forceFlush()
      const found =
        metricExporter
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
      const metric = found.find(({ descriptor }) => descriptor.name === 'gen_ai.execute_tool.duration')
      return (metric?.dataPoints ?? []) as HistogramMetricData['dataPoints']
    },
    executor: (tools, options, ...use) => {
      const reports: unknown[] = []
      const executor = createExecutor({
        tools,
        use: [openTelemetry({ ...providers, ...options }), ...use],
        report: (error) => void reports.push(error),
      })
      return Object.assign(executor, { reports })
    },
  }
}

/** Lets contexts live through promises, as an SDK that is set up does; gives the undo of that, and of all that is global. */
export function enableContexts(): () => void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return () => {
    context.disable()
    trace.disable()
    metrics.disable()
    propagation.disable()
  }
}
