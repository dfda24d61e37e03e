import { createNoopMeter, metrics, type Attributes, type Histogram, type MeterProvider } from '@opentelemetry/api'
import type { ToolDefinition } from '../../index.ts'
import { conventionalType, durationMetric, genAi, other, schemaUrl, instrumentationScope } from './_conventions.ts'

/** The histogram of call durations. */
export class DurationMetric {
  readonly #ownProvider: MeterProvider | undefined
  readonly #silent: Histogram = createNoopMeter().createHistogram(durationMetric.name)
  #provider: MeterProvider | undefined
  #histogram: Histogram = this.#silent

  constructor(provider: MeterProvider | undefined) {
    this.#ownProvider = provider
  }

  /** Whether an SDK records the metric. */
  get isLive(): boolean {
    return this.#current() !== this.#silent
  }

  /**
   * Records the duration of one call.
   *
   * @param name The tool's name. `undefined` if the model invented it, because each value would make a new series.
   * @param errorType The code of the error, if the call failed.
   */
  record(
    seconds: number,
    name: string | undefined,
    tool: ToolDefinition | undefined,
    errorType: string | undefined,
  ): void {
    const histogram = this.#current()
    if (histogram === this.#silent) return
    const attributes: Attributes = { [genAi.toolName]: name ?? other }
    if (tool !== undefined) attributes[genAi.toolType] = conventionalType(tool.type)
    if (errorType !== undefined) attributes[genAi.errorType] = errorType
    histogram.record(seconds, attributes)
  }

  /** Returns the histogram of the current provider. Unlike a tracer, an instrument does not follow a later SDK. */
  #current(): Histogram {
    const provider = this.#ownProvider ?? metrics.getMeterProvider()
    if (provider !== this.#provider) {
      this.#provider = provider
      const { name, description, unit, boundaries } = durationMetric
      const advice = { explicitBucketBoundaries: [...boundaries] }
      const meter = provider.getMeter(instrumentationScope, undefined, { schemaUrl })
      this.#histogram = meter.createHistogram(name, { description, unit, advice })
    }
    return this.#histogram
  }
}
