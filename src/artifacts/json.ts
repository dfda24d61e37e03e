/**
 * Queries over JSON: paths (RFC 9535) over any JSON artifact; JSON Lines, read line by line; and JSON5. A path can run only
 * comparisons and patterns in linear time. Every step is counted and limited.
 *
 * @module
 */
import { JsonArtifact, type ArtifactQuery } from '../index.ts'
import type { ArtifactSource } from '../extension.ts'
import { jsonQueries } from './_json-queries.ts'
import { countRecords, recordIndexOf } from './_records.ts'
import { keepLined, lineGroups, lineIndexOf, valueIn, valueLines } from './json/_lines.ts'
import { isIndex, requirePointer, valueAt } from './json/_pointer.ts'

export { filter, pluck } from './json/_filter.ts'
export type { FilterOptions } from './json/_find.ts'
export { Json5Artifact, type JsonNotation } from './json/_json5.ts'

/**
 * A result in JSON Lines: each line that is not blank is a JSON value. It reads as the array of these values, line by line, so
 * a large artifact is never loaded whole.
 *
 * A line that is not JSON throws only when it is read.
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
  /** All media types of JSON Lines. */
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

  /** Returns all values at once. @throws `E_ARTIFACT` if a line is not JSON, with its number. */
  override async value(): Promise<unknown[]> {
    return this.slice()
  }

  override async type(): Promise<string> {
    return 'array'
  }

  /** Returns the indices of the values. */
  override async keys(): Promise<string[]> {
    return Array.from({ length: await this.length() }, (_, index) => String(index))
  }

  /** Returns the number of lines that are not blank. */
  override length(): Promise<number> {
    return countRecords(this, lineIndexOf(this)!, valueLines)
  }

  /**
   * Returns the value at a JSON Pointer, whose first step is the index of a value. Returns `undefined` if there is none.
   *
   * @throws `E_ARTIFACT` if the pointer is not valid, or the line of the value is not JSON.
   */
  override async get(pointer: string): Promise<unknown> {
    const [first, ...rest] = requirePointer(pointer)
    if (first === undefined) return this.value()
    if (!isIndex(first)) return undefined
    for await (const value of this.values(Number(first))) return valueAt(value, rest)
    return undefined
  }

  /** Returns the values from `start` up to and without `end`. Negative numbers count from the end. */
  override async slice(start = 0, end: number = Infinity): Promise<unknown[]> {
    const fromEnd = async (position: number): Promise<number> =>
      position < 0 ? Math.max(0, (await this.length()) + position) : position
    const [from, to] = [await fromEnd(start), await fromEnd(end)]
    const values: unknown[] = []
    if (to <= from) return values
    for await (const value of this.values(from)) {
      values.push(value)
      if (values.length >= to - from) break
    }
    return values
  }

  /** Yields the values, one by one. @param start The index of the first. Default: 0. */
  async *values(start = 0): AsyncGenerator<unknown, void, undefined> {
    for await (const { records } of lineGroups(this, { start })) for (const record of records) yield valueIn(record)
  }
}
