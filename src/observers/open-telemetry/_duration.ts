import { createNoopMeter, metrics, type Attributes, type Histogram, type MeterProvider } from '@opentelemetry/api'
import type { ToolDefinition } from '../../index.ts'
import { conventionalType, duration, genAi, other, schemaUrl, scope } from './_conventions.ts'

/** How long calls take. */
export class DurationMetric {
  readonly #given: MeterProvider | undefined
  readonly #silent: Histogram = createNoopMeter().createHistogram(duration.name)
  #provider: MeterProvider | undefined
  #histogram: Histogram = this.#silent

  constructor(provider: MeterProvider | undefined) {
    this.#given = provider
  }

  /** Whether anybody would see it. */
  get isLive(): boolean {
    return this.#current() !== this.#silent
  }

  /**
   * Counts one call.
   *
   * @param name The tool's name; nothing for what a model made up, which would make a series of its own each time.
   * @param errorType The code of the error, where it ended in one.
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

  /** Unlike a tracer, an instrument of the API stays silent when an SDK is registered after it was made. */
  #current(): Histogram {
    const provider = this.#given ?? metrics.getMeterProvider()
    if (provider !== this.#provider) {
      this.#provider = provider
      const { name, description, unit, boundaries } = duration
      const advice = { explicitBucketBoundaries: [...boundaries] }
      const meter = provider.getMeter(scope, undefined, { schemaUrl })
      this.#histogram = meter.createHistogram(name, { description, unit, advice })
    }
    return this.#histogram
  }
}
