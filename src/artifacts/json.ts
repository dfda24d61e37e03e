/**
 * Questions about JSON: paths (RFC 9535) over any JSON artifact, and JSON Lines that are read line by line. This leaf reads
 * alone. It runs nothing that a path says but comparisons and patterns in linear time, and counts every step of them.
 *
 * @module
 */
import { JsonArtifact, type ArtifactQuery, type ArtifactSource } from '../index.ts'
import { jsonQueries } from './_json-queries.ts'
import { countRecords, recordIndexOf } from './_records.ts'
import { keepLined, lineGroups, lineIndexOf, valueIn, valueLines } from './json/_lines.ts'
import { isIndex, pointerSteps, valueAt } from './json/_pointer.ts'

export { filter, pluck } from './json/_filter.ts'
export type { FilterOptions } from './json/_find.ts'

/**
 * A result of which each line that is not blank is a JSON value, read as the array of them: by line, and never as a whole.
 *
 * A line that is no JSON does no harm before it is asked for.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { JsonLinesArtifact } from 'toolwright/artifacts/json'
 *
 * const logs = tool({
 *   name: 'read_logs',
 *   description: 'Reads the logs',
 *   artifact: JsonLinesArtifact,
 *   handler: () => '{"level":"info"}\n{"level":"error"}\n',
 * })
 * ```
 * @see https://github.com/ndjson/ndjson-spec
 * @experimental
 */
export class JsonLinesArtifact extends JsonArtifact {
  static override readonly kind: string = 'json-lines'
  static override readonly mediaType: string = 'application/x-ndjson'
  /** Every media type that says so. */
  static override readonly mediaTypes: readonly string[] = [
    'application/x-ndjson',
    'application/jsonl',
    'application/x-jsonlines',
  ]
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = jsonQueries

  constructor(source: ArtifactSource) {
    super(source)
    keepLined(this, recordIndexOf(source))
  }

  /** All values at once. @throws `E_ARTIFACT` with the number of a line that is no JSON. */
  override async value(): Promise<unknown[]> {
    return this.slice()
  }

  override async type(): Promise<string> {
    return 'array'
  }

  /** The indices of the values. */
  override async keys(): Promise<string[]> {
    return Array.from({ length: await this.length() }, (_, index) => String(index))
  }

  /** How many lines there are that are not blank. */
  override length(): Promise<number> {
    return countRecords(this, lineIndexOf(this)!, valueLines)
  }

  /**
   * The value at a JSON Pointer, whose first step is the index of a value.
   *
   * @throws `E_ARTIFACT` where the pointer is not one, or the line of the value is no JSON.
   */
  override async get(pointer: string): Promise<unknown> {
    const [first, ...rest] = pointerSteps(pointer)
    if (first === undefined) return this.value()
    if (!isIndex(first)) return undefined
    for await (const value of this.values(Number(first))) return valueAt(value, rest)
    return undefined
  }

  /** The values from `start` up to and without `end`; negative numbers count from the end. */
  override async slice(start = 0, end: number = Infinity): Promise<unknown[]> {
    const fromEnd = async (given: number): Promise<number> =>
      given < 0 ? Math.max(0, (await this.length()) + given) : given
    const [from, to] = [await fromEnd(start), await fromEnd(end)]
    const values: unknown[] = []
    if (to <= from) return values
    for await (const value of this.values(from)) {
      values.push(value)
      if (values.length >= to - from) break
    }
    return values
  }

  /** All values, one by one. @param start The index of the first. Default: 0. */
  async *values(start = 0): AsyncGenerator<unknown, void, undefined> {
    for await (const { records } of lineGroups(this, { start })) for (const record of records) yield valueIn(record)
  }
}
